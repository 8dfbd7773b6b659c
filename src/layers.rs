//! What the layers may name: only `src/store` uses the engine, and no other file names it.

use std::path::{Path, PathBuf};

/// The crate of the engine.
const ENGINE: &str = "redb";

/// Whether a line of code names the crate: as the beginning of a path, or in an import. Comments and messages may say which
/// engine it is.
fn names_engine(line: &str) -> bool {
    let line = line.trim_start();
    if line.starts_with("//") {
        return false;
    }
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    line.match_indices(ENGINE).any(|(at, _)| {
        let (before, behind) = (&line[..at], &line[at + ENGINE.len()..]);
        let is_import = before.ends_with("use ") || before.ends_with("extern crate ");
        !before.ends_with(is_word)
            && (behind.starts_with("::") || is_import && !behind.starts_with(is_word))
    })
}

/// The files of Rust below a folder.
fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn only_the_store_names_the_engine() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    files_below(&sources, &mut files);
    let (store, others): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| file.starts_with(sources.join("store")));
    let naming = |files: Vec<PathBuf>| -> Vec<PathBuf> {
        let names =
            |file: &PathBuf| std::fs::read_to_string(file).unwrap().lines().any(names_engine);
        files.into_iter().filter(names).collect()
    };
    assert!(!naming(store).is_empty());
    assert_eq!(naming(others), Vec::<PathBuf>::new());
}

#[test]
fn code_is_told_from_what_is_said() {
    let engine = |line: &str| names_engine(&line.replace("ENGINE", ENGINE));
    for line in
        ["use ENGINE::Key;", "    pub use ENGINE;", "use ENGINE as e;", "of(key: ENGINE::Key)"]
    {
        assert!(engine(line), "{line}");
    }
    for line in ["// ENGINE::Key", "  /// ENGINE::Key", "\"an ENGINE database\"", "cENGINE::Key"] {
        assert!(!engine(line), "{line}");
    }
}
