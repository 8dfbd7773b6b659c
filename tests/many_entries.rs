//! A session of more entries than an import keeps in memory: ids are loaded in several batches, and parents are looked
//! up among those already stored.
//!
//! Guards against parents and ids that are lost where one batch of them ends and the next begins.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use std::io::Write;

use leafline::import::ImportStatus;
use place::Place;

/// Their ids have more than the 32 MiB after which those in memory are loaded.
const ENTRIES: u64 = 260_000;

fn id(entry: u64) -> String {
    // Spread over the key space, as random ids are.
    format!("{:016x}{:0120}", entry.wrapping_mul(0x9e37_79b9_7f4a_7c15), 0)
}

fn session(extra: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(90_000_000);
    bytes.extend_from_slice(b"{\"type\":\"session\",\"version\":3,\"id\":\"many\"}\n");
    for entry in 0..ENTRIES {
        let parent = match entry {
            0 => "null".to_owned(),
            // The parent of every thousandth entry is far back.
            _ if entry % 1000 == 0 => format!("\"{}\"", id(entry / 7)),
            _ => format!("\"{}\"", id(entry - 1)),
        };
        writeln!(bytes, "{{\"type\":\"x\",\"id\":\"{}\",\"parentId\":{parent}}}", id(entry))
            .unwrap();
    }
    bytes.extend_from_slice(extra.as_bytes());
    bytes
}

#[test]
fn more_entries_than_fit_in_memory_keep_their_parents() {
    let place = Place::new();
    let bytes = session("");
    let report = place.import(&place.write("many.jsonl", &bytes));
    assert_eq!((report.status, report.entries), (ImportStatus::Imported, ENTRIES));
    assert!(place.exact("many") == bytes);
    let session = place.store.session("many").unwrap();
    let reader = session.reader().unwrap();
    assert!(!reader.facts().irregular);
    for entry in (0..ENTRIES).step_by(10_021) {
        assert_eq!(reader.get_entry(&id(entry)).unwrap().ordinal(), entry + 1);
    }
    let children = reader.get_children(Some(&id(36_000))).unwrap();
    let children: Vec<_> = children.iter().map(|child| child.id().unwrap()).collect();
    assert_eq!(children, [id(36_001), id(252_000)]);
    drop(reader);
    place.assert_sound();
    // It grows by entries whose parents are long stored.
    let mut grown = bytes;
    writeln!(grown, "{{\"type\":\"x\",\"id\":\"late\",\"parentId\":\"{}\"}}", id(3)).unwrap();
    let report = place.import(&place.write("many.jsonl", &grown));
    assert_eq!((report.status, report.entries), (ImportStatus::Grown, ENTRIES + 1));
}

#[test]
fn an_id_that_comes_back_much_later_wins() {
    let place = Place::new();
    let again = format!(
        "{{\"type\":\"x\",\"id\":\"{}\",\"parentId\":\"{}\"}}\n{{\"type\":\"x\",\"id\":\"end\",\"parentId\":\"gone\"}}\n",
        id(5),
        id(ENTRIES - 1)
    );
    let bytes = session(&again);
    let report = place.import(&place.write("many.jsonl", &bytes));
    assert_eq!((report.status, report.entries), (ImportStatus::Imported, ENTRIES + 2));
    let reader = place.store.reader("many").unwrap();
    let facts = reader.facts();
    assert!(facts.irregular);
    assert_eq!((facts.duplicates, facts.orphans), (1, 1));
    assert_eq!(reader.get_entry(&id(5)).unwrap().ordinal(), ENTRIES + 1);
    // Its children are below the later one, whose ancestors they are: a walk ends where the loop closes.
    let parent = reader.get_children(Some(&id(5))).unwrap();
    assert_eq!(parent[0].id().unwrap(), id(6));
    drop(reader);
    let verification = place.store.verify().unwrap();
    assert!(verification.problems.is_empty(), "{:#?}", verification.problems);
    assert_eq!(verification.remarks.iter().filter(|remark| remark.kind == "loop").count(), 1);
    assert!(place.exact("many") == bytes);
}
