//! The caller chooses which records are recovered, and a new choice reads the file again.

use leafline::import::{ImportOptions, ImportStatus, Recovery};
use serde_json::json;

use crate::place::Place;
use crate::records::{file, path, user};

fn with(recovery: Recovery) -> ImportOptions {
    ImportOptions { recovery, ..ImportOptions::default() }
}

/// A session of pi whose second entry shares a line with the third, and whose fifth line is torn.
fn pi() -> Vec<u8> {
    let header = json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-03-01T08:00:00.000Z", "cwd": "/work"});
    let message = |id: &str, parent: &str| {
        json!({"type": "message", "id": id, "parentId": parent, "message": {"role": "user", "content": id}}).to_string()
    };
    let torn = message("d", "c");
    [
        header.to_string(),
        message("a", "").replace("\"parentId\":\"\"", "\"parentId\":null"),
        message("b", "a") + &message("c", "b"),
        torn[..torn.len() - 8].to_owned(),
        message("e", "d"),
    ]
    .map(|line| line + "\n")
    .concat()
    .into_bytes()
}

#[test]
fn a_new_choice_reads_the_file_again() {
    let claude = [
        file(&[user("a", "")]),
        user("b", "a").to_string().into_bytes(),
        file(&[user("c", "b")]),
        user("d", "c").to_string().as_bytes()[..90].to_vec(),
        b"\n".to_vec(),
        file(&[user("e", "d")]),
    ]
    .concat();
    for (bytes, default) in [(pi(), 2), (claude, 5)] {
        let place = Place::new();
        let source = place.write("s.jsonl", &bytes);
        let check = |options: &ImportOptions, status, entries: u64| {
            let report = place.import_with(&source, options);
            assert_eq!(report.status, status, "{report:?}");
            let reader = place.store.reader("s").unwrap();
            let facts = reader.facts();
            assert_eq!((facts.entries, facts.malformed), (entries, 2), "{facts:?}");
            assert_eq!(facts.recovered, if entries == 5 { 3 } else { 0 });
            let whole = ["a", "b", "c", "d", "e"].map(str::to_owned);
            let expected = if entries == 5 { &whole[..] } else { &whole[4..] };
            assert_eq!(path(&reader, None), expected);
            assert!(place.exact("s") == bytes);
            let verification = place.store.verify().unwrap();
            assert!(verification.problems.is_empty(), "{:#?}", verification.problems);
            let remarks = verification.remarks;
            let is_told = |kind: &str| remarks.iter().any(|remark| remark.kind == kind);
            assert!(is_told("malformed"));
            assert_eq!((is_told("recovered"), is_told("orphan")), (entries == 5, entries != 5));
        };
        let usual = ImportOptions::default();
        check(&usual, ImportStatus::Imported, default);
        let unlike = if default == 5 { 2 } else { 5 };
        let (other, own) = if default == 5 {
            (with(Recovery::None), with(Recovery::All))
        } else {
            (with(Recovery::All), with(Recovery::None))
        };
        check(&own, ImportStatus::Unchanged, default);
        check(&other, ImportStatus::Replaced, unlike);
        // A caller without a choice accepts what is stored.
        check(&usual, ImportStatus::Unchanged, unlike);
        check(&own, ImportStatus::Replaced, default);
    }
}

#[test]
fn a_grown_file_is_read_as_its_session_unless_the_caller_insists() {
    let torn = |uuid: &str, parent: &str| user(uuid, parent).to_string()[..90].to_owned() + "\n";
    let place = Place::new();
    let mut bytes = [file(&[user("a", "")]), torn("b", "a").into_bytes()].concat();
    let source = place.write("s.jsonl", &bytes);
    place.import_with(&source, &with(Recovery::None));
    let mut grow = |uuid: &str, parent: &str, options: &ImportOptions| {
        bytes.extend_from_slice(torn(uuid, parent).as_bytes());
        place.write("s.jsonl", &bytes);
        let report = place.import_with(&source, options);
        assert_eq!(report.status, ImportStatus::Grown, "{report:?}");
        place.assert_sound();
        place.store.reader("s").unwrap().facts().recovered
    };
    assert_eq!(grow("c", "b", &ImportOptions::default()), 0);
    assert_eq!(grow("d", "c", &with(Recovery::All)), 3);
    assert_eq!(grow("e", "d", &ImportOptions::default()), 4);
    assert_eq!(grow("f", "e", &with(Recovery::None)), 0);
}
