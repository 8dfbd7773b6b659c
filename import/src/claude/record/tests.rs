//! Facts, one by one.

use super::*;
use crate::claude::Scanner;

#[test]
fn parents() {
    let parent = |value: &str| {
        let line = format!(r#"{{"uuid":"a","parentUuid":{value}}}"#);
        match Scanner::new().scan(&line).parent() {
            Parent::Root => "root".to_owned(),
            Parent::Unusable => "unusable".to_owned(),
            Parent::Uuid(uuid) => String::from_utf8(uuid.into_owned()).unwrap(),
        }
    };
    for value in ["null", "\"\"", "0", "false"] {
        assert_eq!(parent(value), "root", "{value}");
    }
    for value in ["true", "7", "[]", "{}"] {
        assert_eq!(parent(value), "unusable", "{value}");
    }
    assert_eq!(parent(r#""\u0062\u0063""#), "bc");
}

#[test]
fn entries_of_the_tree() {
    let is_entry = |line: &str| Scanner::new().scan(line).is_entry();
    assert!(is_entry(r#"{"type":"user"}"#));
    assert!(is_entry(r#"{"type":"new-in-a-later-version","uuid":"a"}"#));
    assert!(is_entry(r#"{"parentUuid":null}"#));
    assert!(!is_entry(r#"{"type":"summary","leafUuid":"a"}"#));
    assert!(!is_entry(r#"{"type":"file-history-snapshot","messageId":"a","uuid":null}"#));
    assert!(!is_entry(r#"{"silly":"this"}"#));
}

#[test]
fn prompts() {
    let prompt = |members: &str| {
        let line = format!(r#"{{{members},"message":{{"role":"user","content":"Hi"}}}}"#);
        Scanner::new().scan(&line).prompt_text()
    };
    assert_eq!(prompt(r#""type":"user""#).as_deref(), Some("Hi"));
    assert_eq!(prompt(r#""type":"user","isMeta":null"#).as_deref(), Some("Hi"));
    assert_eq!(prompt(r#""type":"user","isMeta":true"#), None);
    assert_eq!(prompt(r#""type":"user","isCompactSummary":true"#), None);
    assert_eq!(prompt(r#""type":"assistant""#), None);
}

#[test]
fn lone_surrogates_and_times() {
    let line = r#"{"type":"system","subtype":"compact_boundary","uuid":"\ud800","timestamp":"1970-01-01T00:00:01Z","cwd":"\udc00","logicalParentUuid":"x"}"#;
    let mut scanner = Scanner::new();
    let record = scanner.scan(line);
    assert_eq!(record.uuid().as_deref(), Some(&b"\xed\xa0\x80"[..]));
    assert_eq!(record.cwd().as_deref(), Some("\u{fffd}"));
    assert_eq!(record.timestamp_ms(), Some(1000));
    assert!(record.is_compact_boundary() && record.logical_parent().is_some());
}

#[test]
fn a_prompt_that_was_stored_again_has_its_first_name() {
    let uuid = |line: &str| {
        Scanner::new().scan(line).uuid().map(|uuid| String::from_utf8(uuid.into_owned()).unwrap())
    };
    assert_eq!(uuid(r#"{"type":"user","uuid":"x","sentAsUuid":"u"}"#).as_deref(), Some("u"));
    assert_eq!(uuid(r#"{"type":"user","uuid":"x","sentAsUuid":""}"#).as_deref(), Some("x"));
    assert_eq!(uuid(r#"{"type":"assistant","uuid":"x","sentAsUuid":"u"}"#).as_deref(), Some("x"));
}

#[test]
fn a_queued_prompt_is_what_the_user_says() {
    let text = |mode: &str, prompt: &str| {
        Scanner::new()
            .scan(&format!(
                r#"{{"type":"attachment","uuid":"x","attachment":{{"type":"queued_command","commandMode":"{mode}","prompt":{prompt}}}}}"#
            ))
            .prompt_text()
    };
    assert_eq!(text("prompt", r#""Lint too""#).as_deref(), Some("Lint too"));
    let blocks = r#"[{"type":"text","text":"Lint"},{"type":"image"},{"type":"text","text":"too"}]"#;
    assert_eq!(text("prompt", blocks).as_deref(), Some("Lint too"));
    assert_eq!(text("task-notification", r#""Done""#), None);
}
