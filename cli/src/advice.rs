//! Advice on the library's errors. Their texts state the facts; the commands and options are named here.

use std::borrow::Cow;
use std::path::Path;

use leafline::Error;
use leafline::error::{ExportError, SearchError, SessionError, StoreError};
use leafline::export::KeptReason;
use leafline::import::{FileReport, Refusal};

use super::holders::holders;
use super::place::{shown, store_in_use};
use super::time;

/// A library error with advice on what to do about it.
pub(super) fn advised(error: &Error) -> String {
    match on_error(error) {
        Some(advice) => format!("{error}; {advice}"),
        None => error.to_string(),
    }
}

fn on_error(error: &Error) -> Option<Cow<'static, str>> {
    let advice = match error {
        Error::Session(SessionError::NotFound { .. }) => "`leafline ls` lists them",
        Error::Session(SessionError::EntryNotFound { session, .. }) => {
            return Some(format!("`leafline tree {session}` shows its entries").into());
        }
        Error::Session(SessionError::FileNotFound { session, .. }) => {
            return Some(format!("`leafline files {session}` lists them").into());
        }
        Error::Export(ExportError::BlobsMissing { .. }) => {
            "import the session again with --blobs DIR, the folder that holds them"
        }
        Error::Export(ExportError::OriginalNotHeld { .. }) => {
            "`leafline export --as current` gives it as it is now"
        }
        Error::Store(StoreError::NotFound { .. }) => "`leafline import` or `leafline new` makes it",
        Error::Store(StoreError::NoJournal { .. } | StoreError::JournalAhead { .. }) => {
            "`leafline compact --without-journal` gives up what it alone has"
        }
        Error::Store(StoreError::InUse { path }) => {
            let holders = holders(path);
            return (!holders.is_empty())
                .then(|| format!("processes that have it open: {}", holders.join(", ")).into());
        }
        // An empty file, or a folder, never was one; and where a salvage found nothing, there is nothing.
        Error::Store(StoreError::NotAStore { path, .. })
            if store_in_use() == Some(path)
                && path.metadata().is_ok_and(|file| file.is_file() && file.len() > 0) =>
        {
            let file = shown(path);
            return Some(
                format!("if it was one, `leafline salvage {file} -o NEW` saves what is whole")
                    .into(),
            );
        }
        Error::Search(SearchError::Index { .. }) => {
            "`leafline index --rebuild` makes it again from the store"
        }
        Error::Search(SearchError::FolderTaken { .. }) => {
            "move it away, and `leafline index` makes the index"
        }
        Error::Corrupted(_) => {
            "`leafline verify` says what is damaged, and `leafline repair` keeps what is whole"
        }
        // The engine knows its file by a number only.
        Error::Engine(_) => {
            return store_in_use().map(|path| format!("the store is {}", shown(path)).into());
        }
        _ => return None,
    };
    Some(advice.into())
}

/// The report of a file that was not imported: the reason, and what to do about it.
pub(super) fn with_advice(report: &FileReport) -> Cow<'_, FileReport> {
    let advice = match report.refusal {
        Some(Refusal::WouldLose) => "--replace takes the file all the same",
        Some(Refusal::Damaged) => "`leafline verify` says more",
        Some(Refusal::LongLine) => "--longest-line sets another",
        Some(Refusal::Removed { at }) => {
            let mut report = report.clone();
            let at = time::local(at).unwrap_or_else(|| "an unknown day".to_owned());
            report.reason =
                Some(format!("removed on {at}; `leafline import --restore` takes it again"));
            return Cow::Owned(report);
        }
        _ => return Cow::Borrowed(report),
    };
    let mut report = report.clone();
    report.reason = Some(match report.reason {
        Some(reason) => format!("{reason}; {advice}"),
        None => advice.to_owned(),
    });
    Cow::Owned(report)
}

/// Why a file of the folder was not written, and what to do about it.
pub(super) fn on_kept(reason: KeptReason, folder: &Path) -> String {
    match reason {
        KeptReason::HoldsMore => format!(
            "{reason}; `leafline sync {}` brings that into the store, --replace writes over it",
            shown(folder)
        ),
        KeptReason::Changed => format!("{reason}; export again"),
        KeptReason::NoFile | KeptReason::Differs => {
            format!("{reason}; move that away and export again")
        }
        _ => reason.to_string(),
    }
}
