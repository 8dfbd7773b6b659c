//! Advice on the library's errors. Their texts state the facts; the commands and options are named here.

use std::borrow::Cow;
use std::path::Path;

use leafline::Error;
use leafline::error::{Corruption, ExportError, SearchError, SessionError, StoreError};
use leafline::export::KeptReason;
use leafline::import::{FileReport, Refusal};

use super::holders::holders;
use super::place::{quoted, shown, store_in_use};
use super::time;

/// Bytes of a store's first page. A file with no other one has no session.
const PAGE: u64 = 4096;

/// What to do where nothing is left of a store.
const ANEW: &str =
    "put a backup in its place, or move it away, and `leafline import` makes a new store";

/// A library error with advice on what to do about it.
pub(super) fn advised(error: &Error) -> String {
    with(error, on_error(error))
}

/// The same where a store cannot be opened, so that no other command than a repair gets further.
pub(super) fn advised_on_opening(error: &Error) -> String {
    let repair = || Some("`leafline repair` keeps what is whole".into());
    with(error, if is_damage(error) { repair() } else { on_error(error) })
}

/// The same where a repair or a salvage has found nothing.
pub(super) fn advised_on_saving(error: &Error) -> String {
    let is_lost = is_damage(error) || matches!(error, Error::Store(StoreError::NotAStore { .. }));
    with(error, if is_lost { Some(ANEW.into()) } else { on_error(error) })
}

/// Returns true for damage of the store; a refusal of the system, such as a full disk, is not damage.
fn is_damage(error: &Error) -> bool {
    match error {
        Error::Corrupted(_) => true,
        Error::Engine(error) => !error.is_refusal(),
        _ => false,
    }
}

fn with(error: &Error, advice: Option<Cow<'static, str>>) -> String {
    match advice {
        Some(advice) => format!("{error}; {advice}"),
        None => error.to_string(),
    }
}

/// A command as messages have it.
pub(super) fn command(arguments: &str) -> String {
    format!("`leafline {arguments}`")
}

/// An id as the last argument of such a command.
pub(super) fn argument(id: &str) -> String {
    let marked = if id.starts_with('-') { "-- " } else { "" };
    format!("{marked}{}", quoted(id))
}

/// A path as an argument of such a command.
fn path_argument(path: &Path) -> String {
    let marked = if path.as_os_str().as_encoded_bytes().starts_with(b"-") { "./" } else { "" };
    quoted(&format!("{marked}{}", shown(path)))
}

fn on_error(error: &Error) -> Option<Cow<'static, str>> {
    let advice = match error {
        Error::Session(SessionError::NotFound { .. }) => "`leafline ls` lists them",
        Error::Session(SessionError::EntryNotFound { session, .. }) => {
            let command = command(&format!("tree --full {}", argument(session)));
            return Some(format!("{command} shows its entries").into());
        }
        Error::Session(SessionError::FileNotFound { session, .. }) => {
            return Some(
                format!("{} lists them", command(&format!("files {}", argument(session)))).into(),
            );
        }
        Error::Export(ExportError::BlobsMissing { .. }) => {
            "import the session again with --blobs DIR, the folder that holds them"
        }
        Error::Export(ExportError::OriginalNotHeld { session, .. }) => {
            let command = command(&format!("export --as current {}", argument(session)));
            return Some(format!("{command} gives it as it is now").into());
        }
        Error::Store(StoreError::NotFound { is_empty: false, .. }) => {
            "`leafline import` or `leafline new` makes it"
        }
        Error::Store(StoreError::NotFound { .. }) => {
            "if it had sessions, put a backup in its place; `leafline import` or `leafline new` begins anew"
        }
        Error::Store(StoreError::NoJournal { .. } | StoreError::JournalAhead { .. }) => {
            "`leafline compact --without-journal` gives up what it alone has"
        }
        Error::Store(StoreError::InUse { path } | StoreError::BeingRead { path }) => {
            let holders = holders(path);
            return (!holders.is_empty())
                .then(|| format!("processes that have it open: {}", holders.join(", ")).into());
        }
        // A folder never was one.
        Error::Store(StoreError::NotAStore { path, .. })
            if store_in_use() == Some(path)
                && path.metadata().is_ok_and(|file| file.is_file() && file.len() <= PAGE) =>
        {
            ANEW
        }
        Error::Store(StoreError::NotAStore { path, .. })
            if store_in_use() == Some(path) && path.is_file() =>
        {
            let command = command(&format!("salvage {} -o NEW", path_argument(path)));
            return Some(format!("if it was one, {command} saves what is whole").into());
        }
        Error::Search(SearchError::Index { .. }) => {
            "`leafline index --rebuild` makes it again from the store"
        }
        Error::Search(SearchError::FolderTaken { .. }) => {
            "move it away, and `leafline index` makes the index"
        }
        Error::Corrupted(Corruption { table: "redaction-key", .. }) => {
            "move it away, and the next export that redacts makes another, with other placeholders"
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
            "{reason}; {} brings that into the store, --replace writes over it",
            command(&format!("sync {}", path_argument(folder)))
        ),
        KeptReason::Changed => format!("{reason}; export again"),
        KeptReason::NoFile | KeptReason::Differs => {
            format!("{reason}; move that away and export again")
        }
        _ => reason.to_string(),
    }
}
