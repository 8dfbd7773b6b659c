//! The Node package, in its own tests: `npm test` in node/, with the module that this build has made, and those of the store
//! in Bun as well.
//!
//! Guards against a package that works in Rust alone: types that JavaScript gets, errors, promises and threads, pi's and
//! omp's own classes over a store, and Claude's agent kit. The tests need the packages of node/package-lock.json, which
//! `./setup` installs; where they are not there, this test is skipped unless `LEAFLINE_REQUIRE_NODE_PACKAGE` is set.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The module, which is built with this test.
fn module() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a file");
    let folder = test.parent().expect("a file is in a folder");
    let [before, after] = [std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX];
    folder.join(format!("{before}leafline_node{after}"))
}

fn succeeds(folder: &Path, command: &mut Command) -> Result<(), String> {
    let status = command.current_dir(folder).status();
    let status = status.map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}

fn run(folder: &Path, command: &mut Command) {
    succeeds(folder, command).unwrap_or_else(|problem| panic!("{problem}"));
}

#[test]
fn the_package_passes_its_tests() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    if !package.join("node_modules").is_dir() {
        let is_required = std::env::var_os("LEAFLINE_REQUIRE_NODE_PACKAGE").is_some();
        assert!(!is_required, "the packages that node/package-lock.json names are required");
        eprintln!("skipped: node/node_modules is not there");
        return;
    }
    let types = Path::new(env!("OUT_DIR")).join("types");
    run(package, Command::new("node").arg("build.js").args([module(), types]));
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    run(package, Command::new(npm).args(["run", "--silent", "build:types"]));
    let node = succeeds(package, Command::new(npm).args(["test", "--silent"]));
    let bun = leafline_judges::installed("omp").folder.join("node_modules/.bin/bun");
    if bun.exists() {
        // Its own limit of 5 s is one of speed.
        run(package, Command::new(bun).args(["test", "--timeout", "600000", "test/store.test.js"]));
    }
    assert_eq!(node, Ok(()));
}
