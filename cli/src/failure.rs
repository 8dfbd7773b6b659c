//! Errors that end a command.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory};
use leafline::error::ExportError;

use super::advice::{advised, advised_on_opening, advised_on_saving, argument, command};
use super::number::{count, counted};
use super::output::is_ascii_locale;
use super::place::{on_the_store_named, shown};
use super::text;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// An error of the library.
    #[error("{}", advised(.0))]
    Library(#[from] leafline::Error),
    /// The store could not be opened.
    #[error("{}", advised_on_opening(.0))]
    NotOpened(leafline::Error),
    /// Nothing of a damaged store could be saved.
    #[error("{}", advised_on_saving(.0))]
    NotSaved(leafline::Error),
    /// Standard output could not be written.
    #[error("writing to standard output: {0}")]
    Output(#[from] std::io::Error),
    /// Standard output is the store's file.
    #[error(
        "standard output goes into {path}, the store in use; what is written there would damage it, send it elsewhere"
    )]
    OutputIsStore {
        /// The store's file.
        path: PathBuf,
    },
    /// Standard input could not be read.
    #[error("reading standard input: {0}")]
    Input(#[source] std::io::Error),
    /// The pager could not be run.
    #[error(
        "the pager `{name}`: {problem}; name another in LEAFLINE_PAGER, or none with --no-pager"
    )]
    Pager {
        /// What the user has named.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// There is nothing to draw on.
    #[error(
        "standard output is not a terminal, on which sessions are browsed; `leafline ls` prints them"
    )]
    NoTerminal,
    /// The system gives no thread.
    #[error("a thread cannot be started: {0}")]
    Thread(#[source] std::io::Error),
    /// What was begun in the background has ended without a result.
    #[error("{0} was stopped by a fault of the program")]
    Ended(&'static str),
    /// A value that is not JSON.
    #[error("writing JSON: {0}")]
    Json(#[source] serde_json::Error),
    /// No place for the store is known.
    #[error(
        "no folder for the store is known ({0}); name its file with --store FILE or in LEAFLINE_STORE"
    )]
    NoDataFolder(#[source] etcetera::HomeDirError),
    /// The folder of --blobs does not exist.
    #[error("--blobs {path}: there is no such folder; name the one that holds the blobs")]
    NoBlobFolder {
        /// The path that was given.
        path: PathBuf,
    },
    /// There is no search index, and building it takes a while.
    #[error(
        "no session is in the search index yet; `leafline index`, or a search without --no-wait, makes it from {bytes} of sessions, or waits for the process that is at it"
    )]
    NoIndex {
        /// The bytes to read, for a person.
        bytes: String,
    },
    /// The server could not be started.
    #[error("the server cannot be started: {0}")]
    Serving(#[source] std::io::Error),
    /// What came over standard input is not the protocol.
    #[error("standard input is not a client of the Model Context Protocol: {problem}")]
    Protocol {
        /// What is wrong.
        problem: String,
    },
    /// The system does not allow ctrl-c to be handled.
    #[error("ctrl-c cannot be listened for: {0}")]
    Interrupt(#[source] std::io::Error),
    /// The home folder, which contains the programs' folders, is not known.
    #[error(
        "your home folder is not known, in which the programs keep their sessions; name files or folders"
    )]
    NoHomeFolder,
    /// None of the programs' folders has a session file.
    #[error(
        "nothing to import: there are no session files in {}; name other files or folders: `leafline import PATH...`",
        listed(.folders)
    )]
    NothingToImport {
        /// The folders that were searched.
        folders: Vec<PathBuf>,
    },
    /// The current directory, needed for a relative path or as the default, is not known.
    #[error("the current directory is not known ({0}); name an absolute one")]
    NoCurrentDirectory(#[source] std::io::Error),
    /// A directory's path cannot be stored in a session.
    #[error("{path}: a session keeps it as text, and it is not UTF-8; name another directory")]
    DirectoryNotText {
        /// The directory.
        path: PathBuf,
    },
    /// No session is in a directory that was moved.
    #[error(
        "no session is in {old} or below it, so nothing was moved; `leafline ls` shows the folders"
    )]
    NothingToRelocate {
        /// The old directory.
        old: String,
    },
    /// The session has no leaf, or no entry with an id.
    #[error("session {session} has no entry that {named} can name")]
    NoEntryId {
        /// The session's id.
        session: String,
        /// `@leaf` or `@last`.
        named: String,
    },
    /// The manual pages could not be written.
    #[error("writing the manual pages to {path}: {source}")]
    Manual {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The argument is not an entry.
    #[error(
        "ENTRY-JSON: {problem}; give a JSON object such as \
         {{\"type\":\"message\",\"message\":{{\"role\":\"user\",\"content\":\"Hi\"}}}}"
    )]
    NoEntry {
        /// What is wrong with it.
        problem: String,
    },
    /// A line of standard input is not an entry.
    #[error("standard input, line {line}: {problem}; {}", stored_before(*.stored))]
    NoEntryInLine {
        /// The line's number, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
        /// How many entries before it are stored.
        stored: u64,
    },
    /// Entries of standard input could not be stored.
    #[error(
        "{}; of standard input, {} stored",
        advised(.source),
        counted(*.stored, "entry is", "entries are")
    )]
    StreamNotStored {
        /// How many entries are stored.
        stored: u64,
        /// The library's error.
        source: leafline::Error,
    },
    /// A session's program could not be run.
    #[error("{program} could not be run: {source}")]
    NotRun {
        /// The program.
        program: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The directory in which a session's program is run does not exist.
    #[error(
        "{}, the directory of session {session}, does not exist; {} gives the session another one",
        shown(.directory),
        command(&format!("move {} DIR", argument(.session)))
    )]
    NoDirectory {
        /// The session's id.
        session: String,
        /// The directory.
        directory: PathBuf,
    },
    /// A file of `keep` could not be read or written.
    #[error("{}: {source}", shown(.path))]
    KeepFile {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file that `keep on` wrote was changed since.
    #[error(
        "{} was changed by hand since `leafline keep on` wrote it, and stays as it is; take out what is about leafline in it first",
        shown(.path)
    )]
    KeepEdited {
        /// The file.
        path: PathBuf,
    },
    /// Settings into which no hook can be put.
    #[error("{}: {problem}, and it was not changed; what is printed is to be added by hand", shown(.path))]
    KeepSettings {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A name that the file of a service cannot hold.
    #[error(
        "{name:?} cannot be written into the file of a service or a hook; use a path of plain text"
    )]
    KeepName {
        /// The name.
        name: String,
    },
    /// A command of `keep on` failed.
    #[error("`{command}` failed: {problem}; `leafline keep off` takes out what was written")]
    KeepCommand {
        /// Its line.
        command: String,
        /// What it said.
        problem: String,
    },
    /// Arguments that clap accepts but that conflict.
    #[error("{0}")]
    Usage(clap::Error),
}

impl Failure {
    /// Whether the reader of standard output is gone.
    pub(super) fn is_broken_pipe(&self) -> bool {
        match self {
            Self::Output(error)
            | Self::Library(leafline::Error::Export(ExportError::Output(error))) => {
                error.kind() == std::io::ErrorKind::BrokenPipe
            }
            _ => false,
        }
    }

    /// Prints the error to standard error.
    pub(super) fn print(&self) {
        match self {
            // There is nowhere left to report it.
            Self::Usage(error) => drop(error.print()),
            other => complain(&other.to_string()),
        }
    }

    /// The process's exit status.
    pub(super) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            _ => ExitCode::FAILURE,
        }
    }
}

/// A usage error that clap does not detect, with the usage of the command that was given.
pub(super) fn usage(message: &str) -> Failure {
    let mut all = super::arguments::Arguments::command();
    all.build();
    let given = all.clone().try_get_matches().ok();
    let (mut command, mut given) = (&mut all, given.as_ref());
    while let Some((name, inner)) = given.and_then(ArgMatches::subcommand) {
        command = command.find_subcommand_mut(name).expect("a command that was given is there");
        given = Some(inner);
    }
    Failure::Usage(command.error(ErrorKind::ArgumentConflict, message))
}

/// A value that is wrong and that clap does not detect: as clap says it, without the usage, which is not what was wrong.
pub(super) fn wrong_value(message: &str) -> Failure {
    let message = format!("{message}\n\nFor more information, try '--help'.\n");
    Failure::Usage(clap::Error::raw(ErrorKind::ValueValidation, message))
}

fn listed(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", ")
}

fn stored_before(entries: u64) -> String {
    match entries {
        0 => "nothing was stored".to_owned(),
        1 => "the entry before it is stored".to_owned(),
        more => format!("the {} entries before it are stored", count(more)),
    }
}

/// Prints a message of the command to standard error.
pub(super) fn complain(message: &str) {
    // If standard error is gone, nothing can be reported.
    let _ = writeln!(std::io::stderr(), "{}", complaint(message));
}

/// The same, with a command for the user to copy: on a terminal it has lines of its own.
pub(super) fn complain_and_advise(message: &str, command: &str) {
    let between = if std::io::stderr().is_terminal() { "\n" } else { " " };
    let (message, command) = (complaint(message), text::printable(command));
    let _ = writeln!(std::io::stderr(), "{message}{between}{command}");
}

/// A message of the command, as standard error gets it: on a terminal in lines that fit. Ids and paths in it may hold
/// anything.
pub(super) fn complaint(message: &str) -> String {
    let mut message = format!("leafline: {}", text::printable(&on_the_store_named(message)));
    let stderr = std::io::stderr();
    if !stderr.is_terminal() {
        return message;
    }
    if is_ascii_locale() {
        message = text::ascii(&message);
    }
    match terminal_size::terminal_size_of(stderr) {
        Some((columns, _)) => text::wrapped_around_commands(&message, columns.0.into()).join("\n"),
        None => message,
    }
}
