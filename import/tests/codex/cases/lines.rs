//! Lines of all kinds.

use serde_json::{Value, json};

use super::{Case, assistant, event, item, line, user};

pub(super) fn lines_of_all_kinds() -> Vec<Case> {
    let top = |member: &str, value: Value| {
        let mut record: Value = serde_json::from_str(&user(&format!("{member} {value}"))).unwrap();
        record[member] = value;
        record.to_string()
    };
    let mut without_time: Value = serde_json::from_str(&user("without a time")).unwrap();
    without_time.as_object_mut().unwrap().remove("timestamp");
    vec![
        Case::new("plain", vec![user("u1"), assistant("a1")]),
        Case::new("odd lines", vec![
            "{torn".into(), String::new(), "  ".into(), "[1]".into(), "5".into(), "null".into(),
            line("hologram", json!({"a": 1})),
            event(json!({"type": "hologram"})),
            user("two on") + &user("one line"),
            user("space behind") + " ", "  ".to_owned() + &user("space ahead"), user("CR") + "\r",
            "\u{feff}".to_owned() + &user("BOM"), "\u{a0}".to_owned() + &user("NBSP"),
            without_time.to_string(),
            top("timestamp", json!(5)), top("ordinal", json!("x")), top("ordinal", json!(null)), top("ordinal", json!(-1)),
            top("ordinal", json!(7)), top("metadata", json!(5)), top("metadata", json!({})), top("metadata", json!(null)),
            top("metadata", json!({"client_authored": "x"})), top("format_version", json!(1)), top("zork", json!(1)),
            r#"{"timestamp":"x","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"lone \ud800"}]}}"#.into(),
            r#"{"timestamp":"x","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"first"}],"content":[{"type":"input_text","text":"\u0073econd"}]}}"#.into(),
            assistant("a1"),
        ]),
        Case::new("deep", vec![
            item(json!({"type": "tool_search_call", "call_id": "a", "execution": "server", "arguments": nested(125)})),
            item(json!({"type": "tool_search_call", "call_id": "b", "execution": "server", "arguments": nested(126)})),
            user("u1"),
        ]),
        Case::new("torn last line", vec![user("u1"), assistant("a1"), user("u2")[..90].to_owned()]),
        Case::new("a second header", vec![line("session_meta", json!({"id": "0199f2b4-0000-7000-8000-00000000eeee"})), user("u1")]),
        Case::new("torn lines, paginated", vec![user("u1"), "{torn".into(), line("hologram", json!({})), user("u2"), user("u3")[..90].to_owned()]).paginated(),
    ]
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(0), |inner, _| json!([inner]))
}
