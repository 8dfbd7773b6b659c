//! `leafline export`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::ValueEnum;
use leafline::export::{ExportMode, ExportOptions, ExportOutcome, ExportReport, ExportTotals};
use leafline::list::SessionFilter;
use leafline::share::{ShareForm, ShareOptions};
use leafline::{Family, SessionReader, Store};
use serde::Serialize;

use super::advice::{advised, on_kept};
use super::entry_choice::entry_id;
use super::failure::{Failure, complain, usage};
use super::interrupt::Interrupt;
use super::lines::Lines;
use super::number::{bytes, count, counted, counts};
use super::output::{BAD, FAINT, GOOD, Output, close_to_others, is_standard_output};
use super::place::{Place, shown};
use super::progress::{Bar, Spinner};
use super::redaction::{RedactionArguments, tell};
use super::show::write_beside;
use super::{Status, text};

/// Write sessions as files
///
/// Writes a session to standard output, or to a file; several to standard output, one after the other, or into a folder. By
/// default in its program's current form: a file of version 1 or 2 as pi rewrites it on loading, any other byte for byte.
/// A session of Opal that was changed here is written as Opal would save it. --as selects another form.
///
/// Writes a temporary file beside FILE and renames it, so that the old one stays until the new one is complete. If FILE
/// is a link, its target is written; a device, a pipe or a descriptor such as /dev/fd/3 is written directly. Never
/// overwrites a store, neither the one in use nor another.
///
/// With --to-source, writes the session to the path in its program's folder from which it was imported, or that the program
/// would give it, so that the program can resume it, with the agents that it has started and the files beside them. Lines that
/// the program has added to the file are stored first. If a file cannot be merged, it is kept, and the exit status is 1.
///
/// With --all, or with -o FOLDER/ for some sessions, writes each session to a folder, laid out as its program's own: FOLDER/claude/projects/<project>/<id>.jsonl,
/// FOLDER/pi/sessions/--<cwd>--/<time>_<id>.jsonl, and so for each program, which can use FOLDER/claude and so on in place
/// of its own: CLAUDE_CONFIG_DIR=FOLDER/claude claude --resume <id>. The images to which omp's sessions refer are in
/// FOLDER/omp/blobs. Skips sessions that have not changed
/// since the last export, after checking the file's size and time. Keeps and reports a file to which someone else has
/// added; import it with `leafline sync FOLDER`, or overwrite it with --replace. A session whose project was moved
/// moves too. The files of deleted sessions stay. Files that were imported from beside a session are written beside its file;
/// with --redact none is. .leafline-manifest in the folder records what was written. The next export removes what a killed one
/// has left half written. Ctrl-c stops after the file that is being written, and the next export goes on from there.
///
/// --as md writes the conversation that leads to the leaf as Markdown. --as html writes it as a page that is one file and asks
/// nothing of any server: with its branches, tool calls folded, images, times and costs, and a search. Both begin at --from
/// ENTRY, if it is given: an entry that is not on the way to the leaf stands for the conversation that goes through it, to the
/// end of its branch. Both end at --to ENTRY, if it is given. (The --from of `leafline path` is where a path ends.)
///
/// With --redact, secrets are replaced by placeholders, in the file's names too, and standard error says how many of what
/// kind; the store stays as it is. Images and other base64 that is longer than 1,024 characters are not looked at, and with
/// --as refs a blob of text that has a secret is not written. Nothing that reads like a secret to you alone is found:
/// name it with --redact-pattern, and read what you share.
///
/// Prints a line for each file that was written, removed, kept, left behind or failed, and the totals. With --json, one
/// object a file, unchanged ones too (status, session, path, bytes, reason, and beside if it is one beside the session's).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  leafline export 019c6605 > session.jsonl
  leafline export 019c6605 --as exact -o session.jsonl
  leafline export 019c6605 --as original | cmp - session.jsonl
  leafline export 019c7bd3 --as refs --blobs blobs -o session.jsonl
  leafline export --to-source 5b0c7a52
  leafline export 019c6605 5b0c7a52 | grep -c tool_use
  leafline export 019c6605 5b0c7a52 -o sessions/
  leafline export 019c6605 --redact -o shared.jsonl
  leafline export 019c6605 --as html --redact -o shared.html
  leafline export 019c6605 --as md --from 588262d5
  leafline export --all -o sessions
  leafline sync sessions && leafline export --all -o sessions")]
pub(super) struct Arguments {
    /// The sessions: ids, or unique prefixes of ids
    #[arg(
        required_unless_present = "all",
        conflicts_with = "all",
        value_name = "SESSION",
        add = crate::completion::sessions()
    )]
    sessions: Vec<String>,

    /// Put the sessions back where their programs look for them, unless there are other files
    #[arg(long, requires = "sessions", conflicts_with_all = ["all", "output", "form", "blobs", "redact", "patterns", "emails", "homes"])]
    to_source: bool,

    /// Every session
    #[arg(long, requires = "output")]
    all: bool,

    /// In a folder, overwrite files that someone else has changed
    #[arg(long, requires = "output")]
    replace: bool,

    /// The file to write, - for standard output; or a folder: with --all, or if it is one or ends with /
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The form
    #[arg(long = "as", value_enum, default_value_t = Form::Current, value_name = "FORM")]
    form: Form,

    /// The folder that --as refs writes the referenced blobs to, each named by its SHA-256
    #[arg(long, value_name = "DIR", required_if_eq("form", "refs"))]
    blobs: Option<PathBuf>,

    #[command(flatten)]
    redaction: RedactionArguments,

    /// With --as md or html, the entry to begin at, on any branch: its id, or a unique prefix of it, or @leaf or @last
    #[arg(long, value_name = "ENTRY")]
    from: Option<String>,

    /// With --as md or html, the entry to end at, in place of the leaf
    #[arg(long, value_name = "ENTRY")]
    to: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Form {
    /// As its program would write it today, images left as they are
    Current,
    /// The imported bytes of a file of version 1 or 2; any other session's lines as they are, including those appended
    /// or changed here; for a session of Opal that was changed here, the same as current
    Exact,
    /// The imported file, without what was appended here; fails if the store does not have it because the session was
    /// made here or lines were changed here
    Original,
    /// References to blobs become inline base64
    Portable,
    /// The conversation of the leaf as Markdown, to be pasted
    Md,
    /// The conversation with its branches as one page of HTML, to be opened in a browser
    Html,
    /// Images of 1,024 base64 characters or more become references to blobs
    Refs,
}

impl Form {
    /// The form of a conversation, if it is one.
    fn shared(self) -> Option<ShareForm> {
        match self {
            Self::Md => Some(ShareForm::Markdown),
            Self::Html => Some(ShareForm::Page),
            Self::Current | Self::Exact | Self::Original | Self::Portable | Self::Refs => None,
        }
    }
}

/// Writes the conversation of a session for people.
fn share(
    form: ShareForm,
    arguments: Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let [session] = arguments.sessions.as_slice() else {
        return Err(usage("--as md and --as html write one session"));
    };
    if arguments.replace || arguments.blobs.is_some() {
        return Err(usage("--as md and --as html write one file: no --replace and no --blobs"));
    }
    let store = place.open_to_read()?;
    let reader = store.reader(session)?;
    let mut options = ShareOptions::default();
    let id =
        |named: &Option<String>| named.as_deref().map(|named| entry_id(&reader, named)).transpose();
    (options.from, options.to) = (id(&arguments.from)?, id(&arguments.to)?);
    options.redactor = arguments.redaction.redactor(&store)?;
    match arguments.output {
        Some(path) if path != Path::new("-") && !is_standard_output(&path) => {
            if is_folder(&path) {
                return Err(usage("--as md and --as html write one file: name it"));
            }
            let spinner = Spinner::new("exporting");
            let written = store.share_file(&reader.id(), form, &options, &path)?;
            drop(spinner);
            print_outcome(&Told::written(&reader.id(), &path, written), out)?;
            tell(options.redactor.as_ref(), false, out)?;
        }
        _ => {
            let mut lines = Lines::new(out);
            close_to_others();
            reader.share(form, &options, &mut lines)?;
            tell(options.redactor.as_ref(), true, out)?;
        }
    }
    Ok(Status::Done)
}

/// Exports sessions, or all.
pub(super) fn run(
    arguments: Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    if let Some(form) = arguments.form.shared() {
        return share(form, arguments, place, out);
    }
    if arguments.from.is_some() || arguments.to.is_some() {
        return Err(usage(
            "--from and --to ENTRY go with --as md and --as html: the other forms are whole",
        ));
    }
    let mode = mode(arguments.form, arguments.blobs)?;
    let is_dash = arguments.output.as_deref() == Some(Path::new("-"));
    if is_dash && arguments.all {
        return Err(usage(
            "--all writes a folder of files, and - is standard output: name the folder",
        ));
    }
    let store = match arguments.to_source {
        true => place.open_to_change()?,
        false => place.open_to_read()?,
    };
    let sessions = arguments.sessions;
    // Before anything is written, each of them is known.
    let ids = sessions.iter().map(|session| Ok(store.session(session)?.id().to_owned()));
    let ids = ids.collect::<Result<Vec<String>, Failure>>()?;
    if arguments.to_source {
        return all_to_source(&store, &ids, out);
    }
    let redactor = arguments.redaction.redactor(&store)?;
    let options = ExportOptions { replace: arguments.replace, redactor, ..mode.into() };
    match (ids.as_slice(), arguments.output) {
        ([], folder) => {
            let folder = folder.expect("clap takes --all with --output only");
            into_folder(&store, None, &options, &folder, out)
        }
        (ids, Some(folder)) if is_folder(&folder) => {
            into_folder(&store, Some(ids), &options, &folder, out)
        }
        _ if arguments.replace => Err(usage("--replace goes with a folder: -o FOLDER/")),
        // The report on a file would end up in the middle of the session.
        ([session], Some(path)) if !is_dash && !is_standard_output(&path) => {
            to_file(&store, session, &options, &path, out)
        }
        (_, Some(path)) if !is_dash && !is_standard_output(&path) => Err(usage(
            "-o FILE takes one session: several go into a folder with -o FOLDER/, or without -o to standard output, one after the other",
        )),
        (ids, _) => {
            let mut lines = Lines::new(out);
            for session in ids {
                lines.begin().map_err(Failure::Output)?;
                to_standard_output(&store, session, &options, &mut lines)?;
            }
            tell(options.redactor.as_ref(), true, out)?;
            Ok(Status::Done)
        }
    }
}

fn all_to_source(store: &Store, ids: &[String], out: &mut Output) -> Result<Status, Failure> {
    let mut status = Status::Done;
    for session in ids {
        if to_source(store, session, out)? == Status::Failed {
            status = Status::Failed;
        }
    }
    Ok(status)
}

fn mode(form: Form, blobs: Option<PathBuf>) -> Result<ExportMode, Failure> {
    match (form, blobs) {
        (Form::Refs, Some(blobs)) => Ok(ExportMode::References { blobs }),
        (Form::Refs, None) => Err(usage("--as refs needs --blobs DIR, the folder for the blobs")),
        (_, Some(_)) => {
            Err(usage("--blobs DIR goes with --as refs only: the other forms write no blobs"))
        }
        (Form::Current, None) => Ok(ExportMode::Current),
        (Form::Exact, None) => Ok(ExportMode::Exact),
        (Form::Original, None) => Ok(ExportMode::Original),
        (Form::Portable, None) => Ok(ExportMode::Portable),
        (Form::Md | Form::Html, None) => Err(usage("--as md and --as html write conversations")),
    }
}

fn to_standard_output(
    store: &Store,
    session: &str,
    options: &ExportOptions,
    out: &mut Lines<'_>,
) -> Result<Status, Failure> {
    let reader = store.reader(session)?;
    // On a terminal the session itself shows the progress.
    let spinner = (!out.is_terminal()).then(|| Spinner::new("exporting"));
    close_to_others();
    match &options.redactor {
        Some(redactor) => reader.export_redacted(&options.mode, redactor, out)?,
        None => reader.export(&options.mode, out)?,
    };
    drop(spinner);
    tell_references(&reader, &options.mode)?;
    Ok(Status::Done)
}

/// Says that a file of omp's needs blobs that are not in it.
fn tell_references(reader: &SessionReader, mode: &ExportMode) -> Result<(), Failure> {
    let holds_all = matches!(mode, ExportMode::Portable | ExportMode::References { .. });
    if holds_all || reader.family() != Family::Omp {
        return Ok(());
    }
    let references = reader.blob_references()?.len();
    if references > 0 {
        let blobs = counted(references as u64, "image or text", "images and texts");
        complain(&format!(
            "the file refers to {blobs} in the store: --as portable writes them into the file, -o FOLDER/ next to it"
        ));
    }
    Ok(())
}

fn to_file(
    store: &Store,
    session: &str,
    options: &ExportOptions,
    path: &Path,
    out: &mut Output,
) -> Result<Status, Failure> {
    let reader = store.reader(session)?;
    let id = reader.id();
    let spinner = Spinner::new("exporting");
    let written = store.export_file_with(&id, options, path)?;
    drop(spinner);
    print_outcome(&Told::written(&id, path, written), out)?;
    tell_references(&reader, &options.mode)?;
    tell(options.redactor.as_ref(), false, out)?;
    Ok(Status::Done)
}

fn to_source(store: &Store, session: &str, out: &mut Output) -> Result<Status, Failure> {
    let spinner = Spinner::new("exporting");
    let reports = store.export_to_source(session)?;
    drop(spinner);
    let mut status = Status::Done;
    for report in &reports {
        if tell_of(report, out)? == Status::Failed {
            status = Status::Failed;
        }
    }
    Ok(status)
}

/// Says what became of a file that was to be put where its program looks for it.
pub(super) fn tell_of(report: &ExportReport, out: &mut Output) -> Result<Status, Failure> {
    print_outcome(&Told::of(report, &report.path), out)?;
    let is_missing =
        matches!(report.outcome, ExportOutcome::Kept { .. } | ExportOutcome::Failed(_));
    Ok(if is_missing { Status::Failed } else { Status::Done })
}

/// Whether a path names a folder: one that is there, or by its end.
fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().to_string_lossy().ends_with(std::path::is_separator)
}

/// Writes these sessions, or all, as files of a folder.
fn into_folder(
    store: &Store,
    ids: Option<&[String]>,
    options: &ExportOptions,
    folder: &Path,
    out: &mut Output,
) -> Result<Status, Failure> {
    let begun = Instant::now();
    let interrupt = Interrupt::listen()?;
    let sessions = match ids {
        // One that is named twice is one.
        Some(ids) => ids.iter().collect::<HashSet<_>>().len(),
        None => {
            let list = store.list_readable(&SessionFilter::default())?;
            list.sessions.len() + list.damaged.len()
        }
    };
    let sessions = sessions as u64;
    let mut bar = Bar::of_sessions(sessions);
    let mut failure = None;
    let report = |report: &ExportReport| {
        bar.advance(u64::from(!report.is_beside));
        // If standard output is closed, the files are still written.
        if failure.is_none() {
            failure = bar.aside(|| print_report(report, folder, out)).err();
        }
    };
    let exported = match ids {
        Some(ids) => {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            store.export_into(folder, &ids, options, interrupt.flag(), report)
        }
        None => store.export_all_until(folder, options, interrupt.flag(), report),
    };
    drop(bar);
    let totals = exported?;
    let told = failure.map_or(Ok(()), Err).and_then(|()| print_totals(&totals, begun, out));
    let told = told.and_then(|()| tell(options.redactor.as_ref(), false, out));
    if totals.failed > 0 {
        complain(&format!(
            "{} of the sessions could not be exported; the lines above say why",
            count(totals.failed)
        ));
    }
    if totals.beside.failed > 0 {
        let failed =
            counted(totals.beside.failed, "file beside a session", "files beside sessions");
        complain(&format!("{failed} could not be written; the lines above say why"));
    }
    let kept = totals.kept + totals.beside.kept;
    if kept > 0 {
        let kept = counted(kept, "file was", "files were");
        complain(&format!("{kept} not written; the lines that begin with \"kept\" say what to do"));
    }
    if interrupt.is_set() && totals.sessions < sessions {
        complain(&format!(
            "stopped after {} of {}: the next export goes on from there",
            count(totals.sessions),
            counted(sessions, "session", "sessions")
        ));
        return told.map(|()| Status::Stopped);
    }
    if totals.failed + totals.beside.failed + kept > 0 {
        return Ok(Status::Failed);
    }
    told.map(|()| Status::Done)
}

fn print_report(report: &ExportReport, folder: &Path, out: &mut Output) -> Result<(), Failure> {
    if matches!(report.outcome, ExportOutcome::Unchanged) && !out.is_json() {
        return Ok(());
    }
    print_outcome(&Told::of(report, folder), out)
}

/// The report on one file.
#[derive(Serialize)]
struct Told<'a> {
    status: &'static str,
    session: &'a str,
    path: String,
    bytes: Option<u64>,
    reason: Option<String>,
    /// Whether it is a file beside the session, and not the session's.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    beside: bool,
}

impl<'a> Told<'a> {
    /// A session that was written to a file.
    fn written(session: &'a str, path: &Path, bytes: u64) -> Self {
        let (bytes, reason, beside) = (Some(bytes), None, false);
        Self { status: "written", session, path: shown(path), bytes, reason, beside }
    }

    /// What became of a file; `place` is where the export goes.
    fn of(report: &'a ExportReport, place: &Path) -> Self {
        let (session, path) = (report.session.as_str(), shown(&report.path));
        let (bytes, reason) = match &report.outcome {
            ExportOutcome::Written { bytes } => (Some(*bytes), None),
            ExportOutcome::Kept { reason } => (None, Some(on_kept(*reason, place))),
            ExportOutcome::Left { reason } => (None, Some(reason.clone())),
            ExportOutcome::Failed(error) => (None, Some(advised(error))),
            // Unchanged, removed, or an outcome added by a later library.
            _ => (None, None),
        };
        let (status, beside) = (report.outcome.name(), report.is_beside);
        Self { status, session, path, bytes, reason, beside }
    }
}

/// The columns of a status, unless it is a long one.
const STATUS_WIDTH: usize = 7;

fn print_outcome(told: &Told<'_>, out: &mut Output) -> Result<(), Failure> {
    if out.is_json() {
        out.json(told)?;
        return out.show();
    }
    let style = match told.status {
        "written" => GOOD,
        "kept" | "failed" => BAD,
        _ => FAINT,
    };
    let status_width = told.status.len().max(STATUS_WIDTH);
    let status = out.paint(style, &format!("{:<status_width$}", told.status));
    let mut rest = format!(
        "{:<36}  {:>8}  {}",
        text::printable(told.session),
        told.bytes.map(bytes).unwrap_or_else(|| "-".to_owned()),
        text::printable(&told.path),
    );
    if let Some(reason) = &told.reason {
        rest.push_str(&format!("  ({})", text::printable(reason)));
    }
    write_beside(&format!("{status}  "), status_width + 2, &rest, out)?;
    out.show()
}

fn print_totals(totals: &ExportTotals, begun: Instant, out: &mut Output) -> Result<(), Failure> {
    if out.is_json() {
        return Ok(());
    }
    let outcomes = [
        (totals.written, "written"),
        (totals.unchanged, "unchanged"),
        (totals.kept, "kept"),
        (totals.failed, "failed"),
    ];
    let mut parts: Vec<String> = counts(&outcomes).into_iter().collect();
    let old = [(totals.removed, "removed"), (totals.left, "left")];
    parts.extend(counts(&old).map(|old| format!("old files: {old}")));
    let beside = [
        (totals.beside.written, "written"),
        (totals.beside.unchanged, "unchanged"),
        (totals.beside.kept, "kept"),
        (totals.beside.failed, "failed"),
    ];
    parts.extend(counts(&beside).map(|beside| format!("files beside them: {beside}")));
    let sessions = counted(totals.sessions, "session", "sessions");
    let seconds = begun.elapsed().as_secs_f64();
    parts.push(format!("{} in {seconds:.1} s", bytes(totals.bytes + totals.beside.bytes)));
    write_beside("", 0, &format!("{sessions}: {}", parts.join("; ")), out)?;
    out.show()
}
