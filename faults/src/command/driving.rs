//! What a run of the program is given: all at once, or as it goes on.

use std::io::{self, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How often to look what it has printed.
const PAUSE: Duration = Duration::from_millis(2);

/// How long to wait for the answer of a server.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait for what a watch tells: of a file that the store has as it is, it tells nothing.
const QUIET: Duration = Duration::from_millis(1200);

/// What a run is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// A file as standard input.
    Whole(&'static str),
    /// Requests to a server, one a line: the next one when the one before is answered, and then the end of standard input.
    Requests(&'static str),
    /// Files that it watches. When it has told of so many, or is quiet, another file gets a second name among them; and then,
    /// when it has told of that one too, it is asked to end.
    Files {
        /// How many have changed before.
        count: usize,
        /// The other file.
        source: &'static str,
        /// Its second name.
        copy: &'static str,
    },
}

impl Input {
    /// Whether all was done that it was asked for, as far as a run says that ended well. A server and a watch go on after a
    /// failure, and say so.
    #[must_use]
    pub fn is_done(self, stdout: &str) -> bool {
        let lines = || stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        match self {
            Self::Whole(_) => true,
            Self::Requests(requests) => {
                let asked = requests.lines().filter(|line| is_question(line)).count();
                lines().filter(is_answer).count() == asked
            }
            Self::Files { count, .. } => {
                lines().filter(|line| line["status"] != "failed").count() > count
            }
        }
    }
}

/// Whether a line of a server says that it has done what it was asked for.
#[must_use]
pub fn is_answer(line: &Value) -> bool {
    line["result"].is_object() && line["result"]["isError"] != true
}

fn is_question(line: &str) -> bool {
    line.contains("\"id\":")
}

/// A run that is under way.
pub(super) struct Driver<'d> {
    pub(super) input: Input,
    pub(super) folder: &'d Path,
    /// The process, which leads a group, and its standard input.
    pub(super) process: u32,
    pub(super) pipe: Option<ChildStdin>,
    /// The file that it prints to.
    pub(super) stdout: &'d Path,
    /// Whether it has ended.
    pub(super) is_over: &'d AtomicBool,
}

impl Driver<'_> {
    /// Gives the run what it gets as it goes on.
    pub(super) fn drive(mut self) -> io::Result<()> {
        match self.input {
            Input::Whole(_) => {}
            Input::Requests(requests) => {
                let Some(mut pipe) = self.pipe.take() else { return Ok(()) };
                let mut asked = 0;
                for line in requests.lines() {
                    // A process that has ended reads no more.
                    if writeln!(pipe, "{line}").is_err() {
                        return Ok(());
                    }
                    asked += usize::from(is_question(line));
                    self.wait_for_lines(asked, PATIENCE)?;
                }
            }
            Input::Files { count, source, copy } => {
                self.wait_for_lines(count, QUIET)?;
                let copy = self.folder.join(copy);
                if !self.is_over() && !copy.exists() {
                    // It has its name at once, whole.
                    std::fs::hard_link(self.folder.join(source), copy)?;
                }
                self.wait_for_lines(count + 1, QUIET)?;
                if !self.is_over() {
                    // A tracer keeps the signal from itself.
                    let group = format!("-{}", self.process);
                    let mut asked = Command::new("kill");
                    asked.args(["-TERM", "--", &group]).stderr(Stdio::null()).status()?;
                }
            }
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Waits until it has printed so many lines, or has ended, or will not.
    fn wait_for_lines(&self, count: usize, patience: Duration) -> io::Result<()> {
        let begun = Instant::now();
        while !self.is_over() && begun.elapsed() < patience {
            let printed = std::fs::read(self.stdout)?;
            if printed.iter().filter(|&&byte| byte == b'\n').count() >= count {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }
}
