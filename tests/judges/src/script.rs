//! A script that is running, and what is said with it.

use std::fmt::Display;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use serde_json::{Value, json};

/// How long a script may take for an answer, if it is not said otherwise: pi and omp run in the script itself.
const PATIENCE: Duration = Duration::from_secs(600);

/// A script that asks a program.
#[derive(Debug)]
pub struct Script {
    runner: PathBuf,
    folder: PathBuf,
    arguments: Vec<String>,
    patience: Duration,
}

impl Script {
    /// The script is the first of the `arguments`, in the `folder` in which it runs.
    pub fn new(runner: impl Into<PathBuf>, folder: impl Into<PathBuf>, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Self { runner: runner.into(), folder: folder.into(), arguments, patience: PATIENCE }
    }

    /// The same with another limit to the time that an answer may take.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
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
        // One is read ahead: only a thread can wait for a line and for no longer than it may take.
        let (sender, lines) = sync_channel(1);
        std::thread::spawn(move || {
            for line in output.lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        (Questions { input }, Answers { child, lines, patience: self.patience })
    }

    /// The answers to jobs, in their order: null for one that `serde_json` refuses. Of a job on which the script hangs it is
    /// `{"ok":false,"hangs":true,"error":"..."}`, and the next ones are asked of another. All that hang are printed.
    pub fn ask(&self, jobs: &[impl Display + Sync]) -> Vec<Value> {
        let mut given = Vec::new();
        while let Some(left) = jobs.get(given.len()..).filter(|left| !left.is_empty()) {
            self.ask_until_it_hangs(left, &mut given);
        }
        for (job, answer) in jobs.iter().zip(&given).filter(|(_, answer)| hangs(answer)) {
            let (program, error) = (self.folder.display(), &answer["error"]);
            println!("{program} does not survive {}: {error}", name(&job.to_string()));
        }
        given
    }

    fn ask_until_it_hangs(&self, jobs: &[impl Display + Sync], given: &mut Vec<Value>) {
        let (mut questions, mut answers) = self.converse();
        // Answers are read while jobs are still being sent: neither side waits for the other to read.
        let is_ended = std::thread::scope(|scope| {
            // It ends early if the script does, which the answers tell.
            scope.spawn(move || jobs.iter().try_for_each(|job| questions.send(job)));
            jobs.iter().all(|_| {
                let answer = answers.next_in_time();
                let is_in_time = answer.is_some();
                given.push(answer.unwrap_or_else(|| {
                    answers.kill();
                    json!({"ok": false, "hangs": true, "error": late(self.patience)})
                }));
                is_in_time
            })
        });
        if is_ended {
            answers.end();
        }
    }
}

/// Whether a program hung on the job that has this answer: on a damaged file, it does not survive it.
pub fn hangs(answer: &Value) -> bool {
    answer["hangs"] == true
}

fn late(patience: Duration) -> String {
    format!("there was no answer in {} s", patience.as_secs_f32())
}

/// How a job is named: by its name, or what else tells it from the others.
fn name(job: &str) -> String {
    let job: Value = serde_json::from_str(job).unwrap_or_default();
    let told =
        ["name", "id", "seed", "path", "file"].into_iter().find_map(|member| job.get(member));
    let told: String = told.map(Value::to_string).unwrap_or_default().chars().take(200).collect();
    format!("{} {told}", job["op"])
}

/// Where jobs go.
#[derive(Debug)]
pub struct Questions {
    input: BufWriter<ChildStdin>,
}

impl Questions {
    /// Sends a job, a line of JSON.
    pub fn ask(&mut self, job: &(impl Display + ?Sized)) {
        self.send(job).unwrap();
    }

    fn send(&mut self, job: &(impl Display + ?Sized)) -> std::io::Result<()> {
        writeln!(self.input, "{job}")?;
        self.input.flush()
    }
}

/// Where answers come from.
#[derive(Debug)]
pub struct Answers {
    /// It ends by itself, and removes its folders, at the end of its input.
    child: Child,
    lines: Receiver<String>,
    patience: Duration,
}

impl Answers {
    /// The answer to the next job; null if it contains something that `serde_json` refuses.
    ///
    /// # Panics
    ///
    /// If it takes too long.
    #[allow(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> Value {
        self.next_in_time().unwrap_or_else(|| {
            self.kill();
            panic!("the program does not survive it: {}", late(self.patience));
        })
    }

    /// The same; `None` if it takes too long.
    fn next_in_time(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(self.patience) {
            Ok(line) => Some(serde_json::from_str(&line).unwrap_or(Value::Null)),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => panic!("the script has ended early"),
        }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the end; the questions have to be dropped before.
    fn end(mut self) {
        match self.lines.recv_timeout(self.patience) {
            Ok(line) => panic!("more answers than jobs: {line}"),
            Err(RecvTimeoutError::Timeout) => {
                self.kill();
                panic!("the script does not end");
            }
            Err(RecvTimeoutError::Disconnected) => {}
        }
        assert!(self.child.wait().unwrap().success(), "the script failed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{folder, runs};

    #[test]
    fn a_job_that_hangs_costs_no_other() {
        let script = "while read -r job; do case $job in *2*) kill -STOP $$;; *) echo \"[$job]\";; esac; done";
        let script =
            Script::new("sh", folder(""), &["-c", script]).with_patience(Duration::from_secs(2));
        let answers = script.ask(&[1, 2, 3, 2, 5]);
        let hanging: Vec<bool> = answers.iter().map(hangs).collect();
        assert_eq!(hanging, [false, true, false, true, false]);
        assert_eq!(
            (&answers[0], &answers[2], &answers[4]),
            (&json!([1]), &json!([3]), &json!([5]))
        );
    }

    /// What it has started ends with it, also what holds its output open.
    #[test]
    fn a_run_that_hangs_ends_and_is_named() {
        if !runs("node") {
            return println!("skipped: no node");
        }
        let script = r#"
            import { Home } from "./home.mjs";
            import { answerJobs } from "./jobs.mjs";
            const home = new Home("hanging");
            const run = ({ command }) => home.run("sh", ["-c", command], { patience: 1000 });
            await answerJobs({ run }, { atOnce: 2 });
            home.remove();
        "#;
        let script = Script::new("node", folder("judges"), &["--input-type=module", "-e", script]);
        let mark = format!("600.{}", std::process::id());
        let commands = ["echo one".to_owned(), format!("sleep {mark} & sleep {mark}; echo two")];
        let answers = script.ask(&commands.map(|it| json!({"op": "run", "command": it})));
        assert_eq!(answers[0], json!({"code": 0, "out": "one\n", "errors": ""}));
        assert!(hangs(&answers[1]), "{}", answers[1]);
        assert_eq!(answers[1]["error"], "the run took more than 1 s");
        let left = Command::new("pgrep").args(["-f", &format!("^sleep {mark}")]).status().unwrap();
        assert_eq!(left.code(), Some(1), "something still runs");
    }
}
