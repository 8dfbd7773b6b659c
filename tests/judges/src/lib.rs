//! Asks the real programs: each has a script that takes jobs as lines of JSON, and answers them in their order.
//!
//! The scripts are in `tests/interop` (pi), `tests/omp-judge`, `tests/claude-judge` and `tests/codex-judge`, and what they
//! share is beside this package.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod comparison;
mod pins;
mod resumed;
mod script;

pub use comparison::{difference, digest, digest_of_values, keep_answers};
pub use pins::{Installed, installed};
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

/// A script that asks a program: the one that the variable `LEAFLINE_<NAME>` names, or the one that `./setup` has installed.
/// Where it is required, `LEAFLINE_REQUIRE_<NAME>` is set.
pub fn judge(script: &str, name: &str) -> Option<Script> {
    let variable = format!("LEAFLINE_{}", name.to_uppercase());
    let program = installed(name).folder;
    let is_there = runs("node") && (std::env::var_os(&variable).is_some() || program.exists());
    let missing = format!("{variable} is not set, and {} is not there", program.display());
    let required = format!("LEAFLINE_REQUIRE_{}", name.to_uppercase());
    is_to_be_asked(is_there, &required, &missing)
        .then(|| Script::new("node", folder(script), &["judge.mjs"]).with_patience(JOB_OF_RUNS))
}

/// The folder of a version of pi's package: the one that `LEAFLINE_PI` (0.73), `LEAFLINE_PI_0_87` or `LEAFLINE_PI_1_6` names,
/// or the one that `./setup` has installed.
pub fn pi(version: &str) -> Option<PathBuf> {
    let variable = match version {
        "0.73" => "LEAFLINE_PI".to_owned(),
        later => format!("LEAFLINE_PI_{}", later.replace('.', "_")),
    };
    let installed = || installed(&format!("pi-{version}")).package;
    let package = std::env::var_os(variable).map_or_else(installed, PathBuf::from);
    let missing = format!("{} or Node is not there", package.display());
    let is_there = package.is_dir() && runs("node");
    is_to_be_asked(is_there, "LEAFLINE_REQUIRE_PI", &missing).then_some(package)
}

/// The bun that `./setup` has installed with omp, or the one on the path.
pub fn bun() -> PathBuf {
    let installed = installed("omp").folder.join("node_modules/.bin/bun");
    if installed.exists() { installed } else { PathBuf::from("bun") }
}

/// Claude Code, ready to be asked.
pub fn claude() -> Option<Script> {
    judge("claude-judge", "claude")
}

/// Codex, ready to be asked.
pub fn codex() -> Option<Script> {
    judge("codex-judge", "codex")
}
