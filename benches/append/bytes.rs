//! What an append writes, with all that becomes of it until the store is closed.

use tempfile::TempDir;

use super::support::session_file::folder;
use super::support::sqlite_baseline::{self, Appender};
use super::ways::{self, SMALL, Way, open_small, session};

/// Appends of each.
const APPENDS: u64 = 20_000;

pub(crate) fn run() {
    let place = TempDir::new_in(folder()).expect("a folder can be made");
    println!("bytes written for each of {APPENDS} appends, until the store is closed:");
    let path = place.path().join("leafline");
    print("leafline", || {
        let store = open_small(&path);
        repeat(ways::leafline(session(&store, SMALL)));
    });
    let path = place.path().join("sqlite");
    print("sqlite", || {
        let database = sqlite_baseline::create(&path);
        repeat(ways::sqlite(Appender::new(&database, 1)));
        database.close().expect("the database can be closed");
    });
}

fn repeat(mut way: Way<'_>) {
    (0..APPENDS).for_each(|_| way());
}

fn print(name: &str, work: impl FnOnce()) {
    let before = written();
    work();
    match (before, written()) {
        (Some(before), Some(after)) => println!("{name:<40} {}", (after - before) / APPENDS),
        _ => println!("{name:<40} the system does not count them"),
    }
}

/// Bytes that this process has caused to be written; `None` if the system does not report it.
fn written() -> Option<u64> {
    let counts = std::fs::read_to_string("/proc/self/io").ok()?;
    let line = counts.lines().find_map(|line| line.strip_prefix("write_bytes:"))?;
    line.trim().parse().ok()
}
