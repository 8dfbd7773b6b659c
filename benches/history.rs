//! A long history of prompts: searching while typing, listing the newest, adding one more, compared with SQLite's FTS5
//! on the file that they came from.

mod support;

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use leafline::Store;
use leafline::prompts::HistoryEntry;
use rusqlite::{Connection, params};
use tempfile::TempDir;

use support::latency::Latencies;
use support::session_file::folder;

/// Prompts in the history.
const PROMPTS: u64 = 1_000_000;

/// Prompts listed while typing.
const LIMIT: usize = 20;

/// Searches for the percentiles, of each kind.
const SEARCHES: usize = 200;

/// What is typed: word prefixes, as far as a person has typed.
const KINDS: [(&str, &[&str]); 4] = [
    ("a letter", &["b", "s", "w"]),
    ("the beginning of a word", &["buil", "sched", "migr"]),
    ("two beginnings", &["why slo", "mov fil", "retry tes"]),
    ("a word of one prompt in a million", &["prompt123456", "prompt777", "prompt999999"]),
];

const WORDS: [&str; 24] = [
    "why",
    "is",
    "the",
    "build",
    "slow",
    "fix",
    "test",
    "scheduler",
    "move",
    "file",
    "to",
    "folder",
    "retry",
    "after",
    "error",
    "add",
    "migration",
    "for",
    "table",
    "write",
    "a",
    "summary",
    "of",
    "changes",
];

/// Creates omp's file with prompts of several words each.
fn make(path: &Path) {
    let mut connection = Connection::open(path).expect("a database can be made");
    let transaction = connection.transaction().expect("it can be written");
    transaction
        .execute_batch(
            "CREATE TABLE history(id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL, created_at INTEGER NOT NULL, cwd TEXT);
             CREATE VIRTUAL TABLE history_fts USING fts5(prompt, content='history', content_rowid='id');
             CREATE TRIGGER history_ai AFTER INSERT ON history BEGIN
                 INSERT INTO history_fts(rowid, prompt) VALUES (new.id, new.prompt);
             END;",
        )
        .expect("tables can be made");
    {
        let mut insert = transaction
            .prepare("INSERT INTO history(prompt, created_at, cwd) VALUES (?1, ?2, '/work')")
            .expect("it is SQL");
        let mut state = 7_u64;
        for number in 0..PROMPTS {
            let mut prompt = format!("prompt{number}");
            for _ in 0..8 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let word = usize::try_from(state >> 40).unwrap_or_default() % WORDS.len();
                prompt.push(' ');
                prompt.push_str(WORDS.get(word).unwrap_or(&"word"));
            }
            let time = 1_700_000_000 + i64::try_from(number).unwrap_or_default();
            insert.execute(params![prompt, time]).expect("a row can be added");
        }
    }
    transaction.commit().expect("it can be written");
}

fn history(criterion: &mut Criterion) {
    let place = TempDir::new_in(folder()).expect("a folder can be made");
    let file = place.path().join("history.db");
    make(&file);
    let store = Store::open(place.path().join("sessions.leafline")).expect("a store");
    let history = store.history();
    let begun = Instant::now();
    let transfer = history.import_omp(&file).expect("it can be imported");
    assert_eq!(transfer.copied, PROMPTS);
    println!("import of {PROMPTS} prompts: {:.1?}, once", begun.elapsed());
    let connection = Connection::open(&file).expect("it was made");

    println!("single searches, {LIMIT} prompts each at most:");
    for (name, queries) in KINDS {
        let asked = || queries.iter().cycle().take(SEARCHES);
        let search = |query: &&str| history.search(query, LIMIT).expect("it can be read");
        Latencies::measure(asked(), &search).print(name);
        let ask = |query: &&str| in_sqlite(&connection, query);
        Latencies::measure(asked(), &ask).print("  sqlite");
        for query in queries {
            let found: Vec<String> = search(query).into_iter().map(prompt).collect();
            assert_eq!(found, ask(query), "{query}");
        }
    }

    let mut group = criterion.benchmark_group("1,000,000 prompts");
    group.sample_size(20);
    group.bench_function("recent", |bencher| {
        bencher.iter(|| black_box(history.recent(LIMIT).expect("it can be read")).len());
    });
    let mut number = 0_u64;
    group.bench_function("add, on disk", |bencher| {
        bencher.iter(|| {
            number += 1;
            history.add(&format!("one more {number}"), Some("/work")).expect("it can be written")
        });
    });
    group.bench_function("add, for the caller", |bencher| {
        bencher.iter(|| {
            number += 1;
            history.add_async(&format!("one more {number}"), Some("/work"));
        });
    });
    group.finish();
    history.flush().expect("they can be written");
}

fn prompt(entry: HistoryEntry) -> String {
    entry.prompt
}

/// omp's query.
fn in_sqlite(connection: &Connection, query: &str) -> Vec<String> {
    let words: Vec<String> = query.split(' ').map(|word| format!("\"{word}\"*")).collect();
    let mut statement = connection
        .prepare_cached(
            "SELECT h.prompt FROM history_fts f JOIN history h ON h.id = f.rowid
             WHERE history_fts MATCH ?1 ORDER BY h.created_at DESC, h.id DESC LIMIT ?2",
        )
        .expect("it is SQL");
    let rows = statement
        .query_map(params![words.join(" "), i64::try_from(LIMIT).unwrap_or_default()], |row| {
            row.get(0)
        })
        .expect("it can be read");
    rows.map(|row| row.expect("it is text")).collect()
}

criterion_group!(benches, history);
criterion_main!(benches);
