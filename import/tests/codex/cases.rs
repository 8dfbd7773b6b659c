//! Rollouts of every kind: one for each rule.

use serde_json::{Value, json};

const TIME: &str = "2026-11-20T10:00:00.000Z";
/// The beginning of the summaries that Codex writes.
const SUMMARY: &str = "Another language model started to solve this problem and produced a summary of its thinking process. You also have access to the state of the tools that were used by that language model. Use this to build on the work that has already been done and avoid duplicating work. Here is the summary produced by the other language model, use the information in this summary to assist with your own analysis:\n";
const PICTURE: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A rollout and what it is about.
pub(crate) struct Case {
    pub(crate) name: String,
    lines: Vec<String>,
    is_paginated: bool,
    pub(crate) is_of_known_model: bool,
}

impl Case {
    pub(crate) fn new(name: impl Into<String>, lines: Vec<String>) -> Self {
        Self { name: name.into(), lines, is_paginated: false, is_of_known_model: false }
    }

    pub(crate) fn paginated(mut self) -> Self {
        self.is_paginated = true;
        self
    }

    fn of_known_model(mut self) -> Self {
        self.is_of_known_model = true;
        self
    }

    pub(crate) fn file(&self, id: &str) -> String {
        let mut header = json!({
            "id": id, "timestamp": TIME, "cwd": "/tmp", "originator": "codex_cli_rs", "cli_version": "0.60.0",
            "source": "cli", "instructions": null,
        });
        if self.is_paginated {
            header["history_mode"] = json!("paginated");
        }
        let mut file = String::new();
        for (ordinal, line) in
            std::iter::once(&line("session_meta", header)).chain(&self.lines).enumerate()
        {
            if self.is_paginated {
                file.push_str(&line.replacen(
                    "{\"timestamp\"",
                    &format!("{{\"ordinal\":{ordinal},\"timestamp\""),
                    1,
                ));
            } else {
                file.push_str(line);
            }
            file.push('\n');
        }
        file
    }
}

pub(crate) fn line(kind: &str, payload: Value) -> String {
    json!({"timestamp": TIME, "type": kind, "payload": payload}).to_string()
}

pub(crate) fn item(payload: Value) -> String {
    line("response_item", payload)
}

pub(crate) fn event(payload: Value) -> String {
    line("event_msg", payload)
}

pub(crate) fn message(role: &str, text: &str) -> Value {
    let block = if role == "assistant" { "output_text" } else { "input_text" };
    json!({"type": "message", "role": role, "content": [{"type": block, "text": text}]})
}

pub(crate) fn user(text: &str) -> String {
    item(message("user", text))
}

pub(crate) fn developer(text: &str) -> String {
    item(message("developer", text))
}

pub(crate) fn assistant(text: &str) -> String {
    item(message("assistant", text))
}

pub(crate) fn rolled_back(turns: u64) -> String {
    event(json!({"type": "thread_rolled_back", "num_turns": turns}))
}

/// How much it has of what lets a compaction stand alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alone {
    No,
    Window,
    Whole,
}

pub(crate) fn compacted(summary: &str, replacement: Option<Vec<Value>>, alone: Alone) -> String {
    let mut payload = json!({"message": summary});
    if let Some(replacement) = replacement {
        payload["replacement_history"] = Value::Array(replacement);
    }
    if alone != Alone::No {
        payload["window_number"] = json!(1);
    }
    if alone == Alone::Whole {
        payload["resume_metadata"] = json!({"multi_agent_version": "v1", "last_started_turn_id": null, "previous_turn_settings": null});
    }
    line("compacted", payload)
}

/// What happens in a turn, with its boundaries.
pub(crate) fn turn(number: u32, within: Vec<String>) -> Vec<String> {
    let id = format!("t{number}");
    let mut lines =
        vec![event(json!({"type": "task_started", "turn_id": id, "model_context_window": 1000}))];
    lines.extend(within);
    lines.push(event(json!({"type": "task_complete", "turn_id": id, "last_agent_message": null})));
    lines
}

/// A turn with a prompt and an answer.
pub(crate) fn talk(number: u32) -> Vec<String> {
    turn(number, vec![user(&format!("u{number}")), assistant(&format!("a{number}"))])
}

/// The same, with something before the prompt.
fn talk_behind(number: u32, ahead: String) -> Vec<String> {
    let mut within = vec![ahead];
    within.extend([user(&format!("u{number}")), assistant(&format!("a{number}"))]);
    turn(number, within)
}

fn replacement(texts: &[&str]) -> Option<Vec<Value>> {
    Some(texts.iter().map(|text| message("user", text)).collect())
}

fn of_user(members: Value) -> String {
    let mut payload = message("user", "x");
    for (name, value) in members.as_object().unwrap() {
        payload[name] = value.clone();
    }
    item(payload)
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "name": "f", "arguments": "{}", "call_id": id})
}

fn output(id: &str, output: Value) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": output})
}

pub(crate) fn all() -> Vec<Case> {
    let mut cases = lines_of_all_kinds();
    cases.extend(items());
    cases.extend(outputs());
    cases.extend(rollbacks());
    cases.extend(ahead_of_turns());
    cases.extend(compactions());
    cases.extend(early_compactions());
    cases.extend(compactions_taken_back());
    cases
}

fn lines_of_all_kinds() -> Vec<Case> {
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

fn items() -> Vec<Case> {
    let text = |text: &str| json!([{"type": "input_text", "text": text}]);
    vec![
        Case::new("members of messages", vec![
            of_user(json!({"status": "completed"})), of_user(json!({"status": 5})), of_user(json!({"phase": "commentary"})),
            of_user(json!({"phase": "zork", "content": text("phase")})), of_user(json!({"zork": 1, "end_turn": true})),
            of_user(json!({"encrypted_content": "E", "content": text("encrypted")})), of_user(json!({"encrypted_content": ["E"]})),
            of_user(json!({"phase": null, "status": null, "id": null})), of_user(json!({"role": 5})), of_user(json!({"content": null})),
            of_user(json!({"content": "plain"})), of_user(json!({"content": []})), of_user(json!({"role": "tool"})), of_user(json!({"role": "system"})),
            of_user(json!({"internal_chat_message_metadata_passthrough": 5, "content": text("passthrough")})),
            of_user(json!({"internal_chat_message_metadata_passthrough": {"turn_id": 5}, "content": text("turn id")})),
            of_user(json!({"internal_chat_message_metadata_passthrough": {"turn_id": "t"}})),
            of_user(json!({"content": [{"type": "hologram", "text": "x"}]})), of_user(json!({"content": [{"type": "refusal", "refusal": "no"}]})),
            of_user(json!({"content": [{"type": "input_text"}]})), of_user(json!({"content": [{"type": "input_text", "text": "x", "zork": 1}]})),
            of_user(json!({"role": "assistant", "content": [{"type": "output_text", "text": "o", "annotations": [1], "logprobs": []}], "phase": "final_answer"})),
            of_user(json!({"role": "assistant", "content": [{"type": "output_text", "text": "o", "annotations": null, "logprobs": null}]})),
            of_user(json!({"role": "assistant", "content": [{"type": "output_text", "text": ""}], "phase": "partial_answer"})),
            assistant("a1"),
        ]),
        Case::new("ids", ["weird", "msg_1", "msg_", "_x", "", "x__", "x_y_z", " _ ", "é_é", "fc_1", "0199f2b4-0000-7000-8000-000000000001"]
            .iter().map(|id| of_user(json!({"id": id}))).chain([of_user(json!({"id": 5})), assistant("a1")]).collect()),
        Case::new("pictures", [
            json!({"image_url": PICTURE}), json!({"image_url": PICTURE, "detail": "auto"}), json!({"image_url": PICTURE, "detail": "low"}),
            json!({"image_url": PICTURE, "detail": "zork"}), json!({"image_url": PICTURE, "detail": null}), json!({"image_url": "https://example.com/x.png"}),
            json!({"image_url": "http://example.com/x.png", "detail": "low"}), json!({"image_url": "data:image/png;base64,AAAA"}), json!({"image_url": "data:text/plain,A"}),
            json!({"image_url": "zork"}), json!({"file_id": "file_1"}), json!({}),
        ].into_iter().map(|mut block| { block["type"] = json!("input_image"); of_user(json!({"content": [block]})) })
            .chain([of_user(json!({"content": [{"type": "input_audio", "audio_url": "data:audio/wav;base64,AAAA"}]})), assistant("a1")]).collect()),
        Case::new("members of calls", [
            json!({"type": "function_call", "name": "f", "arguments": {"a": 1}, "call_id": "c0"}), json!({"type": "function_call", "name": "f", "call_id": "c1"}),
            json!({"type": "function_call", "id": "fc_1", "status": "s", "name": "f", "namespace": "n", "arguments": "{\"a\": 1.0}", "call_id": "c2", "encrypted_function_args": ["E"]}),
            json!({"type": "function_call_output", "id": "fco_1", "call_id": "c2", "name": "f", "namespace": "n", "status": "s", "output": "o"}),
            json!({"type": "function_call", "name": "f", "arguments": "", "call_id": "c3", "encrypted_function_args": "E"}),
            json!({"type": "custom_tool_call", "id": "ctc_1", "status": "s", "call_id": "c4", "name": "n", "namespace": "ns", "input": "i"}),
            json!({"type": "custom_tool_call_output", "id": "ctco_1", "call_id": "c4", "name": "n", "output": [{"type": "input_text", "text": "x"}, {"type": "input_image", "image_url": PICTURE, "detail": "high"}, {"type": "encrypted_content", "encrypted_content": "E"}]}),
            json!({"type": "local_shell_call", "id": "lsh_1", "call_id": "c5", "status": "completed", "action": {"type": "exec", "command": ["a"], "timeout_ms": 5, "env": {"A": "b"}}}),
            json!({"type": "function_call_output", "call_id": "c5", "output": "o"}),
            json!({"type": "local_shell_call", "call_id": "c6", "status": "zork", "action": {"type": "exec", "command": ["a"]}}),
            json!({"type": "tool_search_call", "call_id": "c7", "status": "s", "execution": "client", "arguments": {"q": "x"}}),
            json!({"type": "tool_search_output", "call_id": "c7", "status": "s", "execution": "client", "tools": [{"b": 1}]}),
            json!({"type": "tool_search_call", "execution": "server", "arguments": {}}), json!({"type": "tool_search_call", "call_id": "c8", "execution": "server"}),
            json!({"type": "function_call_output", "call_id": "c9", "output": {"content": "x", "success": true}}),
        ].into_iter().map(item).chain([assistant("a1")]).collect()),
        Case::new("other items", [
            json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "S"}], "content": [{"type": "reasoning_text", "text": "T"}], "encrypted_content": "E"}),
            json!({"type": "reasoning", "summary": [], "content": [{"type": "text", "text": "T"}]}), json!({"type": "reasoning", "summary": [], "content": null}),
            json!({"type": "reasoning", "summary": [], "content": [], "status": "completed"}), json!({"type": "reasoning"}), json!({"type": "reasoning", "summary": [{"type": "zork"}]}),
            json!({"type": "reasoning", "summary": [], "content": [{"type": "text", "text": "T"}, {"type": "reasoning_text", "text": "R"}]}),
            json!({"type": "web_search_call", "id": "ws_1", "status": "s", "action": {"type": "search", "query": "q", "queries": ["q"], "sources": [1]}}),
            json!({"type": "web_search_call", "action": {"type": "open_page", "url": "u"}}), json!({"type": "web_search_call", "action": {"type": "find_in_page", "url": "u", "pattern": "p"}}),
            json!({"type": "web_search_call", "action": {"type": "zork"}}), json!({"type": "web_search_call", "action": null}), json!({"type": "web_search_call", "action": "odd"}),
            json!({"type": "image_generation_call", "id": "ig_1", "status": "s", "revised_prompt": "p", "result": "AAAA"}), json!({"type": "image_generation_call", "id": "x", "status": "s"}),
            json!({"type": "compaction", "encrypted_content": "E"}), json!({"type": "compaction_summary", "encrypted_content": "E"}), json!({"type": "compaction"}),
            json!({"type": "context_compaction", "id": "cc_1"}), json!({"type": "compaction_trigger"}), json!({"type": "ghost_snapshot", "ghost_commit": {}}), json!({"type": "hologram"}), json!({"type": "other"}),
            json!({"type": "additional_tools", "role": "developer", "tools": [{"a": 1}]}), json!({"type": "additional_tools", "tools": []}), json!({"type": "configuration_update", "reasoning": {"effort": "high"}}),
            json!({"type": "agent_message", "id": "am_1", "author": "x", "recipient": "y", "content": [{"type": "input_text", "text": "t"}, {"type": "encrypted_content", "encrypted_content": "E"}]}),
        ].into_iter().map(item).chain([user("u1")]).collect()),
        Case::new("between agents", [
            json!({"author": "/root", "recipient": "/root/w", "content": "do it", "trigger_turn": true}), json!({"author": "/root", "recipient": "/root/w_1/b", "content": "x", "encrypted_content": "E", "trigger_turn": true}),
            json!({"id": "am_1", "author": "/root", "recipient": "/root/w", "content": "x", "encrypted_content": "E", "trigger_turn": false}), json!({"id": "plain", "author": "/root", "recipient": "/root/w", "other_recipients": ["/root/z"], "content": "x", "trigger_turn": true}),
            json!({"author": "root", "recipient": "/root/w", "content": "x", "trigger_turn": true}), json!({"author": "/root/", "recipient": "/root/w", "content": "x", "trigger_turn": true}), json!({"author": "/root", "recipient": "/root/W", "content": "x", "trigger_turn": true}),
        ].into_iter().map(|payload| line("inter_agent_communication", payload)).chain([line("inter_agent_communication_metadata", json!({"trigger_turn": true})), assistant("a1")]).collect()),
        Case::new("calls without outputs, and outputs without calls", [
            call("c1"), json!({"type": "custom_tool_call", "call_id": "c2", "name": "g", "input": ""}), json!({"type": "local_shell_call", "call_id": "c3", "status": "completed", "action": {"type": "exec", "command": ["x"]}}),
            json!({"type": "tool_search_call", "call_id": "c4", "execution": "client", "arguments": 1}), output("alone", json!("o")), json!({"type": "custom_tool_call_output", "call_id": "c1", "output": "of another class"}),
            json!({"type": "function_call_output", "call_id": null, "output": "no call id"}), json!({"type": "function_call_output", "name": "n", "output": "a name"}),
            output("c9", json!("ahead of its call")), call("c9"), call("c10"), call("c10"), output("c10", json!("one")), output("c10", json!("two")),
            json!({"type": "local_shell_call", "id": "lsh_1", "call_id": null, "status": "completed", "action": {"type": "exec", "command": []}}),
        ].into_iter().map(item).chain([user("u1"), assistant("a1")]).collect()),
    ]
}

fn outputs() -> Vec<Case> {
    let numbers: String = (0..6000).map(|number| format!("line {number}\n")).collect();
    let texts = [
        "x".repeat(12_000),
        "x".repeat(12_001),
        numbers,
        "é".repeat(8_000),
        "x".to_owned() + &"é€😀".repeat(9_000),
    ];
    let with_limit = |limit: u64, text: &str| {
        let mut record: Value = serde_json::from_str(&item(output("c", json!(text)))).unwrap();
        record["metadata"] =
            json!({"client_authored": false, "fallback_token_limit_override": limit});
        record.to_string()
    };
    let blocks = |lengths: &[usize]| {
        let blocks =
            lengths.iter().map(|&length| json!({"type": "input_text", "text": "b".repeat(length)}));
        item(output(
            "c",
            Value::Array(
                blocks.chain([json!({"type": "input_image", "image_url": PICTURE})]).collect(),
            ),
        ))
    };
    let mut long = vec![item(call("c"))];
    long.extend(texts.iter().map(|text| item(output("c", json!(text)))));
    long.extend([
        with_limit(100, &"abcdefghij".repeat(100)),
        with_limit(0, "abcdefghij"),
        with_limit(6_000, &"é".repeat(20_000)),
    ]);
    long.extend([
        blocks(&[9_000, 9_000, 100, 5]),
        blocks(&[12_000, 1]),
        blocks(&[5, 11_990]),
        blocks(&[]),
    ]);
    let of_known_model = vec![
        item(call("c")),
        item(output("c", json!("x".repeat(48_000)))),
        item(output("c", json!("x".repeat(48_001)))),
        blocks(&[30_000, 30_000, 100]),
        user("u1"),
    ];
    let mut kept = vec![user("u1")];
    kept.push(compacted(
        "S",
        Some(vec![call("c"), output("c", json!("x".repeat(60_000)))]),
        Alone::Window,
    ));
    kept.push(assistant("a1"));
    vec![
        Case::new("long outputs", long),
        Case::new("long outputs, a model that is known", of_known_model).of_known_model(),
        Case::new("long outputs in a compaction", kept),
    ]
}

fn rollbacks() -> Vec<Case> {
    let three = || [talk(1), talk(2), talk(3)].concat();
    let mut cases: Vec<Case> = [0, 1, 2, 3, 99]
        .into_iter()
        .map(|turns| {
            let mut lines =
                vec![developer("D"), user("<environment_context>x</environment_context>")];
            lines.extend(three());
            lines.push(rolled_back(turns));
            lines.extend(talk(4));
            Case::new(format!("{turns} turns taken back"), lines)
        })
        .collect();
    let mut twice = three();
    twice.push(rolled_back(2));
    twice.extend(talk(4));
    twice.push(rolled_back(1));
    cases.push(Case::new("taken back twice", twice));
    for (place, text) in
        [SUMMARY.to_owned() + "x", "x".to_owned() + SUMMARY].into_iter().enumerate()
    {
        cases.push(Case::new(
            format!("a summary as the user, {place}"),
            [talk(1), vec![user(&text)], talk(2), vec![rolled_back(1)]].concat(),
        ));
        cases.push(Case::new(
            format!("a summary as the user taken back, {place}"),
            [talk(1), vec![user(&text), rolled_back(1)]].concat(),
        ));
    }
    cases.push(Case::new("taken back without a turn", vec![assistant("a1"), rolled_back(1)]));
    let mut odd = three();
    odd.extend(
        [
            json!({}),
            json!({"num_turns": -1}),
            json!({"num_turns": "1"}),
            json!({"num_turns": 1.0}),
            json!({"num_turns": 5_000_000_000_u64}),
        ]
        .map(|mut payload| {
            payload["type"] = json!("thread_rolled_back");
            event(payload)
        }),
    );
    cases.push(Case::new("rollbacks that are none", odd));
    let communication = json!({"author": "/root", "recipient": "/root/w", "other_recipients": [], "content": "x", "trigger_turn": true});
    for (name, start) in [
        (
            "a message from an agent",
            item(
                json!({"type": "agent_message", "author": "/root", "recipient": "/root/a", "content": [{"type": "input_text", "text": "x"}]}),
            ),
        ),
        ("a message between agents", line("inter_agent_communication", communication.clone())),
        ("a message between agents as text", assistant(&communication.to_string())),
        ("text that is none", assistant("{\"author\":\"/root\"}")),
    ] {
        cases.push(Case::new(
            format!("taken back: {name}"),
            vec![user("u1"), assistant("a1"), start, assistant("a2"), rolled_back(1)],
        ));
    }
    cases
}

/// What comes before a turn, as the user and as the developer.
fn ahead_of_turns() -> Vec<Case> {
    let texts = [
        "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>",
        "# AGENTS.md instructions for /x",
        "<user_instructions>x</user_instructions>",
        "  <ENVIRONMENT_context>x</environment_CONTEXT>\n ",
        "<environment_context>x</environment_context>x",
        "\u{a0}<environment_context>x</environment_context>\u{3000}",
        "<hook_prompt hook_run_id=\"r\">x</hook_prompt>",
        "<hook_prompt hook_run_id=\"a b\">x</hook_prompt>",
        "<hook_prompt hook_run_id=\"\">x</hook_prompt>",
        "<codex_internal_context source=\"goal\">x</codex_internal_context>",
        "<codex_internal_context source=\"a b\">x</codex_internal_context>",
        "<codex_internal_context source=\"a-b\">x</codex_internal_context>",
        "<external_a b>x</external_a b>",
        "<external_x>x</external_y>",
        "<external_>x</external_>",
        "<skill>x</skill>",
        "<turn_aborted>x</turn_aborted>",
        "<subagent_notification>x</subagent_notification>",
        "<agent_message_board_notification>x</agent_message_board_notification>",
        "<recommended_plugins>x</recommended_plugins>",
        "<goal_context>x</goal_context>",
        "<user_shell_command>x</user_shell_command>",
        "Warning: The maximum number of unified exec processes you can keep open is 60",
        "Warning: Your account was flagged for potentially high-risk cyber activity and",
        "Warning: apply_patch was requested via shell.",
        "",
    ];
    let mut cases: Vec<Case> = texts
        .iter()
        .map(|text| {
            Case::new(
                format!("as the user: {text}"),
                [talk(1), talk_behind(2, user(text)), vec![rolled_back(1)]].concat(),
            )
        })
        .collect();
    let texts = [
        "<model_switch>",
        "  <MODEL_switch>x",
        "x<model_switch>",
        "<permissions instructions>",
        "<collaboration_mode>",
        "<skills_instructions>",
        "<apps_instructions>",
        "<plugins_instructions>",
        "<environments_instructions>",
        "<managed_developer_instructions>",
        "<personality_spec>",
        "<persistent_mode>",
        "<realtime_conversation>",
        "<multi_agent_role>",
        "<multi_agent_mode>",
        "<git_attribution>",
        "<context_window>",
        "<context_window_guidance>",
        "<token_budget>",
        "<rollout_budget>",
        "<tools>",
        "<zork>",
        "plain",
    ];
    cases.extend(texts.iter().map(|text| {
        Case::new(
            format!("as the developer: {text}"),
            [talk(1), talk_behind(2, developer(text)), vec![rolled_back(1)]].concat(),
        )
    }));
    let mixed = of_user(
        json!({"content": [{"type": "input_text", "text": "x"}, {"type": "input_text", "text": "<skill>x</skill>"}]}),
    );
    let as_output =
        of_user(json!({"content": [{"type": "output_text", "text": "<skill>x</skill>"}]}));
    let several = vec![
        user("u1"),
        assistant("a1"),
        developer("<tools>"),
        developer("plain"),
        developer("<model_switch>"),
        user("<skill>x</skill>"),
        user("u2"),
        assistant("a2"),
        rolled_back(1),
    ];
    cases.push(Case::new(
        "as the user: two blocks",
        [talk(1), talk_behind(2, mixed), vec![rolled_back(1)]].concat(),
    ));
    cases.push(Case::new(
        "as the user: another block",
        [talk(1), talk_behind(2, as_output), vec![rolled_back(1)]].concat(),
    ));
    cases.push(Case::new("several ahead of a turn", several));
    cases
}

fn compactions() -> Vec<Case> {
    let with = |payload: Value| {
        vec![user("u1"), assistant("a1"), line("compacted", payload), user("u2"), assistant("a2")]
    };
    let r = || message("user", "r1");
    vec![
        Case::new("compacted", with(json!({"message": "S", "replacement_history": [r()]}))),
        Case::new("compacted to nothing", with(json!({"message": "S", "replacement_history": []}))),
        Case::new(
            "compacted twice",
            vec![
                user("u1"),
                compacted("S", replacement(&["r1"]), Alone::Window),
                user("u2"),
                compacted("S", replacement(&["r2"]), Alone::Window),
                user("u3"),
            ],
        ),
        Case::new(
            "an item in it that is none",
            with(
                json!({"message": "S", "replacement_history": [r(), {"type": "message", "role": "user"}]}),
            ),
        ),
        Case::new(
            "odd items in it",
            with(
                json!({"message": "S", "replacement_history": [r(), {"type": "hologram"}, {"type": "ghost_snapshot"}, message("system", "s"), {"type": "compaction_trigger"}, {"type": "configuration_update", "reasoning": {"effort": "high"}}, call("c"), output("alone", json!("o"))]}),
            ),
        ),
        Case::new(
            "its metadata is of another length",
            with(
                json!({"message": "S", "replacement_history": [r()], "replacement_history_metadata": []}),
            ),
        ),
        Case::new(
            "its metadata alone",
            with(json!({"message": "S", "replacement_history_metadata": []})),
        ),
        Case::new(
            "its metadata",
            with(
                json!({"message": "S", "replacement_history": [r()], "replacement_history_metadata": [{"client_authored": false}]}),
            ),
        ),
        Case::new("without a message", with(json!({"replacement_history": [r()]}))),
        Case::new(
            "pictures in it",
            with(
                json!({"message": "S", "replacement_history": [{"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": "http://x/y.png"}, {"type": "input_image", "image_url": PICTURE}]}]}),
            ),
        ),
        Case::new(
            "compacted, paginated",
            vec![
                user("u1"),
                compacted("S", replacement(&["r1"]), Alone::Window),
                user("u2"),
                assistant("a2"),
            ],
        )
        .paginated(),
    ]
}

fn early_compactions() -> Vec<Case> {
    let words = "w ".repeat(20_000);
    let summary = SUMMARY.to_owned() + "OLD";
    let summary = summary.as_str();
    let blocks = |texts: &[&str]| {
        let blocks = texts.iter().map(|text| json!({"type": "input_text", "text": text}));
        of_user(json!({"id": "msg_5", "content": blocks.collect::<Vec<_>>()}))
    };
    let early = |summary: &str| compacted(summary, None, Alone::No);
    vec![
        Case::new(
            "early",
            vec![
                developer("D"),
                user("<skill>x</skill>"),
                user("u1"),
                assistant("a1"),
                user("u2"),
                early("S"),
                user("u3"),
            ],
        ),
        Case::new(
            "early, twice",
            vec![user("u1"), assistant("a1"), early("S1"), user("u2"), early("S2"), user("u3")],
        ),
        Case::new("early, without a summary", vec![user("u1"), early(""), user("u2")]),
        Case::new(
            "early, null",
            vec![
                user("u1"),
                line("compacted", json!({"message": "S", "replacement_history": null})),
                user("u2"),
            ],
        ),
        Case::new("early, without a prompt", vec![assistant("a1"), early("S")]),
        Case::new(
            "early, behind one of today",
            vec![
                user("u1"),
                compacted("S1", replacement(&["r1"]), Alone::Window),
                user("u2"),
                early("S2"),
                user("u3"),
            ],
        ),
        Case::new(
            "early, behind one of today, paginated",
            vec![
                user("u1"),
                compacted("S1", replacement(&["r1"]), Alone::Window),
                user("u2"),
                early("S2"),
                user("u3"),
            ],
        )
        .paginated(),
        Case::new(
            "early, ahead of one of today",
            vec![
                user("u1"),
                early("S1"),
                user("u2"),
                compacted("S2", replacement(&["r1"]), Alone::Window),
                user("u3"),
            ],
        ),
        Case::new(
            "early, a summary of the program's",
            vec![user(summary), user("u1"), early(summary), user("u2"), early("S")],
        ),
        Case::new(
            "early, calls",
            vec![user("u1"), item(call("c")), early("S"), item(output("c", json!("late")))],
        ),
        Case::new(
            "early, other blocks",
            vec![
                of_user(json!({"content": [{"type": "input_image", "image_url": PICTURE}]})),
                of_user(json!({"content": []})),
                of_user(json!({"content": [{"type": "output_text", "text": "o"}]})),
                of_user(
                    json!({"status": "s", "phase": "commentary", "id": "msg_7", "content": [{"type": "output_text", "text": "o"}, {"type": "input_text", "text": "i"}]}),
                ),
                early("S"),
            ],
        ),
        Case::new(
            "early, too much",
            vec![
                user(&format!("A{words}")),
                user(&format!("B{words}")),
                user(&format!("C{words}")),
                early("S"),
            ],
        ),
        Case::new(
            "early, too much in two blocks",
            vec![blocks(&[&format!("A{words}"), &format!("B{words}")]), user(&words), early("S")],
        ),
        Case::new(
            "early, too much in three blocks",
            vec![blocks(&["A", &format!("é{words}{words}"), "C"]), user(&words), early("S")],
        ),
        Case::new("early, just enough", vec![user("A"), user(&"x".repeat(80_000)), early("S")]),
        Case::new(
            "early, nearly too much",
            vec![user("AAAAAAAAA"), user(&"x".repeat(79_992)), early("S")],
        ),
    ]
}

fn compactions_taken_back() -> Vec<Case> {
    let kept = |texts: &[&str]| compacted("S", replacement(texts), Alone::Window);
    let three = |alone| {
        let within =
            vec![compacted("S", replacement(&["u1", "sum"]), alone), user("u2"), assistant("a2")];
        [talk(1), turn(2, within), talk(3)].concat()
    };
    let mut cases = Vec::new();
    for turns in 1..=3 {
        for alone in [Alone::No, Alone::Window, Alone::Whole] {
            let lines = || [three(alone), vec![rolled_back(turns)], talk(4)].concat();
            let name = format!("a compaction, {turns} turns taken back, alone {alone:?}");
            cases.push(Case::new(name.clone(), lines()));
            cases.push(Case::new(name + ", paginated", lines()).paginated());
        }
    }
    let untold = |lines: &[&str]| {
        lines
            .iter()
            .map(|text| event(json!({"type": text, "model_context_window": 1})))
            .collect::<Vec<_>>()
    };
    cases.extend([
        Case::new(
            "in the turn that was taken back",
            [
                talk(1),
                talk(2),
                turn(3, vec![kept(&["u1", "u2", "sum"]), user("u3"), assistant("a3")]),
                vec![rolled_back(1)],
            ]
            .concat(),
        ),
        Case::new(
            "in a turn of its own",
            [talk(1), turn(2, vec![kept(&["u1", "sum"])]), talk(3), vec![rolled_back(1)]].concat(),
        ),
        Case::new(
            "in a turn of its own, last",
            [talk(1), talk(2), turn(3, vec![kept(&["u1", "sum"])]), vec![rolled_back(1)]].concat(),
        ),
        Case::new(
            "two, and the later was taken back",
            [
                talk(1),
                turn(2, vec![kept(&["u1", "sum1"]), user("u2")]),
                turn(3, vec![kept(&["u1", "sum2"]), user("u3")]),
                vec![rolled_back(1)],
            ]
            .concat(),
        ),
        Case::new(
            "without boundaries",
            vec![user("u1"), assistant("a1"), kept(&["u1", "sum"]), user("u2"), rolled_back(1)],
        ),
        Case::new(
            "without boundaries, the compaction last",
            vec![user("u1"), assistant("a1"), kept(&["u1", "sum"]), rolled_back(1), user("u2")],
        ),
        Case::new(
            "boundaries without ids",
            [
                untold(&["task_started"]),
                vec![user("u1")],
                untold(&["task_started"]),
                vec![kept(&["u1", "sum"]), user("u2")],
                untold(&["task_started"]),
                vec![user("u3"), rolled_back(1)],
            ]
            .concat(),
        ),
        Case::new(
            "boundaries of other names",
            vec![
                event(json!({"type": "turn_started", "turn_id": "t1"})),
                user("u1"),
                event(json!({"type": "turn_complete", "turn_id": "t1"})),
                event(json!({"type": "turn_started", "turn_id": "t2"})),
                kept(&["r"]),
                user("u2"),
                event(json!({"type": "turn_complete", "turn_id": "t2"})),
                event(json!({"type": "turn_started", "turn_id": "t3"})),
                user("u3"),
                rolled_back(1),
            ],
        ),
        Case::new(
            "a turn that ends under another id",
            vec![
                event(json!({"type": "task_started", "turn_id": "t2"})),
                kept(&["u1", "sum"]),
                user("u2"),
                event(
                    json!({"type": "task_complete", "turn_id": "tX", "last_agent_message": null}),
                ),
            ]
            .into_iter()
            .chain(talk(3))
            .chain([rolled_back(1)])
            .collect(),
        ),
        Case::new(
            "an interrupted turn",
            [
                talk(1),
                vec![
                    event(json!({"type": "task_started", "turn_id": "t2"})),
                    kept(&["u1", "sum"]),
                    user("u2"),
                    event(
                        json!({"type": "turn_aborted", "turn_id": "t2", "reason": "interrupted"}),
                    ),
                ],
                talk(3),
                vec![rolled_back(1)],
            ]
            .concat(),
        ),
        Case::new(
            "an event alone makes a turn",
            [
                talk(1),
                turn(2, vec![kept(&["u1", "sum"]), user("u2"), assistant("a2")]),
                turn(3, vec![event(json!({"type": "user_message", "message": "x"}))]),
                vec![rolled_back(1)],
            ]
            .concat(),
        ),
        Case::new(
            "early, taken back",
            [
                talk(1),
                turn(2, vec![compacted("S", None, Alone::No), user("u2")]),
                talk(3),
                vec![rolled_back(1)],
            ]
            .concat(),
        ),
        Case::new(
            "early, taken back further",
            [
                talk(1),
                turn(2, vec![compacted("S", None, Alone::No), user("u2")]),
                talk(3),
                vec![rolled_back(3)],
            ]
            .concat(),
        ),
    ]);
    cases.extend(boundaries());
    cases
}

/// A compaction, then a turn with odd boundaries and a whole one, two turns of which are rolled back.
fn boundaries() -> Vec<Case> {
    let started = |id: &str| event(json!({"type": "task_started", "turn_id": id}));
    let complete = |id: &str| event(json!({"type": "task_complete", "turn_id": id}));
    let settings = |id: &str| {
        line(
            "turn_context",
            json!({"turn_id": id, "cwd": "/tmp", "approval_policy": "never", "sandbox_policy": {"type": "read-only"}, "model": "gpt-5", "summary": "auto"}),
        )
    };
    let aborted =
        |id: &str| event(json!({"type": "turn_aborted", "turn_id": id, "reason": "interrupted"}));
    let odd = [
        ("an end of another turn", vec![started("t3"), user("u3"), complete("tX")]),
        ("an interruption of another turn", vec![started("t3"), user("u3"), aborted("tX")]),
        ("no end", vec![started("t3"), user("u3")]),
        ("two starts", vec![started("t3"), user("u3"), started("tX"), user("uX"), complete("t3")]),
        ("a start alone", vec![started("t3")]),
        ("two ends", vec![started("t3"), user("u3"), complete("t3"), complete("tX")]),
        ("settings of another turn", vec![started("t3"), settings("tX"), user("u3")]),
        ("settings of two turns", vec![started("t3"), settings("tX"), user("u3"), settings("t3")]),
        (
            "settings of its own behind an end of another",
            vec![started("t3"), settings("t3"), user("u3"), complete("tX")],
        ),
    ];
    odd.into_iter()
        .map(|(name, lines)| {
            let kept = compacted("S", replacement(&["r1", "r2", "r3"]), Alone::No);
            let ahead = [talk(1), talk_behind(2, kept)].concat();
            Case::new(
                format!("boundaries: {name}"),
                [ahead, lines, talk(4), vec![rolled_back(2)]].concat(),
            )
        })
        .collect()
}
