//! Several processes and threads that append to one session.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::time::Instant;

use tempfile::TempDir;

use super::TASK;
use super::bare;
use super::support::latency::Latencies;
use super::support::session_file::folder;
use super::support::sqlite_baseline::{self, Appender};
use super::ways::{self, SMALL, open_small, session};

/// Appends of all processes or threads together.
const APPENDS: usize = 8_000;

pub(crate) fn run() {
    let place = TempDir::new_in(folder()).expect("a folder can be made");
    let path = |name: &str| place.path().join(name);
    drop(open_small(&path("leafline")));
    drop(sqlite_baseline::create(&path("sqlite")));
    println!("processes that append to one session, appends in a second:");
    for processes in [1, 2, 4, 8] {
        let [ours, theirs] =
            ["leafline", "sqlite"].map(|kind| of_processes(kind, &path(kind), processes));
        println!(
            "{processes} processes: leafline {ours:.0}, sqlite {theirs:.0}, ratio {:.2}",
            ours / theirs
        );
    }
    println!("threads that append to one session, appends in a second:");
    let alone = of_threads(&path("leafline"), 1);
    let bare = |threads| bare::of_threads(&path("bare"), threads, APPENDS);
    let bare_alone = bare(1);
    for threads in [1, 2, 4, 8] {
        let (together, floor) = (of_threads(&path("leafline"), threads), bare(threads));
        println!(
            "{threads} threads: leafline {together:.0}, ratio to one {:.2}; bare {floor:.0}, ratio to one {:.2}",
            together / alone,
            floor / bare_alone
        );
    }
}

/// A child process that runs a task, whose lines are asked for and answered.
pub(crate) fn child(task: &str, path: &Path, detail: &str) -> Child {
    let program = std::env::current_exe().expect("a running program knows its file");
    Command::new(program)
        .args([TASK, task])
        .arg(path)
        .arg(detail)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program can be started again")
}

fn of_processes(kind: &str, path: &Path, processes: usize) -> f64 {
    let each = APPENDS / processes;
    let mut children: Vec<Child> =
        (0..processes).map(|_| child(kind, path, &each.to_string())).collect();
    let mut line = String::new();
    for child in &mut children {
        let output = child.stdout.as_mut().expect("it is a pipe");
        BufReader::new(output).read_line(&mut line).expect("the child says that it is ready");
    }
    let start = Instant::now();
    for child in &mut children {
        child.stdin.as_mut().expect("it is a pipe").write_all(b"go\n").expect("the child waits");
    }
    for child in &mut children {
        assert!(child.wait().expect("a child can be waited for").success(), "{kind}");
    }
    rate(each * processes, start)
}

/// A child: opens what it appends to, says so, waits for a line, and appends.
pub(crate) fn append(kind: &str, path: &Path, times: &str) {
    let times: usize = times.parse().expect("a number of appends is given");
    let work = |mut way: ways::Way<'_>| {
        println!("ready");
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).expect("the parent says when to begin");
        let latencies = Latencies::measure(0..times, |_| way());
        let (median, tail) = super::single::median_and_tail(&latencies);
        eprintln!("  {kind}: p50 {median:.1?}, p99 {tail:.1?}");
    };
    if kind == "leafline" {
        let store = open_small(path);
        work(ways::leafline(session(&store, SMALL)));
    } else {
        let database = sqlite_baseline::open(path);
        work(ways::shared_sqlite(Appender::new(&database, 1)));
    }
}

/// A child: appends by so many threads, and says how fast.
pub(crate) fn append_by_threads(path: &Path, threads: &str) {
    let threads: usize = threads.parse().expect("a number of threads is given");
    drop(open_small(path));
    println!("{:.0} appends in a second", of_threads(path, threads));
}

/// Each thread has its own session of a clone of the one store.
fn of_threads(path: &Path, threads: usize) -> f64 {
    let store = open_small(path);
    let barrier = Barrier::new(threads + 1);
    let each = APPENDS / threads;
    let start = std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let store = store.clone();
                let mut way = ways::leafline(session(&store, SMALL));
                barrier.wait();
                (0..each).for_each(|_| way());
            });
        }
        barrier.wait();
        Instant::now()
    });
    rate(each * threads, start)
}

pub(crate) fn rate(appends: usize, start: Instant) -> f64 {
    let count = u32::try_from(appends).expect("there are few appends");
    f64::from(count) / start.elapsed().as_secs_f64()
}
