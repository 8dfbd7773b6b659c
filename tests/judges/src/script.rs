//! A script that is running, and what is said with it.

use std::fmt::Display;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

/// A script that asks a program.
#[derive(Debug)]
pub struct Script {
    runner: PathBuf,
    folder: PathBuf,
    arguments: Vec<String>,
}

impl Script {
    /// The script is the first of the `arguments`, in the `folder` in which it runs.
    pub fn new(runner: impl Into<PathBuf>, folder: impl Into<PathBuf>, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Self { runner: runner.into(), folder: folder.into(), arguments }
    }

    /// Starts one that takes jobs one by one. Answers come in their order. It ends when its input does.
    pub fn converse(&self) -> (Questions, Answers) {
        let mut child = Command::new(&self.runner)
            .args(&self.arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = BufWriter::new(child.stdin.take().unwrap());
        let output = BufReader::new(child.stdout.take().unwrap());
        (Questions { input }, Answers { child, output })
    }

    /// The answers to jobs, in their order: null for one that `serde_json` refuses.
    pub fn ask(&self, jobs: &[impl Display + Sync]) -> Vec<Value> {
        let (mut questions, mut answers) = self.converse();
        // Answers are read while jobs are still being sent: neither side waits for the other to read.
        let given = std::thread::scope(|scope| {
            scope.spawn(move || jobs.iter().for_each(|job| questions.ask(job)));
            jobs.iter().map(|_| answers.next()).collect()
        });
        answers.end();
        given
    }
}

/// Where jobs go.
#[derive(Debug)]
pub struct Questions {
    input: BufWriter<ChildStdin>,
}

impl Questions {
    /// Sends a job, a line of JSON.
    pub fn ask(&mut self, job: &(impl Display + ?Sized)) {
        writeln!(self.input, "{job}").unwrap();
        self.input.flush().unwrap();
    }
}

/// Where answers come from.
#[derive(Debug)]
pub struct Answers {
    /// It ends by itself, and removes its folders, at the end of its input.
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Answers {
    /// The answer to the next job; null if it contains something that `serde_json` refuses.
    #[allow(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).unwrap() > 0, "the script has ended early");
        serde_json::from_str(&line).unwrap_or(Value::Null)
    }

    /// Waits for the end; the questions have to be dropped before.
    fn end(mut self) {
        let mut line = String::new();
        assert_eq!(self.output.read_line(&mut line).unwrap(), 0, "more answers than jobs: {line}");
        assert!(self.child.wait().unwrap().success(), "the script failed");
    }
}
