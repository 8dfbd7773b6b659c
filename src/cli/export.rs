//! `leafline export`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use leafline::{ExportMode, ExportReport, Store};
use serde_json::json;

use super::failure::{Failure, complain, usage};
use super::number::{bytes, count};
use super::output::{BAD, Output};
use super::place::{Place, shown};
use super::progress::{Bar, Spinner};
use super::{Status, text};

/// Write sessions out again
///
/// Writes a session to standard output, or to a file, which is written beside its place and renamed. By default it
/// comes out as its program has it today: a file of version 1 or 2 as pi rewrites it on loading, a file of version
/// 3 byte for byte, as those of Claude Code and Opal are. A session of Opal's that was changed here comes out as Opal
/// would save it. --as chooses another form. With --all every session is written below a folder, in the
/// folder and file names of its program: --<cwd>--/<time>_<id>.jsonl for pi and omp, <project>/<id>.jsonl for Claude Code,
/// <id>.jsonl for Opal.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  leafline export 019c6605 > session.jsonl
  leafline export 019c6605 --as exact -o session.jsonl
  leafline export 019c7bd3 --as refs --blobs blobs -o session.jsonl
  leafline export --all -o sessions")]
pub(super) struct Arguments {
    /// The session: an id, or the unique beginning of one
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    session: Option<String>,

    /// Every session
    #[arg(long, requires = "output")]
    all: bool,

    /// The file to write; with --all the folder
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The form
    #[arg(long = "as", value_enum, default_value_t = Form::Current, value_name = "FORM")]
    form: Form,

    /// The folder that --as refs writes the referenced blobs to, each named by its SHA-256
    #[arg(long, value_name = "DIR", required_if_eq("form", "refs"))]
    blobs: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Form {
    /// As its program would write it today, images left as they are
    Current,
    /// The imported bytes; of a session of Opal's that was changed here, the same as current
    Exact,
    /// References to blobs become inline base64
    Portable,
    /// Images of 1,024 base64 characters or more become references to blobs
    Refs,
}

/// Exports one session, or all.
pub(super) fn run(
    arguments: Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let mode = mode(arguments.form, arguments.blobs)?;
    let store = place.open_to_read()?;
    match (arguments.session, arguments.output) {
        (Some(session), Some(path)) => to_file(&store, &session, &mode, &path, out),
        (Some(session), None) => to_standard_output(&store, &session, &mode, out),
        (None, folder) => {
            let folder = folder.expect("clap takes --all with --output only");
            all(&store, &mode, &folder, out)
        }
    }
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
        (Form::Portable, None) => Ok(ExportMode::Portable),
    }
}

fn to_standard_output(
    store: &Store,
    session: &str,
    mode: &ExportMode,
    out: &mut Output,
) -> Result<Status, Failure> {
    let reader = store.reader(session)?;
    // On a terminal the session itself is what shows that it goes on.
    let spinner = out.width().is_none().then(|| Spinner::new("exporting"));
    reader.export(mode, out)?;
    drop(spinner);
    Ok(Status::Done)
}

fn to_file(
    store: &Store,
    session: &str,
    mode: &ExportMode,
    path: &Path,
    out: &mut Output,
) -> Result<Status, Failure> {
    let id = store.session(session)?.id().to_owned();
    let spinner = Spinner::new("exporting");
    let written = store.export_file(&id, mode, path)?;
    drop(spinner);
    tell(&id, path, written, out)?;
    Ok(Status::Done)
}

fn all(
    store: &Store,
    mode: &ExportMode,
    folder: &Path,
    out: &mut Output,
) -> Result<Status, Failure> {
    let mut bar = Bar::of_sessions(store.sessions()?.len() as u64);
    let mut failed = 0;
    let mut failure = None;
    store.export_all(folder, mode, |report| {
        bar.advance(1);
        failed += u64::from(report.outcome.is_err());
        // Who no longer listens still gets his files.
        if failure.is_none() {
            failure = bar.aside(|| tell_report(report, out)).err();
        }
    })?;
    drop(bar);
    if failed > 0 {
        complain(&format!(
            "{} of the sessions could not be exported; the lines above say why",
            count(failed)
        ));
        return Ok(Status::Failed);
    }
    failure.map_or(Ok(Status::Done), Err)
}

fn tell_report(report: &ExportReport, out: &mut Output) -> Result<(), Failure> {
    match &report.outcome {
        Ok(written) => tell(&report.session, &report.path, *written, out),
        Err(error) => {
            let reason = error.to_string();
            if out.is_json() {
                let path = shown(&report.path);
                out.json(&json!({ "session": report.session, "path": path, "bytes": null, "reason": reason }))?;
            } else {
                let (failed, id) = (out.paint(BAD, "failed"), text::printable(&report.session));
                out.line(format_args!("{failed}  {id:<36}  {}", text::printable(&reason)))?;
            }
            out.show()
        }
    }
}

fn tell(session: &str, path: &Path, written: u64, out: &mut Output) -> Result<(), Failure> {
    let path = shown(path);
    if out.is_json() {
        out.json(&json!({ "session": session, "path": path, "bytes": written, "reason": null }))?;
    } else {
        let id = text::printable(session);
        out.line(format_args!(
            "wrote   {id:<36}  {:>8}  {}",
            bytes(written),
            text::printable(&path)
        ))?;
    }
    out.show()
}
