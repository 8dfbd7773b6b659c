//! One durable message: appended to a small and to a large session, compared with a bare write and with SQLite.
//!
//! Each timed operation ends on disk, so these numbers mostly measure the disk.

mod support;

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use criterion::{Criterion, criterion_group};
use leafline::live::Persistence;
use leafline::pi::Draft;
use leafline::{Family, NewSession, Session, Store};
use tempfile::TempDir;

use support::latency::Latencies;
use support::leafline_store::ImportedStore;
use support::messages::Messages;
use support::session_file::{SessionFile, folder};
use support::size::with_size;
use support::sqlite_baseline::{self, Appender, ImportedDatabase};

/// Single appends for the percentiles.
const APPENDS: usize = 2_000;

/// Batches for the percentiles.
const BATCHES: usize = 100;

/// Entries appended in one transaction.
const BATCH: usize = 100;

/// Precedes a child process's arguments: what to append to, its path, and which process it is.
const TASK: &str = "--task";

/// The session that begins empty.
const SMALL: &str = "small";

/// Bytes of the bare write: a page of the engine.
const PAGE: usize = 4096;

/// Appends once.
type Way<'w> = Box<dyn FnMut() + 'w>;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [_, TASK, kind, path, process] => run(kind, Path::new(path), process),
        _ => {
            benches();
            Criterion::default().configure_from_args().final_summary();
        }
    }
}

fn append(criterion: &mut Criterion) {
    let place = TempDir::new_in(folder()).expect("a folder can be made");
    let path = |name: &str| place.path().join(name);
    let file = SessionFile::make();
    let imported = ImportedStore::make(&file);
    let large_store = Store::open(imported.path()).expect("the store can be opened");
    let database = ImportedDatabase::make(&file);
    let large_database = sqlite_baseline::open(&database.path());
    let small_store = open_small(&path("leafline"));
    let small_database = sqlite_baseline::create(&path("sqlite"));

    let mut single: [(&str, Way<'_>); 6] = [
        ("write at the file's end", page_writer(&path("growing"), PAGE)),
        ("write in one place", page_writer(&path("steady"), 0)),
        ("leafline, small session", leafline_appender(session(&small_store, SMALL))),
        ("leafline, large session", leafline_appender(session(&large_store, &file.session_id()))),
        ("sqlite, small session", sqlite_appender(Appender::new(&small_database, 1))),
        ("sqlite, large session", sqlite_appender(Appender::new(&large_database, 1))),
    ];
    measure(criterion, "append", &mut single, APPENDS);
    drop(single);
    let mut batches: [(&str, Way<'_>); 2] = [
        ("leafline", leafline_batch_appender(session(&small_store, SMALL))),
        ("sqlite", sqlite_batch_appender(Appender::new(&small_database, 1))),
    ];
    measure(criterion, &format!("append of {BATCH}"), &mut batches, BATCHES);
    drop(batches);

    println!("single appends of two processes at once:");
    for kind in ["leafline", "sqlite"] {
        let program = std::env::current_exe().expect("a running program knows its file");
        let children = ["1", "2"].map(|process| {
            Command::new(&program)
                .args([TASK, kind])
                .arg(path(kind))
                .arg(process)
                .spawn()
                .expect("this program can be started again")
        });
        for mut child in children {
            assert!(child.wait().expect("a child can be waited for").success(), "{kind}");
        }
    }
}

/// Times each way, with Criterion and one by one.
fn measure(criterion: &mut Criterion, name: &str, ways: &mut [(&str, Way<'_>)], times: usize) {
    let mut group = criterion.benchmark_group(with_size(name));
    group
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3));
    for (name, way) in &mut *ways {
        group.bench_function(*name, |bencher| bencher.iter(&mut *way));
    }
    group.finish();
    println!("single operations, {name}:");
    for (name, way) in ways {
        Latencies::measure(0..times, |_| way()).print(name);
    }
}

/// Appends from one of two processes: in Leafline to one session, in SQLite each to its own.
fn run(kind: &str, path: &Path, process: &str) {
    let name = format!("{kind}, process {process}");
    match kind {
        "leafline" => {
            let store = open_small(path);
            let mut way = leafline_appender(session(&store, SMALL));
            Latencies::measure(0..APPENDS, |_| way()).print(&name);
        }
        "sqlite" => {
            let database = sqlite_baseline::open(path);
            let number = process.parse::<i64>().expect("a process has a number");
            let mut way = sqlite_appender(Appender::new(&database, 1 + number));
            Latencies::measure(0..APPENDS, |_| way()).print(&name);
        }
        other => panic!("nothing is known of {other}"),
    }
}

/// The store with the small session, which is created if it is missing.
fn open_small(path: &Path) -> Store {
    let store = Store::open(path).expect("a store can be made");
    if store.session(SMALL).is_err() {
        let mut new = NewSession::new(Family::Pi, "/work");
        new.id = Some(SMALL.to_owned());
        new.persistence = Some(Persistence::immediate());
        store.create_session(&new).expect("a session can be begun");
    }
    store
}

fn session(store: &Store, id: &str) -> Session {
    store.session(id).expect("the session is there")
}

fn draft(message: &str) -> Draft {
    Draft::message(message).expect("it is a message")
}

fn leafline_appender(mut session: Session) -> Way<'static> {
    let mut messages = Messages::new();
    Box::new(move || {
        session.append(draft(messages.next())).expect("a message can be appended");
    })
}

fn leafline_batch_appender(mut session: Session) -> Way<'static> {
    let mut messages = Messages::new();
    Box::new(move || {
        let drafts: Vec<Draft> = (0..BATCH).map(|_| draft(messages.next())).collect();
        session.append_all(drafts).expect("messages can be appended");
    })
}

fn sqlite_appender(mut appender: Appender<'_>) -> Way<'_> {
    let mut messages = Messages::new();
    Box::new(move || appender.append(messages.next()))
}

fn sqlite_batch_appender(mut appender: Appender<'_>) -> Way<'_> {
    let mut messages = Messages::new();
    Box::new(move || {
        appender.begin();
        (0..BATCH).for_each(|_| appender.append(messages.next()));
        appender.commit();
    })
}

/// Writes a page and waits until it is on disk, each time this many bytes further.
fn page_writer<'w>(path: &Path, step: usize) -> Way<'w> {
    let mut file = File::create(path).expect("a file can be made");
    let mut place = 0;
    Box::new(move || {
        file.seek(SeekFrom::Start(place))
            .and_then(|_| file.write_all(&[b'x'; PAGE]))
            .and_then(|()| file.sync_data())
            .expect("a page can be written");
        place += step as u64;
    })
}

criterion_group!(benches, append);
