//! The real Codex, run by `tests/codex-judge`, for these tests and those of the store.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::Value;

/// Codex, ready to be asked.
pub(crate) struct Judge {
    folder: PathBuf,
}

impl Judge {
    pub(crate) fn find() -> Option<Self> {
        let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        let root = above.into_iter().find(|it| it.join("tests/codex-judge").is_dir()).unwrap();
        let is_named = std::env::var_os("LEAFLINE_CODEX").is_some();
        if is_named || root.join("target/codex-judge/node_modules/.bin/codex").exists() {
            return Some(Self { folder: root.join("tests/codex-judge") });
        }
        assert!(
            std::env::var_os("LEAFLINE_REQUIRE_CODEX").is_none(),
            "LEAFLINE_REQUIRE_CODEX is set, and neither is LEAFLINE_CODEX nor is Codex installed in target/codex-judge"
        );
        println!(
            "skipped: LEAFLINE_CODEX is not set, and Codex is not installed in target/codex-judge"
        );
        None
    }

    /// The answers to jobs, in their order.
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

/// Codex gives the output that it adds for a missing one an id derived from the call's; ours has none.
pub(crate) fn without_derived_id(mut item: Value) -> Value {
    let is_made = item["output"] == "aborted" || item["type"] == "tool_search_output";
    if is_made && let Some(item) = item.as_object_mut() {
        item.remove("id");
    }
    item
}

/// The differences; empty if there are none.
pub(crate) fn difference(name: &str, ours: &Value, theirs: &[String]) -> Option<String> {
    let ours = ours.as_array().unwrap().iter().cloned().map(without_derived_id);
    let theirs = theirs.iter().map(|item| without_derived_id(serde_json::from_str(item).unwrap()));
    let (ours, theirs): (Vec<Value>, Vec<Value>) = (ours.collect(), theirs.collect());
    if ours == theirs {
        return None;
    }
    let at = ours.iter().zip(&theirs).take_while(|(one, other)| one == other).count();
    let shown = |items: &[Value]| {
        let items = items.iter().skip(at).take(3);
        items
            .map(|item| item.to_string().chars().take(400).collect())
            .collect::<Vec<String>>()
            .join("\n    ")
    };
    let (ours_there, theirs_there) = (shown(&ours), shown(&theirs));
    let (ours, theirs) = (ours.len(), theirs.len());
    Some(format!(
        "{name}: item {at} of {ours}, {theirs}\n  ours\n    {ours_there}\n  Codex\n    {theirs_there}\n"
    ))
}

#[derive(Deserialize)]
pub(crate) struct Made {
    pub(crate) files: BTreeMap<String, String>,
    /// The same files after Codex has resumed the sessions.
    pub(crate) resumed: BTreeMap<String, String>,
    pub(crate) sessions: Vec<Session>,
}

#[derive(Deserialize)]
pub(crate) struct Session {
    pub(crate) name: String,
    pub(crate) file: String,
    pub(crate) context: Vec<String>,
}
