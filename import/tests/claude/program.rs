//! The real Claude Code, run by `tests/claude-judge`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::Value;

/// Claude Code, ready to be asked.
pub(crate) struct Judge {
    folder: PathBuf,
}

/// What the program sends when it resumes a session.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    /// Its messages, each as a text of JSON; `None` if it did not resume the session.
    pub(crate) context: Option<Vec<String>>,
    /// The record at which it resumed it, where that is to be seen.
    pub(crate) leaf: Option<String>,
    pub(crate) error: Option<String>,
}

impl Answer {
    pub(crate) fn messages(&self) -> Option<Vec<Value>> {
        let context = self.context.as_ref()?;
        Some(context.iter().map(|message| serde_json::from_str(message).unwrap()).collect())
    }
}

impl Judge {
    pub(crate) fn find() -> Option<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let installed = root.join("target/claude-judge/claude_agent_sdk/_bundled/claude");
        if std::env::var_os("LEAFLINE_CLAUDE").is_some() || installed.exists() {
            return Some(Self { folder: root.join("tests/claude-judge") });
        }
        assert!(
            std::env::var_os("LEAFLINE_REQUIRE_CLAUDE").is_none(),
            "LEAFLINE_REQUIRE_CLAUDE is set, and neither is LEAFLINE_CLAUDE nor is Claude Code installed in target/claude-judge"
        );
        println!(
            "skipped: LEAFLINE_CLAUDE is not set, and Claude Code is not installed in target/claude-judge"
        );
        None
    }

    /// Answers to jobs, in their order.
    pub(crate) fn ask(&self, jobs: &[Value]) -> Vec<Value> {
        let mut child = Command::new("node")
            .arg("judge.mjs")
            .current_dir(&self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let text: String = jobs.iter().map(|job| format!("{job}\n")).collect();
        let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        assert!(output.status.success(), "the harness failed");
        let answers = output.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let answers: Vec<Value> =
            answers.map(|line| serde_json::from_slice(line).unwrap()).collect();
        assert_eq!(answers.len(), jobs.len(), "an answer a job");
        answers
    }
}
