use super::*;

fn line(draft: &Draft) -> String {
    let mut out = Vec::new();
    draft.write(b"i", ParentId::Null, &mut out);
    String::from_utf8(out).unwrap()
}

fn given(json: &str) -> String {
    line(&Draft::from_json(json).unwrap())
}

fn error(json: &str) -> String {
    Draft::from_json(json).unwrap_err().to_string()
}

#[test]
fn each_constructor() {
    assert_eq!(
        line(&Draft::user("a\"\u{2028}")),
        "{\"content\":\"a\\\"\u{2028}\",\"id\":\"i\",\"is_error\":false,\"parent_id\":null,\"role\":\"user\"}\n"
    );
    let calls = r#"[{"name":"read_file","call_id":"c","arguments":{"path":"é","n":1e10}}]"#;
    assert_eq!(
        line(&Draft::assistant(None, Some(calls)).unwrap()),
        "{\"content\":null,\"id\":\"i\",\"is_error\":false,\"parent_id\":null,\"role\":\"assistant\",\"tool_calls\":[{\"arguments\":{\"n\":1.0e10,\"path\":\"é\"},\"call_id\":\"c\",\"name\":\"read_file\"}]}\n"
    );
    assert_eq!(
        line(&Draft::tool_result("c", "out", true)),
        "{\"call_id\":\"c\",\"content\":\"out\",\"id\":\"i\",\"is_error\":true,\"parent_id\":null,\"role\":\"tool_result\"}\n"
    );
    let summary = Draft::compaction_summary("Done.", &["a\"b"], &[]);
    assert_eq!(
        summary.member("metadata"),
        Some(r#"{"modified_files":[],"read_files":["a\"b"],"type":"compaction_summary"}"#)
    );
    assert_eq!(Draft::from_json(&line(&summary)), Ok(summary));
    assert!(Draft::assistant(Some("x"), Some("[1]")).is_err());
}

#[test]
fn what_says_nothing_is_left_out_and_what_nobody_knows_is_kept() {
    assert_eq!(
        given(
            r#"{"zeta":null,"id":"x","parent_id":"y","role":"tool_call","name":null,"call_id":null,"thinking":null,"metadata":null,"tool_calls":null,"a":[]}"#
        ),
        "{\"a\":[],\"content\":null,\"id\":\"i\",\"is_error\":false,\"parent_id\":null,\"role\":\"tool_call\",\"zeta\":null}\n"
    );
    let mut draft = Draft::user("x");
    draft.set_member("thinking", r#" "\u0061" "#).unwrap();
    assert_eq!(draft.member("thinking"), Some("\"a\""));
    draft.set_member("thinking", "null").unwrap();
    assert_eq!(draft, Draft::user("x"));
}

#[test]
fn ids_are_wtf8() {
    let mut out = Vec::new();
    Draft::user("").write(b"\xed\xa0\xbc", ParentId::Id(b"\xf0\x9f\x8d\x83"), &mut out);
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains(r#""id":"\uD83C""#) && text.contains(r#""parent_id":"🍃""#));
}

#[test]
fn errors_have_the_facts() {
    assert_eq!(
        error("{"),
        "the record cannot be read: the text is not JSON: unexpected input at byte 1"
    );
    assert_eq!(error(" [1]"), "the record is an array: an object is needed");
    assert_eq!(error("{}"), "the record has no role: a non-empty string is needed");
    assert_eq!(error(r#"{"role":""}"#), "role is a string: a non-empty string is needed");
    assert_eq!(
        error(r#"{"role":"user","content":[]}"#),
        "content is an array: a string or null is needed"
    );
    assert_eq!(
        error(r#"{"role":"user","tool_calls":[{},1]}"#),
        "tool_calls is an array: an array of objects is needed"
    );
    let mut draft = Draft::user("x");
    let unchanged = draft.clone();
    for (name, json) in [("id", "1"), ("parent_id", "null"), ("role", "{"), ("is_error", "0")] {
        assert!(draft.set_member(name, json).is_err(), "{name}");
    }
    assert_eq!(draft, unchanged);
}
