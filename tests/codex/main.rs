//! Codex's sessions in a store: in and out, their names, agents and forks, trees, transcripts, search.
//!
//! Guards against bytes that change in the store, and against facts that differ from those that the package
//! `leafline-import` finds in the file's lines.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

#[path = "../../import/tests/codex/cases/mod.rs"]
#[allow(dead_code, reason = "shared with the tests of the formats")]
mod cases;
mod contexts;
mod exported;
mod images;
mod judge;
mod names;
#[path = "../place/mod.rs"]
mod place;
#[path = "../../import/tests/codex/program.rs"]
#[allow(dead_code, reason = "shared with the tests of the formats")]
mod program;
mod random;
#[path = "../../import/tests/codex/rollouts.rs"]
mod rollouts;
mod samples;

use std::path::{Path, PathBuf};

use leafline::import::{FileReport, Refusal};
use leafline::pi::PiSession;
use leafline::{EntryKind, MessageRole};
use leafline_import::codex::{Facts, Record, Scanner, takes_part};
use leafline_import::text::decode;
use leafline_import::{Family, lines};
use place::Place;

/// The id of an invented session.
const ID: &str = "0199f2b4-0000-7000-8000-000000000001";

/// The name that the file of a session has.
fn file_name(id: &str) -> String {
    format!("codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-{id}.jsonl")
}

fn samples_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("import/samples/codex")
}

fn imported(place: &Place, id: &str, bytes: impl AsRef<[u8]>) -> FileReport {
    let report = place.import(&place.write(&file_name(id), bytes));
    assert_eq!(report.family, Some(Family::Codex), "{report:?}");
    report
}

/// Iterates over the records of a file with their lines' numbers.
fn each_record(file: &[u8], mut take: impl FnMut(u64, &Record<'_>)) {
    let mut scanner = Scanner::new();
    for (number, line) in (0..).zip(lines::split(file)) {
        take(number, &scanner.scan(&decode(line)));
    }
}

/// Compares a session with what the package `leafline-import` finds in its file.
fn assert_told(place: &Place, id: &str, file: &[u8]) {
    assert!(place.exact(id) == file, "the bytes differ");
    let (mut of_file, mut leaf, mut entries) = (Facts::default(), None, Vec::new());
    each_record(file, |line, record| {
        of_file.observe(record);
        if record.kind().is_entry() {
            entries.push(line);
        }
        if takes_part(record) && record.kind().is_entry() {
            leaf = Some(line);
        }
    });
    let reader = place.store.reader(id).unwrap();
    let facts = reader.facts();
    assert_eq!(facts.entries, entries.len() as u64);
    assert_eq!((facts.orphans, facts.duplicates, facts.unaddressed), (0, 0, 0));
    assert!(!facts.irregular);
    assert_eq!(reader.get_leaf_id().unwrap(), leaf.map(|leaf| leaf.to_string()));
    // Each entry is named by its line, and is the child of the one before.
    let tree = reader.get_tree().unwrap();
    let (mut ids, mut ordinals) = (Vec::new(), Vec::new());
    for node in tree.nodes() {
        ordinals.push(node.ordinal);
        assert!(node.children.len() < 2);
    }
    assert_eq!(ordinals, entries);
    assert_eq!(tree.roots().len(), usize::from(!entries.is_empty()));
    reader
        .get_entries(|entry| {
            assert_eq!(reader.get_entry(&entry.id().unwrap())?.line(), entry.line());
            ids.extend(entry.id());
            Ok(true)
        })
        .unwrap();
    assert_eq!(ids, entries.iter().map(u64::to_string).collect::<Vec<_>>());
    place.assert_sound();
}

#[test]
fn kinds_and_roles() {
    let place = Place::new();
    let mut lines = vec![
        cases::developer("<model_switch>x"),
        cases::user("<environment_context>x</environment_context>"),
        cases::user("<user_shell_command>ls</user_shell_command>"),
        cases::user("Hello"),
        cases::assistant("Hi"),
        cases::compacted("so far", None, cases::Alone::No),
        cases::rolled_back(1),
        cases::line("turn_context", serde_json::json!({"model": "gpt-5"})),
        cases::line("session_meta", serde_json::json!({"id": "another"})),
    ];
    for item_type in
        ["reasoning", "function_call", "function_call_output", "agent_message", "compaction"]
    {
        lines.push(cases::item(serde_json::json!({"type": item_type})));
    }
    lines.push(cases::item(serde_json::json!({"type": "ghost_snapshot"})));
    imported(&place, ID, cases::Case::new("", lines).file(ID));
    let (message, none) = (EntryKind::Message, MessageRole::None);
    let expected = [
        (EntryKind::Header, none),
        (message, MessageRole::Meta),
        (message, MessageRole::Meta),
        (message, MessageRole::BashExecution),
        (message, MessageRole::User),
        (message, MessageRole::Assistant),
        (EntryKind::Compaction, none),
        (EntryKind::System, none),
        (EntryKind::Unknown, none),
        (EntryKind::Header, none),
        (message, MessageRole::Assistant),
        (message, MessageRole::Assistant),
        (message, MessageRole::ToolResult),
        (message, MessageRole::Custom),
        (message, MessageRole::CompactionSummary),
        (EntryKind::Unknown, none),
    ];
    let mut found = Vec::new();
    let reader = place.store.reader(ID).unwrap();
    reader
        .lines(0, |line| {
            found.push((line.kind(), line.role()));
            Ok(true)
        })
        .unwrap();
    assert_eq!(found, expected);
    assert_eq!(reader.facts().first_prompt.as_deref(), Some("Hello"));
    assert_eq!(reader.get_all_messages_text().unwrap(), "Hello Hi");
}

/// Nothing is written to Codex's sessions here.
#[test]
fn they_are_read_alone() {
    let place = Place::new();
    imported(&place, ID, cases::Case::new("", cases::talk(1)).file(ID));
    let mut session = place.store.session(ID).unwrap();
    let message = serde_json::json!({"role": "user", "content": "x"});
    let refused = session.append_message(&message).unwrap_err();
    assert!(
        matches!(
            refused,
            leafline::Error::Session(leafline::error::SessionError::WrongFamily { .. })
        ),
        "{refused}"
    );
    let refused = session.append_session_info("A name").unwrap_err();
    assert!(
        matches!(
            refused,
            leafline::Error::Session(leafline::error::SessionError::WrongFamily { .. })
        ),
        "{refused}"
    );
}

#[test]
fn what_cannot_be_read_is_skipped_with_the_reason() {
    let place = Place::new();
    let reason = |name: &str, bytes: &[u8]| {
        let report = place.import(&place.write(name, bytes));
        assert_eq!(report.refusal, Some(Refusal::NotASession), "{report:?}");
        report.reason.unwrap()
    };
    let compressed = reason("rollout.jsonl.zst", b"\x28\xb5\x2f\xfd\x04\x00");
    assert!(compressed.contains("compressed with Zstandard"), "{compressed}");
    let early = reason(
        "a.jsonl",
        b"{\"id\":\"a\",\"timestamp\":\"2025-05-07T17:24:21Z\",\"instructions\":null}\n",
    );
    assert!(early.contains("an early version of Codex"), "{early}");
}
