//! What pi's session manager writes since 0.87, Leafline writes too.

use leafline::error::{LiveError, SessionError};
use leafline::live::Persistence;
use leafline::pi::{Compaction, PiSession};
use leafline::{Error, Family, NewSession, Session, Store};
use serde_json::{Value, json};

use crate::oracle::{Oracle, Version};

fn usage() -> Value {
    json!({"input": 10, "output": 2, "cost": {"total": 0.25}})
}

/// The edits, as the operations of pi's: a target by its place, and the replacement.
fn edits() -> Vec<(usize, Value)> {
    vec![
        (0, json!({"content": "short"})),
        (1, json!({"content": "text for a model"})),
        (1, json!({"content": [{"type": "text", "text": "b\u{e9}"}]})),
        (2, json!({"content": "text for a tool"})),
        (3, json!({"content": "seen"})),
        (0, Value::Null),
    ]
}

fn messages() -> [Value; 3] {
    [
        json!({"role": "user", "content": "long", "timestamp": 1}),
        json!({"role": "assistant", "content": [], "provider": "p", "model": "m", "timestamp": 2}),
        json!({"role": "toolResult", "toolCallId": "c", "content": [], "timestamp": 3}),
    ]
}

fn session(store: &Store, family: Family) -> Session {
    let mut new = NewSession::new(family, "/work");
    new.persistence = Some(Persistence::keep_everything());
    store.create_session(&new).unwrap()
}

fn begun(store: &Store) -> (Session, Vec<String>) {
    let mut session = session(store, Family::Pi);
    let mut ids: Vec<String> =
        messages().iter().map(|message| session.append_message(message).unwrap()).collect();
    let none: Option<&Value> = None;
    ids.push(session.append_custom_message_entry("x", &"hidden", false, none).unwrap());
    (session, ids)
}

/// The lines behind the header, with ids by their order and without times.
fn comparable(file: &str) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    let lines = file.lines().skip(1).map(|line| {
        let entry: Value = serde_json::from_str(line).unwrap();
        ids.push(entry["id"].as_str().unwrap().to_owned());
        let time = entry["timestamp"].as_str().unwrap();
        let line = line.replace(time, "time");
        (0..)
            .zip(&ids)
            .fold(line, |line, (number, id)| line.replace(id.as_str(), &format!("#{number}")))
    });
    lines.collect()
}

#[test]
fn context_edits_and_usage_are_written_as_pi_writes_them() {
    let store = Store::in_memory().unwrap();
    let (mut session, ids) = begun(&store);
    for (target, replacement) in edits() {
        session.append_context_edit(&ids[target], replacement.get("content")).unwrap();
    }
    session.append_usage("title", "p", "m", &usage(), Some("why")).unwrap();
    session.append_usage("title", "p", "m", &usage(), Some("")).unwrap();
    session.append_usage("title", "p", "m", &usage(), None).unwrap();
    let mut ours = Vec::new();
    let reader = session.reader().unwrap();
    reader.export(&leafline::export::ExportMode::Current, &mut ours).unwrap();
    let context: Value = {
        let leaf = leafline::context::ContextLeaf::Current;
        serde_json::from_str(&reader.build_context(leaf, None).unwrap().to_json()).unwrap()
    };
    // The user's message is left out, all others have other content.
    let roles: Vec<&Value> =
        context["messages"].as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["assistant", "toolResult", "custom"]);
    assert_eq!(context["messages"][0]["content"][0]["text"], "b\u{e9}");

    let Some(oracle) = Oracle::find_version(Version::V0_87) else { return };
    let append = |message: &Value| json!({"do": "append_message", "message": message});
    let mut operations: Vec<Value> = messages().iter().map(append).collect();
    operations.push(json!({"do": "append_custom_message_entry", "customType": "x",
        "content": "hidden", "display": false}));
    operations.extend(edits().into_iter().map(|(target, replacement)| {
        json!({"do": "append_context_edit", "target": target, "replacement": replacement})
    }));
    for note in [Some("why"), Some(""), None] {
        let mut operation = json!({"do": "append_usage", "kind": "title", "provider": "p",
            "model": "m", "usage": usage()});
        if let Some(note) = note {
            operation["note"] = json!(note);
        }
        operations.push(operation);
    }
    operations.push(json!({"do": "observe"}));
    let job = json!({"op": "play", "cwd": "/work", "operations": operations});
    let answers = oracle.ask(&job.to_string());
    assert_eq!(answers[0]["ok"], true, "{}", answers[0]);
    let results = answers[0]["results"].as_array().unwrap();
    let theirs = results.last().unwrap()["observed"]["file"].as_str().unwrap();
    let ours = String::from_utf8(ours).unwrap();
    assert_eq!(comparable(&ours), comparable(theirs));
}

#[test]
fn compactions_with_usage_and_a_system_message_are_those_of_pi() {
    fn compaction<'a>(usage: Option<&'a str>, system_message: Option<&'a str>) -> Compaction<'a> {
        Compaction {
            summary: "s",
            tokens_before: 9,
            details: Some("[1]"),
            from_extension: Some(true),
            usage,
            system_message,
            ..Compaction::default()
        }
    }
    let system = json!({"role": "system", "content": "Be brief", "timestamp": 4});
    let usage = usage().to_string();
    let written = |told: &str| {
        let store = Store::in_memory().unwrap();
        let mut session = session(&store, Family::Pi);
        let first = session.append_message(&messages()[0]).unwrap();
        session.append_message(&messages()[1]).unwrap();
        session.append_message(&system).unwrap();
        let first_kept_entry_id = Some(&*first);
        for (usage, told) in [(Some(&*usage), Some(told)), (None, None)] {
            let compaction = Compaction { first_kept_entry_id, ..compaction(usage, told) };
            session.append_compaction(&compaction).unwrap();
        }
        let mut ours = Vec::new();
        let reader = session.reader().unwrap();
        reader.export(&leafline::export::ExportMode::Current, &mut ours).unwrap();
        comparable(&String::from_utf8(ours).unwrap())
    };
    let ours = written(&system.to_string());
    assert!(
        ours[3].ends_with(&format!(
            r##""firstKeptEntryId":"#0","tokensBefore":9,"details":[1],"usage":{usage},"fromHook":true,"systemMessage":{system}}}"##
        )),
        "{}",
        ours[3]
    );
    let store = Store::in_memory().unwrap();
    let refused = session(&store, Family::Pi).append_compaction(&compaction(Some("{"), None));
    assert!(matches!(refused, Err(Error::Live(LiveError::InvalidEntry { .. }))), "{refused:?}");

    let Some(oracle) = Oracle::find_version(Version::V0_87) else { return };
    let append = |message: &Value| json!({"do": "append_message", "message": message});
    let compact = json!({"do": "append_compaction", "summary": "s", "firstKept": 0,
        "tokensBefore": 9, "details": [1], "fromHook": true,
        "usage": serde_json::from_str::<Value>(&usage).unwrap()});
    let operations = [
        append(&messages()[0]),
        append(&messages()[1]),
        append(&system),
        compact,
        json!({"do": "observe"}),
    ];
    let job = json!({"op": "play", "cwd": "/work", "operations": operations});
    let answers = oracle.ask(&job.to_string());
    assert_eq!(answers[0]["ok"], true, "{}", answers[0]);
    let results = answers[0]["results"].as_array().unwrap();
    let theirs = results.last().unwrap()["observed"]["file"].as_str().unwrap();
    // pi gives its system message the compaction's time.
    let last: Value = serde_json::from_str(theirs.lines().last().unwrap()).unwrap();
    assert_eq!(last["systemMessage"]["content"], "Be brief");
    assert_eq!(written(&last["systemMessage"].to_string())[..4], comparable(theirs));
}

#[test]
fn what_pi_does_not_edit_is_refused() {
    let store = Store::in_memory().unwrap();
    let (mut session, ids) = begun(&store);
    let level = session.append_thinking_level_change("high").unwrap();
    let invalid = |result: leafline::Result<String>, problem: &str| {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Live(LiveError::InvalidEntry { .. })), "{error}");
        assert!(error.to_string().contains(problem), "{error}");
    };
    invalid(session.append_context_edit(&level, Some(&"x")), "no content of its own");
    invalid(session.append_context_edit(&ids[0], Some(&5)), "neither a string nor an array");
    let missing = session.append_context_edit("nowhere", Some(&"x")).unwrap_err();
    assert!(matches!(missing, Error::Session(SessionError::EntryNotFound { .. })), "{missing}");
    session.branch(&ids[0]).unwrap();
    invalid(session.append_context_edit(&ids[1], Some(&"x")), "not on the path to the leaf");
    session.reset_leaf().unwrap();
    invalid(session.append_context_edit(&ids[0], Some(&"x")), "not on the path to the leaf");
    assert_eq!(session.reader().unwrap().facts().entries, 5);

    let mut omp = self::session(&store, Family::Omp);
    let user = omp.append_message(&messages()[0]).unwrap();
    for error in [
        omp.append_context_edit(&user, Some(&"x")).unwrap_err(),
        omp.append_usage("k", "p", "m", &usage(), None).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Session(SessionError::WrongFamily { .. })), "{error}");
    }
}
