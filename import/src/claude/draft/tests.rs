//! The lines of drafts, and what is refused.

use super::*;
use crate::claude::{Record, Scanner};

const UUID: &str = "6c1b12d0-7f0b-4b55-9a0e-0d8f1d2f3a4b";
/// Shown as `s`.
const SESSION: &str = "0b5e8f9a-2f4d-4a4e-8a3c-5d6e7f809102";
const ABOVE: &str = concat!(
    r#"{"parentUuid":"p","isSidechain":false,"message":{"id":"msg_1","role":"assistant","content":"#,
    r#"[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}]},"type":"assistant","uuid":"a","#,
    r#""timestamp":"2024-12-03T14:00:00.000Z","userType":"external","entrypoint":"cli","cwd":"/work","#,
    r#""sessionId":"old","version":"2.1.300","gitBranch":"main","slug":"a-slug","effort":"medium"}"#,
    "\n"
);
const CARRIED: &str = concat!(
    r#""userType":"external","entrypoint":"cli","cwd":"/work","sessionId":"s","version":"2.1.300","#,
    r#""gitBranch":"main","slug":"a-slug"}"#
);

fn place(above: Option<&str>) -> Place<'_> {
    Place {
        uuid: UUID,
        parent: above.map(|_| &b"a"[..]),
        timestamp: 1_733_234_401_500,
        session_id: SESSION.as_bytes(),
        above: above.map(str::as_bytes),
        cwd: Some("/home"),
    }
}

fn line(draft: &Draft, above: Option<&str>) -> String {
    let mut out = Vec::new();
    draft.write(&place(above), &mut out);
    let line = String::from_utf8(out).unwrap();
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert!(value.is_object() && line.ends_with("}\n"));
    line.replace(SESSION, "s")
}

/// The line below [`ABOVE`], with `@` for uuid and time and `~` for what is carried over.
fn below(draft: &Draft) -> String {
    let placed = format!(r#""uuid":"{UUID}","timestamp":"2024-12-03T14:00:01.500Z""#);
    line(draft, Some(ABOVE)).replace(&placed, "@").replace(CARRIED, "~").trim_end().to_owned()
}

fn given(json: &str) -> String {
    below(&Draft::from_json(json).unwrap())
}

fn error(json: &str) -> String {
    Draft::from_json(json).unwrap_err().to_string()
}

#[test]
fn constructors_write_what_the_program_writes() {
    assert_eq!(
        below(&Draft::user("a \"b\"")),
        r#"{"parentUuid":"a","isSidechain":false,"type":"user","message":{"role":"user","content":"a \"b\""},@,~"#
    );
    assert_eq!(
        below(&Draft::tool_result("toolu_1", "no", true)),
        concat!(
            r#"{"parentUuid":"a","isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","#,
            r#""type":"tool_result","content":"no","is_error":true}]},@,"sourceToolAssistantUUID":"a",~"#
        )
    );
    let blocks = r#"[{"type":"text","text":"a"}]"#;
    assert_eq!(
        below(&Draft::user_blocks(blocks).unwrap()),
        format!(
            r#"{{"parentUuid":"a","isSidechain":false,"type":"user","message":{{"role":"user","content":{blocks}}},@,~"#
        )
    );
    let draft = Draft::tool_result_blocks("toolu_2", blocks, false).unwrap();
    // The call is not in the record above.
    assert!(below(&draft).contains(
        r#""type":"tool_result","content":[{"type":"text","text":"a"}],"is_error":false}]},@,~"#
    ));
    assert_eq!(
        below(&Draft::custom_title("A")),
        r#"{"type":"custom-title","customTitle":"A","sessionId":"s"}"#
    );
    assert_eq!(
        below(&Draft::agent_name("A")),
        r#"{"type":"agent-name","agentName":"A","sessionId":"s"}"#
    );
    assert_eq!(below(&Draft::mode("normal")), r#"{"type":"mode","mode":"normal","sessionId":"s"}"#);
    assert_eq!(
        below(&Draft::last_prompt(Some("P"), b"a")),
        r#"{"type":"last-prompt","lastPrompt":"P","leafUuid":"a","sessionId":"s"}"#
    );
    assert_eq!(
        below(&Draft::summary("S", b"a")),
        r#"{"type":"summary","summary":"S","leafUuid":"a"}"#
    );
}

#[test]
fn a_message_of_the_model_is_a_record_a_block() {
    let message = r#"{"id":"msg_2","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"Hm.","signature":"s"},
        {"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_2","name":"Read","input":{}}],"usage":{"input_tokens":1.0}}"#;
    let drafts = Draft::assistant(message).unwrap();
    let lines: Vec<String> = drafts.iter().map(below).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(
        lines[1],
        concat!(
            r#"{"parentUuid":"a","isSidechain":false,"message":{"id":"msg_2","type":"message","role":"assistant","model":"m","#,
            r#""content":[{"type":"text","text":"I look."}],"usage":{"input_tokens":1}},"type":"assistant",@,~"#
        )
    );
    assert!(lines[0].contains(r#""content":[{"type":"thinking""#) && lines[2].contains("toolu_2"));
    for none in [r#"{"role":"assistant","content":[]}"#, r#"{"role":"assistant","content":""}"#] {
        assert_eq!(Draft::assistant(none).unwrap().len(), 1);
    }
    let text = Draft::assistant(r#"{"role":"assistant","content":"Yes"}"#).unwrap();
    assert_eq!(
        text[0].member("message"),
        Some(r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"Yes"}]}"#)
    );
}

#[test]
fn the_parts_of_a_message_without_an_id_share_one() {
    let message =
        r#"{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#;
    let drafts = Draft::assistant(message).unwrap();
    let id = |line: &str| {
        let mut scanner = Scanner::new();
        let id = |record: Record<'_>| record.message_id().map(|id| id.into_owned());
        String::from_utf8(id(scanner.scan(line)).unwrap()).unwrap()
    };
    // The first is no part of the message above; the second is one of the first.
    let first = line(&drafts[0], Some(ABOVE));
    assert_eq!(id(&first), format!("msg_{}", UUID.replace('-', "")));
    let second = Place { uuid: "other", ..place(Some(&first)) };
    let mut out = Vec::new();
    drafts[1].write(&second, &mut out);
    assert_eq!(id(std::str::from_utf8(&out).unwrap()), id(&first));
}

#[test]
fn results_are_records_and_the_rest_of_what_the_user_says_is_one() {
    let message = r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"x","content":"1"},
        {"type":"text","text":"b"},{"type":"tool_result","tool_use_id":"y"}]}"#;
    let drafts = Draft::message(message).unwrap();
    let results: Vec<usize> = drafts.iter().map(|draft| draft.results().len()).collect();
    assert_eq!(results, [1, 1, 0]);
    assert_eq!(drafts[1].results(), [b"y"]);
    assert_eq!(
        drafts[2].member("message"),
        Some(
            r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#
        )
    );
    let whole = Draft::from_json(message).unwrap();
    assert_eq!(whole.results(), [b"x", b"y"]);
    assert_eq!(Draft::message(r#"{"role":"user","content":"a"}"#).unwrap(), [Draft::user("a")]);
}

#[test]
fn the_first_record_states_what_is_known_of_the_session() {
    assert_eq!(
        line(&Draft::user("a"), None),
        format!(
            concat!(
                r#"{{"parentUuid":null,"isSidechain":false,"type":"user","message":{{"role":"user","content":"a"}},"uuid":"{}","#,
                r#""timestamp":"2024-12-03T14:00:01.500Z","userType":"external","cwd":"/home","sessionId":"s","version":"2.1.330"}}"#,
                "\n"
            ),
            UUID
        )
    );
    // The same below a line that is torn, or that is no record.
    for above in ["{\"type\":\"user\",\"cwd\":\"/x\"", "[]", "", "\"a\""] {
        assert!(line(&Draft::user("a"), Some(above)).contains(r#""cwd":"/home","sessionId":"s""#));
    }
}

#[test]
fn an_agents_record_stays_on_the_sidechain() {
    let above = r#"{"type":"user","uuid":"a","isSidechain":true,"agentId":"a1","cwd":"\u0061","gitBranch":7}"#;
    assert_eq!(
        line(&Draft::user("a"), Some(above)),
        format!(
            concat!(
                r#"{{"parentUuid":"a","isSidechain":true,"agentId":"a1","type":"user","message":{{"role":"user","content":"a"}},"#,
                r#""uuid":"{}","timestamp":"2024-12-03T14:00:01.500Z","userType":"external","cwd":"a","sessionId":"s","#,
                r#""version":"2.1.330"}}"#,
                "\n"
            ),
            UUID
        )
    );
}

#[test]
fn the_session_is_the_one_that_the_records_name() {
    let of = |is_sidechain, session_id: &'static str| {
        let above = format!(
            r#"{{"type":"user","uuid":"a","isSidechain":{is_sidechain},"sessionId":"old"}}"#
        );
        let mut out = Vec::new();
        let at = Place { session_id: session_id.as_bytes(), ..place(Some(&above)) };
        Draft::user("a").write(&at, &mut out);
        let line: serde_json::Value = serde_json::from_slice(&out).unwrap();
        line["sessionId"].as_str().unwrap().to_owned()
    };
    assert_eq!(of(false, SESSION), SESSION);
    assert_eq!([of(true, SESSION), of(false, "full")], ["old", "old"]);
}

#[test]
fn a_record_keeps_what_it_states() {
    assert_eq!(
        given(
            r#"{"uuid":"x","parentUuid":"y","timestamp":1,"sessionId":"z","type":"user","tag":[1.0],"isMeta":true,
            "message":{"content":"a"},"promptId":"p","toolUseResult":"r","sourceToolAssistantUUID":"q","gitBranch":"other"}"#
        ),
        concat!(
            r#"{"parentUuid":"a","isSidechain":false,"promptId":"p","type":"user","message":{"role":"user","content":"a"},"#,
            r#""isMeta":true,@,"tag":[1],"toolUseResult":"r","sourceToolAssistantUUID":"q","userType":"external","entrypoint":"cli","#,
            r#""cwd":"/work","sessionId":"s","version":"2.1.300","gitBranch":"other","slug":"a-slug"}"#
        )
    );
    assert_eq!(
        given(
            r#"{"type":"assistant","requestId":"req_1","message":{"role":"assistant","content":[]},"n":null}"#
        ),
        concat!(
            r#"{"parentUuid":"a","isSidechain":false,"message":{"id":"msg_6c1b12d07f0b4b559a0e0d8f1d2f3a4b","type":"message","#,
            r#""role":"assistant","content":[]},"requestId":"req_1","type":"assistant",@,"n":null,~"#
        )
    );
    assert_eq!(
        given(r#"{"type":"x-new","parentUuid":null,"a":1}"#),
        r#"{"parentUuid":"a","isSidechain":false,"type":"x-new",@,"a":1,~"#
    );
    // Outside the tree.
    assert_eq!(given(r#"{"type":"x-new","a":1}"#), r#"{"type":"x-new","a":1}"#);
    assert_eq!(
        given(r#"{"type":"tag","tag":"t","sessionId":"z"}"#),
        r#"{"type":"tag","tag":"t","sessionId":"s"}"#
    );
    assert_eq!(
        given(r#"{"type":"queue-operation","operation":"enqueue","timestamp":"T"}"#),
        r#"{"type":"queue-operation","operation":"enqueue","timestamp":"T","sessionId":"s"}"#
    );
}

#[test]
fn a_compact_boundary_goes_on_logically() {
    let boundary = r#"{"type":"system","subtype":"compact_boundary","content":"Conversation compacted","level":"info"}"#;
    assert_eq!(
        given(boundary),
        concat!(
            r#"{"parentUuid":null,"logicalParentUuid":"a","isSidechain":false,"type":"system","subtype":"compact_boundary","#,
            r#""content":"Conversation compacted","level":"info",@,~"#
        )
    );
    let named = boundary.replace("}", r#","logicalParentUuid":"b"}"#);
    assert!(
        given(&named).starts_with(r#"{"parentUuid":null,"logicalParentUuid":"b","isSidechain""#)
    );
}

#[test]
fn roles_are_those_of_the_lines() {
    let role = |json| Draft::from_json(json).unwrap().role();
    assert_eq!(Draft::user("a").role(), MessageRole::User);
    assert_eq!(Draft::tool_result("a", "b", false).role(), MessageRole::ToolResult);
    assert_eq!(role(r#"{"role":"assistant","content":"a"}"#), MessageRole::Assistant);
    assert_eq!(
        role(r#"{"type":"user","isMeta":true,"message":{"content":"a"}}"#),
        MessageRole::Meta
    );
    assert_eq!(Draft::custom_title("a").role(), MessageRole::None);
}

#[test]
fn members_are_set() {
    let mut draft = Draft::tool_result("a", "b", false);
    draft.set_member("toolUseResult", r#"{ "stdout":"b" }"#).unwrap();
    draft.set_member("toolUseResult", r#"{ "stdout":"c" }"#).unwrap();
    assert_eq!(draft.member("toolUseResult"), Some(r#"{"stdout":"c"}"#));
    let before = draft.clone();
    for (name, json) in
        [("uuid", "1"), ("type", "1"), ("message", "1"), ("message", "{}"), ("a", "{")]
    {
        draft.set_member(name, json).unwrap_err();
    }
    assert_eq!(draft, before);
}

#[test]
fn what_is_wrong_is_told() {
    for (json, problem) in [
        ("[]", "the record is an array: an object is needed"),
        ("{", "the record cannot be read"),
        ("{}", "neither a type nor a role"),
        (r#"{"type":""}"#, "neither a type nor a role"),
        (r#"{"role":"system","content":"a"}"#, r#"the role of the message is "system""#),
        (r#"{"role":"user"}"#, "the message has no content: a string or an array is needed"),
        (
            r#"{"role":"user","content":1}"#,
            "content of the message is a number: a string or an array is needed",
        ),
        (
            r#"{"role":"user","content":["a"]}"#,
            "block 1 of the content is a string: an object is needed",
        ),
        (
            r#"{"role":"user","content":[{"type":"text","text":"a"},{"text":"a"}]}"#,
            "block 2 of the content is an object without a type",
        ),
        (
            r#"{"role":"user","content":[{"type":"tool_result"}]}"#,
            "block 1 of the content is a tool_result without tool_use_id",
        ),
        (
            r#"{"role":"user","content":[{"type":"tool_use","id":"a","name":"b","input":{}}]}"#,
            "block 1 of the content is a tool_use, which a message of the role user does not have",
        ),
        (
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b"}]}"#,
            "a tool_use without input",
        ),
        (r#"{"type":"user"}"#, "the user has no message: an object is needed"),
        (
            r#"{"type":"assistant","message":[]}"#,
            "message of the assistant is an array: an object is needed",
        ),
        (
            r#"{"type":"user","message":{"role":"assistant","content":"a"}}"#,
            r#"the role of the message is "assistant""#,
        ),
        (r#"{"type":"custom-title"}"#, "the custom-title has no customTitle: a string is needed"),
        (
            r#"{"type":"summary","summary":"a","leafUuid":1}"#,
            "leafUuid of the summary is a number: a string is needed",
        ),
    ] {
        let told = error(json);
        assert!(told.contains(problem), "{json}: {told}");
    }
    let told = Draft::assistant(r#"{"role":"user","content":"a"}"#).unwrap_err().to_string();
    assert!(told.contains(r#"the role of the message is "user""#));
}
