//! What each program sends to its model, for sessions in memory.
//!
//! Guards against context rules that need more of a store than [`Conversation`] promises.
//!
//! [`Conversation`]: leafline_import::conversation::Conversation

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod in_memory;

use leafline_import::conversation::{HistoryScope, PathEnd};
use leafline_import::scan::{Raw, Scanner};
use leafline_import::text::decode;
use leafline_import::{EntryKind, Family, MessageRole, NamedEntry, claude, opal};

use in_memory::{Entry, InMemory};

/// The kind and role of an entry of pi or omp.
fn of_pi(line: &[u8]) -> Option<Entry> {
    let text = decode(line);
    let scan = Scanner::new().scan(&text);
    let kind = EntryKind::of(&scan);
    let bytes = |raw: Option<Raw<'_>>| raw?.as_string().map(|id| id.into_owned());
    kind.is_entry().then(|| Entry {
        id: bytes(scan.members.id).unwrap_or_default(),
        kind: Some(kind),
        role: Some(MessageRole::of(&scan)),
        parent: bytes(scan.members.parent_id),
        ..Entry::default()
    })
}

fn of_claude(line: &[u8]) -> Option<Entry> {
    let text = decode(line);
    let record = claude::Scanner::new().scan(&text);
    let kind =
        if record.is_compact_boundary() { EntryKind::Compaction } else { EntryKind::Message };
    let role = match record.kind() {
        claude::RecordKind::Assistant => MessageRole::Assistant,
        _ => MessageRole::User,
    };
    let parent = match record.parent() {
        claude::Parent::Uuid(uuid) => Some(uuid.into_owned()),
        _ => None,
    };
    record.is_entry().then(|| Entry {
        id: record.uuid().unwrap().into_owned(),
        kind: Some(kind),
        role: Some(role),
        parent,
        pointer: record.logical_parent().map(|uuid| uuid.into_owned()),
        ..Entry::default()
    })
}

fn of_opal(line: &[u8]) -> Option<Entry> {
    let text = decode(line);
    let line = opal::Scanner::new().scan(&text);
    let parent = match line.parent() {
        opal::Parent::Id(id) => Some(id.into_owned()),
        _ => None,
    };
    let id = line.id().map(|id| id.into_owned());
    (line.kind() == opal::LineKind::Message).then(|| Entry {
        id: id.unwrap_or_default(),
        parent,
        ..Entry::default()
    })
}

/// The context's JSON, and the lines of its messages.
fn context(
    session: &mut InMemory<'_>,
    family: Family,
    leaf: u64,
    scope: HistoryScope,
) -> (String, Vec<u64>) {
    let (mut messages, mut lines) = (Vec::new(), Vec::new());
    let take = &mut |places: &[u64], json: &[u8]| {
        lines.extend_from_slice(places);
        messages.push(String::from_utf8(json.to_vec()).unwrap());
        Ok(())
    };
    let settings = family.context(session, &mut [], Some(leaf), scope, take).unwrap();
    let mut json = messages.join(",");
    settings.append_members(&mut json);
    (json, lines)
}

const PI: &str = r#"{"type":"session","version":3,"id":"s"}
{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"1"}}
{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":"2"}}
{"type":"compaction","id":"c","parentId":"b","timestamp":0,"summary":"S","firstKeptEntryId":"b","tokensBefore":9}
{"type":"message","id":"d","parentId":"c","message":{"role":"user","content":"3"}}
{"type":"model_change","id":"e","parentId":"d","role":"smol","model":"p/m"}
"#;

#[test]
fn pi_and_omp() {
    let mut session = InMemory::new(PI.as_bytes(), of_pi);
    let says = |text: u32| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let summary = r#"{"role":"compactionSummary","summary":"S","tokensBefore":9,"timestamp":0}"#;
    let shown = [summary.to_owned(), says(2), says(3)].join(",");
    for is_indexed in [true, false] {
        session.is_indexed = is_indexed;
        let (json, lines) = context(&mut session, Family::Pi, 5, HistoryScope::Context);
        assert_eq!(json, format!(r#"{shown},"thinkingLevel":"off","model":null"#));
        assert_eq!(lines, [3, 2, 4]);
        let history = Family::Pi.history(&mut session, &mut [], 5, HistoryScope::Context).unwrap();
        assert_eq!(history.ordinals().collect::<Vec<_>>(), [3, 2, 4, 5]);
        assert_eq!(history.end(), Some(PathEnd::Boundary));
    }
    let (json, lines) = context(&mut session, Family::Omp, 5, HistoryScope::Full);
    let said = [says(1), says(2), summary.to_owned(), says(3)].join(",");
    let settings = r#""thinkingLevel":"off","models":{},"injectedTtsrRules":[],"mode":"none""#;
    assert_eq!(json, format!("{said},{settings}"));
    assert_eq!(lines, [1, 2, 3, 4]);
    let found = |id| Family::Omp.find_leaf(&session, id).unwrap();
    assert_eq!([found("b"), found(""), found("none")], [2, 5, 5].map(NamedEntry::At));
    let role = Family::Omp.last_model_change_role(&mut session, 5).unwrap();
    assert_eq!(role.as_deref(), Some("smol"));
    assert_eq!(Family::Omp.last_model_change_role(&mut session, 4).unwrap(), None);
}

const EDITED: &str = r#"{"type":"session","version":3,"id":"s"}
{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"secret 1"}}
{"type":"message","id":"b","parentId":"a","message":{"role":"system","content":"old"}}
{"type":"context_edit","id":"c","parentId":"b","targetId":"a","replacement":null}
{"type":"compaction","id":"d","parentId":"c","timestamp":0,"summary":"S","firstKeptEntryId":"a","tokensBefore":9,"systemMessage":{"role":"system","content":"now"}}
{"type":"message","id":"e","parentId":"d","message":{"role":"assistant","content":"secret 2"}}
{"type":"message","id":"f","parentId":"e","message":{"content":null,"role":"user"}}
{"type":"context_edit","id":"g","parentId":"f","targetId":"e","replacement":null}
{"type":"context_edit","id":"h","parentId":"g","targetId":"e","replacement":{"content":"x"}}
{"type":"message","id":"i","parentId":"h","message":{"role":"user","content":"secret 3"}}
{"type":"context_edit","id":"j","parentId":"i","targetId":"i"}
"#;

#[test]
fn pi_edits_contexts_since_0_87() {
    let mut session = InMemory::new(EDITED.as_bytes(), of_pi);
    let settings = r#""thinkingLevel":"off","model":null"#;
    let says = |role, content| format!(r#"{{"role":"{role}","content":{content}}}"#);
    let summary = r#"{"role":"compactionSummary","summary":"S","tokensBefore":9,"timestamp":0}"#;
    let edited = says("assistant", r#"[{"type":"text","text":"x"}]"#);
    let empty = r#"{"content":[],"role":"user"}"#;
    for is_indexed in [true, false] {
        session.is_indexed = is_indexed;
        for as_of in [None, Some("0.87".parse().unwrap()), Some("1".parse().unwrap())] {
            session.as_of = as_of;
            let (json, lines) = context(&mut session, Family::Pi, 10, HistoryScope::Context);
            let system = says("system", r#""now""#);
            assert_eq!(json, format!("{system},{summary},{edited},{empty},{settings}"));
            assert_eq!(lines, [4, 4, 5, 6]);
        }
        let (json, _) = context(&mut session, Family::Pi, 10, HistoryScope::Full);
        let system = says("system", r#""old""#);
        assert_eq!(json, format!("{system},{summary},{edited},{empty},{settings}"));
        let (json, _) = context(&mut session, Family::Pi, 7, HistoryScope::Context);
        assert!(!json.contains("secret"), "{json}");
        // Above an edit it does not count yet.
        let (json, _) = context(&mut session, Family::Pi, 6, HistoryScope::Context);
        assert!(json.contains("secret 2") && !json.contains("secret 1"), "{json}");
        session.as_of = Some("0.86.1".parse().unwrap());
        let (json, lines) = context(&mut session, Family::Pi, 10, HistoryScope::Context);
        assert!(
            ["secret 1", "old", "secret 2", "null", "secret 3"]
                .iter()
                .all(|said| json.contains(said))
        );
        assert_eq!(lines, [4, 1, 2, 5, 6, 9]);
        session.as_of = None;
    }
}

const NATIVE: &str = r#"{"type":"message","id":"a","parentId":null,"timestamp":1000,"message":{"role":"user","content":"1"}}
{"type":"message","id":"b","parentId":"a","timestamp":2000,"message":{"role":"user","content":"2"}}
{"type":"compaction","id":"c","parentId":"b","timestamp":3000,"summary":"S","tokensBefore":9,"firstKeptEntryId":"","providerReplayThroughEntryId":"a","warning":"w","preserveData":{"anthropicCompaction":{"provider":"p","content":"c"}}}
{"type":"message","id":"d","parentId":"c","timestamp":4000,"message":{"role":"user","content":"3"}}
"#;

#[test]
fn omp_marks_a_summary_of_anthropic_s_since_18_3() {
    let mut session = InMemory::new(NATIVE.as_bytes(), of_pi);
    let start = r#"{"role":"compactionSummary","summary":"S","tokensBefore":9,"providerPayload":{"type":"anthropicCompaction","provider":"p","content":"c"},"warning":"w""#;
    for is_indexed in [true, false] {
        session.is_indexed = is_indexed;
        for as_of in [None, Some("18.3.4".parse().unwrap())] {
            session.as_of = as_of;
            let (json, lines) = context(&mut session, Family::Omp, 3, HistoryScope::Context);
            let summary = format!(r#"{start},"historyRewriteAt":1999,"timestamp":3000}}"#);
            assert!(json.starts_with(&format!("{summary},")), "{json}");
            assert_eq!(lines, [2, 1, 3]);
        }
        session.as_of = Some("18.2.3".parse().unwrap());
        let (json, lines) = context(&mut session, Family::Omp, 3, HistoryScope::Context);
        assert!(json.starts_with(&format!(r#"{start},"timestamp":3999}},"#)), "{json}");
        assert_eq!(lines, [2, 3]);
    }
}

const CLAUDE: &str = r#"{"type":"user","uuid":"a","parentUuid":null,"message":{"role":"user","content":"1"}}
{"type":"system","subtype":"compact_boundary","uuid":"b","parentUuid":null,"logicalParentUuid":"a"}
{"type":"assistant","uuid":"c","parentUuid":"b","message":{"id":"m","role":"assistant","model":"large","content":[{"type":"text","text":"1"}]}}
{"type":"assistant","uuid":"d","parentUuid":"c","message":{"id":"m","role":"assistant","model":"large","content":[{"type":"text","text":"2"}]}}
"#;

#[test]
fn claude_code() {
    let mut session = InMemory::new(CLAUDE.as_bytes(), of_claude);
    let answer =
        r#"{"role":"assistant","content":[{"type":"text","text":"1"},{"type":"text","text":"2"}]}"#;
    let (json, lines) = context(&mut session, Family::Claude, 3, HistoryScope::Context);
    assert_eq!(json, format!(r#"{answer},"model":"large""#));
    assert_eq!(lines, [2, 3]);
    let (json, lines) = context(&mut session, Family::Claude, 3, HistoryScope::Full);
    assert_eq!(json, format!(r#"{{"role":"user","content":"1"}},{answer},"model":"large""#));
    assert_eq!(lines, [0, 2, 3]);
    assert_eq!(Family::Claude.find_leaf(&session, "x").unwrap(), NamedEntry::Unknown);
}

const OPAL: &str = r#"{"session_id":"s","metadata":{"model":"large"}}
{"id":"b","parent_id":"a","role":"assistant","content":"2"}
{"id":"a","parent_id":null,"role":"user","content":"1"}
"#;

#[test]
fn opal() {
    let mut session = InMemory::new(OPAL.as_bytes(), of_opal);
    for scope in [HistoryScope::Context, HistoryScope::Full] {
        let (json, lines) = context(&mut session, Family::Opal, 1, scope);
        let said = r#"{"role":"user","content":"1"},{"role":"assistant","content":"2"}"#;
        assert_eq!(json, format!(r#"{said},"model":"large""#));
        assert_eq!(lines, [2, 1]);
    }
}
