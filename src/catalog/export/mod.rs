//! Exporting into files: one session, or all of them into a folder that is kept in step with the store.

mod beside;
mod blobs;
mod file;
mod file_tree;
mod folder;
mod manifest;
mod moved;
mod places;
mod report;
mod resume;
mod standing;
mod to_source;

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use self::folder::FolderExport;
pub use self::report::{
    BesideExportTotals, ExportOptions, ExportOutcome, ExportReport, ExportTotals, KeptReason,
};
pub use self::resume::Resumption;
use crate::destination::refuse_store;
use crate::error::{Error, ExportError, FileContext, Result};
use crate::session::export::Exported;
use crate::session::{ExportMode, SessionReader};
#[cfg(feature = "share")]
use crate::share::{ShareForm, ShareOptions};
use crate::store::Store;
use crate::store::fingerprint::Fingerprint;
use crate::temporary::remove_left;
use crate::whole_file::OutputFile;

/// Fails if a file at `path` would replace a store or what belongs to one: its journal, its search folder, its terminals folder,
/// the key of its placeholders. `store` is the store in use. The outputs of this library are checked; this is for other ones.
///
/// ```
/// use leafline::export::check_output;
///
/// # fn main() -> leafline::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// let store = folder.path().join("sessions.leafline");
/// drop(leafline::Store::open(&store)?);
/// assert!(check_output(&folder.path().join("page.html"), Some(&store)).is_ok());
/// assert!(check_output(&folder.path().join("sessions.leafline.journal"), None).is_err());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`ExportError::WouldReplaceStore`]; [`Error::File`] if what is there cannot be read.
pub fn check_output(path: &Path, store: Option<&Path>) -> Result<()> {
    refuse_store(path, store.unwrap_or(Path::new("")))
}

/// Bytes collected before they are written.
const BUFFER_BYTES: usize = 1 << 20;

impl Store {
    /// Brings the files in `folder` in step with the store, one for each session, and reports each: new and changed
    /// sessions are written, and nothing else is touched. The folder has one for each program, named by its family, which
    /// the program can use in place of its own: `pi/sessions/--<cwd>--/<time>_<id>.jsonl`, and so for omp,
    /// `claude/projects/<project>/<id>.jsonl` and `<id>/subagents/<agent>.jsonl` there, `opal/sessions/<id>.jsonl`,
    /// `codex/sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`.
    ///
    /// The folder's manifest, `.leafline-manifest`, records what was written. If neither a session nor its file's size
    /// and time of modification have changed, the file is not opened. A file that someone else has changed is compared:
    /// it is written only if nothing is lost by it, because it is the beginning of what would be written; otherwise it
    /// is kept and reported, unless [`ExportOptions::replace`] allows it to be overwritten. So what an agent has added
    /// to its file stays until [`Self::sync`] has stored it.
    ///
    /// Each file is written under a temporary name and renamed, so that a file is always complete, and gets a time of
    /// modification two seconds before it was written, so that any later change alters it. A session whose name has
    /// changed, for example because its project was moved, gets a new file, and the old one is removed if it has
    /// nothing that the new one lacks. The file of a session that is gone from the store stays. A session that cannot
    /// be exported does not affect the others.
    ///
    /// The [files beside a session](SessionReader::files_beside) are written beside its file, and reported after it. They are not
    /// in the manifest: those that are there are compared each time. Another one in the place of such a file is kept, unless
    /// [`ExportOptions::replace`] is set. If secrets are to be replaced, none is written.
    ///
    /// ```
    /// use leafline::Store;
    /// use leafline::export::{ExportOptions, ExportOutcome};
    /// use leafline::import::ImportOptions;
    ///
    /// # fn main() -> leafline::Result<()> {
    /// # let place = tempfile::tempdir().unwrap();
    /// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi");
    /// let store = Store::open(place.path().join("sessions.leafline"))?;
    /// store.import(&[samples], &ImportOptions::default(), &mut ())?;
    /// let folder = place.path().join("sessions");
    /// let totals = store.export_all(&folder, &ExportOptions::default(), |report| {
    ///     if let ExportOutcome::Kept { reason } = &report.outcome {
    ///         println!("{}: {reason}", report.path.display());
    ///     }
    /// })?;
    /// assert_eq!(totals.written, totals.sessions);
    ///
    /// let totals = store.export_all(&folder, &ExportOptions::default(), |_| {})?;
    /// assert_eq!(totals.unchanged, totals.sessions);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the list of sessions cannot be read, or the manifest cannot be written; in the latter case the files are in
    /// step all the same, and the next export compares them. A session's failure is in its report.
    pub fn export_all(
        &self,
        folder: impl AsRef<Path>,
        options: &ExportOptions,
        on_report: impl FnMut(&ExportReport),
    ) -> Result<ExportTotals> {
        self.export_all_until(folder, options, &AtomicBool::new(false), on_report)
    }

    /// Does what [`Self::export_all`] does, until `stop` is set: the file that is then being written is completed, the
    /// other sessions are neither reported nor counted, and the next export goes on with them.
    ///
    /// # Errors
    ///
    /// Those of [`Self::export_all`].
    pub fn export_all_until(
        &self,
        folder: impl AsRef<Path>,
        options: &ExportOptions,
        stop: &AtomicBool,
        mut on_report: impl FnMut(&ExportReport),
    ) -> Result<ExportTotals> {
        FolderExport::new(self, folder.as_ref(), options, &mut on_report)?.run(None, stop)
    }

    /// Does what [`Self::export_all_until`] does, for these sessions only: the files of others stay as they are, and so does
    /// what the manifest says of them. Each session has the file that an export of all would give it.
    ///
    /// # Errors
    ///
    /// [`SessionError::NotFound`](crate::error::SessionError::NotFound) if one of the ids is no session's, before anything
    /// is written; and those of [`Self::export_all`].
    pub fn export_into(
        &self,
        folder: impl AsRef<Path>,
        sessions: &[&str],
        options: &ExportOptions,
        stop: &AtomicBool,
        mut on_report: impl FnMut(&ExportReport),
    ) -> Result<ExportTotals> {
        let ids = sessions.iter().map(|session| Ok(self.session(session)?.id().to_owned()));
        let chosen = ids.collect::<Result<HashSet<String>>>()?;
        let export = FolderExport::new(self, folder.as_ref(), options, &mut on_report)?;
        export.run(Some(&chosen), stop)
    }

    /// Writes a session to a file, under a temporary name that is then renamed; returns the bytes written. If the path
    /// is a link, the file that it leads to is written, and the link stays. A device, a pipe, or a descriptor such as
    /// `/dev/fd/3` is written directly.
    ///
    /// # Errors
    ///
    /// [`ExportError::WouldReplaceStore`] if the path leads to a store, or to what belongs to one; [`Error::File`]
    /// of the file, and those of [`SessionReader::export`]. The file then still has its old contents.
    pub fn export_file(&self, session: &str, mode: &ExportMode, path: &Path) -> Result<u64> {
        self.export_file_with(session, &mode.clone().into(), path)
    }

    /// Does what [`Self::export_file`] does, by options of which [`ExportOptions::replace`] does not count: this file is
    /// replaced.
    ///
    /// # Errors
    ///
    /// Those of [`Self::export_file`].
    pub fn export_file_with(
        &self,
        session: &str,
        options: &ExportOptions,
        path: &Path,
    ) -> Result<u64> {
        let session = self.session(session)?;
        let reader = session.reader()?;
        options.mode.blobs().into_iter().for_each(remove_left);
        let file = OutputFile::open(path, self.path())?;
        let written = write(&reader, options, file.file(), path)?;
        file.finish()?;
        Ok(written.exported.bytes)
    }
}

#[cfg(feature = "share")]
impl Store {
    /// Writes a session's conversation to a file, as [`Self::export_file`] writes a session.
    ///
    /// # Errors
    ///
    /// Those of [`Self::export_file`] and of [`SessionReader::share`].
    pub fn share_file(
        &self,
        session: &str,
        form: ShareForm,
        options: &ShareOptions,
        path: &Path,
    ) -> Result<u64> {
        let reader = self.reader(session)?;
        let file = OutputFile::open(path, self.path())?;
        let out = BufWriter::with_capacity(BUFFER_BYTES, file.file());
        let mut out = Fingerprinted { out, fingerprint: Fingerprint::default() };
        match reader.share(form, options, &mut out) {
            Err(Error::Export(ExportError::Output(source))) => {
                return Err(Error::File { action: "writing", path: path.to_owned(), source });
            }
            other => other?,
        }
        out.flush().at("writing", path)?;
        let written = out.fingerprint.length();
        drop(out);
        file.finish()?;
        Ok(written)
    }
}

/// What was written into a file.
struct Written {
    exported: Exported,
    fingerprint: u128,
}

/// Writes a session into a file that will be renamed to `path`.
fn write(
    reader: &SessionReader,
    options: &ExportOptions,
    file: &File,
    path: &Path,
) -> Result<Written> {
    let out = BufWriter::with_capacity(BUFFER_BYTES, file);
    let mut out = Fingerprinted { out, fingerprint: Fingerprint::default() };
    let exported = match reader.export_noting(&options.mode, options.redactor(), &mut out) {
        Err(Error::Export(ExportError::Output(source))) => {
            return Err(Error::File { action: "writing", path: path.to_owned(), source });
        }
        other => other?,
    };
    out.flush().at("writing", path)?;
    Ok(Written { exported, fingerprint: out.fingerprint.digest() })
}

/// Passes on bytes, and computes their fingerprint.
struct Fingerprinted<W> {
    out: W,
    fingerprint: Fingerprint,
}

impl<W: Write> Write for Fingerprinted<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.fingerprint.take(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}
