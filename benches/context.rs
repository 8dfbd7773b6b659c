//! From nothing to a session's context: opening the store and building it, compared with a reload of the JSONL file.
//!
//! At 10 MB, 100 MB and the size from the environment; with a compaction at the end that keeps 50 entries, and
//! without any compaction, so that the whole session is the context. Then a session of a million entries, with the
//! store open.

mod support;

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use leafline::Store;
use leafline::context::ContextLeaf;
use leafline_generate::Shape;

use support::compacted_session::{KEPT, compacted, linear};
use support::jsonl_baseline::LoadedSession;
use support::latency::Latencies;
use support::leafline_store::ImportedStore;
use support::sampling::whole_file;
use support::session_file::SessionFile;
use support::size::{asked_bytes, with_bytes};

/// Sessions that are always measured.
const SIZES: [u64; 2] = [10_000_000, 100_000_000];

/// Entries of the long session.
const ENTRIES: u32 = 1_000_000;

/// Single contexts for the percentiles.
const CONTEXTS: usize = 2_000;

fn opened(criterion: &mut Criterion) {
    let sizes = SIZES.into_iter().chain(asked_bytes().filter(|size| !SIZES.contains(size)));
    for bytes in sizes {
        // Without branches, so that the end of the file is the end of the path.
        let shape = Shape { bytes, branches: false, compactions: false, ..Shape::default() };
        let plain = SessionFile::of_shape(&shape);
        let short = compacted(&plain);
        compare(criterion, &with_bytes(&format!("context, {KEPT} kept,"), bytes), &short);
        compare(criterion, &with_bytes("context, all,", bytes), &plain);
    }
}

fn compare(criterion: &mut Criterion, name: &str, file: &SessionFile) {
    let imported = ImportedStore::make(file);
    let (path, session) = (imported.path(), file.session_id());
    let expected = LoadedSession::load(file.path()).context().len();
    assert_eq!(messages(&path, &session), expected, "both ways give as many messages");

    let mut group = whole_file(criterion.benchmark_group(name), file.bytes());
    group.bench_function("leafline, open and build", |bencher| {
        bencher.iter_custom(|iterations| {
            time(iterations, || {
                let store = Store::open(&path).expect("the store can be opened");
                black_box(build(&store, &session));
                store
            })
        });
    });
    group.bench_function("leafline, open and write", |bencher| {
        bencher.iter_custom(|iterations| {
            time(iterations, || {
                let store = Store::open(&path).expect("the store can be opened");
                let found = store.session(&session).expect("it was imported");
                let reader = found.reader().expect("it was imported");
                let written =
                    reader.write_context(ContextLeaf::Current, None, &mut std::io::sink());
                assert!(written.expect("the store is sound") > 0);
                drop(reader);
                store
            })
        });
    });
    group.bench_function("jsonl reload", |bencher| {
        bencher.iter_custom(|iterations| {
            time(iterations, || {
                let loaded = LoadedSession::load(file.path());
                assert_eq!(loaded.context().len(), expected, "the context is the same");
                loaded
            })
        });
    });
    group.finish();
}

fn warm(criterion: &mut Criterion) {
    let file = linear(ENTRIES);
    let imported = ImportedStore::make(&file);
    let store = Store::open(imported.path()).expect("the store can be opened");
    let session = file.session_id();
    assert_eq!(build(&store, &session), KEPT + 1);
    criterion.bench_function("context of 1,000,000 entries, 50 kept", |bencher| {
        bencher.iter(|| black_box(build(&store, &session)));
    });
    println!("single contexts:");
    Latencies::measure(0..CONTEXTS, |_| build(&store, &session)).print("leafline");
}

fn messages(path: &Path, session: &str) -> usize {
    build(&Store::open(path).expect("the store can be opened"), session)
}

/// Builds the context with a reader of its own and returns its messages.
fn build(store: &Store, session: &str) -> usize {
    let found = store.session(session).expect("it was imported");
    let reader = found.reader().expect("it was imported");
    let context = reader.build_context(ContextLeaf::Current, None).expect("the store is sound");
    black_box(&context).messages.len()
}

/// Times the work; what it opened is closed outside the timing, before the next run.
fn time<T>(iterations: u64, work: impl Fn() -> T) -> Duration {
    let mut total = Duration::ZERO;
    for _ in 0..iterations {
        let start = Instant::now();
        let left = work();
        total += start.elapsed();
        drop(black_box(left));
    }
    total
}

criterion_group!(benches, opened, warm);
criterion_main!(benches);
