//! The program that these tests run.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The program `leafline` of this build. It is of another package, so that a build of this one alone does not make it. With a
/// test among what is built, it is the program that `cargo test --workspace` has made, with the same features of all packages;
/// without, the whole library would be built once more.
pub(crate) fn program() -> PathBuf {
    let own = std::env::current_exe().expect("the test has a path");
    let folder = own.parent().and_then(Path::parent).expect("the test is in a folder of the build");
    let target = folder.parent().expect("the build has a folder");
    let mut build = Command::new(env!("CARGO"));
    build.args([
        "build",
        "--quiet",
        "--locked",
        "--workspace",
        "--bin",
        "leafline",
        "--test",
        "calls",
    ]);
    build.arg("--target-dir").arg(target).current_dir(env!("CARGO_MANIFEST_DIR"));
    if folder.ends_with("release") {
        build.arg("--release");
    }
    assert!(build.status().expect("cargo can be run").success(), "`leafline` is built");
    folder.join("leafline")
}
