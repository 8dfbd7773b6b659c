//! Reads straight after appends, and the same when the tables have all.

use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use leafline::context::ContextLeaf;
use leafline::{Store, StoreOptions};
use tempfile::TempDir;

use super::processes::child;
use super::support::latency::Latencies;
use super::support::session_file::folder;
use super::ways::{self, SMALL, open_small, session};

/// Appends before each read, and reads.
const ROUNDS: [(usize, usize); 2] = [(1, 100), (1_000, 10)];

/// Entries that are there before.
const ENTRIES: usize = 50;

/// What is read.
const READS: [&str; 3] = ["reader", "context", "list"];

pub(crate) fn run() {
    let place = TempDir::new_in(folder()).expect("a folder can be made");
    for (appends, rounds) in ROUNDS {
        println!("reads after {appends} appends, and again when the tables have them:");
        for read in READS {
            for whose in ["own", "fresh", "handle"] {
                let path = place.path().join(format!("{read}-{whose}-{appends}"));
                measure(&path, read, whose, appends, rounds);
            }
        }
    }
}

fn measure(path: &Path, read: &str, whose: &str, appends: usize, rounds: usize) {
    let store = open_small(path);
    let mut append = ways::leafline(session(&store, SMALL));
    (0..ENTRIES).for_each(|_| append());
    let mut reader = (whose != "own").then(|| child("read", path, &format!("{whose} {read}")));
    let mut timed = || match &mut reader {
        None => time(|| do_read(&store, read)),
        Some(reader) => ask(reader),
    };
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        (0..appends).for_each(|_| append());
        times[0].push(timed());
        // A read by a process that may write folds the journal.
        do_read(&store, "reader");
        times[1].push(timed());
    }
    let [pending, folded] = times.map(Latencies::of);
    let name = match whose {
        "own" => format!("{read}, own process"),
        "fresh" => format!("{read}, another's fresh opening"),
        _ => format!("{read}, another's open store"),
    };
    pending.print(&name);
    folded.print("  without pending records");
    if let Some(mut reader) = reader {
        drop(reader.stdin.take());
        assert!(reader.wait().expect("a child can be waited for").success(), "{name}");
    }
}

/// Asks a child to read once.
fn ask(child: &mut Child) -> Duration {
    let input = child.stdin.as_mut().expect("it is a pipe");
    input.write_all(b"read\n").expect("the child waits");
    let mut line = String::new();
    let output = child.stdout.as_mut().expect("it is a pipe");
    // One line answers one, so nothing is left in the buffer.
    BufReader::new(output).read_line(&mut line).expect("the child answers");
    Duration::from_nanos(line.trim().parse().expect("the child answers with a time"))
}

/// The child: reads whenever a line comes, and says how long it took.
pub(crate) fn answer(path: &Path, detail: &str) {
    let (whose, read) = detail.split_once(' ').expect("it is said how to read what");
    let options = StoreOptions { read_only: true, ..StoreOptions::default() };
    let open = || Store::open_with(path, &options).expect("the store can be opened");
    let kept = (whose == "handle").then(open);
    for _ in std::io::stdin().lines() {
        let took = match &kept {
            Some(store) => time(|| do_read(store, read)),
            None => time(|| do_read(&open(), read)),
        };
        println!("{}", took.as_nanos());
    }
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn do_read(store: &Store, read: &str) {
    if read == "list" {
        black_box(store.sessions().expect("the store can be read"));
        return;
    }
    let session = session(store, SMALL);
    let reader = session.reader().expect("the session can be read");
    if read == "context" {
        black_box(reader.build_context(ContextLeaf::Current, None).expect("the store is sound"));
    }
}
