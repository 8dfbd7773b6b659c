//! The processes of a soak: begun again when they are killed, and measured while they run.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use crate::command::driving::signal_group;

/// A process that others may kill and measure.
#[derive(Debug)]
pub(super) struct Post {
    pub(super) name: &'static str,
    pid: Mutex<Option<u32>>,
    figures: Mutex<Figures>,
}

/// What was seen of the processes of one name.
#[derive(Debug, Default, Clone)]
pub(super) struct Figures {
    /// The most kilobytes of memory of its own, and those at the last look.
    pub(super) memory: (u64, u64),
    /// The most open descriptors.
    pub(super) descriptors: u64,
    /// Bytes that each has written.
    written: BTreeMap<u32, u64>,
    pub(super) kills: u64,
}

impl Figures {
    pub(super) fn written(&self) -> u64 {
        self.written.values().sum()
    }
}

impl Post {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, pid: Mutex::default(), figures: Mutex::default() }
    }

    /// Begins the process, with pipes for what it reads and prints.
    pub(super) fn begin(&self, command: &mut Command) -> (Child, ChildStdin, ChildStdout) {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("a process can be run");
        *lock(&self.pid) = Some(child.id());
        let (input, output) = (child.stdin.take(), child.stdout.take());
        (child, input.expect("it has an input"), output.expect("it has an output"))
    }

    /// Waits for its end, and counts what it did until then.
    pub(super) fn end(&self, mut child: Child) {
        self.measure();
        *lock(&self.pid) = None;
        let _ = child.wait();
    }

    pub(super) fn kill(&self) {
        self.measure();
        let pid = lock(&self.pid);
        if let Some(pid) = *pid
            && signal_group("-9", pid).is_ok()
        {
            lock(&self.figures).kills += 1;
        }
    }

    pub(super) fn measure(&self) {
        let Some(pid) = *lock(&self.pid) else { return };
        let pid = last_child(pid);
        let place = format!("/proc/{pid}");
        let number = |file: &str, name: &str| {
            let text = std::fs::read_to_string(format!("{place}/{file}")).ok()?;
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        let figures = &mut *lock(&self.figures);
        if let Some(memory) = number("status", "RssAnon:") {
            figures.memory = (figures.memory.0.max(memory), memory);
        }
        if let Some(written) = number("io", "wchar:") {
            figures.written.insert(pid, written);
        }
        let open = std::fs::read_dir(format!("{place}/fd")).map_or(0, |all| all.count() as u64);
        figures.descriptors = figures.descriptors.max(open);
    }

    pub(super) fn figures(&self) -> Figures {
        lock(&self.figures).clone()
    }
}

/// The process that others have begun to run a program in a terminal, or the process itself.
fn last_child(pid: u32) -> u32 {
    let mut pid = pid;
    while let Ok(children) = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))
        && let Some(child) = children.split_whitespace().next().and_then(|child| child.parse().ok())
    {
        pid = child;
    }
    pid
}

/// Bytes of a file, or of the files in a folder.
pub(super) fn bytes_of(path: &Path) -> u64 {
    let Ok(files) = std::fs::read_dir(path) else {
        return path.metadata().map_or(0, |metadata| metadata.len());
    };
    files.flatten().map(|file| bytes_of(&file.path())).sum()
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
