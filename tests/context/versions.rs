//! Contexts by the rules of an older version of the program.

use leafline::Family;
use leafline::context::{ContextLeaf, ContextProgram, HistoryScope};
use serde_json::json;

use super::scene::{MILLISECONDS, Scene, compaction, entry, user};

fn as_of(version: &str) -> ContextProgram {
    ContextProgram { family: None, as_of: Some(version.parse().unwrap()) }
}

#[test]
fn what_omp_14_sent_and_todays_leaves_out() {
    let turn = |id: &str, parent: &str, reason: &str| {
        let call = json!({"type": "toolCall", "id": "loose", "name": "read", "arguments": {}});
        let text = json!({"type": "text", "text": "Yes"});
        let message = json!({"role": "assistant", "content": [text, call], "stopReason": reason});
        entry("message", id, parent, json!({ "message": message }))
    };
    let scene = Scene::omp(&[
        user("a", ""),
        turn("b", "a", "aborted"),
        entry("reset_boundary", "c", "b", json!({})),
        turn("d", "c", "toolUse"),
        entry("custom_message", "e", "d", json!({"customType": "prewalk-plan", "content": "x"})),
        entry("thinking_level_change", "f", "e", json!({"thinkingLevel": null})),
    ]);
    let reader = scene.place.store.reader("s").unwrap();
    let places = |program: ContextProgram, scope| {
        let context = match scope {
            HistoryScope::Context => reader.build_context(ContextLeaf::Current, program).unwrap(),
            HistoryScope::Full => reader.build_full_history(ContextLeaf::Current, program).unwrap(),
        };
        assert_eq!(context.settings.thinking_level.unwrap().as_str(), "\"off\"");
        context.messages.iter().map(|message| message.ordinal).collect::<Vec<u64>>()
    };
    for scope in [HistoryScope::Context, HistoryScope::Full] {
        assert_eq!(places(as_of("14.9.9"), scope), [1, 2, 4, 5]);
    }
    for today in [ContextProgram::default(), as_of("15"), as_of("18.2.3")] {
        assert_eq!(places(today, HistoryScope::Context), [4]);
    }
    let before = reader.build_context(ContextLeaf::Current, as_of("14")).unwrap();
    let [_, aborted, with_call, custom] = &before.messages[..] else { panic!("{before:?}") };
    for turn in [aborted, with_call] {
        assert_eq!(turn.value().unwrap()["content"][1]["id"], "loose");
    }
    assert_eq!(
        custom.json.as_str(),
        format!(
            r#"{{"role":"custom","customType":"prewalk-plan","content":"x","timestamp":{MILLISECONDS}}}"#
        )
    );
}

#[test]
fn a_provider_s_history_stands_for_what_was_kept_in_omp_14() {
    let preserved = json!({"openaiRemoteCompaction": {"provider": "p", "replacementHistory": [1]}});
    let remote = entry(
        "compaction",
        "d",
        "c",
        json!({"summary": "[d]", "tokensBefore": 5, "firstKeptEntryId": "b", "tokensAfter": 1, "preserveData": preserved}),
    );
    let scene = Scene::new(
        Family::Omp,
        &[user("a", ""), user("b", "a"), compaction("c", "b", "b"), remote, user("e", "d")],
    );
    let reader = scene.place.store.reader("s").unwrap();
    let at = |leaf| {
        let context = reader.build_context(ContextLeaf::Entry(leaf), as_of("14.9.9")).unwrap();
        context.messages.iter().map(|message| message.json.to_string()).collect::<Vec<_>>()
    };
    let kept = at("c");
    assert_eq!(kept.len(), 2);
    assert!(kept[1].contains(r#""content":"b""#), "{kept:?}");
    // Today's omp reads no history that holds anything but objects, and keeps the entries.
    let payload =
        r#""providerPayload":{"type":"openaiResponsesHistory","provider":"p","items":[1]}"#;
    let told = at("e");
    assert_eq!(
        told[0],
        format!(
            r#"{{"role":"compactionSummary","summary":"[d]","tokensBefore":5,{payload},"timestamp":{MILLISECONDS}}}"#
        )
    );
    assert_eq!(told.len(), 2);
    let today = reader.build_context(ContextLeaf::Current, None).unwrap();
    assert!(today.messages.len() > 2 && !today.to_json().contains("providerPayload"));
}
