//! Any records and any bytes.

use leafline_import::text::decode;
use leafline_import::view::{self, Part, Role, View};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::reading::{parts, rewritten};

/// JSON of the formats' names and values at any place.
fn any_json() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "message",
        "user",
        "assistant",
        "toolResult",
        "bashExecution",
        "custom",
        "custom_message",
        "compaction",
        "model_change",
        "ttsr_injection",
        "system",
        "progress",
        "attachment",
        "text",
        "thinking",
        "toolCall",
        "tool_use",
        "tool_result",
        "tool_call",
        "image",
        "fileMention",
    ]);
    let name = prop::sample::select(vec![
        "type",
        "role",
        "message",
        "content",
        "text",
        "thinking",
        "id",
        "name",
        "arguments",
        "input",
        "tool_use_id",
        "is_error",
        "isError",
        "data",
        "source",
        "mimeType",
        "media_type",
        "metadata",
        "tool_calls",
        "files",
        "output",
        "command",
        "summary",
        "model",
        "provider",
        "timestamp",
        "injectedRules",
        "attachment",
        "prompt",
        "display",
        "customType",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i32>().prop_map(Value::from),
        "[a \n\u{e9}\u{1f343}\"\\\\]{0,6}".prop_map(Value::String),
        word.prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((name.clone(), inner), 0..8).prop_map(|members| {
                members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            }),
        ]
    })
}

/// Blocks as the formats have them, with other members than they should have and with any values.
fn any_content() -> impl Strategy<Value = Value> {
    let text = "[a \u{e9}\u{1f343}\"]{0,4}".prop_map(|text| json!({"type": "text", "text": text}));
    let result = (prop::collection::vec(prop_oneof![3 => text.clone(), 1 => any_json()], 0..4), any_json())
        .prop_map(|(content, is_error)| {
            json!({"type": "tool_result", "tool_use_id": "t", "is_error": is_error, "content": content})
        });
    let other =
        (prop::sample::select(vec!["thinking", "toolCall", "tool_use", "image"]), any_json())
            .prop_map(|(name, mut value)| {
                if value.is_object() {
                    value["type"] = name.into();
                }
                value
            });
    let blocks = prop::collection::vec(prop_oneof![text, result, other, any_json()], 0..5);
    prop_oneof![9 => blocks.prop_map(Value::Array), 1 => any_json()]
}

fn every_view(line: &str) -> [View; 3] {
    [view::pi_omp(line), view::claude(line), view::opal(line)]
}

/// What holds of every view.
fn check(view: &View, line: &str) {
    for part in &view.parts {
        match part {
            Part::Text(text) | Part::Thinking(text) => assert!(!text.is_empty(), "{line}"),
            Part::ToolCall { arguments, .. } => {
                assert!(line.contains(&**arguments) || line.contains('\\'))
            }
            Part::Image { base64_length, .. } => assert!(*base64_length <= line.len()),
            _ => {}
        }
    }
    for most in [0, 1, 2, 5, 1000] {
        let preview = view.preview(most);
        assert!(preview.chars().count() <= most, "{preview:?}");
        assert!(!preview.contains(['\n', '\r', '\t']), "{preview:?}");
    }
    if view.role == Role::None {
        assert_eq!(*view, View::default(), "{line}");
    }
}

proptest! {
    #[test]
    fn any_bytes_can_be_viewed(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let line = decode(&bytes);
        for view in every_view(&line) {
            check(&view, &line);
        }
    }

    #[test]
    fn any_json_can_be_viewed(value in any_json(), torn_at in any::<prop::sample::Index>()) {
        let line = value.to_string();
        for view in every_view(&line) {
            check(&view, &line);
            prop_assert_eq!(view.role == Role::None, !value.is_object());
        }
        let torn = String::from_utf8_lossy(&line.as_bytes()[..torn_at.index(line.len() + 1)]);
        for view in every_view(&torn) {
            check(&view, &torn);
        }
    }

    /// A content's parts are those found in the parsed value, in every family.
    #[test]
    fn any_content_is_read_as_serde_json_sees_it(content in any_content()) {
        let expected = parts(&content);
        for (view, line) in [
            (view::pi_omp as fn(&str) -> View, json!({"type": "message", "message": {"role": "user", "content": content}})),
            (view::claude, json!({"message": {"content": content}, "type": "assistant"})),
            (view::opal, json!({"content": content, "role": "user"})),
        ] {
            prop_assert_eq!(rewritten(view(&line.to_string()).parts), &*expected);
        }
    }
}

#[test]
fn a_large_image_leaves_its_length_only() {
    let data = "QUJD".repeat(1 << 20);
    let pi = format!(
        r#"{{"type":"message","message":{{"role":"user","content":[{{"type":"image","data":"{data}","mimeType":"image/png"}}]}}}}"#
    );
    let claude = format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"image","source":{{"media_type":"image/png","data":"{data}"}}}}]}}}}"#
    );
    let image = Part::Image { mime_type: Some("image/png".to_owned()), base64_length: data.len() };
    assert_eq!(view::pi_omp(&pi).parts, std::slice::from_ref(&image));
    assert_eq!(view::claude(&claude).parts, [image]);
}

#[test]
fn nesting_takes_no_stack() {
    for member in ["message", "content", "metadata", "attachment", "files"] {
        let open = format!(r#"{{"type":"attachment","role":"fileMention","{member}":["#);
        let deep = format!("{}1{}", open.repeat(100_000), "]}".repeat(100_000));
        for view in every_view(&deep) {
            assert_ne!(view.role, Role::None, "{member}");
        }
    }
}
