//! Compares with the real pi, run on Node: both make the same of a file.
//!
//! `tests/judges/pins.txt` has the versions, which `./setup` installs. Without Node or the package the tests say that they are
//! skipped, unless `LEAFLINE_REQUIRE_PI` is set.
//!
//! Guards against any difference from pi: in trees, contexts, lists, or the bytes of what is appended.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod context;
mod deferred;
mod edited;
mod edits;
mod exported;
mod listing;
mod oracle;
#[path = "../place/mod.rs"]
mod place;
mod random;
mod requests;
mod sequences;

use std::path::PathBuf;

use leafline::export::ExportMode;
use leafline::import::{ImportStatus, Refusal};
use leafline_generate::{Family, Shape};
use oracle::{Answer, Oracle};
use place::{Place, corpus};

/// Files of the zoo at which pi itself throws; there is nothing to compare with.
const PI_THROWS: [&str; 5] = [
    "invalid UTF-8 in an id",
    "values that are no objects",
    "version 1, other values count",
    "version 1, a null line",
    "version 2, message null",
];

/// Siblings that are not in the order of their times, which are numbers and text.
const NUMBERS: &str = r#"{"type":"session","version":3,"id":"numbers","timestamp":"2026-03-01T08:00:00.000Z","cwd":"/w"}
{"type":"message","id":"root","parentId":null,"timestamp":1,"message":{"role":"user","content":"r"}}
{"type":"message","id":"last","parentId":"root","timestamp":"2026-03-01T08:00:00.000Z","message":{"role":"user","content":"a"}}
{"type":"message","id":"third","parentId":"root","timestamp":30.9,"message":{"role":"user","content":"b"}}
{"type":"message","id":"fourth","parentId":"root","timestamp":30.1,"message":{"role":"user","content":"c"}}
{"type":"message","id":"second","parentId":"root","timestamp":2,"message":{"role":"user","content":"d"}}
{"type":"message","id":"first","parentId":"root","timestamp":-5e3,"message":{"role":"user","content":"e"}}
"#;

struct Case {
    name: String,
    bytes: Vec<u8>,
}

/// How many sessions of each random kind are compared: `LEAFLINE_PI_SESSIONS` can ask for more.
fn random_sessions() -> u64 {
    std::env::var("LEAFLINE_PI_SESSIONS").map_or(60, |count| count.parse().unwrap())
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: String, bytes: Vec<u8>| cases.push(Case { name, bytes });
    if let Some(corpus) = corpus() {
        for entry in std::fs::read_dir(corpus.join("pi")).unwrap() {
            let path = entry.unwrap().path();
            add(path.display().to_string(), std::fs::read(&path).unwrap());
        }
    }
    let samples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("import/samples");
    let mut folders = vec![samples];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                add(path.display().to_string(), std::fs::read(&path).unwrap());
            }
        }
    }
    for (name, bytes) in leafline_generate::zoo() {
        if !PI_THROWS.contains(&name) {
            add(name.to_owned(), bytes);
        }
    }
    for seed in 0..random_sessions() {
        let bytes = leafline_generate::random_tree_session(seed, 60, Family::Pi);
        add(format!("random tree {seed}"), bytes);
    }
    add("numbers as timestamps".to_owned(), NUMBERS.as_bytes().to_vec());
    for version in [1, 2, 3] {
        let mut bytes = Vec::new();
        let shape = Shape { version, bytes: 1_000_000, images: 0.1, ..Shape::default() };
        leafline_generate::generate(&shape, &mut bytes).unwrap();
        add(format!("generated, version {version}"), bytes);
    }
    cases
}

#[test]
fn pi_makes_of_every_file_what_leafline_makes() {
    let Some(oracle) = Oracle::find() else { return };
    let cases = cases();
    let answers = oracle.load(cases.iter().map(|case| &case.bytes[..]));
    let mut compared = 0;
    for (case, answer) in cases.iter().zip(&answers) {
        let place = Place::in_memory();
        let path = place.write("session.jsonl", &case.bytes);
        let options = leafline::import::ImportOptions {
            family: Some(leafline::Family::Pi),
            ..leafline::import::ImportOptions::default()
        };
        let report = place.import_with(&path, &options);
        if report.refusal == Some(Refusal::NotASession) {
            assert!(
                answer.found_no_session(),
                "{}: pi reads it, and we do not: {report:?}",
                case.name
            );
            continue;
        }
        assert_eq!(report.status, ImportStatus::Imported, "{}", case.name);
        compare(case, answer, &place, &report.session.unwrap());
        compared += 1;
    }
    println!("{compared} sessions compared with pi");
    assert!(compared > 100, "only {compared} sessions were compared");
}

fn compare(case: &Case, answer: &Answer, place: &Place, session: &str) {
    let name = &case.name;
    let reader = place.store.reader(session).unwrap();
    let ours = place.export(session, &ExportMode::Current);
    if answer.is_unreadable() {
        // Lone surrogates, which JSON readers in Rust refuse: the file itself is compared.
        assert!(ours == answer.file, "{name}: the file differs");
        return;
    }
    let tree = reader.get_tree().unwrap();
    let our_ids: Vec<Option<String>> = tree.nodes().iter().map(|node| node.id.clone()).collect();
    let their_ids = answer.entries();
    if their_ids.iter().any(Option::is_none) {
        // Records without a string id, or that are not objects: pi keeps them as entries that nothing names.
        assert!(ours == answer.file || ours != case.bytes, "{name}: the file differs");
        return;
    }
    let scalars = reader.facts().types.iter().any(|kind| kind.name == "<scalar>");
    if scalars && our_ids.len() != their_ids.len() {
        // pi counts an array as an entry, and in version 1 appends the next entry below it, which a second load does
        // not find. Leafline keeps the line and leaves the chain whole.
        return;
    }
    assert_eq!(our_ids.len(), their_ids.len(), "{name}: entries");
    if ours != case.bytes || answer.file != case.bytes {
        let renamed = oracle::with_ids(&ours, &our_ids, &their_ids);
        assert!(
            renamed == answer.file,
            "{name}: the rewritten file differs\nours:  {}\ntheirs: {}",
            String::from_utf8_lossy(&renamed).chars().take(3000).collect::<String>(),
            String::from_utf8_lossy(&answer.file).chars().take(3000).collect::<String>()
        );
    }
    let map = |id: &Option<String>| -> Option<String> {
        let index = our_ids.iter().rposition(|known| known == id)?;
        their_ids[index].clone()
    };
    let leaf = reader.get_leaf().unwrap().and_then(|leaf| leaf.id());
    assert_eq!(leaf.as_ref().and_then(|_| map(&leaf)), answer.leaf(), "{name}: leaf");
    if let Some(their_path) = answer.path() {
        let mut path = Vec::new();
        reader
            .get_path(None, |entry| {
                path.push(map(&entry.id()).unwrap());
                Ok(())
            })
            .unwrap();
        assert_eq!(path, their_path, "{name}: path");
    }
    if answer.repeats_ids() || their_ids.contains(&Some(String::new())) {
        // pi's tree finds a parent by an empty id, and its walk does not: Leafline's tree agrees with the walk. pi's
        // tree puts children of a repeated id under whichever it made last; it is compared if ids are unique.
        return;
    }
    // JavaScript's sort by times that are not numbers gives an arbitrary order, and ours puts them first.
    let is_ordered = name != "timestamps that are missing or odd";
    if let Some(their_tree) = answer.tree().filter(|_| is_ordered) {
        assert_eq!(flatten(&tree, &map), their_tree, "{name}: tree");
    }
}

/// Depth first, as in pi's answer: id, depth, label.
fn flatten(
    tree: &leafline::tree::Tree,
    map: &dyn Fn(&Option<String>) -> Option<String>,
) -> Vec<oracle::Node> {
    let mut flat = Vec::new();
    let mut waiting: Vec<(usize, u64)> = tree.roots().iter().rev().map(|&root| (root, 0)).collect();
    while let Some((place, depth)) = waiting.pop() {
        let node = tree.node(place).unwrap();
        flat.push((map(&node.id), depth, node.label.clone()));
        waiting.extend(node.children.iter().rev().map(|&child| (child, depth + 1)));
    }
    flat
}
