//! `leafline resume`.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use leafline::Store;
use leafline::export::{ExportOutcome, ExportReport, Resumption};
use serde::Serialize;

use super::advice::{advised, argument, command};
use super::failure::Failure;
use super::output::Output;
use super::place::{Place, quoted, shown};
use super::progress::Spinner;
use super::{Status, text};

const EXAMPLES: &str = "\
Examples:
  leafline resume 019c6605
  leafline resume 019c6605 --exec
  eval \"$(leafline resume 019c6605)\"
  leafline resume 019c6605 --json | jq .command";

/// Changes the directory and the drive, in every shell of the system.
const CHANGE_DIRECTORY: &str = if cfg!(windows) { "pushd" } else { "cd" };

/// The separator of two commands. Windows's older shells share no operator for it.
const THEN: &str = if cfg!(windows) { "\n" } else { " && " };

/// Go on with a session in its program
///
/// Puts the session back where its program looks for it, with the agents that it has started and the files beside them, and
/// prints the command that goes on with it in its directory, as a line for a shell. --exec runs it. If the directory does not
/// exist, no command is printed or run, and the exit status is 1; --json names the directory all the same.
///
/// An existing file stays if it has all of the session. Lines that its program has added are stored first, and the file is
/// written anew with the lines of both; a file that has a part of the session, or is of an earlier version of the format, is
/// written anew too. If the program would not start at the session's leaf, a line that makes it start there is added. If the file
/// cannot be merged, the command fails and writes no file. If Codex has archived the session, `codex unarchive` comes first.
/// Another file in the place of one beside a session stays, and standard error says so. Opal's sessions cannot be resumed: how
/// Opal is told to go on is not known here.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The session: an id, or a unique prefix of one
    #[arg(add = crate::completion::sessions())]
    session: String,

    /// Run the program instead of printing the command
    #[arg(long)]
    exec: bool,
}

/// A resumption as JSON.
#[derive(Serialize)]
struct Json<'r> {
    session: &'r str,
    command: Vec<String>,
    /// A command that must succeed first.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Vec<String>>,
    directory: Option<String>,
    /// The directory in which the program works, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    file_directory: Option<String>,
    files: Vec<File<'r>>,
}

#[derive(Serialize)]
struct File<'r> {
    session: &'r str,
    path: String,
    status: &'static str,
    /// Whether it is a file beside the session, and not the session's.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    beside: bool,
}

/// Puts the session back, and says or runs what goes on with it.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = place.open_to_change()?;
    if arguments.exec {
        check_directory(&store, &arguments.session)?;
    }
    let spinner = Spinner::new("exporting");
    let resumption = store.resume(&arguments.session)?;
    drop(spinner);
    // The program may write for days.
    drop(store);
    for report in &resumption.files {
        remark(report, out);
    }
    if let (Some(old), Some(new)) = (&resumption.file_directory, &resumption.directory)
        && new.is_dir()
    {
        let program = resumption.command.first().map(|program| program.to_string_lossy());
        let (session, new) = (argument(&resumption.session), word(new.as_os_str()));
        out.remark(format!(
            "{} will work in {}, the directory in the file; {} makes a session in the new directory",
            program.unwrap_or_default(),
            text::printable(&shown(old)),
            command(&format!("fork --cwd {new} {session}")),
        ));
    }
    if arguments.exec {
        return go_on(&resumption);
    }
    if out.is_json() {
        let texts = |command: &[OsString]| {
            command.iter().map(|part| part.to_string_lossy().into_owned()).collect()
        };
        let files = resumption.files.iter().map(|report| File {
            session: &report.session,
            path: shown(&report.path),
            status: report.outcome.name(),
            beside: report.is_beside,
        });
        return out
            .json(&Json {
                session: &resumption.session,
                command: texts(&resumption.command),
                before: resumption.before.as_deref().map(texts),
                directory: resumption.directory.as_deref().map(shown),
                file_directory: resumption.file_directory.as_deref().map(shown),
                files: files.collect(),
            })
            .map(|()| Status::Done);
    }
    let mut commands = Vec::new();
    if let Some(directory) = &resumption.directory {
        if !directory.is_dir() {
            return Err(Failure::NoDirectory {
                session: resumption.session,
                directory: directory.clone(),
            });
        }
        commands.push(format!("{CHANGE_DIRECTORY} {}", word(directory.as_os_str())));
    }
    for command in resumption.before.iter().chain([&resumption.command]) {
        let words: Vec<String> = command.iter().map(|text| word(text)).collect();
        commands.push(words.join(" "));
    }
    out.line(format_args!("{}", commands.join(THEN)))?;
    Ok(Status::Done)
}

/// Says which files were written, and which of agents' and of those beside sessions were kept.
pub(super) fn remark(report: &ExportReport, out: &mut Output) {
    let path = shown(&report.path);
    let path = text::printable(&path);
    match &report.outcome {
        ExportOutcome::Written { .. } => out.remark(format!("{path} was written")),
        ExportOutcome::Kept { reason } => out.remark(format!("{path} was kept: {reason}")),
        ExportOutcome::Failed(error) => {
            out.remark(format!("{path} was not written: {}", text::printable(&advised(error))));
        }
        _ => {}
    }
}

/// Becomes the program, where the system can do that.
pub(super) fn go_on(resumption: &Resumption) -> Result<Status, Failure> {
    let (program, _) = resumption.command.split_first().expect("a command has a program");
    let found = if cfg!(windows) { on_windows(program, Path::is_file) } else { None };
    let command = |words: &[OsString]| {
        let mut command = Command::new(found.as_deref().unwrap_or(program));
        command.args(words.iter().skip(1));
        if let Some(directory) = &resumption.directory {
            command.current_dir(directory);
        }
        command
    };
    let failed =
        |source| Failure::NotRun { program: program.to_string_lossy().into_owned(), source };
    if let Some(before) = &resumption.before
        && !command(before).status().map_err(failed)?.success()
    {
        return Ok(Status::Failed);
    }
    let mut command = command(&resumption.command);
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        Err(failed(command.exec()))
    }
    #[cfg(not(unix))]
    {
        let status = command.status().map_err(failed)?;
        Ok(if status.success() { Status::Done } else { Status::Failed })
    }
}

/// Where Windows has a program, by the endings that a shell tries: npm makes scripts, which are not found without them.
fn on_windows(program: &OsStr, is_file: impl Fn(&Path) -> bool) -> Option<OsString> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).find_map(|folder| {
        let paths = [".exe", ".cmd", ".bat"].map(|ending| {
            let mut name = program.to_owned();
            name.push(ending);
            folder.join(name)
        });
        paths.into_iter().find(|path| is_file(path)).map(Into::into)
    })
}

/// Fails if the session's directory, in which its program is run, is not there: before anything is written.
pub(super) fn check_directory(store: &Store, session: &str) -> Result<(), Failure> {
    let facts = store.reader(session)?.facts();
    match facts.cwd.as_deref().map(Path::new) {
        Some(directory) if !directory.is_dir() => Err(Failure::NoDirectory {
            session: facts.id.to_string(),
            directory: directory.to_owned(),
        }),
        _ => Ok(()),
    }
}

/// A word of a printed command. What a terminal would take for itself does not reach it.
fn word(text: &OsStr) -> String {
    quoted(&text::printable(&text.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_found_by_its_ending() {
        let found = |there: &str| {
            let is_file = |path: &Path| path.file_name() == Some(there.as_ref());
            let path = on_windows("pi".as_ref(), is_file)?;
            Path::new(&path).file_name().map(OsStr::to_owned)
        };
        assert_eq!(found("pi.cmd"), Some("pi.cmd".into()));
        assert_eq!(found("pi.exe"), Some("pi.exe".into()));
        assert_eq!(found("pi"), None);
    }
}
