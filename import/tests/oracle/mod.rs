//! The programs that own the formats, run as oracles, and random input for them.

#![allow(dead_code, reason = "each test binary uses its part")]

pub(crate) mod random;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The scripts' folder.
fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle").join(name)
}

/// Whether Node is installed; if not, says that the test is skipped.
pub(crate) fn has_node(test: &str) -> bool {
    let found = Command::new("node").arg("--version").output().is_ok();
    if !found {
        println!("skipped: {test}: node is not installed");
    }
    found
}

/// A folder named by an environment variable; if it is not set, says that the test is skipped.
pub(crate) fn folder_of(variable: &str, test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: {test}: {variable} is not set");
    }
    folder
}

fn run(script_name: &str, arguments: [&Path; 2]) {
    let status = Command::new("node").arg(script(script_name)).args(arguments).status().unwrap();
    assert!(status.success());
}

/// The result of `JSON.stringify(JSON.parse(text))` for each text; `None` if it throws.
pub(crate) fn stringify_all(texts: &[String]) -> Vec<Option<Vec<u8>>> {
    let folder = tempfile::tempdir().unwrap();
    let (texts_path, answers_path) = (folder.path().join("texts"), folder.path().join("answers"));
    let mut framed = Vec::new();
    for text in texts {
        framed.extend_from_slice(&u32::try_from(text.len()).unwrap().to_le_bytes());
        framed.extend_from_slice(text.as_bytes());
    }
    std::fs::write(&texts_path, framed).unwrap();
    run("json.mjs", [&texts_path, &answers_path]);
    let bytes = std::fs::read(&answers_path).unwrap();
    let mut rest = &bytes[..];
    let mut answers = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        rest = after;
        let length = u32::from_le_bytes(*length);
        answers.push((length != u32::MAX).then(|| {
            let (answer, after) = rest.split_at(length as usize);
            rest = after;
            answer.to_vec()
        }));
    }
    assert_eq!(answers.len(), texts.len());
    answers
}

/// Lets pi open each file and returns the result; `None` if pi throws.
pub(crate) fn migrate_all(package: &Path, files: &[Vec<u8>]) -> Vec<Option<Vec<u8>>> {
    let folder = tempfile::tempdir().unwrap();
    let path = |index: usize| folder.path().join(format!("{index}.jsonl"));
    for (index, file) in files.iter().enumerate() {
        std::fs::write(path(index), file).unwrap();
    }
    run("migrate.mjs", [package, folder.path()]);
    (0..files.len()).map(|index| std::fs::read(path(index)).ok()).collect()
}
