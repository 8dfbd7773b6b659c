//! Ten thousand sessions: listing them, from a store and from their files; syncing the store with their files and a
//! folder with the store; and syncing one large file that has grown. Compared with reading every file.

mod support;

use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use criterion::{Criterion, criterion_group, criterion_main};
use leafline::Store;
use leafline::export::ExportOptions;
use leafline::files::SessionFiles;
use leafline::import::ImportOptions;
use leafline::list::SessionFilter;
use leafline_generate::{Shape, generate};
use tempfile::TempDir;

use support::jsonl_baseline::LoadedSession;
use support::session_file::{SessionFile, folder};
use support::size::with_size;

/// Sessions in the folder.
const SESSIONS: u64 = 10_000;

/// Approximate bytes of each.
const SESSION_BYTES: u64 = 20_000;

/// Sessions in a list of the newest.
const RECENT: usize = 20;

/// Approximate bytes that the large file grows by.
const GROWTH: usize = 1_000;

/// A folder of many sessions, and a store that has them; deleted when dropped.
struct Sessions {
    place: TempDir,
    store: Store,
}

impl Sessions {
    fn make() -> Self {
        let place = TempDir::new_in(folder()).expect("a folder can be made");
        let files = place.path().join("files");
        std::fs::create_dir(&files).expect("a folder can be made");
        for seed in 0..SESSIONS {
            let path = files.join(format!("{seed}.jsonl"));
            let mut out = BufWriter::new(File::create(&path).expect("a file can be made"));
            let shape = Shape { seed, bytes: SESSION_BYTES, ..Shape::default() };
            generate(&shape, &mut out).and_then(|_| out.flush()).expect("it can be written");
            age(&path);
        }
        let store = Store::open(place.path().join("sessions.leafline")).expect("a store");
        let totals = store.import(&[&files], &ImportOptions::default(), &mut ());
        assert_eq!(totals.expect("they can be imported").imported, SESSIONS);
        Self { place, store }
    }

    fn files(&self) -> PathBuf {
        self.place.path().join("files")
    }
}

/// Files written a moment ago take a slower path.
fn age(path: &Path) {
    let time = SystemTime::now() - Duration::from_secs(3600);
    let file = File::options().write(true).open(path).expect("the file is there");
    file.set_modified(time).expect("its time can be set");
}

fn sync(store: &Store, path: &Path) -> leafline::import::ImportTotals {
    store.sync(&[path], &ImportOptions::default(), &mut ()).expect("the store can be written")
}

fn export(store: &Store, folder: &Path) -> leafline::export::ExportTotals {
    store.export_all(folder, &ExportOptions::default(), |_| {}).expect("the folder can be written")
}

fn many(criterion: &mut Criterion) {
    let sessions = Sessions::make();
    let mut group = criterion.benchmark_group("10,000 sessions");
    group.sample_size(20);
    let path = sessions.store.path().to_owned();
    group.bench_function("list, warm", |bencher| {
        bencher.iter(|| black_box(sessions.store.sessions().expect("it can be read")).len());
    });
    group.bench_function("list, store opened", |bencher| {
        bencher.iter(|| {
            let store = Store::open(&path).expect("the store can be opened");
            black_box(store.sessions().expect("it can be read")).len()
        });
    });
    group.bench_function("sync, nothing new", |bencher| {
        bencher.iter(|| {
            let totals = sync(&sessions.store, &sessions.files());
            assert_eq!(totals.unchanged, SESSIONS);
        });
    });
    let exported = sessions.place.path().join("exported");
    let start = Instant::now();
    assert_eq!(export(&sessions.store, &exported).written, SESSIONS);
    println!("10,000 sessions/export, all new: {:.1?}, once", start.elapsed());
    group.bench_function("export, nothing new", |bencher| {
        bencher.iter(|| {
            let totals = export(&sessions.store, &exported);
            assert_eq!(totals.unchanged, SESSIONS);
        });
    });
    std::fs::remove_file(exported.join(".leafline-manifest")).expect("it was written");
    let start = Instant::now();
    assert_eq!(export(&sessions.store, &exported).unchanged, SESSIONS);
    println!("10,000 sessions/export, all compared: {:.1?}, once", start.elapsed());
    let files = SessionFiles::new([sessions.files()]);
    group.bench_function("files, listed whole", |bencher| {
        bencher.iter(|| {
            let listed = black_box(files.list_all()).sessions.len();
            assert_eq!(listed as u64, SESSIONS);
        });
    });
    group.bench_function("files, all by their prefix", |bencher| {
        bencher.iter(|| {
            let listed = black_box(files.recent(&SessionFilter::default())).sessions.len();
            assert_eq!(listed as u64, SESSIONS);
        });
    });
    group.bench_function("files, the newest 20 by their prefix", |bencher| {
        bencher.iter(|| {
            assert_eq!(black_box(files.get_recent_sessions(RECENT)).sessions.len(), RECENT);
        });
    });
    group.bench_function("jsonl, every file read", |bencher| {
        bencher.iter(|| {
            let files = std::fs::read_dir(sessions.files()).expect("the folder is there");
            let read = |entry: std::io::Result<std::fs::DirEntry>| {
                let path = entry.expect("the folder can be read").path();
                black_box(LoadedSession::load(&path)).len()
            };
            files.map(read).sum::<usize>()
        });
    });
    group.finish();
}

fn grown(criterion: &mut Criterion) {
    let made = SessionFile::make();
    let place = TempDir::new_in(folder()).expect("a folder can be made");
    let path = place.path().join("session.jsonl");
    std::fs::copy(made.path(), &path).expect("the file can be copied");
    age(&path);
    let store = Store::open(place.path().join("sessions.leafline")).expect("a store");
    sync(&store, &path);
    let mut file = File::options().append(true).open(&path).expect("the file is there");
    let mut parent = made.entry_ids().pop().expect("the session has entries");
    let mut group = criterion.benchmark_group(with_size("sync"));
    group.sample_size(20);
    let mut number = 0_u32;
    group.bench_function("grown by 1 KB", |bencher| {
        bencher.iter_custom(|iterations| {
            let mut total = Duration::ZERO;
            for _ in 0..iterations {
                number += 1;
                let id = format!("grown{number}");
                let text = "x".repeat(GROWTH);
                let line = format!(
                    r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-06-01T09:00:00.000Z","message":{{"role":"user","content":"{text}"}}}}"#
                );
                writeln!(file, "{line}").expect("the file can be written");
                parent = id;
                let start = Instant::now();
                let totals = sync(&store, &path);
                total += start.elapsed();
                assert_eq!(totals.grown, 1);
            }
            total
        });
    });
    group.finish();
}

criterion_group!(benches, many, grown);
criterion_main!(benches);
