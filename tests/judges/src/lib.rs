//! Asks the real programs: each has a script that takes jobs as lines of JSON, and answers them in their order.
//!
//! The scripts are in `tests/interop` (pi), `tests/omp-judge`, `tests/claude-judge` and `tests/codex-judge`, and what they
//! share is beside this package.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod comparison;
mod resumed;
mod script;

pub use comparison::{difference, digest, digest_of_values, keep_answers};
pub use resumed::{Resumed, with_strings};
pub use script::{Answers, Questions, Script, hangs};

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// A folder of the repository's tests.
pub fn folder(name: &str) -> PathBuf {
    root().join("tests").join(name)
}

/// Whether a program can be run.
pub fn runs(program: impl AsRef<Path>) -> bool {
    let mut command = Command::new(program.as_ref());
    let command = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Whether to go on: if a program is missing, says that the test is skipped.
///
/// # Panics
///
/// If it is missing, and the variable `required` is set.
pub fn is_to_be_asked(is_there: bool, required: &str, missing: &str) -> bool {
    if is_there {
        return true;
    }
    assert!(std::env::var_os(required).is_none(), "{required} is set, and {missing}");
    println!("skipped: {missing}");
    false
}

/// How long a job may take that runs a program many times, each of which has its own limit (`home.mjs`).
const JOB_OF_RUNS: Duration = Duration::from_secs(1800);

/// A program that `variable` names, or that `./setup` has installed in `target`.
fn installed(script: &str, variable: &str, program: &str, required: &str) -> Option<Script> {
    let is_there = std::env::var_os(variable).is_some() || root().join(program).exists();
    let missing = format!("{variable} is not set, and {program} is not installed");
    is_to_be_asked(is_there, required, &missing)
        .then(|| Script::new("node", folder(script), &["judge.mjs"]).with_patience(JOB_OF_RUNS))
}

/// Claude Code, ready to be asked.
pub fn claude() -> Option<Script> {
    let program = "target/claude-judge/claude_agent_sdk/_bundled/claude";
    installed("claude-judge", "LEAFLINE_CLAUDE", program, "LEAFLINE_REQUIRE_CLAUDE")
}

/// Codex, ready to be asked.
pub fn codex() -> Option<Script> {
    let program = "target/codex-judge/node_modules/.bin/codex";
    installed("codex-judge", "LEAFLINE_CODEX", program, "LEAFLINE_REQUIRE_CODEX")
}
