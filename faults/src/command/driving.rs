//! What a run of the program is given: all at once, or as it goes on.

use std::io::{self, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How often to look what it has printed.
const PAUSE: Duration = Duration::from_millis(2);

/// How long to wait for the answer of a server, which may not come.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a run is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// A file as standard input.
    Whole(&'static str),
    /// Requests to a server, one a line: the next one when the one before is answered, and then the end of standard input.
    Requests(&'static str),
    /// An interrupt, when it has printed so many lines.
    Interrupted(usize),
}

impl Input {
    /// Whether all was done that it was asked for, as far as a run says that ended well. A server goes on after a failure, and
    /// says so.
    #[must_use]
    pub fn is_done(self, stdout: &str) -> bool {
        let lines = || stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        match self {
            Self::Whole(_) => true,
            Self::Interrupted(count) => {
                // A watch also goes on after a file that it could not store.
                lines().count() >= count && !lines().any(|line| line["status"] == "failed")
            }
            Self::Requests(requests) => {
                let asked = requests.lines().filter(|line| is_question(line)).count();
                lines().filter(is_answer).count() == asked
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
    /// The group of its processes.
    pub(super) group: u32,
    /// The process's standard input.
    pub(super) pipe: Option<ChildStdin>,
    /// The file that it prints to.
    pub(super) stdout: &'d Path,
    /// Whether it has ended.
    pub(super) is_over: &'d AtomicBool,
}

/// Sends a signal to a group of processes. That it has ended is no error.
pub(crate) fn signal_group(signal: &str, group: u32) -> io::Result<()> {
    let group = format!("-{group}");
    Command::new("kill").args([signal, "--", &group]).stderr(Stdio::null()).status().map(drop)
}

impl Driver<'_> {
    /// Gives the run what it gets as it goes on. Says whether that came before all was printed that should have been.
    pub(super) fn drive(mut self) -> io::Result<bool> {
        let mut is_rushed = false;
        match self.input {
            Input::Whole(_) => {}
            Input::Interrupted(count) => {
                is_rushed = !self.wait_for_lines(count)?;
                if !self.is_over() {
                    signal_group("-INT", self.group)?;
                }
            }
            Input::Requests(requests) => {
                let Some(mut pipe) = self.pipe.take() else { return Ok(false) };
                let mut asked = 0;
                for line in requests.lines() {
                    // A process that has ended reads no more.
                    if writeln!(pipe, "{line}").is_err() {
                        return Ok(is_rushed);
                    }
                    asked += usize::from(is_question(line));
                    is_rushed |= !self.wait_for_lines(asked)?;
                }
            }
        }
        Ok(is_rushed)
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Waits until it has printed `count` lines or has ended; `false` once the wait is over.
    fn wait_for_lines(&self, count: usize) -> io::Result<bool> {
        let begun = Instant::now();
        while !self.is_over() {
            let printed = std::fs::read(self.stdout)?;
            if printed.iter().filter(|&&byte| byte == b'\n').count() >= count {
                break;
            }
            if begun.elapsed() >= PATIENCE {
                return Ok(false);
            }
            std::thread::sleep(PAUSE);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_that_could_not_store_a_file_has_not_done_all() {
        let watch = Input::Interrupted(2);
        let (stored, failed) = ("{\"status\":\"imported\"}\n", "{\"status\":\"failed\"}\n");
        assert!(watch.is_done(&stored.repeat(2)));
        assert!(!watch.is_done(stored));
        assert!(!watch.is_done(&format!("{stored}{failed}")));
    }
}
