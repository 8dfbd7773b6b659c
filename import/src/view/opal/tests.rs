use super::*;

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

fn call(id: Option<&str>, name: &str, arguments: &str) -> Part {
    Part::ToolCall {
        id: id.map(str::to_owned),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    }
}

#[test]
fn messages_of_user_and_model() {
    let view = opal(r#"{"id":"m1","parent_id":null,"role":"user","content":"fix the bug"}"#);
    assert_eq!((view.role, view.type_name.as_deref()), (Role::User, Some("user")));
    assert_eq!((view.parts, view.time), (vec![text("fix the bug")], None));

    // The members are in another order than the parts.
    let view = opal(
        r#"{"tool_calls":[{"arguments":{"n": 1.0},"call_id":"c1","name":"edit"},null,{"name":"read"}],"content":"Editing","is_error":false,"thinking":"Hm","role":"assistant","timestamp":"2026-02-12T00:00:00Z"}"#,
    );
    assert_eq!((view.role, view.time), (Role::Assistant, Some(1_770_854_400_000)));
    let expected = [
        Part::Thinking("Hm".to_owned()),
        text("Editing"),
        call(Some("c1"), "edit", r#"{"n": 1.0}"#),
        call(None, "read", ""),
    ];
    assert_eq!(view.parts, expected);
    let view = opal(r#"{"role":"assistant","content":null,"tool_calls":[],"thinking":null}"#);
    assert_eq!((view.role, view.parts), (Role::Assistant, Vec::new()));
}

#[test]
fn calls_and_results() {
    let view = opal(
        r#"{"role":"tool_call","call_id":"c1","name":"edit","content":"{\"path\":\"a\"}","is_error":false}"#,
    );
    assert_eq!(view.role, Role::Assistant);
    assert_eq!(view.parts, [call(Some("c1"), "edit", r#"{"path":"a"}"#)]);

    let view = opal(r#"{"role":"tool_result","call_id":"c1","content":"no file","is_error":true}"#);
    let result = Part::ToolResult {
        call_id: Some("c1".to_owned()),
        name: None,
        is_error: true,
        text: "no file".to_owned(),
    };
    assert_eq!((view.role, view.parts), (Role::Tool, vec![result]));
}

#[test]
fn headers_summaries_and_others() {
    let view = opal(r#"{"metadata":{"title":"Fix auth bug"},"current_id":null}"#);
    assert_eq!((view.role, view.parts), (Role::Setting, vec![text("Fix auth bug")]));
    for name in ["compaction_summary", "branch_summary"] {
        let line =
            format!(r#"{{"role":"user","content":"So far","metadata":{{"type":"{name}"}}}}"#);
        let view = opal(&line);
        assert_eq!((view.role, view.type_name.as_deref()), (Role::Summary, Some(name)));
    }
    let view = opal(r#"{"role":"user","content":"x","metadata":{"type":"note"}}"#);
    assert_eq!((view.role, view.text()), (Role::User, "x".to_owned()));
    let view = opal(r#"{"role":"system","content":[{"type":"text","text":"x"}]}"#);
    assert_eq!((view.role, view.text()), (Role::Other, "x".to_owned()));
    assert_eq!(opal("{}"), View { role: Role::Other, ..View::default() });
    for line in ["", "\n", "\0", "{}{}", "[]", r#"{"role":"user""#] {
        assert_eq!(opal(line), View::default(), "{line}");
    }
}
