//! The items, and the outputs of tools.

use serde_json::{Value, json};

use super::{Alone, Case, PICTURE, assistant, call, compacted, item, line, of_user, output, user};

pub(super) fn items() -> Vec<Case> {
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

pub(super) fn outputs() -> Vec<Case> {
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
