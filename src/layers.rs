//! What the layers may name: the engine only in `src/store`; a program only in `src/programs` and the public interface.

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
fn comments_and_messages_may_name_the_engine() {
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

/// The modules of the formats that are one family's, or two's.
const PROGRAMS: [&str; 6] = ["claude", "codex", "omp", "opal", "pi", "pi_omp"];

/// Whether a line of code names a family, or a module that is one's.
fn names_program(line: &str) -> bool {
    let line = line.trim_start();
    if line.starts_with("//") {
        return false;
    }
    let of_formats = |module: &str| {
        line.contains(&format!("leafline_import::{module}::"))
            || line.contains(&format!("leafline_import::{{{module}::"))
    };
    let is_family = |(at, _): (usize, &str)| {
        let name: String =
            line[at + "Family::".len()..].chars().take_while(|c| c.is_alphanumeric()).collect();
        leafline_import::Family::ALL.iter().any(|family| format!("{family:?}") == name)
    };
    PROGRAMS.into_iter().any(of_formats) || line.match_indices("Family::").any(is_family)
}

/// The part of a file that is not a test: tests stand at its end, or it has nothing else.
fn without_tests(file: &Path) -> String {
    let is_test = ["tests.rs", "faults.rs", "gaps.rs"].iter().any(|name| file.ends_with(name))
        || file.parent().is_some_and(|folder| folder.ends_with("power_loss"));
    let text = if is_test { String::new() } else { std::fs::read_to_string(file).unwrap() };
    let tests = ["#[cfg(test)]\nmod tests {", "#[cfg(all(test, unix))]\nmod tests {"];
    let tests = tests.iter().filter_map(|tests| text.find(tests)).min();
    text[..tests.unwrap_or(text.len())].to_owned()
}

#[test]
fn only_their_adapters_name_programs() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    for layer in ["store", "session", "catalog", "storage", "search", "history"] {
        files_below(&sources.join(layer), &mut files);
    }
    let mut adapters = Vec::new();
    files_below(&sources.join("programs"), &mut adapters);
    let names = |file: &PathBuf| without_tests(file).lines().any(names_program);
    assert!(adapters.iter().any(names));
    assert_eq!(files.into_iter().filter(names).collect::<Vec<_>>(), Vec::<PathBuf>::new());
}

#[test]
fn families_in_general_may_be_named() {
    for line in [
        "match family { Family::Pi => 1 }",
        "use leafline_import::opal::Draft;",
        "use leafline_import::{pi_omp::Draft, Reading};",
    ] {
        assert!(names_program(line), "{line}");
    }
    for line in ["// Family::Pi", "Family::ALL", "Family::from_code(1)", "use crate::programs::pi;"]
    {
        assert!(!names_program(line), "{line}");
    }
}
