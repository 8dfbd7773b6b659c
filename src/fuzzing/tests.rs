//! The targets over their seeds and over mutations of them.

use super::{TARGETS, Target};

/// Inputs of each target.
const RUNS: usize = 2000;

/// Of the one that makes a store for each.
const IMPORTS: usize = 200;

/// The longest input: more is cut off.
const LONGEST: usize = 16 << 10;

/// Pieces that mean something to one of the readers.
const WORDS: &[&[u8]] = &[
    b"\n",
    b"\r\n",
    b"\0",
    b"\xef\xbb\xbf",
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"-0",
    b"1e999",
    b"\\ud83c",
    b"\\udf43",
    b"\xed\xa0\xbc",
    b"\\u0000",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"{\"type\":",
    b"\"id\":\"\"",
    b"\"parentId\":null",
    b"blob:sha256:",
];

/// Changes an input in one place.
fn mutate(input: &mut Vec<u8>, other: &[u8], random: &mut fastrand::Rng) {
    let at = random.usize(..=input.len());
    let end = (at + random.usize(1..64)).min(input.len());
    match random.u8(..6) {
        0 => input.truncate(at),
        1 => drop(input.drain(at..end)),
        2 => drop(input.splice(at..at, WORDS[random.usize(..WORDS.len())].iter().copied())),
        3 => drop(input.splice(at..at, input[at..end].to_vec())),
        4 => {
            let from = random.usize(..=other.len());
            let to = (from + random.usize(1..256)).min(other.len());
            drop(input.splice(at..end, other[from..to].iter().copied()));
        }
        _ => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << random.u8(..8);
            }
        }
    }
}

fn mutations(target: &Target) {
    let seeds = (target.seeds)();
    seeds.iter().for_each(|seed| (target.run)(seed));
    let mut random = fastrand::Rng::with_seed(7);
    let runs = if target.name == "import" { IMPORTS } else { RUNS };
    for _ in 0..runs {
        let mut input = seeds[random.usize(..seeds.len())].clone();
        for _ in 0..random.usize(1..8) {
            mutate(&mut input, &seeds[random.usize(..seeds.len())], &mut random);
        }
        input.truncate(LONGEST);
        let run = std::panic::catch_unwind(|| (target.run)(&input));
        assert!(run.is_ok(), "{} fails on {:?}", target.name, String::from_utf8_lossy(&input));
    }
}

macro_rules! targets {
    ($($name:ident)*) => {
        const TESTED: &[&str] = &[$(stringify!($name)),*];

        $(#[test]
        fn $name() {
            let target = TARGETS.iter().find(|target| target.name == stringify!($name));
            mutations(target.unwrap());
        })*
    };
}

targets! { lines scan json references migrations records journal import }

/// A target that is not tested here, or has no program for the fuzzer, would be forgotten.
#[test]
fn each_target_is_tested_and_has_a_fuzzer() {
    let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(TESTED, names);
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    for name in names {
        let program = format!("fuzz_targets/{name}.rs");
        assert!(manifest.contains(&format!("path = \"{program}\"")), "{name}");
        let source = std::fs::read_to_string(folder.join(program)).unwrap();
        assert!(source.contains(&format!("fuzzing::run(\"{name}\", data)")), "{name}");
    }
}

/// With `LEAFLINE_FUZZ_SEEDS` they are written for the fuzzers.
#[test]
fn each_target_has_seeds() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = std::env::var_os("LEAFLINE_FUZZ_SEEDS").map(std::path::PathBuf::from);
    let folder = folder.unwrap_or_else(|| temporary.path().to_owned());
    super::write_seeds(&folder).unwrap();
    for target in TARGETS {
        assert!(
            std::fs::read_dir(folder.join(target.name)).unwrap().count() > 0,
            "{}",
            target.name
        );
    }
}
