use super::*;

fn parts(content: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    read(Raw::parse(content).ok(), &mut parts);
    parts
}

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

fn other(type_name: &str) -> Part {
    Part::Other { type_name: type_name.to_owned(), title: None, text: String::new() }
}

#[test]
fn a_string_is_a_text() {
    assert_eq!(parts(r#""a\ud800\n""#), [text("a\u{fffd}\n")]);
    for nothing in [r#""""#, "null", "5", "true", r#"{"type":"text","text":"a"}"#, "[]"] {
        assert_eq!(parts(nothing), [], "{nothing}");
    }
}

#[test]
fn blocks_of_pi_and_omp() {
    let content = r#"[
        {"type":"thinking","thinking":"hm","thinkingSignature":"s"},
        {"type":"thinking","thinking":"","redacted":true},
        {"text":"said","type":"t\u0065xt","textSignature":"s"},
        {"type":"toolCall","id":"c1","name":"read","arguments":{"path": "a\u0062"},"intent":"i"},
        {"type":"toolCall","id":7},
        {"type":"redactedThinking","data":"secret"},
        {"type":"image","data":"QUJD","mimeType":"image/png"}
    ]"#;
    let call = |id: Option<&str>, name: &str, arguments: &str| Part::ToolCall {
        id: id.map(str::to_owned),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    let expected = [
        Part::Thinking("hm".to_owned()),
        text("said"),
        call(Some("c1"), "read", r#"{"path": "a\u0062"}"#),
        call(None, "", ""),
        other("redactedThinking"),
        Part::Image { mime_type: Some("image/png".to_owned()), base64_length: 4 },
    ];
    assert_eq!(parts(content), expected);
}

#[test]
fn blocks_of_claude_code() {
    let content = r#"[
        "plain",
        {"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}},
        {"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"QUJDRA=="}},
        {"type":"image","source":{"type":"url","url":"https://example.org/a.png"}},
        {"type":"redacted_thinking","data":"secret"},
        {"type":"document","source":{}}
    ]"#;
    let call = Part::ToolCall {
        id: Some("t1".to_owned()),
        name: "Bash".to_owned(),
        arguments: r#"{"command":"ls"}"#.to_owned(),
    };
    let expected = [
        text("plain"),
        call,
        Part::Image { mime_type: Some("image/jpeg".to_owned()), base64_length: 8 },
        Part::Image { mime_type: None, base64_length: 0 },
        other("redacted_thinking"),
        other("document"),
    ];
    assert_eq!(parts(content), expected);
}

fn result(is_error: bool, text: &str) -> Part {
    Part::ToolResult { call_id: Some("t".to_owned()), name: None, is_error, text: text.to_owned() }
}

#[test]
fn results_are_one_text_and_what_else_they_have() {
    let of = |content: &str| {
        parts(&format!(
            r#"[{{"type":"tool_result","tool_use_id":"t","content":{content}}},"next"]"#
        ))
    };
    assert_eq!(of(r#""a""#), [result(false, "a"), text("next")]);
    assert_eq!(of(r#""a","is_error":true"#), [result(true, "a"), text("next")]);
    assert_eq!(of(r#""a","is_error":"true""#), [result(false, "a"), text("next")]);
    assert_eq!(of("null"), [result(false, ""), text("next")]);
    let blocks = r#"[{"type":"text","text":"a"},{"type":"image","source":{"data":"QQ=="}},{"type":"text","text":"b"}]"#;
    let image = Part::Image { mime_type: None, base64_length: 4 };
    assert_eq!(of(blocks), [result(false, "a\nb"), image, text("next")]);
    let nested = r#"[{"type":"tool_result","content":"deep"}]"#;
    let deep =
        Part::Other { type_name: "tool_result".to_owned(), title: None, text: "deep".to_owned() };
    assert_eq!(of(nested), [result(false, ""), deep, text("next")]);
}

#[test]
fn tools_of_the_api_and_sources() {
    let content = r#"[
        {"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"tide"}},
        {"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","title":"Tides","url":"https://t","encrypted_content":"secret"}]},
        {"type":"web_fetch_tool_result","tool_use_id":"s2","content":{"type":"web_fetch_result","content":{"type":"document","source":{"type":"text","data":"fetched"}}}},
        {"type":"web_search_tool_result","tool_use_id":"s3","content":{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}},
        {"type":"mcp_tool_result","tool_use_id":"s4","is_error":true,"content":[{"type":"text","text":"no"}]},
        {"type":"text","text":"High","citations":[{"type":"web_search_result_location","title":"Tides","cited_text":"It is high."}]},
        {"type":"text","text":"Low","citations":[]}
    ]"#;
    let answer = |id: &str, is_error: bool, text: &str| Part::ToolResult {
        call_id: Some(id.to_owned()),
        name: None,
        is_error,
        text: text.to_owned(),
    };
    let sources = Part::Other {
        type_name: "citations".to_owned(),
        title: None,
        text: "Tides\nIt is high.".to_owned(),
    };
    let found = parts(content);
    assert!(matches!(&found[0], Part::ToolCall { name, .. } if name == "web_search"));
    assert_eq!(
        found[1..],
        [
            answer("s1", false, "Tides\nhttps://t"),
            answer("s2", false, "fetched"),
            answer("s3", true, "max_uses_exceeded"),
            answer("s4", true, "no"),
            text("High"),
            sources,
            text("Low"),
        ]
    );
}

#[test]
fn the_last_member_counts_and_what_is_of_no_use_is_skipped() {
    let content = r#"[{"type":"image","type":"text","text":"old","t\u0065xt":"new"},{"type":"text","text":["a"]},{"type":5,"text":"a"},{"text":"a"},[{"type":"text","text":"a"}],null]"#;
    assert_eq!(parts(content), [text("new")]);
}

#[test]
fn a_reference_is_no_image_data() {
    let block = format!(r#"[{{"type":"image","data":"blob:sha256:{}"}}]"#, "0f".repeat(32));
    assert_eq!(parts(&block), [Part::Image { mime_type: None, base64_length: 0 }]);
    let block = r#"[{"type":"image","data":["QUJD"],"mimeType":5}]"#;
    assert_eq!(parts(block), [Part::Image { mime_type: None, base64_length: 0 }]);
}

#[test]
fn nesting_takes_no_stack() {
    let open = r#"[{"type":"tool_result","content":"#;
    let deep = format!("{}null{}", open.repeat(200_000), "}]".repeat(200_000));
    assert_eq!(parts(&deep).len(), 2);
}
