//! One entry by its id: ids in random order over the whole session, without a cache of decompressed lines.
//!
//! On a session of 1 GB the store is larger than its page cache, so pages come from the system's memory.

mod support;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use leafline::{Session, SessionReader, Store};
use rusqlite::Statement;

use support::latency::Latencies;
use support::leafline_store::ImportedStore;
use support::random_order::shuffle;
use support::session_file::SessionFile;
use support::size::with_size;
use support::sqlite_baseline::{self, ImportedDatabase};

/// Single reads for the percentiles.
const READS: usize = 100_000;

/// Reads the entry with an id.
type Way<'w> = Box<dyn FnMut(&str) + 'w>;

fn entry(criterion: &mut Criterion) {
    let file = SessionFile::make();
    let mut ids = file.entry_ids();
    shuffle(&mut ids);
    let imported = ImportedStore::make(&file);
    let database = ImportedDatabase::make(&file);

    let store = imported.open_without_line_cache();
    let session = store.session(&file.session_id()).expect("it was imported");
    let reader = session.reader().expect("it was imported");
    let cached = Store::open(imported.path()).expect("the store can be opened");
    let cached = cached.session(&file.session_id()).expect("it was imported");
    let connection = sqlite_baseline::open(&database.path());
    let mut lookup = sqlite_baseline::prepare_lookup(&connection);

    let mut ways: [(&str, Way<'_>); 4] = [
        ("leafline, one reader", Box::new(|id| read(&reader, id))),
        ("leafline, a reader each", Box::new(|id| read_alone(&session, id))),
        ("leafline, line cache on", Box::new(|id| read_alone(&cached, id))),
        ("sqlite", Box::new(|id| select(&mut lookup, id))),
    ];
    let mut group = criterion.benchmark_group(with_size("entry"));
    for (name, way) in &mut ways {
        let mut next = ids.iter().cycle();
        group.bench_function(*name, |bencher| {
            bencher.iter(|| way(next.next().expect("the session has entries")));
        });
    }
    group.finish();

    println!("single reads:");
    for (name, way) in &mut ways {
        Latencies::measure(ids.iter().cycle().take(READS), |id| way(id)).print(name);
    }
}

fn read(reader: &SessionReader, id: &str) {
    black_box(reader.get_entry(id).expect("every id was imported"));
}

fn read_alone(session: &Session, id: &str) {
    black_box(session.get_entry(id).expect("every id was imported"));
}

fn select(lookup: &mut Statement<'_>, id: &str) {
    black_box(sqlite_baseline::line_by_id(lookup, id));
}

criterion_group!(benches, entry);
criterion_main!(benches);
