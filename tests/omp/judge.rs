//! Runs omp.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// omp, ready to be asked.
pub(crate) struct Judge {
    folder: PathBuf,
    bun: PathBuf,
}

impl Judge {
    pub(crate) fn find() -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/omp-judge");
        let installed = folder.join("node_modules");
        let has_omp = std::env::var_os("LEAFLINE_OMP").is_some_and(|omp| Path::new(&omp).is_dir())
            || installed.join("@oh-my-pi/pi-coding-agent").is_dir();
        let bun = Some(installed.join(".bin/bun")).filter(|bun| bun.exists());
        let bun = bun.unwrap_or_else(|| PathBuf::from("bun"));
        let runs = Command::new(&bun).arg("--version").stdout(Stdio::null()).status();
        if has_omp && runs.is_ok_and(|status| status.success()) {
            return Some(Self { folder, bun });
        }
        assert!(
            std::env::var_os("LEAFLINE_REQUIRE_OMP").is_none(),
            "LEAFLINE_REQUIRE_OMP is set, and omp or bun is missing"
        );
        println!("skipped: omp and bun are not installed in tests/omp-judge");
        None
    }

    /// Answers to jobs, in their order; null for one that `serde_json` refuses.
    pub(crate) fn ask(&self, jobs: &[Value]) -> Vec<Value> {
        let mut child = Command::new(&self.bun)
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
            answers.map(|line| serde_json::from_slice(line).unwrap_or(Value::Null)).collect();
        assert_eq!(answers.len(), jobs.len(), "an answer a job");
        answers
    }
}
