//! The samples: each shows one thing that a whole file can contain.

use std::path::Path;

use leafline_import::opal::{CurrentId, Draft, LineKind, ParentId, Scanner, replace_path_segment};
use leafline_import::text::decode;
use leafline_import::{MessageRole, lines};

use crate::file::File;

fn sample(name: &str) -> Vec<u8> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["samples/opal/sessions", "tests/samples/opal"];
    let paths = folders.map(|folder| package.join(folder).join(name));
    std::fs::read(paths.iter().find(|path| path.exists()).unwrap()).unwrap()
}

#[test]
fn the_current_message_decides() {
    let file = File::read(&sample("sess-5f1c.jsonl"));
    assert_eq!(file.facts.title.as_deref(), Some("Slow tide table"));
    assert_eq!(file.facts.cwd.as_deref(), Some("/home/robin/work/tide-clock"));
    assert_eq!(file.facts.created_at_ms, Some(1_770_798_600_000));
    assert_eq!(file.leaf().as_deref(), Some("b2000000000000a7"));
    let path = ["a1", "a2", "a3", "a6", "a7"].map(|id| format!("b2000000000000{id}"));
    assert_eq!(file.path("b2000000000000a7"), path);
}

#[test]
fn without_a_current_message_the_longest_path_does() {
    let file = File::read(&sample("documented.jsonl"));
    assert_eq!(file.facts.current_id, CurrentId::Absent);
    assert_eq!(file.leaf().as_deref(), Some("msg_4"));
}

#[test]
fn a_torn_file_is_survived() {
    let bytes = sample("torn.jsonl");
    let file = File::read(&bytes);
    assert_eq!((file.facts.line, file.facts.title.as_deref()), (1, Some("Torn")));
    assert_eq!(file.facts.model.as_deref(), Some("null"));
    assert_eq!(file.leaf().as_deref(), Some("d2"));
    let mut scanner = Scanner::new();
    let kinds: Vec<_> =
        lines::split(&bytes).map(|line| scanner.scan(&decode(line)).kind()).collect();
    let message = LineKind::Message;
    let (malformed, scalar) = (LineKind::Malformed, LineKind::Scalar);
    let expected = [
        LineKind::Blank,
        LineKind::Header,
        message,
        malformed,
        message,
        message,
        message,
        message,
        scalar,
        message,
        LineKind::Header,
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn a_compaction_keeps_what_leaves_the_path() {
    let mut file = File::read(&sample("sess-5f1c.jsonl"));
    let ids = ["a1", "a2", "a3", "a6"].map(|id| format!("b2000000000000{id}").into_bytes());
    let leaf = file.leaf().unwrap().into_bytes();
    let plan = replace_path_segment(&mut file, &ids, Some(&leaf), Default::default()).unwrap();
    assert_eq!(plan.reparented, ["a4", "a7"].map(|id| format!("b2000000000000{id}").into_bytes()));

    let mut summary = Vec::new();
    Draft::compaction_summary("Measured.", &[], &[]).write(b"sum", ParentId::Null, &mut summary);
    let rewritten = file.replaced(&plan, b"sum", &summary);
    let file = File::read(&rewritten);
    assert_eq!(file.leaf().as_deref(), Some("b2000000000000a7"));
    assert_eq!(file.path("b2000000000000a7"), ["sum", "b2000000000000a7"]);
    let other = ["a4", "a5", "a8"].map(|id| format!("b2000000000000{id}"));
    assert_eq!(file.path("b2000000000000a8")[1..], other);
}

/// What Opal would write for a message that was loaded: its own samples are sorted, so the bytes are the same.
#[test]
fn lines_as_opal_writes_them_come_back() {
    for name in ["sess-5f1c.jsonl", "sess-77a0.jsonl", "documented.jsonl"] {
        let bytes = sample(name);
        for line in lines::split(&bytes).skip(1) {
            let text = decode(line);
            let scan = Scanner::new().scan(&text);
            let id = scan.id().unwrap();
            let parent = scan.members.parent_id.and_then(|parent| parent.as_string());
            let parent = parent.as_deref().map_or(ParentId::Null, ParentId::Id);
            let mut out = Vec::new();
            Draft::from_json(&text).unwrap().write(&id, parent, &mut out);
            assert_eq!(decode(&out), text);
            assert_eq!(Draft::from_json(&text).unwrap().role(), scan.role());
            assert_ne!(scan.role(), MessageRole::None);
        }
    }
}
