//! The Python package, in its own tests: `python -m pytest python/tests`, with the module that this build has made.
//!
//! Guards against a package that works in Rust alone: types that Python gets, errors, the interpreter's lock, and both kits. The
//! tests need Python with what tests/requirements.txt names, which `LEAFLINE_PYTHON` names and `./setup test` installs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The interpreter with the tests' packages; none if there is none and none is required.
fn interpreter() -> Option<OsString> {
    let named = std::env::var_os("LEAFLINE_PYTHON").filter(|named| !named.is_empty());
    assert!(
        named.is_some() || std::env::var_os("LEAFLINE_REQUIRE_PYTHON").is_none(),
        "LEAFLINE_PYTHON names no interpreter, and one is required"
    );
    named
}

/// The module, which is built with this test.
fn module() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a file");
    let folder = test.parent().expect("a file is in a folder");
    let name = format!("{}_leafline{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    folder.join(name)
}

/// The package as it would be installed, in a folder of its own.
fn install(to: &Path) {
    let package = to.join("leafline");
    std::fs::create_dir(&package).expect("making the package");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("leafline");
    for file in std::fs::read_dir(source).expect("the package's folder") {
        let path = file.expect("a file of the package").path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if matches!(ending, Some("py" | "pyi" | "typed")) {
            let name = path.file_name().expect("a file has a name");
            std::fs::copy(&path, package.join(name)).expect("copying a file of the package");
        }
    }
    let name = if cfg!(windows) { "_leafline.pyd" } else { "_leafline.abi3.so" };
    std::fs::copy(module(), package.join(name)).expect("copying the module");
}

#[test]
fn the_package_passes_its_tests() {
    let Some(python) = interpreter() else {
        eprintln!("skipped: LEAFLINE_PYTHON names no interpreter");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder for the package");
    install(folder.path());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Claude's kit, which ./setup installs with Claude Code for all tests.
    let path = [folder.path().to_owned(), leafline_judges::installed("claude").folder];
    let path = std::env::join_paths(path).expect("paths without separators");
    let status = Command::new(python)
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .arg(root.join("tests"))
        // Python looks for packages in its own folder first, and that of the sources has no module.
        .current_dir(folder.path())
        .env("PYTHONPATH", path)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .status()
        .expect("starting Python");
    assert!(status.success(), "the package's tests fail: {status}");
}
