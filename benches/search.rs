//! Full text over one large session: building the index, and several kinds of searches for words of the session.

mod support;

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use leafline::Session;
use leafline::search::{SearchIndex, SearchQuery};
use leafline::view::Role;

use support::latency::Latencies;
use support::leafline_store::ImportedStore;
use support::random_order::shuffle;
use support::session_file::SessionFile;
use support::size::{megabytes, session_bytes, with_size};

/// Searches for the percentiles, of each kind.
const SEARCHES: usize = 1_000;

/// Makes a query from a text's words; `None` if there are too few.
type Kind = fn(&[&str]) -> Option<SearchQuery>;

/// The queries, made of words from one place in the session.
const KINDS: [(&str, Kind); 6] = [
    ("a word", |words| Some(SearchQuery::new(*words.first()?))),
    ("two words", |words| Some(SearchQuery::new(format!("{} {}", words.first()?, words.get(7)?)))),
    ("a phrase of three", |words| {
        Some(SearchQuery::new(format!("\"{}\"", words.get(..3)?.join(" "))))
    }),
    ("a beginning of three letters", |words| {
        Some(SearchQuery::new(format!("{}*", words.first()?.get(..3)?)))
    }),
    ("two words, one role", |words| {
        let text = format!("{} {}", words.first()?, words.get(7)?);
        Some(SearchQuery { roles: vec![Role::User], ..SearchQuery::new(text) })
    }),
    ("a word, not another", |words| {
        Some(SearchQuery::new(format!("{} -{}", words.first()?, words.get(7)?)))
    }),
];

fn search(criterion: &mut Criterion) {
    let file = SessionFile::make();
    let imported = ImportedStore::make(&file);
    let store = imported.open_without_line_cache();
    let index = SearchIndex::open_or_create(&store).expect("an index can be made");
    let begun = Instant::now();
    let done = index.update(|_| true).expect("the index can be written");
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "index of {}: {} entries in {seconds:.1} s, {} on disk",
        megabytes(session_bytes()),
        done.entries,
        megabytes(bytes_below(&store.search_folder()))
    );

    let session = store.session(&file.session_id()).expect("it was imported");
    let texts = texts(&session, &file);
    let asked: Vec<(&str, Vec<SearchQuery>)> = KINDS
        .iter()
        .map(|(name, kind)| {
            let queries = texts.iter().filter_map(|text| kind(&words(text)));
            (*name, queries.take(SEARCHES).collect())
        })
        .collect();
    let run = |query: &SearchQuery| {
        black_box(index.search(query).expect("the index can be searched").len())
    };
    let mut group = criterion.benchmark_group(with_size("search"));
    group.sample_size(20);
    for (name, queries) in &asked {
        let mut next = queries.iter().cycle();
        group.bench_function(*name, |bencher| {
            bencher.iter(|| run(next.next().expect("the session has words")));
        });
    }
    group.finish();

    println!("single searches, 20 hits each at most:");
    for (name, queries) in &asked {
        Latencies::measure(queries.iter(), run).print(name);
    }
}

/// The words of entries at random places, each from a random word on.
fn texts(session: &Session, file: &SessionFile) -> Vec<String> {
    let mut ids = file.entry_ids();
    shuffle(&mut ids);
    let reader = session.reader().expect("it was imported");
    let said = ids.iter().map(|id| reader.get_entry(id).expect("it was imported").view().text());
    let mut count = 0usize;
    said.filter(|text| words(text).len() > 20)
        .map(|text| {
            count += 1;
            let words = words(&text);
            let from = count * 7 % (words.len() - 10);
            words.get(from..).unwrap_or_default().join(" ")
        })
        .take(SEARCHES * 2)
        .collect()
}

fn words(text: &str) -> Vec<&str> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect()
}

fn bytes_below(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).expect("the index is there").flatten();
    entries
        .map(|entry| {
            let metadata = entry.metadata().expect("a file of the index");
            if metadata.is_dir() { bytes_below(&entry.path()) } else { metadata.len() }
        })
        .sum()
}

criterion_group!(benches, search);
criterion_main!(benches);
