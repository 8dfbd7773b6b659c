//! The footprint of a session: bytes on disk, and peak memory while it is imported, exported or loaded.
//!
//! Each task runs in a process of its own, since a process's peak never falls.

mod support;

use std::io::sink;
use std::path::Path;
use std::process::Command;

use support::jsonl_baseline::LoadedSession;
use support::leafline_store::{self, Ending};
use support::peak_memory::peak_bytes;
use support::session_file::{SessionFile, folder};
use support::size::{megabytes, ratio};
use support::sqlite_baseline;

/// Precedes the name of the one task that a child process runs.
const TASK: &str = "--task";

/// A task, and the file that it writes or reads: the tasks of one file run in this order.
const TASKS: [(&str, &str); 6] = [
    ("leafline import", "imported.leafline"),
    ("leafline import, compacted", "compacted.leafline"),
    ("leafline export", "compacted.leafline"),
    ("sqlite import", "sessions.sqlite"),
    ("sqlite export", "sessions.sqlite"),
    ("jsonl reload", ""),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [_, TASK, task, path] => run(task, Path::new(path)),
        // Without it, the test runner only checks that the benchmark starts.
        _ if arguments.iter().any(|argument| argument == "--bench") => print_table(),
        _ => {}
    }
}

/// Runs one task and prints this process's peak.
fn run(task: &str, path: &Path) {
    let file = SessionFile::make();
    match task {
        "leafline import" => leafline_store::import(&file, path, Ending::AsItIs),
        "leafline import, compacted" => leafline_store::import(&file, path, Ending::Compacted),
        "leafline export" => {
            leafline_store::export(path, &file.session_id(), &mut sink());
        }
        "sqlite import" => sqlite_baseline::import(&file, path),
        "sqlite export" => {
            sqlite_baseline::export(path, &mut sink());
        }
        "jsonl reload" => {
            assert!(LoadedSession::load(file.path()).len() > 0, "the session has lines");
        }
        other => panic!("no task is named {other}"),
    }
    println!("{}", peak_bytes().map_or_else(String::new, |bytes| bytes.to_string()));
}

fn print_table() {
    let file = SessionFile::make();
    let folder = tempfile::TempDir::new_in(folder()).expect("a folder can be made");
    println!("a session of {}", megabytes(file.bytes()));
    println!("{:<28} {:>12} {:>12} {:>14}", "", "file", "of JSONL", "peak memory");
    for (task, name) in TASKS {
        let path = folder.path().join(name);
        let peak = peak_of(task, &path);
        let (file_bytes, share) = match std::fs::metadata(&path) {
            Ok(found) if found.is_file() => {
                (megabytes(found.len()), ratio(found.len(), file.bytes()))
            }
            _ => (String::new(), String::new()),
        };
        println!("{task:<28} {file_bytes:>12} {share:>12} {peak:>14}");
    }
}

/// Runs a task in a child process and returns its peak memory, as text.
fn peak_of(task: &str, path: &Path) -> String {
    let program = std::env::current_exe().expect("a running program knows its file");
    let output = Command::new(program)
        .args([TASK, task])
        .arg(path)
        .output()
        .expect("this program can be started again");
    assert!(output.status.success(), "{task}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout)
        .trim()
        .parse()
        .map_or_else(|_| "not measured".to_owned(), megabytes)
}
