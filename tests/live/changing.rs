//! Rewriting existing entries, and the rules for storing entries.

use leafline::error::LiveError;
use leafline::export::ExportMode;
use leafline::live::{Persistence, Rules};
use leafline::omp::OmpSession;
use leafline::{Error, Family, NewSession, Store};

use super::*;

#[test]
fn names_and_directories_change_the_header_of_omp() {
    let store = Store::in_memory().unwrap();
    let mut session = store.create_session(&keeping_everything(Family::Omp)).unwrap();
    for number in 0..40 {
        session.append_message(&user(&format!("message {number}"))).unwrap();
    }
    let before = exported(&session);
    session.set_session_name("A \"name\"").unwrap();
    session.move_to("/elsewhere").unwrap();
    let facts = store.sessions().unwrap().remove(0);
    assert_eq!(facts.title.as_deref(), Some("A \"name\""));
    assert_eq!(facts.cwd.as_deref(), Some("/elsewhere"));
    let after = exported(&session);
    let (header, rest) = after.split_once('\n').unwrap();
    assert!(header.ends_with(r#","cwd":"/elsewhere","title":"A \"name\""}"#), "{header}");
    assert_eq!(before.split_once('\n').unwrap().1, rest);
    assert_sound(&store);
    session.append_message(&assistant("on it goes")).unwrap();
    assert_sound(&store);
}

#[test]
fn a_rewrite_before_a_last_line_without_a_line_feed_does_not_join_what_follows() {
    let place = place::Place::new();
    let title = format!(r#"{{"type":"title","v":1,"title":"Old","pad":"{}"}}"#, " ".repeat(209));
    let header = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#;
    let last = r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-02-16T10:21:00.000Z","message":{"role":"user","content":"Hi"}}"#;
    let file = place.write("s.jsonl", format!("{title}\n{header}\n{last}"));
    place.import(&file);
    let mut session = place.store.session("s1").unwrap();
    session.move_to("/elsewhere").unwrap();
    place.assert_sound();
    session.append_message(&assistant("Hello")).unwrap();
    place.assert_sound();
    let text = exported(&session);
    assert_eq!(text.lines().count(), 4, "{text}");
    for line in text.lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
}

#[test]
fn a_name_is_what_the_lines_say() {
    let place = place::Place::new();
    let title = format!(r#"{{"type":"title","v":1,"title":"Old","pad":"{}"}}"#, " ".repeat(209));
    let header = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#;
    let named = r#"{"type":"session_info","id":"a1","parentId":null,"timestamp":"2026-02-16T10:21:00.000Z","name":"Named"}"#;
    for lines in [vec![&*title, header], vec![header, named], vec![&*title, header, named]] {
        let file = place.write("s.jsonl", lines.join("\n") + "\n");
        let options = leafline::import::ImportOptions::default();
        let mut options = options;
        options.family = Some(Family::Omp);
        options.replace = true;
        place.import_with(&file, &options);
        let mut session = place.store.session("s1").unwrap();
        session.set_session_name("A longer name").unwrap();
        let text = exported(&session);
        let first = text.lines().next().unwrap();
        assert!(!first.contains("title\",\"v") || first.len() == title.len(), "{first}");
        place.assert_sound();
        let again = Store::in_memory().unwrap();
        std::fs::write(&file, &text).unwrap();
        again.import(&[&file], &options, &mut ()).unwrap();
        for store in [&place.store, &again] {
            assert_eq!(store.sessions().unwrap()[0].title.as_deref(), Some("A longer name"));
        }
    }
}

#[test]
fn names_are_entries_in_pi() {
    let store = Store::in_memory().unwrap();
    let mut session = store.create_session(&keeping_everything(Family::Pi)).unwrap();
    session.set_session_name(" name ").unwrap();
    assert_eq!(store.sessions().unwrap()[0].title.as_deref(), Some("name"));
    session.set_session_name("").unwrap();
    assert_eq!(store.sessions().unwrap()[0].title, None);
    assert_eq!(store.sessions().unwrap()[0].entries, 2);
}

#[test]
fn a_tool_call_gets_other_arguments() {
    let store = Store::in_memory().unwrap();
    let mut session = store.create_session(&keeping_everything(Family::Omp)).unwrap();
    let call = json!({
        "role": "assistant",
        "content": [{"type": "toolCall", "id": "call_1", "name": "bash", "arguments": {"command": "ls"}}],
        "provider": "p", "model": "m",
    });
    let id = session.append_message(&call).unwrap();
    session.append_message(&user("and then")).unwrap();
    assert!(
        session
            .rewrite_tool_call_arguments("call_1", &json!({"command": "pwd", "n": 1.0}))
            .unwrap()
    );
    assert!(!session.rewrite_tool_call_arguments("call_2", &json!({})).unwrap());
    let line = session.get_entry(&id).unwrap();
    let text = String::from_utf8_lossy(line.line()).into_owned();
    assert!(text.contains(r#""name":"bash","arguments":{"command":"pwd","n":1}"#), "{text}");
    assert_sound(&store);
}

#[test]
fn entries_are_rewritten_together_or_not_at_all() {
    let store = Store::in_memory().unwrap();
    let mut session = store.create_session(&keeping_everything(Family::Pi)).unwrap();
    let mut ids = Vec::new();
    for number in 0..100 {
        ids.push(session.append_message(&user(&format!("prompt {number}"))).unwrap());
    }
    let pruned = session
        .rewrite_entries(|entry| {
            let mut value = entry.json().unwrap();
            if entry.ordinal() % 3 != 1 {
                return Ok(None);
            }
            value["message"]["content"] = json!("pruned ".repeat(2000));
            Ok(Some(value.to_string()))
        })
        .unwrap();
    assert_eq!(pruned, 34);
    assert_eq!(path(&session), ids);
    assert!(store.sessions().unwrap()[0].first_prompt.as_deref().unwrap().starts_with("pruned"));
    assert_sound(&store);
    let before = exported(&session);
    let refused = session.rewrite_entries(|entry| {
        let mut value = entry.json().unwrap();
        if entry.ordinal() == 50 {
            value["parentId"] = json!(null);
        } else {
            value["message"]["content"] = json!("lost?");
        }
        Ok(Some(value.to_string()))
    });
    assert!(matches!(refused, Err(Error::Live(LiveError::InvalidEntry { .. }))), "{refused:?}");
    assert_eq!(exported(&session), before);
}

#[test]
fn omps_rules_are_applied_when_an_entry_is_stored() {
    let store = Store::in_memory().unwrap();
    let mut new = NewSession::new(Family::Omp, "/work");
    new.persistence = Some(Persistence::documented(Family::Omp));
    assert_eq!(Persistence::documented(Family::Omp).rules, Rules::documented());
    let mut session = store.create_session(&new).unwrap();
    let image = "QUJD".repeat(400);
    let message = json!({
        "role": "toolResult", "toolCallId": "c", "toolName": "read", "isError": false,
        "partialJson": "{", "details": {"content": "x".repeat(600_000), "lineCount": 9},
        "content": [{"type": "image", "data": image, "mimeType": "image/png"}],
    });
    let id = session.append_message(&message).unwrap();
    let stored = session.get_entry(&id).unwrap().json().unwrap();
    let stored = &stored["message"];
    assert!(stored.get("partialJson").is_none());
    let text = stored["details"]["content"].as_str().unwrap();
    assert_eq!(text.len(), 500_000);
    assert!(text.ends_with("[Session persistence truncated large content]"));
    assert_eq!(stored["details"]["lineCount"], 3);
    assert!(stored["content"][0]["data"].as_str().unwrap().starts_with("blob:sha256:"));
    let mut portable = Vec::new();
    session.reader().unwrap().export(&ExportMode::Portable, &mut portable).unwrap();
    assert!(String::from_utf8(portable).unwrap().contains(&image));
    assert_sound(&store);
    // The blob goes with its last line.
    session
        .rewrite_entries(|entry| {
            let mut value = entry.json().unwrap();
            value["message"]["content"] = json!([]);
            Ok(Some(value.to_string()))
        })
        .unwrap();
    assert_eq!(store.statistics().unwrap().blobs.count, 0);
    assert_sound(&store);
}

#[test]
fn what_a_rewrite_writes_is_under_the_rules_of_appends() {
    let store = Store::in_memory().unwrap();
    let mut session = store.create_session(&keeping_everything(Family::Omp)).unwrap();
    let id = session.append_message(&user("short")).unwrap();
    session.append_message(&assistant("kept")).unwrap();
    let image = "QUJD".repeat(400);
    let change = |entry: &leafline::Entry| {
        let mut entry: Value = serde_json::from_slice(entry.line()).unwrap();
        if entry["message"]["role"] != "user" {
            return Ok(None);
        }
        entry["message"]["content"] = json!([{"type": "text", "text": "l".repeat(500_001)}, {"type": "image", "data": image}]);
        entry["message"]["partialJson"] = json!("{");
        Ok(Some(entry.to_string()))
    };
    // Without rules everything is kept.
    assert_eq!(session.rewrite_entries(change).unwrap(), 1);
    assert!(exported(&session).contains("partialJson") && exported(&session).contains(&image));
    let mut session = store.session(session.id()).unwrap();
    assert_eq!(session.rewrite_entries(change).unwrap(), 1);
    let text = exported(&session);
    assert!(!text.contains("partialJson") && !text.contains(&image), "{text}");
    assert!(text.contains(r#"l\n\n[Session persistence truncated large content]""#));
    assert!(text.contains(r#""data":"blob:sha256:"#));
    assert_eq!(path(&session)[0], id);
    assert_sound(&store);
    // The blob came with the line.
    let mut portable = Vec::new();
    session.reader().unwrap().export(&ExportMode::Portable, &mut portable).unwrap();
    assert!(String::from_utf8(portable).unwrap().contains(&image));
}
