//! Files into the store and out of it, with progress and cancellation.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use leafline::Store as Handle;
use leafline::export::{ExportMode, ExportOptions, ExportOutcome, ExportReport};
use leafline::import::{FileReport, ImportObserver};
use napi::Status;
use napi::bindgen_prelude::{AsyncTask, Buffer, JsValuesTupleIntoVec};
use napi::threadsafe_function::{
    ThreadsafeFunction, ThreadsafeFunctionCallMode, UnknownReturnValue,
};
use napi_derive::napi;

use crate::objects::{family, number};
use crate::store::Store;
use crate::work::{Result, Work, invalid};

/// A callback that any thread may call.
type Callback<T> = ThreadsafeFunction<T, UnknownReturnValue, T, Status, false, true>;

/// How long a thread waits for the next of the last calls. A program that ends waits for the thread, and does not call any more.
const NEXT_CALL: Duration = Duration::from_secs(1);

/// Calls of a callback, which are over when the promise is fulfilled, unless one of them takes longer than a second.
///
/// They wait in a queue without a bound: a thread that waited for JavaScript here, in the middle of a write, would wait for
/// ever for a JavaScript that waits for that write.
struct Calls<T: JsValuesTupleIntoVec + 'static> {
    callback: Callback<T>,
    /// Each call has a copy, and sends when it is over.
    under_way: Sender<()>,
    over: Receiver<()>,
}

impl<T: JsValuesTupleIntoVec + 'static> Calls<T> {
    fn new(callback: Callback<T>) -> Self {
        let (under_way, over) = channel();
        Self { callback, under_way, over }
    }

    fn call(&self, value: T) {
        let under_way = self.under_way.clone();
        let mode = ThreadsafeFunctionCallMode::NonBlocking;
        // An exception of the callback is an uncaught one, as of any callback that nobody waits for.
        self.callback.call_with_return_value(value, mode, move |returned, _| {
            // It may be that nobody waits any more.
            let _ = under_way.send(());
            returned.map(drop)
        });
    }

    /// Waits for the calls, once nothing of the store is held.
    fn wait(self) {
        drop(self.under_way);
        while self.over.recv_timeout(NEXT_CALL).is_ok() {}
    }
}

/// Ends imports and exports that it was given to.
#[napi]
#[derive(Clone, Default)]
pub struct Cancellation {
    stop: Arc<AtomicBool>,
}

#[napi]
impl Cancellation {
    /// One that ends nothing yet.
    #[napi(constructor)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self { stop: Arc::default() }
    }

    /// Ends them: what is stored or written by then stays.
    #[napi]
    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether it was called.
    #[napi(getter)]
    pub fn is_cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

fn stop_of(cancellation: Option<&Cancellation>) -> Arc<AtomicBool> {
    cancellation.map(|cancellation| Arc::clone(&cancellation.stop)).unwrap_or_default()
}

/// How files are imported.
#[napi(object)]
#[derive(Default)]
pub struct ImportOptions {
    /// The family of the files; it is detected if it is absent.
    #[napi(ts_type = "Family")]
    pub family: Option<String>,
    /// A folder of blobs, each named by the SHA-256 of its bytes, from which references are resolved.
    pub blobs: Option<String>,
    /// Whether a file replaces the session it was imported as even if the session has something that the file lacks.
    pub replace: Option<bool>,
    /// Whether files of sessions that were removed from the store are imported again.
    pub restore: Option<bool>,
}

impl ImportOptions {
    fn options(self) -> Result<leafline::import::ImportOptions> {
        Ok(leafline::import::ImportOptions {
            family: self.family.as_deref().map(family).transpose()?,
            blobs: self.blobs.map(PathBuf::from),
            replace: self.replace.unwrap_or_default(),
            restore: self.restore.unwrap_or_default(),
            ..leafline::import::ImportOptions::default()
        })
    }
}

/// What an import has reached: a file that is done, or bytes that were read.
#[napi(object)]
pub struct ImportProgress {
    /// Files that will be read.
    pub files: i64,
    /// Their bytes.
    pub bytes: i64,
    /// Bytes that were read so far.
    pub read_bytes: i64,
    /// The file that is done; absent if only bytes were read.
    pub file: Option<ImportedFile>,
}

/// One file's outcome.
#[napi(object)]
pub struct ImportedFile {
    /// The file.
    pub path: String,
    /// What became of it.
    #[napi(
        ts_type = "'imported' | 'grown' | 'unchanged' | 'replaced' | 'skipped' | 'left_out' | 'removed' | 'failed'"
    )]
    pub status: String,
    /// The id under which the session is addressed.
    pub session: Option<String>,
    /// Its family.
    #[napi(ts_type = "Family")]
    pub family: Option<String>,
    /// Entries of the session.
    pub entries: i64,
    /// Lines that are not JSON.
    pub malformed: i64,
    /// The file's size in bytes.
    pub bytes: i64,
    /// Why it was skipped or failed, or another remark.
    pub reason: Option<String>,
}

/// What became of the files that programs keep beside sessions.
#[napi(object)]
pub struct BesideTotals {
    /// Files that the store has since this import.
    pub taken: i64,
    /// Their bytes.
    pub bytes: i64,
    /// Files that it had as they are.
    pub unchanged: i64,
    /// Files that are too large.
    pub skipped: i64,
    /// Files that could not be read.
    pub failed: i64,
}

/// Files in folders that hold sessions in a form that is not read, such as those that Codex has compressed.
#[napi(object)]
pub struct LeftOut {
    /// Why they were left out.
    pub reason: String,
    /// How many.
    pub files: i64,
}

/// All files' outcome.
#[napi(object)]
pub struct ImportTotals {
    /// Files that were examined.
    pub files: i64,
    /// New sessions.
    pub imported: i64,
    /// Sessions that gained new lines.
    pub grown: i64,
    /// Files without anything new.
    pub unchanged: i64,
    /// Sessions that were replaced by their file.
    pub replaced: i64,
    /// Files that are not sessions.
    pub skipped: i64,
    /// Files whose sessions were removed from the store.
    pub removed: i64,
    /// Files that could not be stored.
    pub failed: i64,
    /// Entries of all sessions that were reported.
    pub entries: i64,
    /// Malformed lines.
    pub malformed: i64,
    /// Bytes of the files that are sessions.
    pub bytes: i64,
    /// The files beside sessions, which the other numbers do not count.
    pub beside: BesideTotals,
    /// The files that were left out, which the other numbers do not count.
    pub left_out: Vec<LeftOut>,
}

impl From<&leafline::import::ImportTotals> for ImportTotals {
    fn from(totals: &leafline::import::ImportTotals) -> Self {
        Self {
            files: number(totals.files),
            imported: number(totals.imported),
            grown: number(totals.grown),
            unchanged: number(totals.unchanged),
            replaced: number(totals.replaced),
            skipped: number(totals.skipped),
            removed: number(totals.removed),
            failed: number(totals.failed),
            entries: number(totals.entries),
            malformed: number(totals.malformed),
            bytes: number(totals.bytes),
            beside: BesideTotals {
                taken: number(totals.beside.taken),
                bytes: number(totals.beside.bytes),
                unchanged: number(totals.beside.unchanged),
                skipped: number(totals.beside.skipped),
                failed: number(totals.beside.failed),
            },
            left_out: totals.left_out.iter().map(LeftOut::from).collect(),
        }
    }
}

impl From<&leafline::import::LeftOut> for LeftOut {
    fn from(left_out: &leafline::import::LeftOut) -> Self {
        Self { reason: left_out.reason.to_string(), files: number(left_out.files) }
    }
}

fn status(report: &FileReport) -> &'static str {
    use leafline::import::ImportStatus::{
        Failed, Grown, Imported, LeftOut, Removed, Replaced, Skipped, Unchanged,
    };
    match report.status {
        Imported => "imported",
        Grown => "grown",
        Unchanged => "unchanged",
        Replaced => "replaced",
        Skipped => "skipped",
        LeftOut => "left_out",
        Removed => "removed",
        Failed => "failed",
        _ => "unknown",
    }
}

/// Bytes between two reports of bytes alone: 16 MiB, some tens a second.
const REPORT_BYTES: u64 = 16 << 20;

/// Passes an import's progress on to JavaScript.
struct Telling {
    on_progress: Option<Calls<ImportProgress>>,
    stop: Arc<AtomicBool>,
    files: u64,
    bytes: u64,
    read: u64,
    told: u64,
}

impl Telling {
    fn tell(&mut self, file: Option<ImportedFile>) {
        self.told = self.read;
        let Some(on_progress) = &self.on_progress else { return };
        on_progress.call(ImportProgress {
            files: number(self.files),
            bytes: number(self.bytes),
            read_bytes: number(self.read),
            file,
        });
    }
}

impl ImportObserver for Telling {
    fn begin(&mut self, files: u64, bytes: u64) {
        (self.files, self.bytes) = (files, bytes);
        self.tell(None);
    }

    fn read(&mut self, bytes: u64) {
        self.read += bytes;
        if self.read - self.told >= REPORT_BYTES {
            self.tell(None);
        }
    }

    fn file(&mut self, report: &FileReport) {
        self.tell(Some(ImportedFile {
            path: report.path.to_string_lossy().into_owned(),
            status: status(report).to_owned(),
            session: report.session.clone(),
            family: report.family.map(|family| family.name().to_owned()),
            entries: number(report.entries),
            malformed: number(report.malformed),
            bytes: number(report.bytes),
            reason: report.reason.clone(),
        }));
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// The form of an export by its name.
pub(crate) fn export_mode(name: Option<&str>, blobs: Option<String>) -> Result<ExportMode> {
    match (name.unwrap_or("current"), blobs) {
        ("refs", Some(blobs)) => Ok(ExportMode::References { blobs: blobs.into() }),
        ("refs", None) => Err(invalid("an export as `refs` needs a folder for blobs")),
        (name, Some(_)) => Err(invalid(format!("an export as `{name}` writes no blobs"))),
        (name, None) => ExportMode::named(name)
            .ok_or_else(|| invalid(format!("there is no export as {name:?}"))),
    }
}

/// How sessions are exported into a folder.
#[napi(object)]
#[derive(Default)]
pub struct FolderOptions {
    /// The form of each file. Default: `current`.
    #[napi(ts_type = "ExportMode")]
    pub mode: Option<String>,
    /// With the mode `refs`, the folder for blobs.
    pub blobs: Option<String>,
    /// Whether to overwrite a file that someone else has changed.
    pub replace: Option<bool>,
    /// Only these sessions; all of them if it is absent.
    pub sessions: Option<Vec<String>>,
}

/// One file's outcome in an export.
#[napi(object)]
pub struct ExportedFile {
    /// The id of its session.
    pub session: String,
    /// The file.
    pub path: String,
    /// Whether it is one that the program keeps beside the session's file, and not that.
    pub beside: bool,
    /// What became of it.
    #[napi(ts_type = "'written' | 'unchanged' | 'kept' | 'failed' | 'removed' | 'left'")]
    pub outcome: String,
    /// Bytes that were written.
    pub bytes: Option<i64>,
    /// Why it was kept, failed or left.
    pub reason: Option<String>,
}

impl From<&ExportReport> for ExportedFile {
    fn from(report: &ExportReport) -> Self {
        let (bytes, reason) = match &report.outcome {
            ExportOutcome::Written { bytes } => (Some(number(*bytes)), None),
            ExportOutcome::Kept { reason } => (None, Some(reason.to_string())),
            ExportOutcome::Failed(error) => (None, Some(error.to_string())),
            ExportOutcome::Left { reason } => (None, Some(reason.clone())),
            _ => (None, None),
        };
        Self {
            session: report.session.clone(),
            path: report.path.to_string_lossy().into_owned(),
            beside: report.is_beside,
            outcome: report.outcome.name().to_owned(),
            bytes,
            reason,
        }
    }
}

/// The outcome of an export into a folder.
#[napi(object)]
pub struct ExportTotals {
    /// Sessions: each is written, unchanged, kept or failed.
    pub sessions: i64,
    /// Sessions whose file was written.
    pub written: i64,
    /// Sessions whose file had the same bytes.
    pub unchanged: i64,
    /// Sessions whose file has other contents and was not touched.
    pub kept: i64,
    /// Sessions that could not be exported.
    pub failed: i64,
    /// Bytes that were written.
    pub bytes: i64,
}

fn export_folder(
    store: &Handle,
    folder: &str,
    (options, sessions): (&ExportOptions, Option<&[String]>),
    stop: &AtomicBool,
    on_file: Option<&Calls<ExportedFile>>,
) -> leafline::Result<ExportTotals> {
    let tell = |report: &ExportReport| {
        if let Some(on_file) = on_file {
            on_file.call(report.into());
        }
    };
    let totals = match sessions {
        None => store.export_all_until(folder, options, stop, tell)?,
        Some(sessions) => {
            let sessions: Vec<&str> = sessions.iter().map(String::as_str).collect();
            store.export_into(folder, &sessions, options, stop, tell)?
        }
    };
    Ok(ExportTotals {
        sessions: number(totals.sessions),
        written: number(totals.written),
        unchanged: number(totals.unchanged),
        kept: number(totals.kept),
        failed: number(totals.failed),
        bytes: number(totals.bytes),
    })
}

impl Store {
    fn take_files(
        &self,
        paths: Vec<String>,
        options: Option<ImportOptions>,
        on_progress: Option<Callback<ImportProgress>>,
        (cancellation, is_sync): (Option<&Cancellation>, bool),
    ) -> Result<AsyncTask<Work<ImportTotals>>> {
        let options = options.unwrap_or_default().options()?;
        let stop = stop_of(cancellation);
        Ok(self.spawn(move |store| {
            let on_progress = on_progress.map(Calls::new);
            let mut telling = Telling { on_progress, stop, files: 0, bytes: 0, read: 0, told: 0 };
            let totals = match is_sync {
                true => store.sync(&paths, &options, &mut telling),
                false => store.import(&paths, &options, &mut telling),
            };
            telling.on_progress.into_iter().for_each(Calls::wait);
            Ok(ImportTotals::from(&totals?))
        }))
    }
}

#[napi]
impl Store {
    /// Imports files, and the `*.jsonl` files of folders. A file is stored as a whole or not at all; one that cannot be
    /// stored is reported and does not affect the others. `onProgress` is called for each file that is done, and every 16 MiB,
    /// before the promise is fulfilled.
    /// When `cancellation` is cancelled, the promise is fulfilled with what was done by then. It is rejected with
    /// `IMPORT_UNREADABLE`, once all else is stored, if one of `paths` is not there or cannot be read.
    #[napi(
        ts_args_type = "paths: string[], options?: ImportOptions | null, onProgress?: ((progress: ImportProgress) => void) | null, cancellation?: Cancellation | null",
        ts_return_type = "Promise<ImportTotals>"
    )]
    pub fn import_files(
        &self,
        paths: Vec<String>,
        options: Option<ImportOptions>,
        on_progress: Option<Callback<ImportProgress>>,
        cancellation: Option<&Cancellation>,
    ) -> Result<AsyncTask<Work<ImportTotals>>> {
        self.take_files(paths, options, on_progress, (cancellation, false))
    }

    /// Brings the store in step with files and folders: what `importFiles` does, at the cost of what is new.
    #[napi(
        ts_args_type = "paths: string[], options?: ImportOptions | null, onProgress?: ((progress: ImportProgress) => void) | null, cancellation?: Cancellation | null",
        ts_return_type = "Promise<ImportTotals>"
    )]
    pub fn sync_files(
        &self,
        paths: Vec<String>,
        options: Option<ImportOptions>,
        on_progress: Option<Callback<ImportProgress>>,
        cancellation: Option<&Cancellation>,
    ) -> Result<AsyncTask<Work<ImportTotals>>> {
        self.take_files(paths, options, on_progress, (cancellation, true))
    }

    /// Writes a session to a file, under a temporary name that is then renamed; gives the bytes written.
    #[napi(ts_return_type = "Promise<number>")]
    pub fn export_file(
        &self,
        session: String,
        path: String,
        #[napi(ts_arg_type = "ExportMode")] mode: Option<String>,
        blobs: Option<String>,
    ) -> Result<AsyncTask<Work<i64>>> {
        let mode = export_mode(mode.as_deref(), blobs)?;
        Ok(self.spawn(move |store| {
            Ok(number(store.export_file(&session, &mode, Path::new(&path))?))
        }))
    }

    /// The bytes of the blob with this SHA-256 in hex, with or without `blob:sha256:` before it; `null` if the store does not
    /// have them.
    #[napi(ts_return_type = "Promise<Buffer | null>")]
    pub fn blob(&self, hash: String) -> AsyncTask<Work<Option<Buffer>>> {
        self.spawn(move |store| Ok(store.get_blob(&hash)?.map(Buffer::from)))
    }

    /// Stores a blob, and gives its SHA-256 in hex: lines may refer to it as `blob:sha256:<hash>`.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn put_blob(&self, bytes: Buffer) -> AsyncTask<Work<String>> {
        self.spawn(move |store| store.put_blob(&bytes))
    }

    /// Brings the files in a folder in step with the store, one for each session. `onFile` is called for each. The blobs to
    /// which omp's sessions refer are in `omp/blobs`.
    /// When `cancellation` is cancelled, the promise is fulfilled with what was done by then.
    #[napi(
        ts_args_type = "folder: string, options?: FolderOptions | null, onFile?: ((file: ExportedFile) => void) | null, cancellation?: Cancellation | null",
        ts_return_type = "Promise<ExportTotals>"
    )]
    pub fn export_folder(
        &self,
        folder: String,
        options: Option<FolderOptions>,
        on_file: Option<Callback<ExportedFile>>,
        cancellation: Option<&Cancellation>,
    ) -> Result<AsyncTask<Work<ExportTotals>>> {
        let FolderOptions { mode, blobs, replace, sessions } = options.unwrap_or_default();
        let mode = export_mode(mode.as_deref(), blobs)?;
        let options = ExportOptions { replace: replace.unwrap_or_default(), ..mode.into() };
        let stop = stop_of(cancellation);
        Ok(self.spawn(move |store| {
            let (what, on_file) = ((&options, sessions.as_deref()), on_file.map(Calls::new));
            let totals = export_folder(store, &folder, what, &stop, on_file.as_ref());
            on_file.into_iter().for_each(Calls::wait);
            totals
        }))
    }
}
