//! The program that shows output which is longer than the terminal.

use std::ffi::OsString;
use std::io::{BufWriter, ErrorKind, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::Builder;

use super::failure::Failure;
use super::interrupt;

/// The variables that name the program, the first one first.
const VARIABLES: [&str; 2] = ["LEAFLINE_PAGER", "PAGER"];

/// The program if none is named.
const USUAL: &str = "less";

/// How `less` is to be, unless the user has said: it ends if all of it fits, shows colours, and leaves what it has shown.
const LESS: [&str; 2] = ["LESS", "FRX"];

/// The size of a piece of output in bytes, and the number of pieces that may wait for the pager. Waiting output was already read
/// from the store, so the command can release the store while the user looks at the first page. 32 MiB hold the text of all but a
/// few sessions.
const PIECE: usize = 64 << 10;
const WAITING: usize = 512;

/// What a shell ends with if it cannot run a program.
#[cfg(unix)]
const NOT_RUN: [i32; 2] = [126, 127];

/// Which program is to be run.
#[derive(Debug)]
pub(super) struct PagerChoice {
    /// What the user has named, for a shell. `None` for the usual one, if it is there.
    named: Option<OsString>,
}

impl PagerChoice {
    /// What the surroundings name. `None` if they want no pager: an empty name, or `cat`.
    pub(super) fn of_surroundings() -> Option<Self> {
        let named = VARIABLES.iter().find_map(std::env::var_os);
        match &named {
            Some(named) if named.is_empty() || named == "cat" => None,
            // A terminal that cannot move its cursor.
            None if std::env::var_os("TERM").is_none_or(|term| term == "dumb") => None,
            _ => Some(Self { named }),
        }
    }

    fn command(&self) -> Command {
        match &self.named {
            Some(named) => through_shell(named),
            None => Command::new(USUAL),
        }
    }

    /// Runs it. `None` if the usual one is not there.
    ///
    /// # Errors
    ///
    /// If the shell cannot be run.
    pub(super) fn start(self) -> Result<Option<Pager>, Failure> {
        let mut command = self.command();
        if std::env::var_os(LESS[0]).is_none() {
            command.env(LESS[0], LESS[1]);
        }
        // From here on, ctrl-c is the pager's.
        interrupt::leave_to_others()?;
        let mut child = match command.stdin(Stdio::piped()).spawn() {
            Ok(child) => child,
            Err(error) if self.named.is_none() && error.kind() == ErrorKind::NotFound => {
                return Ok(None);
            }
            Err(error) => return Err(self.failed(&error.to_string())),
        };
        let Some(mut stdin) = child.stdin.take() else {
            return Ok(Some(Pager { choice: self, child, input: None }));
        };
        let (pieces, waiting) = sync_channel::<Vec<u8>>(WAITING);
        let feeding = Builder::new().spawn(move || {
            // The pager may end before it has read everything, when its user has seen enough.
            waiting.iter().try_for_each(|piece| stdin.write_all(&piece))
        });
        feeding.map_err(Failure::Thread)?;
        let input = Some(BufWriter::with_capacity(PIECE, Input(pieces)));
        Ok(Some(Pager { choice: self, child, input }))
    }

    fn failed(&self, problem: &str) -> Failure {
        let name = self.named.clone().unwrap_or_else(|| USUAL.into());
        Failure::Pager { name: name.to_string_lossy().into_owned(), problem: problem.to_owned() }
    }
}

/// A shell that runs what the user has named, which may have arguments.
#[cfg(unix)]
fn through_shell(named: &OsString) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(named);
    command
}

/// Other systems have no such shell: the words are the program and its arguments.
#[cfg(not(unix))]
fn through_shell(named: &OsString) -> Command {
    let named = named.to_string_lossy();
    let mut words = named.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(USUAL));
    command.args(words);
    command
}

/// A pager that runs.
#[derive(Debug)]
pub(super) struct Pager {
    choice: PagerChoice,
    child: Child,
    input: Option<BufWriter<Input>>,
}

/// The pager's input.
#[derive(Debug)]
struct Input(SyncSender<Vec<u8>>);

impl Write for Input {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let piece = bytes.get(..PIECE).unwrap_or(bytes);
        self.0.send(piece.to_vec()).map_err(|_| ErrorKind::BrokenPipe)?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Pager {
    /// Closes what it reads, and waits until its user has ended it.
    ///
    /// # Errors
    ///
    /// If it could not be run after all.
    pub(super) fn wait(mut self) -> Result<(), Failure> {
        drop(self.input.take().map(|mut input| input.flush()));
        let status = self.child.wait();
        let status = status.map_err(|error| self.choice.failed(&error.to_string()))?;
        #[cfg(unix)]
        if status.code().is_some_and(|code| NOT_RUN.contains(&code)) {
            return Err(self.choice.failed("it could not be run"));
        }
        let _ = status;
        Ok(())
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.input.as_mut().map_or(Ok(bytes.len()), |input| input.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.input.as_mut().map_or(Ok(()), Write::flush)
    }
}
