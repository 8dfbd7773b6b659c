//! `leafline import`.

mod discovery;
mod sources;

use std::time::Instant;

use leafline::error::StoreError;
use leafline::import::{
    FileReport, ImportObserver, ImportOptions, ImportStatus, ImportTotals, Recovery,
};
use leafline::{Error, Store};
use serde::Serialize;

use self::discovery::{Discovery, FoundFolder};
pub(super) use self::sources::Sources;
use super::advice::with_advice;
use super::failure::{Failure, complain};
use super::index::Indexing;
use super::number::{bytes, counted, counts};
use super::output::{BAD, FAINT, GOOD, Output};
use super::place::{Place, shown};
use super::progress::{Bar, Spinner};
use super::{Status, text};

/// Import session files into the store
///
/// Imports files, and every *.jsonl file below folders; without a PATH, lists and imports what the programs below keep
/// in your home folder. Importing a file again skips it if it is unchanged and adds what is new if it has grown; if its
/// old lines differ, the file replaces its session only if the session holds nothing that the file lacks. Each file is
/// stored whole or not at all. A file that is not a session is reported and skipped, and is not a failure; nor is a file
/// whose session `leafline rm` deleted, which stays deleted unless --restore is given. A large import returns unused space
/// to the system at its end.
///
/// Prints a line a file: status, session id, entries, size, path and remarks; then the totals. With --json, one object
/// a file (path, status, session, family, version, lines, entries, malformed, bytes, reason), then one object with the
/// totals, by status; without a PATH it also has the programs' folders, as folders: [{family, path, exists, files,
/// bytes}].
#[derive(Debug, clap::Args)]
#[command(after_help = format!("\
Without a PATH:
{}
Examples:
  leafline import
  leafline import --family claude
  leafline import ~/.pi/agent/sessions
  leafline import --replace session.jsonl
  leafline import --restore session.jsonl          takes a deleted session again", discovery::folders()))]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    /// Also recover entries from lines that are not JSON in pi's and omp's files, not only in Claude Code's
    #[arg(long)]
    recover: bool,

    /// Recover no entries from lines that are not JSON
    #[arg(long, conflicts_with = "recover")]
    strict: bool,

    /// Let a file replace its session even if the session holds what the file lacks
    #[arg(long)]
    replace: bool,

    /// Import files of deleted sessions again
    #[arg(long)]
    restore: bool,

    /// Leave the store's unused space for later imports
    #[arg(long)]
    no_compact: bool,

    #[command(flatten)]
    indexing: Indexing,
}

/// Imports the files.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let (paths, discovery) = arguments.sources.find()?;
    let options = ImportOptions {
        family: arguments.sources.family(),
        recovery: match (arguments.recover, arguments.strict) {
            (true, _) => Recovery::All,
            (_, true) => Recovery::None,
            _ => Recovery::Documented,
        },
        blobs: arguments.sources.blobs.clone(),
        replace: arguments.replace,
        restore: arguments.restore,
        longest_line: arguments.sources.longest_line,
    };
    if let Some(discovery) = discovery.as_ref().filter(|_| !out.is_json()) {
        discovery.print(out)?;
    }
    let mut store = place.open_or_create()?;
    let begun = Instant::now();
    let mut teller = Teller::new(out);
    let imported = store.import(&paths, &options, &mut teller);
    let told = teller.finish();
    let totals = imported?;
    let told = told.and_then(|()| print_totals(&totals, discovery.as_ref(), begun, out));
    if !arguments.no_compact && store.is_worth_compacting(&totals)? {
        compact(&mut store)?;
    }
    arguments.indexing.follow(&store, totals.new_bytes);
    if totals.failed > 0 {
        let failed = counted(totals.failed, "file was", "files were");
        complain(&format!("{failed} not imported; the lines that begin with \"failed\" say why"));
        return Ok(Status::Failed);
    }
    told.map(|()| Status::Done)
}

/// Returns space to the system. Does not fail if another process has the store open: the import is complete.
fn compact(store: &mut Store) -> Result<(), Failure> {
    let _spinner = Spinner::new("compacting the store");
    match store.compact() {
        Ok(_) | Err(Error::Store(StoreError::InUse { .. })) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Reports the import while it runs.
pub(super) struct Teller<'o> {
    out: &'o mut Output,
    bar: Bar,
    /// Why nothing more can be printed. The import continues without it.
    failure: Option<Failure>,
}

impl<'o> Teller<'o> {
    pub(super) fn new(out: &'o mut Output) -> Self {
        Self { out, bar: Bar::of_bytes(0), failure: None }
    }

    /// Returns why not everything could be reported.
    pub(super) fn finish(self) -> Result<(), Failure> {
        self.failure.map_or(Ok(()), Err)
    }
}

impl ImportObserver for Teller<'_> {
    fn begin(&mut self, _files: u64, bytes: u64) {
        self.bar = Bar::of_bytes(bytes);
    }

    fn read(&mut self, bytes: u64) {
        self.bar.advance(bytes);
    }

    fn file(&mut self, report: &FileReport) {
        if self.failure.is_none() {
            let out = &mut *self.out;
            self.failure = self.bar.aside(|| print_file(report, out)).err();
        }
    }
}

fn print_file(report: &FileReport, out: &mut Output) -> Result<(), Failure> {
    let report = with_advice(report);
    if out.is_json() {
        out.json(&*report)?;
    } else {
        let line = describe(&report, out);
        out.line(format_args!("{line}"))?;
    }
    out.show()
}

fn describe(report: &FileReport, out: &Output) -> String {
    let (status, style) = match report.status {
        ImportStatus::Imported => ("imported", GOOD),
        ImportStatus::Grown => ("grown", GOOD),
        ImportStatus::Unchanged => ("unchanged", FAINT),
        ImportStatus::Replaced => ("replaced", GOOD),
        ImportStatus::Removed => ("removed", FAINT),
        ImportStatus::Failed => ("failed", BAD),
        // Skipped, or a status added by a later library.
        _ => ("skipped", FAINT),
    };
    let session = report.session.as_deref().unwrap_or("-");
    let entries = match &report.session {
        Some(_) => counted(report.entries, "entry", "entries"),
        None => "-".to_owned(),
    };
    let mut line = format!(
        "{}  {:<36}  {entries:>14}  {:>8}  {}",
        out.paint(style, &format!("{status:<9}")),
        text::printable(session),
        bytes(report.bytes),
        text::printable(&shown(&report.path)),
    );
    let mut remarks = Vec::new();
    if report.malformed > 0 {
        remarks.push(counted(report.malformed, "malformed line", "malformed lines"));
    }
    remarks.extend(report.reason.as_deref().map(|reason| text::printable(reason).into_owned()));
    if !remarks.is_empty() {
        line.push_str(&format!("  ({})", remarks.join("; ")));
    }
    line
}

/// The totals, and the folders found if no path was given.
#[derive(Serialize)]
struct TotalsJson<'a> {
    #[serde(flatten)]
    totals: &'a ImportTotals,
    #[serde(skip_serializing_if = "Option::is_none")]
    folders: Option<&'a [FoundFolder]>,
}

pub(super) fn print_totals(
    totals: &ImportTotals,
    discovery: Option<&Discovery>,
    begun: Instant,
    out: &mut Output,
) -> Result<(), Failure> {
    if out.is_json() {
        out.json(&TotalsJson { totals, folders: discovery.map(Discovery::folders) })?;
        return out.show();
    }
    let outcomes = [
        (totals.imported, "imported"),
        (totals.grown, "grown"),
        (totals.replaced, "replaced"),
        (totals.unchanged, "unchanged"),
        (totals.skipped, "skipped"),
        (totals.removed, "removed before"),
        (totals.failed, "failed"),
    ];
    let files = counted(totals.files, "file", "files");
    let Some(outcomes) = counts(&outcomes) else {
        out.line(format_args!("{files}"))?;
        return out.show();
    };
    let mut parts = vec![outcomes, counted(totals.entries, "entry", "entries")];
    if totals.malformed > 0 {
        parts.push(counted(totals.malformed, "malformed line", "malformed lines"));
    }
    let seconds = begun.elapsed().as_secs_f64();
    out.line(format_args!(
        "{files}: {}; {} in {seconds:.1} s",
        parts.join("; "),
        bytes(totals.bytes)
    ))?;
    out.show()
}
