//! Contents, and members met twice or elsewhere.

use super::*;
use crate::claude::Scanner;

fn content(message: &str) -> Content {
    let line = format!(r#"{{"type":"user","message":{message}}}"#);
    Scanner::new().scan(&line).content()
}

#[test]
fn contents() {
    assert_eq!(content(r#"{"content":"hello"}"#), Content::Own);
    assert_eq!(content(r#"{"content":""}"#), Content::Nothing);
    assert_eq!(content(r#"{"content":[]}"#), Content::Nothing);
    assert_eq!(content(r#""content""#), Content::Nothing);
    assert_eq!(content(r#"[{"content":"x"}]"#), Content::Nothing);
    assert_eq!(content(r#"{"content":["hello",5,null]}"#), Content::Own);
    assert_eq!(content(r#"{"content":[{"type":"text","text":"x"}]}"#), Content::Own);
    let result = r#"{"type":"tool_result","content":[{"type":"text","text":"deep"}]}"#;
    assert_eq!(content(&format!(r#"{{"content":[{result}]}}"#)), Content::ToolResults);
    assert_eq!(
        content(&format!(r#"{{"content":[{result},{{"type":"image"}}]}}"#)),
        Content::OwnAndToolResults
    );
    assert_eq!(content(r#"{"content":[{"t\u0079pe":"tool\u005fresult"}]}"#), Content::ToolResults);
    assert_eq!(
        content(r#"{"content":[{"input":{"type":"tool_result"},"type":"text"}]}"#),
        Content::Own
    );
}

#[test]
fn the_last_of_several_counts() {
    assert_eq!(content(r#"{"content":[{"type":"text"}],"content":"" }"#), Content::Nothing);
    assert_eq!(content(r#"{"content":[{"type":"tool_result","type":"text"}]}"#), Content::Own);
    assert_eq!(
        content(r#"{"content":[{"type":"tool_result","type":{"type":"tool_result"}}]}"#),
        Content::Own
    );
    assert_eq!(content(r#"{"content":"x"},"message":{}"#), Content::Nothing);
    let mut scanner = Scanner::new();
    let line = r#"{"uuid":"a","message":{"id":"m"},"uuid":5,"message":{"id2":"n"}}"#;
    let record = scanner.scan(line);
    assert_eq!((record.uuid(), record.message_id()), (None, None));
    let line = r#"{"uuid":5,"u\u0075id":"b","message":{"id":"m","id":"n"}}"#;
    let record = scanner.scan(line);
    assert_eq!(record.uuid().as_deref(), Some(&b"b"[..]));
    assert_eq!(record.message_id().as_deref(), Some(&b"n"[..]));
}

#[test]
fn only_members_of_the_record_itself_count() {
    let mut scanner = Scanner::new();
    let line = r#"{"data":{"uuid":"deep","message":{"id":"deep"}},"x":[{"uuid":"deep"}],"sessionId":["s"]}"#;
    let record = scanner.scan(line);
    assert_eq!((record.uuid(), record.message_id(), record.session_id()), (None, None, None));
}
