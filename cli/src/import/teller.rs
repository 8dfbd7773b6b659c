//! What an import or a sync says of its files while it runs.

use std::path::Path;

use anstyle::Style;
use leafline::import::{
    BesideReport, BesideStatus, FileReport, ImportObserver, ImportStatus, LeftOut, LeftOutReason,
};

use super::sources::is_standard_input;
use crate::advice::with_advice;
use crate::failure::{Failure, complain};
use crate::interrupt::Interrupt;
use crate::number::{bytes, count, counted};
use crate::output::{BAD, FAINT, GOOD, Output};
use crate::place::shown;
use crate::progress::Bar;
use crate::show::write_beside;
use crate::text;

/// Which files are listed.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Listing {
    /// List the files that brought nothing new, too
    #[arg(short, long, conflicts_with = "quiet")]
    verbose: bool,

    /// List only the files that failed, without totals
    #[arg(short, long)]
    quiet: bool,
}

impl Listing {
    /// Whether totals, folders and the like are printed.
    pub(crate) fn is_quiet(self) -> bool {
        self.quiet
    }

    /// The files that are left out: these, unless all or only the failed ones are wanted.
    fn hidden(self, usually: &'static [ImportStatus]) -> &'static [ImportStatus] {
        match self {
            Self { verbose: true, .. } => &[],
            Self { quiet: true, .. } => &[
                ImportStatus::Imported,
                ImportStatus::Grown,
                ImportStatus::Replaced,
                ImportStatus::Unchanged,
                ImportStatus::Skipped,
                ImportStatus::LeftOut,
                ImportStatus::Removed,
            ],
            _ => usually,
        }
    }

    /// The files beside sessions that are left out: a session may have thousands.
    fn hidden_beside(self) -> &'static [BesideStatus] {
        use BesideStatus::{Skipped, Taken, Unchanged};
        match self {
            Self { verbose: true, .. } => &[],
            Self { quiet: true, .. } => &[Taken, Unchanged, Skipped],
            _ => &[Taken, Unchanged],
        }
    }
}

/// Reports the import while it runs, and ends it when it is interrupted.
pub(crate) struct Teller<'o> {
    out: &'o mut Output,
    hidden: &'static [ImportStatus],
    hidden_beside: &'static [BesideStatus],
    is_quiet: bool,
    interrupt: Interrupt,
    bar: Bar,
    /// The files that are known, and those whose outcome is.
    files: u64,
    ended: u64,
    /// Why nothing more can be printed. The import continues without it.
    failure: Option<Failure>,
}

impl<'o> Teller<'o> {
    /// One that lists what is wanted of the files, of which these are usually hidden.
    pub(crate) fn new(
        out: &'o mut Output,
        (listing, usually): (Listing, &'static [ImportStatus]),
        interrupt: Interrupt,
    ) -> Self {
        let bar = Bar::of_bytes(0);
        let (hidden, hidden_beside) = (listing.hidden(usually), listing.hidden_beside());
        let is_quiet = listing.is_quiet();
        let (files, ended, failure) = (0, 0, None);
        Self { out, hidden, hidden_beside, is_quiet, interrupt, bar, files, ended, failure }
    }

    /// Says how far an import came that was interrupted, once its bar is gone; and why not everything could be
    /// reported.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        drop(self.bar);
        if self.ended < self.files && self.interrupt.is_set() {
            complain(&format!(
                "stopped after {} of {}: those are stored, and the next run goes on from there",
                count(self.ended),
                counted(self.files, "file", "files")
            ));
        }
        self.failure.map_or(Ok(()), Err)
    }
}

impl ImportObserver for Teller<'_> {
    fn begin(&mut self, files: u64, bytes: u64) {
        self.bar = Bar::of_bytes(bytes);
        self.files = files;
    }

    fn read(&mut self, bytes: u64) {
        self.bar.advance(bytes);
    }

    fn file(&mut self, report: &FileReport) {
        // Those that are left out are not among the known.
        self.ended += u64::from(report.status != ImportStatus::LeftOut);
        if self.failure.is_none() && !self.hidden.contains(&report.status) {
            let out = &mut *self.out;
            self.failure = self.bar.aside(|| print_file(report, out)).err();
        }
    }

    fn beside(&mut self, report: &BesideReport) {
        if self.failure.is_none() && !self.hidden_beside.contains(&report.status) {
            let out = &mut *self.out;
            self.failure = self.bar.aside(|| print_beside(report, out)).err();
        }
    }

    fn left_out(&mut self, left_out: &LeftOut) {
        if self.failure.is_none() && !self.is_quiet {
            let out = &mut *self.out;
            self.failure = self.bar.aside(|| print_left_out(left_out, out)).err();
        }
    }

    fn is_stopped(&self) -> bool {
        self.interrupt.is_set()
    }
}

/// Says of a reason how many files were left out for it.
pub(super) fn print_left_out(left_out: &LeftOut, out: &mut Output) -> Result<(), Failure> {
    if out.is_json() {
        out.json(&serde_json::json!({ "left_out": [left_out] }))?;
        return out.show();
    }
    let files = counted(left_out.files, "file", "files");
    let advice = match (left_out.reason, left_out.files) {
        (LeftOutReason::Compressed, 1) => "; decompress it to import it",
        (LeftOutReason::Compressed, _) => "; decompress them to import them",
        _ => "",
    };
    write_beside("", 0, &format!("{files} left out: {}{advice}", left_out.reason), out)?;
    out.show()
}

fn print_file(report: &FileReport, out: &mut Output) -> Result<(), Failure> {
    let report = with_advice(report);
    if out.is_json() {
        out.json(&*report)?;
    } else {
        Line::of(&report).write(out)?;
    }
    out.show()
}

fn print_beside(report: &BesideReport, out: &mut Output) -> Result<(), Failure> {
    if out.is_json() {
        out.json(report)?;
    } else {
        Line::of_beside(report).write(out)?;
    }
    out.show()
}

/// The columns of a status, and of the space behind it.
pub(super) const STATUS_WIDTH: usize = 11;

/// The line of a file.
struct Line<'r> {
    /// A word, and how it is painted.
    status: (&'static str, Style),
    session: &'r str,
    /// How many entries the session has, or what the file is in place of one.
    entries: String,
    bytes: u64,
    path: String,
    remarks: Vec<String>,
}

impl<'r> Line<'r> {
    fn of(report: &'r FileReport) -> Self {
        let status = match report.status {
            ImportStatus::Imported => ("imported", GOOD),
            ImportStatus::Grown => ("grown", GOOD),
            ImportStatus::Unchanged => ("unchanged", FAINT),
            ImportStatus::Replaced => ("replaced", GOOD),
            ImportStatus::LeftOut => ("left out", FAINT),
            ImportStatus::Removed => ("removed", FAINT),
            ImportStatus::Failed => ("failed", BAD),
            // Skipped, or a status added by a later library.
            _ => ("skipped", FAINT),
        };
        let entries = match &report.session {
            Some(_) => counted(report.entries, "entry", "entries"),
            None => "-".to_owned(),
        };
        let mut remarks = Vec::new();
        if report.malformed > 0 {
            remarks.push(counted(report.malformed, "malformed line", "malformed lines"));
        }
        remarks.extend(report.reason.clone());
        let session = report.session.as_deref().unwrap_or("-");
        let (bytes, path) = (report.bytes, name_of(&report.path));
        Self { status, session, entries, bytes, path, remarks }
    }

    fn of_beside(report: &'r BesideReport) -> Self {
        let status = match report.status {
            BesideStatus::Taken => ("taken", GOOD),
            BesideStatus::Unchanged => ("unchanged", FAINT),
            BesideStatus::Failed => ("failed", BAD),
            // Skipped, or a status added by a later library.
            _ => ("skipped", FAINT),
        };
        Self {
            status,
            session: &report.beside,
            entries: "beside".to_owned(),
            bytes: report.bytes,
            path: shown(&report.path),
            remarks: report.reason.clone().into_iter().collect(),
        }
    }

    fn write(&self, out: &mut Output) -> Result<(), Failure> {
        let mut line = format!(
            "{:<36}  {:>14}  {:>8}  {}",
            text::printable(self.session),
            self.entries,
            bytes(self.bytes),
            text::printable(&self.path),
        );
        if !self.remarks.is_empty() {
            line.push_str(&format!("  ({})", text::printable(&self.remarks.join("; "))));
        }
        let (status, style) = self.status;
        let status = format!("{}  ", out.paint(style, &format!("{status:<9}")));
        write_beside(&status, STATUS_WIDTH, &line, out)
    }
}

/// A file's path, or what a person calls standard input.
fn name_of(path: &Path) -> String {
    if is_standard_input(path) { "standard input".to_owned() } else { shown(path) }
}
