//! What the model is shown, and what was said.

use leafline::context::HistoryScope::{Context, Full};
use leafline::context::{ContextLeaf, PathEnd};
use leafline::error::SessionError;
use leafline::omp::OmpReader;
use leafline::{Error, Family, SessionReader};
use serde_json::{Value, json};

use crate::place::Place;
use crate::records::{
    assistant, boundary, call, compact_summary, file, history, last_prompt, place, place_of,
    record, result_of, side, user, with,
};

fn messages(reader: &SessionReader, at: ContextLeaf<'_>, full: bool) -> Vec<Value> {
    let (context, mut written) = if full {
        (reader.build_full_history(at, None).unwrap(), Vec::new())
    } else {
        (reader.build_context(at, None).unwrap(), Vec::new())
    };
    let length = if full {
        reader.write_full_history(at, None, &mut written).unwrap()
    } else {
        reader.write_context(at, None, &mut written).unwrap()
    };
    assert_eq!(length, written.len() as u64);
    assert_eq!(context.to_json().as_bytes(), written);
    for message in &context.messages {
        assert_eq!(message.ordinals.first(), Some(&message.ordinal));
    }
    context.messages.iter().map(|message| message.value().unwrap()).collect()
}

/// The first word of each message.
fn words(messages: &[Value]) -> Vec<String> {
    let block = |block: &Value| match block["type"].as_str() {
        Some("text") => block["text"].as_str().unwrap().to_owned(),
        Some("tool_use") => block["id"].as_str().unwrap().to_owned(),
        _ => block["content"].as_str().unwrap().to_owned(),
    };
    let words = |message: &Value| match &message["content"] {
        Value::String(text) => text.clone(),
        blocks => blocks.as_array().unwrap().iter().map(block).collect::<Vec<_>>().join(" + "),
    };
    messages.iter().map(words).collect()
}

#[test]
fn records_of_one_message_are_one() {
    let thinking = with(
        assistant("b", "a", "m1"),
        json!({"message": {"id": "m1", "role": "assistant", "model": "old", "content": "so"}}),
    );
    let place = place(&[
        user("a", ""),
        thinking,
        call("c", "b", "m1"),
        record("progress", "g", "c"),
        result_of("c", "r1", "g"),
        call("d", "r1", "m1"),
        result_of("d", "r2", "d"),
        record("attachment", "t", "r2"),
        assistant("e", "t", "m2"),
        with(user("n", "e"), json!({"isMeta": true})),
        assistant("f", "n", "m2"),
        assistant("h", "f", "m3"),
    ]);
    let reader = place.store.reader("s").unwrap();
    let messages = messages(&reader, ContextLeaf::Current, false);
    assert_eq!(
        words(&messages),
        [
            "prompt a",
            "so + call-c + call-d",
            "result r1 + result r2",
            "answer e",
            "prompt n",
            "answer f",
            "answer h"
        ]
    );
    assert_eq!(messages[1]["content"][0], json!({"type": "text", "text": "so"}));
    assert!(messages.iter().all(|message| message.as_object().unwrap().len() == 2));
    let context = reader.build_context(ContextLeaf::Current, Some(Family::Claude)).unwrap();
    assert_eq!(context.messages[1].ordinals, [1, 2, 5]);
    let model = context.settings.model.as_ref().unwrap();
    assert_eq!(model.model_id.as_ref().unwrap().text().as_deref(), Some("claude-opus-4-6"));
    assert_eq!((model.provider.as_ref(), context.settings.thinking_level.as_ref()), (None, None));
    assert!(context.to_json().ends_with("],\"model\":\"claude-opus-4-6\"}"));
}

#[test]
fn boundaries_are_bridged() {
    let place = place(&[
        user("a", ""),
        assistant("b", "a", "m1"),
        boundary("k", "b"),
        compact_summary("l", "k"),
        user("c", "l"),
        assistant("d", "c", "m2"),
        boundary("k2", "d"),
        compact_summary("l2", "k2"),
        user("e", "l2"),
    ]);
    let reader = place.store.reader("s").unwrap();
    let at = ContextLeaf::Current;
    assert_eq!(history(&reader, at, Context), ["k2", "l2", "e"]);
    let full = ["a", "b", "k", "l", "c", "d", "k2", "l2", "e"];
    assert_eq!(history(&reader, at, Full), full);
    assert_eq!(history(&reader, ContextLeaf::Entry("d"), Full), &full[..6]);
    assert_eq!(history(&reader, ContextLeaf::Entry("d"), Context), ["k", "l", "c", "d"]);
    assert_eq!(history(&reader, ContextLeaf::Entry("k"), Full), &full[..3]);
    assert_eq!(history(&reader, ContextLeaf::None, Full), [""; 0]);
    let ends = |at, scope| reader.get_history(at, scope).unwrap().end();
    assert_eq!(ends(at, Context), Some(PathEnd::Boundary));
    assert_eq!(ends(at, Full), Some(PathEnd::Root));
    assert_eq!(words(&messages(&reader, at, false)), ["prompt l2\n + prompt e"]);
    assert_eq!(
        words(&messages(&reader, at, true)),
        ["prompt a", "answer b", "prompt l\n + prompt c", "answer d", "prompt l2\n + prompt e"]
    );
    assert_eq!(messages(&reader, ContextLeaf::None, true), [Value::Null; 0]);
    // The model is that of this conversation.
    assert!(reader.build_context(at, None).unwrap().to_json().ends_with("\"model\":null}"));
    assert!(
        reader.build_full_history(at, None).unwrap().to_json().contains("\"claude-opus-4-6\"}")
    );
}

#[test]
fn messages_that_a_compaction_keeps() {
    let keeping = |uuid: &str, parent: &str, preserved: Value| {
        with(boundary(uuid, parent), json!({ "compactMetadata": preserved }))
    };
    let segment =
        json!({"preservedSegment": {"headUuid": "c", "anchorUuid": "l", "tailUuid": "d"}});
    let mut records = vec![
        user("a", ""),
        assistant("b", "a", "m1"),
        user("c", "b"),
        assistant("d", "c", "m2"),
        keeping("k", "d", segment),
        compact_summary("l", "k"),
        // Passed by what follows, although that hangs elsewhere.
        last_prompt("d"),
        user("e", "l"),
    ];
    let sent = ["prompt l\n + prompt c", "answer d", "prompt e"];
    let kept = place(&records);
    let reader = kept.store.reader("s").unwrap();
    let words_at = |at| words(&messages(&reader, at, false));
    assert_eq!(words_at(ContextLeaf::Current), sent);
    assert_eq!(words_at(ContextLeaf::Entry("l")), sent[..2]);
    assert_eq!(words_at(ContextLeaf::Entry("d")), sent[..2]);
    assert_eq!(words_at(ContextLeaf::Entry("b")), ["prompt a", "answer b"]);
    // So the program goes on below what it keeps.
    records[7] = user("e", "d");
    let below = place(&records);
    let reader = below.store.reader("s").unwrap();
    assert_eq!(words(&messages(&reader, ContextLeaf::Current, false)), sent);
    // A list goes first, and keeps nothing if one is missing.
    let list = json!({"preservedMessages": {"anchorUuid": "l", "uuids": ["d", "gone"]},
        "preservedSegment": {"headUuid": "c", "anchorUuid": "l", "tailUuid": "d"}});
    records[4] = keeping("k", "d", list);
    records[7] = user("e", "l");
    let broken = place(&records);
    let reader = broken.store.reader("s").unwrap();
    assert_eq!(
        words(&messages(&reader, ContextLeaf::Entry("e"), false)),
        ["prompt l\n + prompt e"]
    );
}

#[test]
fn histories_that_are_lost_or_go_round() {
    let lost = place(&[user("a", ""), boundary("k", "gone"), compact_summary("l", "k")]);
    let reader = lost.store.reader("s").unwrap();
    assert_eq!(history(&reader, ContextLeaf::Current, Full), ["k", "l"]);
    let end = reader.get_history(ContextLeaf::Current, Full).unwrap().end();
    assert_eq!(end, Some(PathEnd::LostHistory));

    // The boundary names an entry below itself, and itself.
    let round = place(&[
        user("a", ""),
        boundary("k", "c"),
        user("b", "k"),
        user("c", "b"),
        boundary("o", "o"),
    ]);
    let reader = round.store.reader("s").unwrap();
    assert!(!reader.facts().irregular);
    let at = ContextLeaf::Entry("b");
    assert_eq!(history(&reader, at, Full), ["c", "k", "b"]);
    assert_eq!(reader.get_history(at, Full).unwrap().end(), Some(PathEnd::Loop));
    assert_eq!(history(&reader, ContextLeaf::Entry("o"), Full), ["o"]);

    // A boundary that has a parent continues there, and still ends the context.
    let with_parent = with(boundary("k", "a"), json!({"parentUuid": "b"}));
    let parent =
        place(&[user("a", ""), user("b", ""), with_parent, user("c", "k"), user("own", "own")]);
    let reader = parent.store.reader("s").unwrap();
    assert_eq!(history(&reader, ContextLeaf::Entry("c"), Full), ["b", "k", "c"]);
    assert_eq!(history(&reader, ContextLeaf::Entry("c"), Context), ["k", "c"]);
    let own = reader.get_history(ContextLeaf::Entry("own"), Full).unwrap();
    assert_eq!(own.end(), Some(PathEnd::Loop));
}

#[test]
fn sidechains_are_apart() {
    let place = place(&[
        user("a", ""),
        call("b", "a", "m1"),
        side(user("s1", "b")),
        side(assistant("s2", "s1", "m2")),
        result_of("b", "c", "b"),
        assistant("d", "s2", "m3"),
    ]);
    let reader = place.store.reader("s").unwrap();
    let at = |entry| messages(&reader, ContextLeaf::Entry(entry), false);
    assert_eq!(words(&at("c")), ["prompt a", "call-b", "result c"]);
    // The agent was sent only its own part.
    assert_eq!(words(&at("s2")), ["prompt s1", "answer s2"]);
    // A path that leads over a sidechain is sent as it is.
    assert_eq!(
        words(&at("d")),
        ["prompt a", "call-b", "result c + prompt s1", "answer s2", "answer d"]
    );
}

#[test]
fn what_gives_no_message() {
    let bare =
        |uuid, parent, message| with(record("user", uuid, parent), json!({ "message": message }));
    let mut bytes = file(&[
        bare("a", "", json!({"role": "user"})),
        bare("b", "a", json!({"role": "user", "content": null})),
        bare("c", "b", json!("text")),
        bare("d", "c", json!({"content": "no role"})),
        bare("e", "d", json!({"role": "user", "content": "half \u{fffd}"})),
        with(
            record("assistant", "f", "e"),
            json!({"message": {"content": {"odd": 1.0}, "model": "<synthetic>"}}),
        ),
    ]);
    bytes.extend_from_slice(br#"{"type":"user","uuid":"g","parentUuid":"f","sessionId":"s","message":{"role":"user","content":"to"#);
    bytes.extend_from_slice(b"\n");
    let half = "half \u{fffd}".as_bytes();
    let place_in_bytes = bytes.windows(half.len()).position(|window| window == half).unwrap();
    bytes.splice(place_in_bytes..place_in_bytes + half.len(), b"half \\ud83d".iter().copied());
    let place = place_of(&bytes);
    let reader = place.store.reader("s").unwrap();
    assert_eq!(reader.get_leaf_id().unwrap().as_deref(), Some("g"));
    let json = reader.build_context(ContextLeaf::Current, None).unwrap().to_json();
    assert_eq!(
        json,
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"no role\n"},{"type":"text","text":"half \ud83d"}]}],"model":null}"#
    );
}

#[test]
fn images_come_back_in_the_context() {
    let data = "QUJD".repeat(1000);
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}});
    let message = json!({"role": "user", "content": [image]});
    let place = place(&[with(record("user", "a", ""), json!({ "message": message }))]);
    let reader = place.store.reader("s").unwrap();
    assert_eq!(messages(&reader, ContextLeaf::Current, false), [message]);
}

#[test]
fn other_families_contexts_are_refused() {
    let place = place(&[user("a", ""), assistant("b", "a", "m1")]);
    let reader = place.store.reader("s").unwrap();
    for family in [Family::Pi, Family::Omp, Family::Opal] {
        let error = reader.build_context(ContextLeaf::Current, Some(family)).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Session(SessionError::WrongFamily { family: Family::Claude, .. })
            ),
            "{error}"
        );
    }
    for at in [ContextLeaf::Entry("x"), ContextLeaf::Entry("")] {
        let error = reader.build_context(at, None).unwrap_err();
        assert!(matches!(error, Error::Session(SessionError::EntryNotFound { .. })), "{error}");
    }
    assert!(reader.get_injected_rules().unwrap().is_empty());
    assert_eq!(reader.get_last_model_change_role().unwrap(), None);
    let empty = Place::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi");
    empty.store.import(&[sample], &leafline::import::ImportOptions::default(), &mut ()).unwrap();
    for facts in empty.store.sessions().unwrap() {
        let error = empty.store.reader(&facts.id).unwrap();
        let error = error.build_context(ContextLeaf::Current, Some(Family::Claude)).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "session {} is one of pi, for which there is no context of Claude Code",
                facts.id
            )
        );
    }
}
