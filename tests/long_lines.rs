//! Very long lines: what they may take of memory, and where they are too long.
//!
//! Guards against a line that is copied while it is read, stored, indexed or exported. docs/performance.md has the
//! figures of a longer one, which LEAFLINE_LONG_LINE names in bytes.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;

use leafline::Store;
use leafline::export::ExportMode;
use leafline::import::{ImportOptions, ImportStatus};

/// The bytes of the line, unless the variable says otherwise.
const LINE: u64 = 300_000_000;

/// What the line consists of. LEAFLINE_LONG_LINE_OF=words makes it one of words; then, what becomes of it is in memory beside
/// it, and the words of the index too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineOf {
    Spaces,
    Words,
}

/// What the rest may take. It took 17 MB.
const REST: u64 = 100_000_000;

const HEADER: &str = r#"{"type":"session","version":3,"id":"long","timestamp":"2026-03-01T08:00:00.000Z","cwd":"/w"}"#;
const MESSAGE: &str = r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-03-01T08:00:01.000Z","message":{"role":"user","content":"a needle"}}"#;

/// The most memory that this process has had, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

/// A session with a long line between others: of spaces, or of a message of random words, which hardly shrinks.
fn write(path: &Path, bytes: u64, of: LineOf) {
    let mut out = BufWriter::new(File::create(path).unwrap());
    writeln!(out, "{HEADER}").unwrap();
    match of {
        LineOf::Spaces => {
            std::io::copy(&mut std::io::repeat(b' ').take(bytes), &mut out).unwrap();
        }
        LineOf::Words => {
            let line = MESSAGE.replace("\"a\"", "\"words\"");
            let (before, after) = line.split_once("a needle").unwrap();
            write!(out, "{before}").unwrap();
            let mut state = 1u64;
            let bytes = usize::try_from(bytes).unwrap();
            let mut left = bytes.saturating_sub(before.len() + after.len());
            while left > 0 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let word = format!("{:011x} ", state >> 20);
                let length = left.min(word.len());
                out.write_all(&word.as_bytes()[..length]).unwrap();
                left -= length;
            }
            write!(out, "{after}").unwrap();
        }
    }
    write!(out, "\n{MESSAGE}\n").unwrap();
    out.into_inner().unwrap();
}

/// The tests share the process whose memory is measured: one after the other.
#[test]
fn a_long_line_is_in_memory_once_and_has_a_bound() {
    let bytes = std::env::var("LEAFLINE_LONG_LINE").map_or(LINE, |bytes| bytes.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("long.jsonl");
    let of = match std::env::var("LEAFLINE_LONG_LINE_OF").as_deref() {
        Ok("words") => LineOf::Words,
        _ => LineOf::Spaces,
    };
    write(&file, bytes, of);
    let store = Store::open(folder.path().join("store")).unwrap();
    let mut told = Vec::new();
    let mut check = |what: &'static str| told.push((what, peak()));

    let totals = store.import(&[&file], &ImportOptions::default(), &mut ()).unwrap();
    assert_eq!((totals.imported, totals.failed), (1, 0));
    check("import");
    #[cfg(feature = "search")]
    {
        let index = leafline::search::SearchIndex::open_or_create(&store).unwrap();
        assert!(index.update(|_| true).unwrap().is_complete);
        let found = index.search(&leafline::search::SearchQuery::new("needle")).unwrap();
        assert_eq!(found.len(), 1);
        check("index");
    }
    let out = folder.path().join("out.jsonl");
    let exported = store.export_file("long", &ExportMode::Exact, &out).unwrap();
    assert_eq!(exported, std::fs::metadata(&file).unwrap().len());
    check("export");
    let totals = store.import(&[&out], &ImportOptions::default(), &mut ()).unwrap();
    assert_eq!((totals.unchanged, totals.failed), (1, 0));
    check("comparison");
    assert!(store.verify().unwrap().problems.is_empty());
    check("verify");
    for (what, peak) in &told {
        eprintln!("{what}: {peak} bytes at most, for a line of {bytes}");
    }
    let most = if of == LineOf::Words { 3 * bytes } else { bytes };
    assert!(told.iter().all(|(_, peak)| *peak <= most + REST), "{told:?}");
    drop(store);
    bounds();
}

/// A file with a line that is too long fails, and the others do not.
fn bounds() {
    let folder = tempfile::tempdir().unwrap();
    let (long, good) = (folder.path().join("1.jsonl"), folder.path().join("2.jsonl"));
    write(&long, 3_000_000, LineOf::Spaces);
    std::fs::write(&good, format!("{}\n{MESSAGE}\n", HEADER.replace("long", "good"))).unwrap();
    let store = Store::in_memory().unwrap();
    let import = |longest_line: u64| {
        let options = ImportOptions { longest_line, ..ImportOptions::default() };
        let mut reasons = Reasons(Vec::new());
        let totals = store.import(&[folder.path()], &options, &mut reasons).unwrap();
        (totals.imported, totals.unchanged, totals.failed, reasons.0)
    };
    let (imported, _, failed, reasons) = import(2_999_999);
    let at = HEADER.len() + 1;
    let said = format!(
        "reading it: the line that begins at byte {at} has more than 2999999 bytes, the bound for a line"
    );
    assert_eq!((imported, failed, reasons), (1, 1, vec![said]));
    assert!(store.reader("long").is_err() && store.reader("good").is_ok());
    let (imported, unchanged, failed, _) = import(3_000_000);
    assert_eq!((imported, unchanged, failed), (1, 1, 0));
    assert!(store.verify().unwrap().problems.is_empty());
    // A line that is added later has the same bound.
    let mut file = File::options().append(true).open(&good).unwrap();
    file.write_all(&[[b' '; 2000].as_slice(), b"\n"].concat()).unwrap();
    drop(file);
    let options = ImportOptions { longest_line: 1999, ..ImportOptions::default() };
    let mut reasons = Reasons(Vec::new());
    let totals = store.sync(&[&good], &options, &mut reasons).unwrap();
    assert_eq!(totals.failed, 1, "{:?}", reasons.0);
}

struct Reasons(Vec<String>);

impl leafline::import::ImportObserver for Reasons {
    fn file(&mut self, report: &leafline::import::FileReport) {
        if report.status == ImportStatus::Failed {
            self.0.extend(report.reason.clone());
        }
    }
}
