//! Every file is exported byte for byte as it was imported.
//!
//! Guards against a changed byte in any file, in any form that an import can take.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use leafline::export::ExportMode;
use leafline::import::{ImportStatus, Refusal};
use leafline_generate::{Family, Shape};
use place::{Place, corpus};
use proptest::prelude::*;

#[test]
fn every_file_of_the_corpus_comes_back() {
    let Some(corpus) = corpus() else { return };
    let place = Place::new();
    for family in ["pi", "omp"] {
        for entry in std::fs::read_dir(corpus.join(family)).unwrap() {
            let path = entry.unwrap().path();
            let report = place.import(&path);
            assert_eq!(report.status, ImportStatus::Imported, "{report:?}");
            assert_eq!(report.family.unwrap().name(), family, "{report:?}");
            let session = report.session.unwrap();
            assert!(place.exact(&session) == std::fs::read(&path).unwrap(), "{}", path.display());
            if report.version == Some(3) {
                assert!(
                    place.export(&session, &ExportMode::Current) == std::fs::read(&path).unwrap()
                );
            }
        }
    }
    place.assert_sound();
}

#[test]
fn every_file_of_the_zoo_comes_back() {
    let mut skipped = Vec::new();
    for (name, bytes) in leafline_generate::zoo() {
        let place = Place::new();
        let path = place.write("session.jsonl", &bytes);
        let report = place.import(&path);
        if report.refusal == Some(Refusal::NotASession) {
            assert!(report.reason.is_some(), "{name}");
            skipped.push(name);
            continue;
        }
        assert_eq!(report.status, ImportStatus::Imported, "{name}: {report:?}");
        assert!(place.exact(report.session.as_deref().unwrap()) == bytes, "{name}");
        let verification = place.store.verify().unwrap();
        assert!(verification.problems.is_empty(), "{name}: {:#?}", verification.problems);
        assert_eq!(place.import(&path).status, ImportStatus::Unchanged, "{name}");
    }
    println!("skipped: {skipped:#?}");
    assert!(skipped.len() < 30, "{skipped:#?}");
}

/// A byte order mark, or white space that is not JSON's, counts on every line but the first.
#[test]
fn marks_ahead_of_later_records() {
    let header = r#"{"type":"session","version":3,"id":"s","cwd":"/w"}"#;
    let entry = |id: &str| format!(r#"{{"type":"message","id":"{id}","parentId":null}}"#);
    for ahead in ["\u{feff}", "\u{a0}"] {
        let place = Place::new();
        let file = format!("{ahead}{header}\n{ahead}{}\n{}\n", entry("a"), entry("b"));
        let report = place.import(&place.write("session.jsonl", &file));
        assert_eq!(report.status, ImportStatus::Imported, "{report:?}");
        assert!(place.exact("s") == file.as_bytes());
        let facts = place.store.reader("s").unwrap().facts();
        assert_eq!((facts.entries, facts.malformed), (1, 1));
        place.assert_sound();
    }
}

#[test]
fn trees_of_every_shape_come_back() {
    for seed in 0..120 {
        let family = if seed % 2 == 0 { Family::Pi } else { Family::Omp };
        let entries = usize::try_from(seed).unwrap() * 3;
        let bytes = leafline_generate::random_tree_session(seed, entries, family);
        let place = Place::new();
        let report = place.import(&place.write("session.jsonl", &bytes));
        assert_eq!(report.status, ImportStatus::Imported, "seed {seed}: {report:?}");
        assert!(place.exact(report.session.as_deref().unwrap()) == bytes, "seed {seed}");
        let verification = place.store.verify().unwrap();
        assert!(verification.problems.is_empty(), "seed {seed}: {:#?}", verification.problems);
    }
}

#[test]
fn a_session_of_many_chunks_comes_back() {
    for version in [1, 2, 3] {
        let shape = Shape { bytes: 12_000_000, version, images: 0.2, ..Shape::default() };
        let mut bytes = Vec::new();
        let summary = leafline_generate::generate(&shape, &mut bytes).unwrap();
        let place = Place::new();
        let report = place.import(&place.write("session.jsonl", &bytes));
        assert_eq!(
            (report.status, report.lines),
            (ImportStatus::Imported, summary.lines),
            "{report:?}"
        );
        assert!(place.exact(&summary.session_id) == bytes, "version {version}");
        place.assert_sound();
        let reader = place.store.reader(&summary.session_id).unwrap();
        for id in summary.sample_ids.iter().step_by(17) {
            let entry = reader.get_entry(id).unwrap();
            assert_eq!(entry.id().as_ref(), Some(id));
        }
    }
}

const HEADER: &[u8] = b"{\"type\":\"session\",\"version\":3,\"id\":\"any\"}\n";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_behind_a_header_come_back(tail in proptest::collection::vec(any::<u8>(), 0..4000)) {
        let bytes = [HEADER, &tail].concat();
        let place = Place::new();
        let report = place.import(&place.write("any.jsonl", &bytes));
        prop_assert_eq!(report.status, ImportStatus::Imported);
        prop_assert_eq!(place.exact("any"), bytes);
        place.assert_sound();
    }

    #[test]
    fn any_lines_behind_a_header_come_back(lines in proptest::collection::vec(line(), 0..60)) {
        let bytes = [HEADER.to_vec(), lines.concat()].concat();
        let place = Place::new();
        let report = place.import(&place.write("any.jsonl", &bytes));
        prop_assert_eq!(report.status, ImportStatus::Imported);
        prop_assert_eq!(place.exact("any"), bytes);
        place.assert_sound();
    }
}

/// Lines of few ids, so that they meet: repeats, loops, forward parents.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let id = prop_oneof![
        Just("null".to_owned()),
        (0u8..12).prop_map(|id| format!("\"e{id}\"")),
        Just("7".to_owned()),
        Just("\"\"".to_owned())
    ];
    let kind = prop_oneof![
        Just("message"),
        Just("compaction"),
        Just("label"),
        Just("model_change"),
        Just("thinking_level_change"),
        Just("title"),
        Just("session"),
        Just("new_kind")
    ];
    let end = prop_oneof![Just("\n"), Just("\r\n"), Just(" \n"), Just("")];
    (kind, id.clone(), id.clone(), id, end).prop_map(|(kind, id, parent, target, end)| {
        format!(
            "{{\"type\":\"{kind}\",\"id\":{id},\"parentId\":{parent},\"targetId\":{target},\"label\":{target},\"message\":{{\"role\":\"user\",\"content\":{target}}},\"timestamp\":\"2026-02-16T10:2{}:30.000Z\"}}{end}",
            id.len() % 10
        )
        .into_bytes()
    })
}
