//! A folder of files: pi's list and ours have the same facts of each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use leafline::Family;
use leafline::files::{FileFacts, SessionFiles};
use serde_json::{Value, json};

use crate::oracle::{Oracle, text};
use crate::place::{Place, corpus};
use crate::{Case, cases};

/// Sessions with one odd entry after a user message.
const ODD_ENTRIES: [(&str, &str); 16] = [
    ("a name of white space", r#"{"type":"session_info","name":"  "}"#),
    ("a name that is trimmed", r#"{"type":"session_info","name":"\ufeff a \n"}"#),
    ("no message", r#"{"type":"message","id":"b","parentId":"a","message":{}}"#),
    ("another role", r#"{"type":"message","message":{"role":"toolResult","content":"x"}}"#),
    ("no text", r#"{"type":"message","message":{"role":"assistant","content":""}}"#),
    ("white space", r#"{"type":"message","message":{"role":"assistant","content":" \n "}}"#),
    (
        "texts and others",
        r#"{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"thinking","thinking":"b"},{"type":"text","text":""},{"text":"c"},{"type":"text"},{"type":"text","text":null},{"type":"text","text":"\ud83c d"}]}}"#,
    ),
    ("no blocks", r#"{"type":"message","message":{"role":"user","content":[]}}"#),
    (
        "a time of its own",
        r#"{"type":"message","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"x","timestamp":1780000000000.7}}"#,
    ),
    (
        "a time that is text",
        r#"{"type":"message","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"x","timestamp":"1780000000000"}}"#,
    ),
    ("a time of 0", r#"{"type":"message","message":{"role":"user","content":"x","timestamp":0}}"#),
    (
        "a time before 1970",
        r#"{"type":"message","message":{"role":"user","content":"x","timestamp":-5}}"#,
    ),
    (
        "an extension's message",
        r#"{"type":"custom_message","customType":"x","content":"hidden","display":true}"#,
    ),
    (PI_LEAVES_OUT[0], r#"{"type":"message","message":{"role":"user","content":null}}"#),
    (PI_LEAVES_OUT[1], r#"{"type":"message","message":{"role":"user","content":[null]}}"#),
    (PI_LEAVES_OUT[2], r#"{"type":"message"}"#),
];

/// Sessions that pi leaves out because it throws at a message, and that are listed here all the same.
const PI_LEAVES_OUT: [&str; 3] = ["null content", "a null block", "a message that is not there"];

fn odd_entries() -> impl Iterator<Item = Case> {
    let headers = [
        r#"{"type":"session","version":3,"id":"s","timestamp":"2025-03-01T08:00:00.000Z","cwd":"/work","parentSession":"/old.jsonl"}"#,
        r#"{"type":"session","version":3,"id":"s"}"#,
    ];
    let prompt =
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"Hi"}}"#;
    ODD_ENTRIES.into_iter().flat_map(move |(name, entry)| {
        let alone = headers.map(|header| format!("{header}\n{entry}\n"));
        let behind = headers.map(|header| format!("{header}\n{prompt}\n{entry}\n"));
        let cases = alone.into_iter().chain(behind);
        cases.map(|text| Case { name: name.to_owned(), bytes: text.into_bytes() })
    })
}

/// The real files of omp, if there are any: pi reads them.
fn files_of_omp() -> impl Iterator<Item = Case> {
    let folder = corpus().and_then(|corpus| std::fs::read_dir(corpus.join("omp")).ok());
    folder.into_iter().flatten().map(|entry| {
        let path = entry.unwrap().path();
        Case { name: path.display().to_string(), bytes: std::fs::read(path).unwrap() }
    })
}

/// pi's text for a session without a user message.
const NO_MESSAGES: &str = "(no messages)";

/// Files as pi and omp write them and as they come to be, in one folder; by path.
fn folder_of_cases(folder: &Path) -> BTreeMap<PathBuf, Case> {
    let mut files = BTreeMap::new();
    // A whole second: pi rounds the file's time where we cut it.
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_780_000_000);
    let cases = cases().into_iter().chain(odd_entries()).chain(files_of_omp());
    for (number, case) in cases.enumerate() {
        let path = folder.join(format!("{number}.jsonl"));
        std::fs::write(&path, &case.bytes).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(time).unwrap();
        files.insert(path, case);
    }
    files
}

#[test]
fn a_folder_is_listed_as_pi_lists_it() {
    let Some(oracle) = Oracle::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let files = folder_of_cases(folder.path());
    let answers = oracle.ask(&json!({"op": "list", "folder": folder.path()}).to_string());
    let listed = answers[0]["sessions"].as_array().unwrap();
    assert!(listed.len() > 120, "pi lists only {} sessions", listed.len());

    let ours = SessionFiles::new([folder.path()]).list_all();
    assert_eq!(ours.unreadable, []);
    let mut ours: BTreeMap<PathBuf, FileFacts> =
        ours.sessions.into_iter().map(|facts| (facts.path.clone(), facts)).collect();
    for theirs in listed {
        let path = PathBuf::from(text(&theirs["path"]).unwrap());
        assert!(!PI_LEAVES_OUT.contains(&&*files[&path].name), "{}", files[&path].name);
        let name = &files[&path].name;
        let Some(facts) = ours.remove(&path) else {
            assert!(!theirs["id"].is_string(), "{name}: pi lists it, and we do not");
            continue;
        };
        assert_eq!(told(&facts), *theirs, "{name}");
        assert_stored_alike(&facts, name);
    }
    for (path, facts) in ours {
        let name = &files[&path].name;
        let is_pis = facts.family == Family::Pi && !PI_LEAVES_OUT.contains(&name.as_str());
        assert!(!is_pis, "{name}: we list it, and pi does not");
    }
}

/// The facts according to pi.
fn told(facts: &FileFacts) -> Value {
    let mut told = json!({
        "path": facts.path,
        "id": facts.id,
        "cwd": facts.cwd.as_deref().unwrap_or_default(),
        "messageCount": facts.messages,
        "firstMessage": facts.get_first_message().unwrap().unwrap_or(NO_MESSAGES.to_owned()),
        "allMessagesText": facts.get_all_messages_text().unwrap(),
        "created": facts.created,
        "modified": facts.modified,
    });
    // pi has no titles, and undefined members are left out.
    let name = facts.title.as_ref().filter(|_| facts.family == Family::Pi);
    for (member, value) in [("name", name), ("parentSessionPath", facts.parent_session.as_ref())] {
        if let Some(value) = value {
            told[member] = json!(value);
        }
    }
    told
}

/// In a store the session has the same facts.
fn assert_stored_alike(facts: &FileFacts, name: &str) {
    let place = Place::in_memory();
    let report = place.import(&facts.path);
    let reader = place.store.reader(&report.session.unwrap()).unwrap();
    assert_eq!(reader.facts().messages, facts.messages, "{name}");
    assert_eq!(reader.facts().title.as_deref(), facts.title.as_deref(), "{name}");
    assert_eq!(reader.facts().modified, facts.modified, "{name}");
    let text = |text: leafline::Result<String>| text.unwrap();
    let alike = text(reader.get_all_messages_text()) == text(facts.get_all_messages_text());
    assert!(alike, "{name}: the text differs");
}
