//! What a Claude agent kit keeps in a store is a session like any other, found again by the kit's key; guards against entries
//! that are lost, kept twice, or mixed up between projects, sessions and their agents.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::collections::BTreeSet;
use std::path::Path;

use leafline::claude::{SessionKey, SessionStore};
use leafline::export::ExportOptions;
use leafline::import::ImportOptions;
use leafline::{Family, Store};

const ID: &str = "0b5c7a52-26f4-4b4d-9a42-3d1b8d0c1f11";

fn sessions() -> SessionStore {
    SessionStore::new(&Store::in_memory().unwrap())
}

fn entry(uuid: &str, parent: Option<&str>, text: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("{parent:?}"));
    format!(
        concat!(
            r#"{{"parentUuid":{},"isSidechain":false,"type":"user","message":{{"role":"user","content":"{}"}},"#,
            r#""uuid":"{}","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work","sessionId":"{}"}}"#,
        ),
        parent, text, uuid, ID
    )
}

fn agents(uuid: &str, parent: Option<&str>, text: &str) -> String {
    let line = entry(uuid, parent, text);
    line.replace(r#""isSidechain":false"#, r#""isSidechain":true,"agentId":"a1""#)
}

fn loaded(sessions: &SessionStore, key: &SessionKey) -> Option<Vec<String>> {
    let mut entries = sessions.load(key).unwrap()?;
    let mut all = Vec::new();
    loop {
        // Pages of one entry at most times.
        let page = entries.page(1).unwrap();
        if page.is_empty() {
            return Some(all);
        }
        all.extend(page.into_iter().map(|line| String::from_utf8(line).unwrap()));
    }
}

fn append(sessions: &SessionStore, key: &SessionKey, lines: &[&str]) -> (u64, u64) {
    let appended = sessions.append(key, lines.join("\n").as_bytes()).unwrap();
    (appended.added, appended.ignored)
}

fn is_whole(store: &Store) {
    let problems = store.verify().unwrap().problems;
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn what_a_kit_appends_is_a_session_with_its_agents() {
    let sessions = sessions();
    let store = sessions.store();
    let key = SessionKey::new("-work", ID);
    let agent = key.with_subpath("subagents/agent-a1");
    let (first, second) =
        (entry("u1", None, "Why is the build slow?"), entry("u2", Some("u1"), "So?"));
    let prompt = agents("s1", None, "Find the slowest crate");
    let title = r#"{"type":"custom-title","customTitle":"Slow build","sessionId":"x"}"#;
    assert_eq!(append(&sessions, &agent, &[&prompt]), (1, 0));
    assert_eq!(append(&sessions, &key, &[&first, title]), (2, 0));
    assert_eq!(append(&sessions, &key, &[&second]), (1, 0));
    let listed = store.sessions().unwrap();
    assert_eq!(listed.len(), 2);
    let main = listed.iter().find(|facts| facts.agent.is_none()).unwrap();
    assert_eq!((&*main.id, main.family), (ID, Family::Claude));
    assert_eq!((main.cwd.as_deref(), main.title.as_deref()), (Some("/work"), Some("Slow build")));
    assert_eq!(main.first_prompt.as_deref(), Some("Why is the build slow?"));
    let of_agents = store.agents_of(ID).unwrap();
    assert_eq!(of_agents.len(), 1);
    assert_eq!((&*of_agents[0].id, of_agents[0].agent.as_deref()), ("agent-a1", Some("a1")));
    assert_eq!(store.reader(ID).unwrap().get_leaf_id().unwrap().as_deref(), Some("u2"));
    // They are exported as Claude Code keeps them.
    let folder = tempfile::tempdir().unwrap();
    store.export_all(folder.path(), &ExportOptions::default(), |_| {}).unwrap();
    let project = folder.path().join("claude/projects/-work");
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    assert_eq!(read(&project.join(format!("{ID}.jsonl"))), format!("{first}\n{title}\n{second}\n"));
    let exported = project.join(format!("{ID}/subagents/agent-a1.jsonl"));
    assert_eq!(read(&exported), format!("{prompt}\n"));
    // A session that no file had has lost none.
    assert!(store.without_files([ID, "agent-a1"]).unwrap().is_empty());
    is_whole(store);
}

#[test]
fn an_entry_is_there_once_and_others_as_often_as_they_are_appended() {
    let sessions = sessions();
    let key = SessionKey::new("p", "s");
    let (one, two) = (entry("u1", None, "1"), entry("u2", Some("u1"), "2"));
    let mode = r#"{"type":"mode","mode":"plan"}"#;
    assert_eq!(append(&sessions, &key, &[]), (0, 0));
    assert_eq!(loaded(&sessions, &key), None);
    assert_eq!(append(&sessions, &key, &[&one, &one, mode]), (2, 1));
    assert_eq!(append(&sessions, &key, &[&one, &two, mode]), (2, 1));
    let titled = r#"{"type":"custom-title","customTitle":"x","uuid":"t1"}"#;
    assert_eq!(append(&sessions, &key, &[titled]), (1, 0));
    assert_eq!(append(&sessions, &key, &[titled]), (0, 1));
    let expected = [&one, mode, &two, mode, titled].map(str::to_owned);
    assert_eq!(loaded(&sessions, &key).unwrap(), expected);
    // What cannot be kept as the line that it is leaves nothing behind.
    for wrong in ["[]", "{", "{}{}", "", "{}\n\n{}"] {
        assert!(sessions.append(&key, format!("{mode}\n{wrong}\n{mode}").as_bytes()).is_err());
    }
    assert!(sessions.append(&SessionKey::new("", "s"), b"{}").is_err());
    assert!(sessions.append(&key.with_subpath(""), b"{}").is_err());
    assert_eq!(loaded(&sessions, &key).unwrap(), expected);
    is_whole(sessions.store());
}

#[test]
fn projects_sessions_and_agents_are_apart() {
    let sessions = sessions();
    let keys = [
        SessionKey::new("a", "s"),
        SessionKey::new("b", "s"),
        SessionKey::new("a", "s2"),
        SessionKey::new("a", "s").with_subpath("subagents/agent-1"),
        SessionKey::new("a", "s").with_subpath("subagents/deeper/agent-1"),
        SessionKey::new("b", "s").with_subpath("subagents/agent-1"),
    ];
    for (number, key) in keys.iter().enumerate() {
        append(&sessions, key, &[&format!(r#"{{"type":"x","n":{number}}}"#)]);
    }
    let has = |key: &SessionKey| loaded(&sessions, key).is_some();
    for (number, key) in keys.iter().enumerate() {
        assert_eq!(loaded(&sessions, key).unwrap(), [format!(r#"{{"type":"x","n":{number}}}"#)]);
    }
    let listed = |project| {
        let listed = sessions.list_sessions(project).unwrap();
        assert!(listed.iter().all(|session| session.modified > 1_000_000_000_000));
        listed.into_iter().map(|session| session.session_id).collect::<Vec<_>>()
    };
    assert_eq!(
        (listed("a"), listed("b"), listed("c")),
        (vec!["s".into(), "s2".into()], vec!["s".into()], vec![])
    );
    let below = |project| sessions.list_subkeys(project, "s").unwrap();
    assert_eq!(below("a"), ["subagents/agent-1", "subagents/deeper/agent-1"]);
    assert_eq!(below("b"), ["subagents/agent-1"]);
    sessions.delete(&keys[4]).unwrap();
    assert_eq!(below("a"), ["subagents/agent-1"]);
    sessions.delete(&keys[0]).unwrap();
    assert_eq!(keys.each_ref().map(has), [false, true, true, false, false, true]);
    assert_eq!((listed("a"), below("a")), (vec!["s2".to_owned()], vec![]));
    sessions.delete(&SessionKey::new("a", "never")).unwrap();
    // It can be begun again, through the same handle.
    append(&sessions, &keys[0], &[r#"{"type":"x","n":7}"#]);
    assert_eq!(loaded(&sessions, &keys[0]).unwrap(), [r#"{"type":"x","n":7}"#]);
    is_whole(sessions.store());
}

/// The handle of the deleted transcript had its id, and appended to whatever got that id next.
#[test]
fn a_deleted_agents_id_leads_to_no_other_transcript() {
    let sessions = sessions();
    let agent = |session| SessionKey::new("-work", session).with_subpath("subagents/agent-a1");
    append(&sessions, &agent("first"), &[&agents("u1", None, "one")]);
    append(&sessions, &agent("second"), &[&agents("u2", None, "two")]);
    sessions.delete(&SessionKey::new("-work", "second")).unwrap();
    append(&sessions, &agent("third"), &[&agents("u3", None, "three")]);
    append(&sessions, &agent("second"), &[&agents("u4", None, "four")]);
    for (session, uuid) in [("first", "u1"), ("second", "u4"), ("third", "u3")] {
        let entries = loaded(&sessions, &agent(session)).unwrap();
        assert_eq!(entries.len(), 1, "{session}");
        assert!(entries[0].contains(uuid), "{session}");
    }
    is_whole(sessions.store());
}

#[test]
fn imported_sessions_have_the_keys_of_their_projects() {
    let store = Store::in_memory().unwrap();
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/claude");
    store.import(&[samples], &ImportOptions::default(), &mut ()).unwrap();
    let sessions = SessionStore::new(&store);
    let all = store.sessions().unwrap();
    let main = all.iter().find(|facts| facts.id.starts_with("5b0c7a52")).unwrap();
    let project: String =
        main.cwd.as_deref().unwrap().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let listed = sessions.list_sessions(&project).unwrap();
    let ids: BTreeSet<&str> = listed.iter().map(|session| &*session.session_id).collect();
    let same = all.iter().filter(|facts| facts.cwd == main.cwd && facts.agent.is_none());
    assert_eq!(ids, same.map(|facts| &*facts.id).collect());
    let key = SessionKey::new(&project, &*main.id);
    let mut objects = 0;
    let is_object = |line: &[u8]| {
        serde_json::from_slice::<serde_json::Value>(line).is_ok_and(|value| value.is_object())
    };
    store
        .reader(&main.id)
        .unwrap()
        .lines(0, |line| {
            objects += usize::from(is_object(line.line()));
            Ok(true)
        })
        .unwrap();
    assert_eq!(loaded(&sessions, &key).unwrap().len(), objects);
    assert!(objects as u64 >= main.entries - main.recovered);
    let below = sessions.list_subkeys(&project, &main.id).unwrap();
    assert_eq!(below.len(), 2, "{below:?}");
    for subpath in &below {
        assert!(!loaded(&sessions, &key.with_subpath(subpath)).unwrap().is_empty());
    }
    // It goes on as the same session.
    assert_eq!(append(&sessions, &key, &[&entry("new", None, "Again")]), (1, 0));
    assert_eq!(store.sessions().unwrap().len(), all.len());
    assert_eq!(
        store.reader(&main.id).unwrap().get_entry("new").unwrap().id().as_deref(),
        Some("new")
    );
    sessions.delete(&key).unwrap();
    assert_eq!(store.sessions().unwrap().len(), all.len() - 3);
    is_whole(&store);
}

#[test]
fn the_file_of_a_session_that_a_kit_mirrors_is_that_session() {
    let sessions = sessions();
    let store = sessions.store();
    let key = SessionKey::new("tenant", ID);
    let lines =
        [entry("u1", None, "1"), entry("u2", Some("u1"), "2"), entry("u3", Some("u2"), "3")];
    append(&sessions, &key, &[&lines[0], &lines[1]]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(format!("{ID}.jsonl"));
    std::fs::write(&file, format!("{}\n", lines.join("\n"))).unwrap();
    let totals = store.import(&[&file], &ImportOptions::default(), &mut ()).unwrap();
    assert_eq!((totals.grown, totals.failed), (1, 0));
    assert_eq!(append(&sessions, &key, &[&lines[2]]), (0, 1));
    assert_eq!(loaded(&sessions, &key).unwrap(), lines);
    assert_eq!(store.sessions().unwrap().len(), 1);
    assert_eq!(sessions.list_sessions("tenant").unwrap().len(), 1);
    assert!(sessions.list_sessions("-work").unwrap().is_empty());
    is_whole(store);
}

#[test]
fn a_session_that_is_written_anew_keeps_its_key() {
    let sessions = sessions();
    let key = SessionKey::new("p", ID);
    // A child before its parent: the tree is made again.
    let (child, parent) = (entry("u2", Some("u1"), "2"), entry("u1", None, "1"));
    append(&sessions, &key, &[&child]);
    append(&sessions, &key, &[&parent]);
    append(&sessions, &key.with_subpath("subagents/agent-a1"), &[&agents("s1", None, "3")]);
    let again = SessionStore::new(sessions.store());
    assert_eq!(loaded(&again, &key).unwrap(), [child, parent]);
    assert_eq!(sessions.store().reader(ID).unwrap().get_children(Some("u1")).unwrap().len(), 1);
    assert_eq!(again.list_subkeys("p", ID).unwrap(), ["subagents/agent-a1"]);
    is_whole(sessions.store());
}

#[test]
fn threads_and_handles_begin_a_session_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.leafline");
    drop(Store::open(&path).unwrap());
    let key = SessionKey::new("p", ID);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (path, key) = (&path, &key);
            scope.spawn(move || {
                let sessions = SessionStore::new(&Store::open(path).unwrap());
                for number in 0..10 {
                    let own = entry(&format!("t{thread}-{number}"), None, "x");
                    let shared = entry(&format!("shared-{number}"), None, "x");
                    append(&sessions, key, &[&own, &shared]);
                }
            });
        }
    });
    let store = Store::open(&path).unwrap();
    assert_eq!(store.sessions().unwrap().len(), 1);
    let lines = loaded(&SessionStore::new(&store), &key).unwrap();
    assert_eq!(lines.len(), 50);
    assert_eq!(lines.iter().collect::<BTreeSet<_>>().len(), 50);
    is_whole(&store);
}

#[test]
fn summaries_are_of_the_entries_that_are_there() {
    let sessions = sessions();
    let key = SessionKey::new("p", ID);
    let fold = |new: &[&str], before: Option<&str>| {
        let mut summary = sessions.summary(&key, "count").unwrap().unwrap();
        assert_eq!(summary.data(), before);
        let page = summary.page(1 << 20).unwrap();
        assert_eq!(page, new.iter().map(|line| line.as_bytes()).collect::<Vec<_>>());
        assert_eq!(summary.is_current(), new.is_empty());
        let text = format!("{}{}", before.unwrap_or_default(), "|".repeat(new.len()));
        summary.set_data(text);
        sessions.keep_summaries("count", vec![summary]).unwrap();
    };
    assert!(sessions.summary(&key, "count").unwrap().is_none());
    let (one, two, late) =
        (entry("u1", None, "1"), entry("u2", Some("u0"), "2"), entry("u0", None, "0"));
    append(&sessions, &key, &[&one]);
    fold(&[&one], None);
    fold(&[], Some("|"));
    append(&sessions, &key, &[&two]);
    fold(&[&two], Some("|"));
    // Another form knows nothing of it.
    assert_eq!(sessions.summary(&key, "other").unwrap().unwrap().data(), None);
    // The session is written again: its lines may be others.
    append(&sessions, &key, &[&late]);
    let summary = sessions.summary(&key, "count").unwrap().unwrap();
    assert!(!summary.is_current());
    drop(summary);
    sessions.delete(&key).unwrap();
    // Nothing is left of what is derived from a session that is gone.
    let tables = sessions.store().statistics().unwrap().tables;
    assert!(tables.iter().all(|table| table.name != "summaries" || table.rows == 0));
    append(&sessions, &key, &[&one]);
    fold(&[&one], None);
    is_whole(sessions.store());
}
