//! What is sent of a context.

use leafline::Family;
use leafline::context::{ContextLeaf, ContextMessage, HistoryScope};
use serde_json::json;

use super::scene::{Scene, entry, user};

fn request(scene: &Scene, scope: HistoryScope) -> Vec<ContextMessage> {
    let reader = scene.place.store.reader("s").unwrap();
    let request = reader.build_request(ContextLeaf::Current, None, scope).unwrap();
    let mut written = Vec::new();
    let length = reader.write_request(ContextLeaf::Current, None, scope, &mut written).unwrap();
    assert_eq!(String::from_utf8(written).unwrap(), request.to_json());
    assert_eq!(length, request.to_json().len() as u64);
    let mut passed = Vec::new();
    let settings = reader.request(ContextLeaf::Current, None, scope, |message| {
        passed.push(message);
        Ok(())
    });
    assert_eq!((&passed, settings.unwrap()), (&request.messages, request.settings));
    passed
}

#[test]
fn a_message_names_the_entries_that_it_is_made_of() {
    let call = json!({"type": "toolCall", "id": "1", "name": "bash", "arguments": {}});
    let message =
        |id: &str, parent: &str, message| entry("message", id, parent, json!({"message": message}));
    let scene = Scene::pi(&[
        user("a", ""),
        message("b", "a", json!({"role": "assistant", "content": [call], "stopReason": "toolUse"})),
        message(
            "c",
            "b",
            json!({"role": "bashExecution", "command": "x", "excludeFromContext": true}),
        ),
        message("d", "c", json!({"role": "bashExecution", "command": "x", "output": "y"})),
        message("e", "d", json!({"role": "assistant", "content": [], "stopReason": "aborted"})),
    ]);
    let sent = request(&scene, HistoryScope::Context);
    let places: Vec<u64> = sent.iter().map(|message| message.ordinal).collect();
    // The missing result is the call's.
    assert_eq!(places, [1, 2, 2, 4]);
    assert!(sent.iter().all(|message| message.ordinals == [message.ordinal]));
    let roles: Vec<_> = sent.iter().map(|one| one.value().unwrap()["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant", "toolResult", "user"]);
}

#[test]
fn content_that_was_edited_away_leaves_its_place() {
    let line = |id: &str, parent: &str, members: &str| {
        format!(
            r#"{{"id":"{id}","parentId":{parent},"timestamp":"2026-03-01T08:00:00.000Z",{members}}}"#
        )
    };
    let scene = Scene::pi(&[
        line(
            "a",
            "null",
            r#""type":"message","message":{"role":"user","content":"x","timestamp":1}"#,
        ),
        line("b", "\"a\"", r#""type":"context_edit","targetId":"a","replacement":{}"#),
    ]);
    let sent = request(&scene, HistoryScope::Context);
    assert_eq!(sent[0].json.as_str(), r#"{"role":"user","content":[],"timestamp":1}"#);
    let context = scene.context(ContextLeaf::Current);
    assert_eq!(context.messages[0].json.as_str(), r#"{"role":"user","timestamp":1}"#);
}

#[test]
fn the_full_history_is_sent_in_the_same_words() {
    let compaction = json!({"summary": "short", "firstKeptEntryId": "x", "tokensBefore": 1});
    let lines = [user("a", ""), entry("compaction", "b", "a", compaction), user("c", "b")];
    for (family, words) in [
        (Family::Pi, "The conversation history before this point"),
        (Family::Omp, "Prior model work/tool state available."),
    ] {
        let scene = Scene::new(family, &lines);
        let [short, full] =
            [HistoryScope::Context, HistoryScope::Full].map(|it| request(&scene, it));
        assert_eq!((short.len(), full.len()), (2, 3));
        assert_eq!(short[0].json, full[1].json);
        let text = short[0].value().unwrap()["content"][0]["text"].clone();
        assert!(text.as_str().unwrap().starts_with(words), "{text}");
    }
}

#[test]
fn other_families_send_their_contexts() {
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples");
    let store = leafline::Store::in_memory().unwrap();
    store.import(&[samples], &leafline::import::ImportOptions::default(), &mut ()).unwrap();
    let mut compared = 0;
    for session in store.sessions().unwrap() {
        let reader = store.reader(&session.id).unwrap();
        if matches!(reader.family(), Family::Pi | Family::Omp) {
            continue;
        }
        let scope = HistoryScope::Context;
        let Ok(context) = reader.build_context(ContextLeaf::Current, None) else { continue };
        let request = reader.build_request(ContextLeaf::Current, None, scope).unwrap();
        assert_eq!(request, context, "{}", session.id);
        compared += 1;
    }
    assert!(compared > 8, "{compared}");
}
