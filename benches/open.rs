//! From nothing to a session: opening the store and reading its first entry, compared with loading the JSONL file.

mod support;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use leafline::Store;

use support::jsonl_baseline::LoadedSession;
use support::latency::Latencies;
use support::leafline_store::ImportedStore;
use support::sampling::whole_file_group;
use support::session_file::SessionFile;
use support::size::with_size;
use support::sqlite_baseline::{self, ImportedDatabase};

/// Single openings for the percentiles.
const OPENINGS: usize = 200;

fn open(criterion: &mut Criterion) {
    let file = SessionFile::make();
    let imported = ImportedStore::make(&file);
    let database = ImportedDatabase::make(&file);
    let (path, session) = (imported.path(), file.session_id());
    let ids = file.entry_ids();
    let id = ids.get(ids.len() / 2).expect("the session has entries");

    let mut group = criterion.benchmark_group(with_size("open"));
    group.sample_size(20);
    group.bench_function("leafline", |bencher| {
        bencher.iter_custom(|iterations| {
            time(iterations, || Store::open(&path).expect("the store can be opened"))
        });
    });
    group.bench_function("leafline, first entry", |bencher| {
        bencher.iter_custom(|iterations| {
            time(iterations, || {
                let store = Store::open(&path).expect("the store can be opened");
                let found = store.session(&session).expect("it was imported");
                black_box(found.get_entry(id).expect("it was imported"));
                store
            })
        });
    });
    group.bench_function("sqlite, first entry", |bencher| {
        bencher.iter_custom(|iterations| {
            time(iterations, || {
                let connection = sqlite_baseline::open(&database.path());
                let mut lookup = sqlite_baseline::prepare_lookup(&connection);
                black_box(sqlite_baseline::line_by_id(&mut lookup, id));
                drop(lookup);
                connection
            })
        });
    });
    group.finish();

    let mut group = whole_file_group(criterion, "load", file.bytes());
    group.bench_function("jsonl reload, first entry", |bencher| {
        bencher.iter_with_large_drop(|| {
            let loaded = LoadedSession::load(file.path());
            assert!(loaded.entry(id).is_some(), "the entry is in the file");
            loaded
        });
    });
    group.finish();

    println!("single openings:");
    Latencies::measure(0..OPENINGS, |_| Store::open(&path).expect("the store can be opened"))
        .print("leafline");
}

/// Times the opening; what was opened is closed outside the timing, before the next run.
fn time<T>(iterations: u64, open: impl Fn() -> T) -> Duration {
    let mut total = Duration::ZERO;
    for _ in 0..iterations {
        let start = Instant::now();
        let opened = open();
        total += start.elapsed();
        drop(black_box(opened));
    }
    total
}

criterion_group!(benches, open);
criterion_main!(benches);
