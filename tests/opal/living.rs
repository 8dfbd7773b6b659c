//! Live Opal sessions: created, appended to, branched, named; and what the families do not have.

use leafline::error::{SessionError, StoreError};
use leafline::live::Persistence;
use leafline::omp::OmpSession;
use leafline::opal::{Metadata, OpalReader, OpalSession};
use leafline::pi::{Compaction, Draft, PiSession, PiStore};
use leafline::{Error, Family, NewSession, Session, Store, StoreOptions, opal};
use serde_json::{Value, json};

use crate::{assert_sound, begun, exported, imported, path, values};

#[test]
fn a_new_session_is_stored_at_once_as_opal_writes_it() {
    let store = Store::in_memory().unwrap();
    let mut new = NewSession::new(Family::Opal, "/work");
    new.title = Some("Fix auth bug".to_owned());
    let mut session = store.create_session(&new).unwrap();
    assert_eq!(store.sessions().unwrap().len(), 1);
    assert_eq!(session.id().len(), 32);
    assert_eq!(session.reader().unwrap().current_id().unwrap(), None);
    let header = &values(&session)[0];
    let members: Vec<_> = header.as_object().unwrap().keys().collect();
    assert_eq!(members, ["current_id", "metadata", "session_id"]);
    let metadata = &header["metadata"];
    assert_eq!(
        (&metadata["title"], &metadata["working_dir"]),
        (&json!("Fix auth bug"), &json!("/work"))
    );
    let facts = session.reader().unwrap().facts();
    assert_eq!(facts.title.as_deref(), Some("Fix auth bug"));
    assert_eq!(facts.cwd.as_deref(), Some("/work"));
    let created = leafline_import::time::parse_timestamp(metadata["created_at"].as_str().unwrap());
    assert_eq!(created, facts.created);

    let message = json!({"role": "assistant", "tool_calls": [{"name": "edit", "call_id": "c", "arguments": {"b": 1, "a": 1e21}}]});
    let first = session.append_message(&message).unwrap();
    let second = session.append(opal::Draft::tool_result("c", "Edit applied", false)).unwrap();
    let expected = format!(
        concat!(
            r#"{{"content":null,"id":"{}","is_error":false,"parent_id":null,"role":"assistant","tool_calls":[{{"arguments":{{"a":1.0e21,"b":1}},"call_id":"c","name":"edit"}}]}}"#,
            "\n",
            r#"{{"call_id":"c","content":"Edit applied","id":"{}","is_error":false,"parent_id":"{}","role":"tool_result"}}"#,
            "\n"
        ),
        first, second, first
    );
    let text = exported(&session);
    assert_eq!(text.split_once('\n').unwrap().1, expected);
    assert!(text.starts_with(&format!("{{\"current_id\":\"{second}\",\"metadata\":{{")));
    assert_sound(&store);
}

#[test]
fn the_newest_session_is_the_one_that_was_changed_last() {
    let store = Store::in_memory().unwrap();
    let mut first = begun(&store);
    std::thread::sleep(std::time::Duration::from_millis(3));
    let second = begun(&store);
    assert_eq!(store.sessions().unwrap()[0].id, second.id());
    std::thread::sleep(std::time::Duration::from_millis(3));
    first.append(opal::Draft::user("Hi")).unwrap();
    assert_eq!(store.sessions().unwrap()[0].id, first.id());
    assert_eq!(store.sessions().unwrap()[0].first_prompt.as_deref(), Some("Hi"));
}

#[test]
fn only_a_change_makes_the_export_opals_text() {
    let file = "{\"metadata\" : {\"title\":\"T\"}}\n\n{\"id\":\"m1\", \"role\":\"user\",\"content\":\"Hi\",\"x\":1e2}\n{torn";
    let store = imported(file);
    let mut session = store.session("s").unwrap();
    // Where it already is, and what it already says.
    session.branch("m1").unwrap();
    session.set_session_name("T").unwrap();
    session.set_metadata(&Metadata::from_json(r#"{"title":"T"}"#).unwrap()).unwrap();
    assert_eq!(exported(&session), file);
    session.reset_leaf().unwrap();
    assert_eq!(
        exported(&session),
        concat!(
            r#"{"current_id":null,"metadata":{"title":"T"},"session_id":"s"}"#,
            "\n",
            r#"{"content":"Hi","id":"m1","role":"user","x":100.0}"#,
            "\n"
        )
    );
    // Every line is still there.
    assert_eq!(session.reader().unwrap().facts().lines, 4);
    session.set_metadata_value("n", &1.5).unwrap();
    let new = session.append(opal::Draft::user("a root")).unwrap();
    assert_eq!(path(&session), [&*new]);
    let lines = values(&session);
    assert_eq!(lines[0]["metadata"], json!({"n": 1.5, "title": "T"}));
    assert_eq!((lines.len(), &lines[2]["parent_id"]), (3, &Value::Null));
    assert_sound(&store);
}

#[test]
fn metadata_are_read_and_set() {
    let store = imported(
        "{\"metadata\":{\"title\":\"T\",\"big\":123456789012345678901},\"session_id\":\"s\",\"other\":1}",
    );
    let mut session = store.session("s").unwrap();
    assert_eq!(
        session.reader().unwrap().get_metadata("big").unwrap().as_deref(),
        Some("123456789012345678901")
    );
    assert_eq!(session.reader().unwrap().get_metadata("none").unwrap(), None);
    session.set_metadata_value("created_at", &"2026-02-12T00:00:00Z").unwrap();
    session.set_metadata_value("working_dir", &"/elsewhere").unwrap();
    let facts = session.reader().unwrap().facts();
    assert_eq!(facts.created, Some(1_770_854_400_000));
    assert_eq!(facts.cwd.as_deref(), Some("/elsewhere"));
    // Members that Opal does not know stay in the header.
    assert_eq!(
        exported(&session),
        concat!(
            r#"{"current_id":null,"metadata":{"big":123456789012345678901,"created_at":"2026-02-12T00:00:00Z","title":"T","working_dir":"/elsewhere"},"other":1,"session_id":"s"}"#,
            "\n"
        )
    );
    session.set_metadata(&Metadata::default()).unwrap();
    let facts = session.reader().unwrap().facts();
    assert_eq!((facts.title, facts.cwd, facts.created), (None, None, None));
    assert_sound(&store);
}

#[test]
fn a_branch_to_an_unknown_message_is_an_error() {
    let store = Store::in_memory().unwrap();
    let mut session = begun(&store);
    let id = session.append(opal::Draft::user("Hi")).unwrap();
    let before = exported(&session);
    let unknown = |result: leafline::Result<()>| {
        assert!(
            matches!(result, Err(Error::Session(SessionError::EntryNotFound { .. }))),
            "{result:?}"
        );
    };
    unknown(session.branch("nowhere"));
    unknown(session.branch_with_summary(Some("nowhere"), "s", None::<&()>, None).map(drop));
    unknown(session.reader().unwrap().get_message("nowhere").map(drop));
    unknown(session.reader().unwrap().get_path_to("nowhere", |_| Ok(())).map(drop));
    assert_eq!(exported(&session), before);
    assert_eq!(session.reader().unwrap().current_id().unwrap(), Some(id));
}

#[test]
fn a_branch_summary_keeps_its_text_and_details_in_its_metadata() {
    let store = Store::in_memory().unwrap();
    let mut session = begun(&store);
    let ids = session.append_many(["a", "b"].map(opal::Draft::user)).unwrap();
    let details = json!({"turns": 3});
    let summary = session.branch_with_summary(Some(&ids[0]), "b failed", Some(&details), None);
    let summary = summary.unwrap();
    let entry = session.reader().unwrap().get_message(&summary).unwrap();
    assert_eq!(entry.role(), leafline::MessageRole::BranchSummary);
    let json = entry.json().unwrap();
    assert_eq!(
        json["metadata"],
        json!({"details": {"turns": 3}, "from_leaf": ids[1], "summary": "b failed", "type": "branch_summary"})
    );
    assert_eq!(path(&session), [ids[0].clone(), summary]);
    let root = session.branch_with_summary(None, "all failed", None::<&()>, None).unwrap();
    assert_eq!(path(&session), [root]);
    assert_sound(&store);
}

fn refusals(session: &mut Session) -> Vec<leafline::Result<()>> {
    let compaction = Compaction {
        summary: "s",
        first_kept_entry_id: Some("a"),
        tokens_before: 1,
        ..Compaction::default()
    };
    let nothing = None::<&()>;
    vec![
        session.append_label_change("m1", Some("x")).map(drop),
        session.append_compaction(&compaction).map(drop),
        session.append_session_info("name").map(drop),
        session.append_thinking_level_change("high").map(drop),
        session.append_model_change("a", "b").map(drop),
        session.append_role_model_change("a/b", None).map(drop),
        session.append_custom_entry("x", nothing).map(drop),
        session.append_custom_message_entry("x", &"y", true, nothing).map(drop),
        session.append_mode_change("plan", nothing).map(drop),
        session.append_ttsr_injection(&["a"]).map(drop),
        session.append_session_init("s", "t", &["u"], nothing).map(drop),
        session.append(Draft::message(r#"{"role":"user","content":"x"}"#).unwrap()).map(drop),
        session.rewrite_entries(|_| Ok(None)).map(drop),
        session.rewrite_tool_call_arguments("c", &json!({})).map(drop),
        session.move_to("/elsewhere"),
        session.create_branched_session("m1").map(drop),
    ]
}

fn assert_refused(results: Vec<leafline::Result<()>>, family: Family) {
    for (place, result) in results.into_iter().enumerate() {
        match result {
            Err(Error::Session(SessionError::WrongFamily { family: found, operation, .. })) => {
                assert_eq!(found, family);
                assert!(!operation.is_empty());
            }
            other => panic!("number {place}: {other:?}"),
        }
    }
}

#[test]
fn what_opal_does_not_have_is_refused() {
    let file = "{\"metadata\":{},\"session_id\":\"s\"}\n{\"id\":\"m1\",\"role\":\"user\"}\n";
    let store = imported(file);
    let mut session = store.session("s").unwrap();
    let mut results = refusals(&mut session);
    results.push(store.fork_from("s", "/elsewhere").map(drop));
    let mut new = NewSession::new(Family::Opal, "/work");
    new.parent_session = Some("s".to_owned());
    results.push(store.create_session(&new).map(drop));
    assert_refused(results, Family::Opal);
    assert_eq!(exported(&session), file);
    assert_eq!(store.sessions().unwrap().len(), 1);
    let error = session.append_label_change("m1", None).unwrap_err().to_string();
    assert_eq!(error, "session s is one of opal, for which there is no label");
}

#[test]
fn what_claude_code_does_not_have_is_refused() {
    let file = concat!(
        r#"{"type":"user","uuid":"m1","parentUuid":null,"sessionId":"s","isSidechain":false,"timestamp":"2026-02-12T00:00:00Z","message":{"role":"user","content":"Hi"}}"#,
        "\n",
        r#"{"type":"assistant","uuid":"m2","parentUuid":"m1","sessionId":"s","isSidechain":false,"timestamp":"2026-02-12T00:00:01Z","message":{"role":"assistant","content":[]}}"#,
        "\n"
    );
    let store = imported(file);
    let mut session = store.session("s").unwrap();
    let mut results = refusals(&mut session);
    let branch = results.pop();
    assert!(branch.is_some_and(|branch| branch.is_ok()), "its branches are extracted");
    results.push(session.append(opal::Draft::user("x")).map(drop));
    results.push(session.branch_with_summary(Some("m1"), "s", None::<&()>, None).map(drop));
    results.push(session.reader().unwrap().metadata().map(drop));
    results.push(session.set_metadata(&Metadata::default()));
    let mut new = NewSession::new(Family::Claude, "/work");
    new.parent_session = Some("s".to_owned());
    results.push(store.create_session(&new).map(drop));
    assert_refused(results, Family::Claude);
    // The leaf is the store's own.
    session.branch("m1").unwrap();
    assert_eq!(session.reader().unwrap().current_id().unwrap().as_deref(), Some("m1"));
    session.reset_leaf().unwrap();
    assert_eq!(exported(&session), file);
    assert_sound(&store);
}

#[test]
fn pis_sessions_take_no_messages_of_opals() {
    let store = Store::in_memory().unwrap();
    let mut new = NewSession::new(Family::Pi, "/work");
    new.persistence = Some(Persistence::keep_everything());
    let mut session = store.create_session(&new).unwrap();
    let results = vec![
        session.append(opal::Draft::user("x")).map(drop),
        session.reader().unwrap().metadata().map(drop),
        session.set_metadata_value("title", &"x"),
    ];
    assert_refused(results, Family::Pi);
    assert_eq!(session.reader().unwrap().facts().entries, 0);
}

#[test]
fn a_session_is_not_deferred() {
    let store = Store::in_memory().unwrap();
    let session = store.create_session(&NewSession::new(Family::Opal, "/work")).unwrap();
    let results = vec![
        store.create_deferred_session(&NewSession::new(Family::Opal, "/work")).map(drop),
        session.create_deferred_branched_session("m1").map(drop),
    ];
    assert_refused(results, Family::Opal);
}

#[test]
fn what_cannot_be_stored_leaves_the_old_state() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("store");
    let (id, before, ids) = {
        let store = Store::open(&place).unwrap();
        let mut session = begun(&store);
        let ids = session.append_many(["a", "b"].map(opal::Draft::user)).unwrap();
        (session.id().to_owned(), exported(&session), ids)
    };
    let options = StoreOptions { read_only: true, ..StoreOptions::default() };
    let store = Store::open_with(&place, &options).unwrap();
    let session = || store.session(&id).unwrap();
    let read_only = |result: leafline::Result<()>| {
        assert!(matches!(result, Err(Error::Store(StoreError::ReadOnly { .. }))), "{result:?}");
    };
    read_only(session().append(opal::Draft::user("c")).map(drop));
    read_only(session().branch(&ids[0]));
    read_only(session().set_session_name("T"));
    let options = leafline::opal::ReplaceOptions::default();
    let replaced = session().replace_path_segment(&ids, [opal::Draft::user("c")], options);
    read_only(replaced.map(drop));
    assert_eq!(exported(&session()), before);
}
