use super::*;
use crate::view::Part;

#[test]
fn messages() {
    let view = claude(
        r#"{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Hello"},"uuid":"a","timestamp":"2026-01-15T10:00:45.000Z"}"#,
    );
    assert_eq!((view.role, view.text()), (Role::User, "Hello".to_owned()));
    assert_eq!((view.time, view.type_name.as_deref()), (Some(1_768_471_245_000), Some("user")));
    assert!(!view.is_sidechain && !view.is_hidden);

    let view = claude(
        r#"{"type":"assistant","isSidechain":true,"message":{"id":"m","role":"assistant","model":"claude-opus-4-5","content":[{"type":"thinking","thinking":"Hm","signature":"s"},{"type":"text","text":"Hi"},{"type":"tool_use","id":"t","name":"Read","input":{}}]}}"#,
    );
    assert_eq!((view.role, view.model.as_deref()), (Role::Assistant, Some("claude-opus-4-5")));
    assert_eq!((view.provider, view.parts.len(), view.is_sidechain), (None, 3, true));
}

#[test]
fn what_a_user_record_is() {
    let role = |members: &str, content: &str| {
        let view = claude(&format!(
            r#"{{"type":"user",{members}"message":{{"role":"user","content":{content}}}}}"#
        ));
        (view.role, view.is_hidden)
    };
    let results = r#"[{"type":"tool_result","tool_use_id":"t","content":"x"}]"#;
    let both = r#"[{"type":"tool_result","tool_use_id":"t"},{"type":"text","text":"x"}]"#;
    assert_eq!(role("", results), (Role::Tool, false));
    assert_eq!(role("", both), (Role::User, false));
    assert_eq!(role("", "[]"), (Role::User, false));
    assert_eq!(role(r#""isMeta":true,"#, r#""x""#), (Role::User, true));
    assert_eq!(role(r#""isCompactSummary":true,"#, r#""x""#), (Role::Summary, false));
}

#[test]
fn records_that_are_no_messages() {
    for (role, type_name, said, line) in [
        (
            Role::Summary,
            "summary",
            "About auth",
            r#"{"type":"summary","summary":"About auth","leafUuid":"u"}"#,
        ),
        (
            Role::System,
            "compact_boundary",
            "Compacted",
            r#"{"type":"system","subtype":"compact_boundary","content":"Compacted"}"#,
        ),
        (
            Role::System,
            "system",
            "Be brief",
            r#"{"type":"system","message":{"role":"system","content":"Be brief"}}"#,
        ),
        (Role::Setting, "custom-title", "T", r#"{"type":"custom-title","customTitle":"T"}"#),
        (Role::Setting, "ai-title", "T", r#"{"type":"ai-title","aiTitle":"T"}"#),
        (Role::Setting, "agent-name", "A", r#"{"type":"agent-name","agentName":"A"}"#),
        (Role::Setting, "mode", "plan", r#"{"type":"mode","mode":"plan"}"#),
        (
            Role::Setting,
            "permission-mode",
            "plan",
            r#"{"type":"permission-mode","permissionMode":"plan"}"#,
        ),
        (Role::Other, "last-prompt", "Go on", r#"{"type":"last-prompt","lastPrompt":"Go on"}"#),
        (
            Role::Other,
            "pr-link",
            "https://example.org/1",
            r#"{"type":"pr-link","prUrl":"https://example.org/1"}"#,
        ),
        (
            Role::Other,
            "queue-operation",
            "a\n\nb",
            r#"{"type":"queue-operation","operation":"enqueue","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#,
        ),
        (
            Role::Other,
            "queue-operation",
            "a",
            r#"{"type":"queue-operation","operation":"enqueue","content":"a"}"#,
        ),
        (
            Role::Other,
            "bash_progress",
            "1/2",
            r#"{"type":"progress","data":{"type":"bash_progress","output":"1/2","fullOutput":"0/2 1/2"}}"#,
        ),
        (
            Role::Other,
            "hook_progress",
            "",
            r#"{"type":"progress","data":{"type":"hook_progress","hookName":"h"}}"#,
        ),
        (
            Role::Other,
            "queued_command",
            "Wait",
            r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":"Wait"}}"#,
        ),
        (
            Role::User,
            "queued_command",
            "Lint\n\ntoo",
            r#"{"type":"attachment","attachment":{"type":"queued_command","commandMode":"prompt","prompt":[{"type":"text","text":"Lint"},{"type":"text","text":"too"}]}}"#,
        ),
        (
            Role::Other,
            "queued_command",
            "Done",
            r#"{"type":"attachment","attachment":{"type":"queued_command","commandMode":"task-notification","prompt":"Done"}}"#,
        ),
        (
            Role::System,
            "local_command",
            "/model opus",
            r#"{"type":"system","subtype":"local_command","content":"<command-name>/model</command-name><command-args>opus</command-args>"}"#,
        ),
        (Role::Other, "attachment", "", r#"{"type":"attachment","attachment":"a"}"#),
        (
            Role::Other,
            "file-history-snapshot",
            "",
            r#"{"type":"file-history-snapshot","messageId":"m","snapshot":{}}"#,
        ),
        (
            Role::Other,
            "marker",
            "x",
            r#"{"type":"marker","message":{"role":"user","content":"x"}}"#,
        ),
    ] {
        let view = claude(line);
        assert_eq!((view.role, view.text()), (role, said.to_owned()), "{line}");
        assert_eq!(view.type_name.as_deref(), Some(type_name), "{line}");
    }
}

#[test]
fn lines_without_a_record() {
    for line in ["", "\u{feff}\r\n", "\0\0", "{}{}", "[]", r#""error""#, r#"{"type":"user""#] {
        assert_eq!(claude(line), View::default(), "{line}");
    }
    assert_eq!(claude("{}"), View { role: Role::Other, ..View::default() });
    for message in ["5", r#""text""#, "[]", r#"{"content":12345}"#, r#"{"role":"user"}"#] {
        let view = claude(&format!(r#"{{"type":"user","message":{message}}}"#));
        assert_eq!((view.role, view.parts), (Role::User, Vec::<Part>::new()), "{message}");
    }
}

#[test]
fn what_tags_say() {
    let parts = |content: &str| {
        claude(&format!(r#"{{"type":"user","message":{{"role":"user","content":{content}}}}}"#))
            .parts
    };
    let text = |text: &str| Part::Text(text.to_owned());
    let command = r#""<command-message>tides</command-message>\n<command-name>/tides</command-name>\n<command-args>all</command-args>""#;
    assert_eq!(parts(command), [text("/tides all")]);
    assert_eq!(parts(r#""<bash-input>ls</bash-input>""#), [text("! ls")]);
    let output = r#""<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>""#;
    assert!(matches!(&parts(output)[..], [Part::ToolResult { text, .. }] if text == "a"));
    let added = parts(
        r#"[{"type":"text","text":"<ide_opened_file>a.rs</ide_opened_file>"},{"type":"text","text":"a < b"}]"#,
    );
    let [Part::Other { type_name, text: file, .. }, said] = &added[..] else { panic!("{added:?}") };
    assert_eq!((&**type_name, &**file, said), ("ide_opened_file", "a.rs", &text("a < b")));
    let answer = r#"{"type":"assistant","message":{"content":"<bash-input>ls</bash-input>"}}"#;
    assert_eq!(claude(answer).parts, [text("<bash-input>ls</bash-input>")]);
}
