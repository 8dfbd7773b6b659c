//! Which entries give messages, and which.

use leafline::context::ContextLeaf;
use serde_json::json;

use super::scene::{MILLISECONDS, Scene, entry, user};

#[test]
fn the_leaf_is_the_one_that_is_named() {
    let scene = Scene::pi(&[user("a", ""), user("b", "a"), user("c", "")]);
    assert_eq!(scene.said(ContextLeaf::Current), ["c"]);
    assert_eq!(scene.said_at("b"), "a b");
    // Not found: the last entry of the file.
    assert_eq!(scene.said_at("nobody"), "c");
    assert_eq!(scene.said_at(""), "c");
    let nothing = r#"{"messages":[],"thinkingLevel":"off","model":null}"#;
    assert_eq!(scene.context(ContextLeaf::None).to_json(), nothing);
    let empty = Scene::pi(&[String::new(), "no json".to_owned()]);
    assert_eq!(empty.context(ContextLeaf::Current).to_json(), nothing);
    assert_eq!(empty.context(ContextLeaf::Entry("a")).to_json(), nothing);
    let nothing =
        r#"{"messages":[],"thinkingLevel":"off","models":{},"injectedTtsrRules":[],"mode":"none"}"#;
    assert_eq!(Scene::omp(&[]).context(ContextLeaf::Current).to_json(), nothing);
}

#[test]
fn summaries_and_custom_messages_become_messages() {
    let scene = Scene::pi(&[
        entry("branch_summary", "a", "", json!({"fromId": "root", "summary": "left"})),
        entry("branch_summary", "b", "a", json!({"fromId": "a", "summary": ""})),
        entry("custom", "c", "b", json!({"customType": "state", "data": 1})),
        entry(
            "custom_message",
            "d",
            "c",
            json!({"customType": "note", "content": "x", "display": true, "details": {"n": 1}}),
        ),
        entry(
            "custom_message",
            "e",
            "d",
            json!({"customType": "note", "content": [], "display": false, "timestamp": "?"}),
        ),
        entry("label", "f", "e", json!({"targetId": "a", "label": "x"})),
    ]);
    let context = scene.context(ContextLeaf::Current);
    let texts: Vec<&str> = context.messages.iter().map(|message| message.json.as_str()).collect();
    assert_eq!(
        texts,
        [
            format!(r#"{{"role":"branchSummary","summary":"left","fromId":"root","timestamp":{MILLISECONDS}}}"#),
            format!(r#"{{"role":"custom","customType":"note","content":"x","display":true,"details":{{"n":1}},"timestamp":{MILLISECONDS}}}"#),
            r#"{"role":"custom","customType":"note","content":[],"display":false,"timestamp":null}"#.to_owned(),
        ]
    );
}

#[test]
fn messages_are_written_as_javascript_writes_them() {
    let scene = Scene::pi(&[
        r#"{"id":"a","type":"message", "message": {"z": 1.0, "content":"\u0041\ud800", "7":[ ], "z":-0} }"#.to_owned(),
    ]);
    let context = scene.context(ContextLeaf::Current);
    assert_eq!(context.messages[0].json.as_str(), r#"{"7":[],"z":0,"content":"A\ud800"}"#);
    assert!(context.messages[0].value().is_err(), "serde_json takes no lone surrogate");
}

#[test]
fn a_long_context_is_written_whole() {
    let mut lines = vec![user("0", "")];
    for entry in 1..20_000 {
        lines.push(user(&entry.to_string(), &(entry - 1).to_string()));
    }
    let scene = Scene::pi(&lines);
    let context = scene.context(ContextLeaf::Current);
    assert_eq!(context.messages.len(), 20_000);
    assert!(context.to_json().len() > 600_000);
}
