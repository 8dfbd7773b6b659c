//! Writers as processes of their own: this program again, with its work in an environment variable.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::work::{Acknowledged, Work, carry_out};

/// Has the work of a process that is a writer.
const VARIABLE: &str = "LEAFLINE_TEST_WRITER";

/// How long a writer may report nothing.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// The test that a writer runs; in any other process it does nothing.
#[test]
#[ignore = "the other tests start it, as a process"]
fn a_writer() {
    let Ok(work) = std::env::var(VARIABLE) else { return };
    // Ends the line that the test runner has begun.
    println!();
    carry_out(&serde_json::from_str(&work).unwrap(), |acknowledged| {
        let line = serde_json::to_string(&acknowledged).unwrap() + "\n";
        // Past the capture of the runner, and at once.
        let mut out = std::io::stdout().lock();
        out.write_all(line.as_bytes()).and_then(|()| out.flush()).unwrap();
    });
}

/// A writer at work.
pub struct Writer {
    child: Child,
    reader: Option<JoinHandle<Vec<Acknowledged>>>,
}

impl Drop for Writer {
    /// A test that fails leaves no process behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writers that were started together, and their reports.
pub struct Writers {
    pub writers: Vec<Writer>,
    told: Receiver<()>,
}

impl Writers {
    pub fn start(works: &[Work]) -> Self {
        let (sender, told) = channel();
        let writers = works.iter().map(|work| Writer::start(work, sender.clone())).collect();
        Self { writers, told }
    }

    /// Waits until they have reported this many operations in total.
    pub fn wait_for(&self, operations: usize) {
        for _ in 0..operations {
            self.told.recv_timeout(PATIENCE).expect("a writer is at work");
        }
    }

    pub fn are_running(&mut self) -> bool {
        self.writers.iter_mut().any(|writer| writer.child.try_wait().unwrap().is_none())
    }
}

impl Writer {
    fn start(work: &Work, told: Sender<()>) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "process::a_writer", "--nocapture", "--test-threads=1"])
            .env(VARIABLE, serde_json::to_string(work).unwrap())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = child.stdout.take().unwrap();
        Self { child, reader: Some(std::thread::spawn(move || listen(out, &told))) }
    }

    /// Waits for it to end successfully. Returns its reports.
    pub fn finish(mut self) -> Vec<Acknowledged> {
        assert!(self.child.wait().unwrap().success());
        self.reader.take().unwrap().join().unwrap()
    }

    /// Kills it as the system does when memory is short. Returns its earlier reports.
    pub fn kill(mut self) -> Vec<Acknowledged> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.reader.take().unwrap().join().unwrap()
    }
}

fn listen(out: ChildStdout, told: &Sender<()>) -> Vec<Acknowledged> {
    let mut all = Vec::new();
    let mut out = BufReader::new(out);
    let mut line = String::new();
    loop {
        line.clear();
        let Ok(1..) = out.read_line(&mut line) else { return all };
        // An incomplete line reports nothing.
        if line.starts_with('{') && line.ends_with('\n') {
            all.push(serde_json::from_str(&line).unwrap());
            // Nobody reads any more once all are killed.
            let _ = told.send(());
        }
    }
}
