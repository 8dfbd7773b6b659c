use super::*;

fn text(text: &str) -> Vec<Part> {
    if text.is_empty() { Vec::new() } else { vec![Part::Text(text.to_owned())] }
}

/// A message entry with these members in its `message`.
fn message(members: &str) -> View {
    pi_omp(&format!(
        r#"{{"type":"message","id":"a1b2c3d4","parentId":null,"message":{{{members}}}}}"#
    ))
}

#[test]
fn messages_of_user_and_model() {
    let view = message(r#""role":"user","content":"Hello","timestamp":1733234401000.7"#);
    assert_eq!((view.role, view.time), (Role::User, Some(1_733_234_401_000)));
    assert_eq!((view.type_name.as_deref(), view.parts), (Some("user"), text("Hello")));
    let view = message(
        r#""role":"user","content":[{"type":"text","text":"See"},{"type":"image","data":"QUJD","mimeType":"image/png"}]"#,
    );
    assert_eq!(view.text(), "See");
    assert!(matches!(&view.parts[1], Part::Image { base64_length: 4, .. }));
    let view = message(
        r#""role":"assistant","provider":"anthropic","model":"claude-sonnet-4-5","content":[{"type":"thinking","thinking":"Hm"},{"type":"text","text":"Hi!"}],"stopReason":"stop""#,
    );
    assert_eq!((view.role, view.text()), (Role::Assistant, "Hi!".to_owned()));
    assert_eq!(view.provider.as_deref(), Some("anthropic"));
    assert_eq!(view.model.as_deref(), Some("claude-sonnet-4-5"));
    assert_eq!(message(r#""role":"assistant","content":"Old""#).parts, text("Old"));
    let failed = message(
        r#""role":"assistant","content":[],"stopReason":"error","errorMessage":"too much""#,
    );
    assert_eq!((failed.parts, failed.error.as_deref()), (text(""), Some("too much")));
}

#[test]
fn results_and_commands() {
    let result =
        |call_id: Option<&str>, name: Option<&str>, is_error, text: &str| Part::ToolResult {
            call_id: call_id.map(str::to_owned),
            name: name.map(str::to_owned),
            is_error,
            text: text.to_owned(),
        };
    let view = message(
        r#""role":"toolResult","toolCallId":"call_1","toolName":"bash","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}],"isError":true"#,
    );
    assert_eq!(view.role, Role::Tool);
    assert_eq!(view.parts, [result(Some("call_1"), Some("bash"), true, "one\ntwo")]);

    for (end, is_error) in [("0", false), ("1", true), ("0,\"cancelled\":true", true)] {
        let view = message(&format!(
            r#""role":"bashExecution","command":"ls","output":"a\nb","exitCode":{end}"#
        ));
        let expected = [text("ls"), vec![result(None, None, is_error, "a\nb")]].concat();
        assert_eq!((view.role, view.parts), (Role::Shell, expected));
    }
    let view = message(r#""role":"pythonExecution","code":"print(1)","output":"1\n""#);
    assert_eq!((view.role, view.text()), (Role::Shell, "print(1)".to_owned()));

    let view = message(
        r#""role":"fileMention","files":[{"path":"a.md","content":"A"},{"path":"b.png","content":"","image":{"type":"image","data":"QUJD"}}]"#,
    );
    let read = result(None, None, false, "A");
    let image = Part::Image { mime_type: None, base64_length: 4 };
    let expected = [text("a.md"), vec![read], text("b.png"), vec![image]].concat();
    assert_eq!((view.role, view.parts), (Role::Custom, expected));
}

#[test]
fn messages_of_extensions_and_summaries() {
    for role in ["custom", "hookMessage"] {
        let view = message(&format!(
            r#""role":"{role}","customType":"my-hook","content":"Injected","display":false"#
        ));
        assert_eq!((view.role, view.is_hidden), (Role::Custom, true));
        assert_eq!((view.type_name.as_deref(), view.parts), (Some("my-hook"), text("Injected")));
    }
    for role in ["branchSummary", "compactionSummary"] {
        let view = message(&format!(r#""role":"{role}","summary":"So far""#));
        assert_eq!((view.role, view.parts), (Role::Summary, text("So far")));
    }
    assert_eq!(message(r#""role":"developer","content":"Be brief""#).role, Role::System);
    let view = message(r#""role":"new","content":"x""#);
    assert_eq!(
        (view.role, view.type_name.as_deref(), view.parts),
        (Role::Other, Some("new"), text("x"))
    );
    let view = message(r#""content":"x""#);
    assert_eq!((view.role, view.type_name.as_deref()), (Role::Other, Some("message")));
}

#[test]
fn entries_that_are_no_messages() {
    for (role, type_name, said, members) in [
        (
            Role::Summary,
            "compaction",
            "So far",
            r#""summary":"So far","shortSummary":"s","tokensBefore":5"#,
        ),
        (Role::Summary, "branch_summary", "Tried A", r#""fromId":"root","summary":"Tried A""#),
        (Role::Setting, "thinking_level_change", "high", r#""thinkingLevel":"high""#),
        (Role::Setting, "thinking_level_change", "", r#""thinkingLevel":null"#),
        (Role::Setting, "mode_change", "plan", r#""mode":"plan","data":{"planFile":"p"}"#),
        (Role::Setting, "ttsr_injection", "a\nb", r#""injectedRules":["a",5,"b"]"#),
        (Role::Setting, "label", "checkpoint", r#""targetId":"a","label":"checkpoint""#),
        (Role::Setting, "label", "", r#""targetId":"a""#),
        (Role::Setting, "session_info", "Refactor", r#""name":" Refactor ""#),
        (Role::Setting, "title", "T", r#""v":1,"title":"T","pad":"   ""#),
        (Role::Setting, "session", "T", r#""version":3,"title":"T""#),
        (
            Role::System,
            "session_init",
            "You are\n\nDo it",
            r#""systemPrompt":"You are","task":"Do it","tools":["read"]"#,
        ),
        (Role::Other, "credential_pin", "", r#""provider":"p","hash":"h""#),
        (Role::Other, "leaf", "", r#""targetId":"a""#),
    ] {
        let view = pi_omp(&format!(
            r#"{{"type":"{type_name}",{members},"timestamp":"2024-12-03T14:00:00.000Z"}}"#
        ));
        assert_eq!((view.role, view.text()), (role, said.to_owned()), "{type_name}");
        assert_eq!(view.type_name.as_deref(), Some(type_name));
        assert_eq!(view.time, Some(1_733_234_400_000), "{type_name}");
        assert!(!view.is_hidden && !view.is_sidechain);
    }
    let view = pi_omp(r#"{"type":"custom","customType":"my-extension","data":{"count":42}}"#);
    assert_eq!((view.role, view.type_name.as_deref()), (Role::Other, Some("my-extension")));
    assert_eq!(view.parts, []);
    let view = pi_omp(
        r#"{"type":"custom_message","customType":"x","content":[{"type":"text","text":"Look"}],"display":true}"#,
    );
    assert_eq!((view.role, view.text(), view.is_hidden), (Role::Custom, "Look".to_owned(), false));
}

#[test]
fn models_of_both_families() {
    for (provider, model, said, members) in [
        (
            Some("openai"),
            Some("gpt-4o"),
            "openai/gpt-4o",
            r#""provider":"openai","modelId":"gpt-4o""#,
        ),
        (
            Some("openai"),
            Some("gpt-4o"),
            "openai/gpt-4o",
            r#""model":"openai/gpt-4o","role":"default""#,
        ),
        (Some("a"), Some("b/c"), "smol: a/b/c", r#""model":"a/b/c","role":"smol""#),
        (None, Some("gpt-4o"), "gpt-4o", r#""model":"gpt-4o""#),
        (None, Some("gpt-4o"), "gpt-4o", r#""modelId":"gpt-4o""#),
        (None, None, "", r#""role":"smol""#),
    ] {
        let view = pi_omp(&format!(r#"{{"type":"model_change",{members}}}"#));
        assert_eq!((view.provider.as_deref(), view.model.as_deref()), (provider, model));
        assert_eq!(view.text(), said);
    }
}

#[test]
fn the_entry_s_time_comes_before_its_message_s() {
    let time = |timestamp: &str| {
        pi_omp(&format!(
            r#"{{"type":"message","timestamp":{timestamp},"message":{{"role":"user","timestamp":5}}}}"#
        ))
        .time
    };
    assert_eq!(time(r#""2024-12-03T14:00:00.000Z""#), Some(1_733_234_400_000));
    assert_eq!(time(r#""yesterday""#), Some(5));
    assert_eq!(time("1733234400000"), Some(5));
}

#[test]
fn lines_without_a_record() {
    for line in ["", " \r\n", "\0", "{}{}", "[]", "\"text\"", r#"{"type":"message""#] {
        assert_eq!(pi_omp(line), View::default(), "{line}");
    }
    assert_eq!(pi_omp("{}"), View { role: Role::Other, ..View::default() });
    assert_eq!(message(r#""role":"user","content":5"#).parts, []);
    assert_eq!(pi_omp(r#"{"type":"message","message":["role"]}"#).role, Role::Other);
}
