//! Any rollouts, any bytes, any pieces of rollouts.

use leafline_import::codex::{
    self, ContextBuilder, Facts, Scanner, SessionName, Truncation, detect, render, takes_part,
};
use leafline_import::lines;
use leafline_import::text::decode;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::cases::line;
use crate::context;
use crate::rollouts::case;

/// Reads bytes with every function that takes them.
fn read(bytes: &[u8]) {
    for complete in [false, true] {
        let _ = detect(bytes, complete);
    }
    let mut scanner = Scanner::new();
    let mut facts = Facts::default();
    let mut builder = ContextBuilder::new();
    for (number, line) in (0..).zip(lines::split(bytes)) {
        let text = decode(line);
        let record = scanner.scan(&text);
        facts.observe(&record);
        builder.observe(number, &record);
        let _ = takes_part(&record);
        let _ = SessionName::of(line);
        assert_eq!(codex::view(&text).preview(80).lines().count().max(1), 1);
    }
    let lines: Vec<&[u8]> = lines::split(bytes).collect();
    for context_item in builder.finish() {
        let line = lines[usize::try_from(context_item.place.line).unwrap()];
        let mut out = Vec::new();
        render(&context_item, &decode(line), Truncation::Bytes(10), &mut out).unwrap();
        serde_json::from_slice::<Value>(&out).unwrap();
    }
}

/// JSON of the members' names at any depth.
fn json_of_any_shape() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        Just(Value::Bool(true)),
        Just(json!(1)),
        "[a-z\u{e9}\"\\\\{<_]{0,6}".prop_map(Value::String),
        prop::sample::select(vec![
            "response_item",
            "event_msg",
            "compacted",
            "session_meta",
            "turn_context",
            "message",
            "user",
            "assistant",
            "developer",
            "input_text",
            "output_text",
            "function_call",
            "function_call_output",
            "reasoning",
            "thread_rolled_back",
            "task_started",
            "token_count",
            "user_message",
            "x_1",
        ])
        .prop_map(Value::from),
    ];
    let name = prop::sample::select(vec![
        "timestamp",
        "type",
        "payload",
        "ordinal",
        "metadata",
        "id",
        "role",
        "content",
        "text",
        "call_id",
        "name",
        "arguments",
        "output",
        "summary",
        "message",
        "replacement_history",
        "num_turns",
        "turn_id",
        "info",
        "total_token_usage",
        "item",
        "source",
        "history_base",
    ]);
    leaf.prop_recursive(6, 60, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((name.clone(), inner), 0..8).prop_map(|members| {
                members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        read(&bytes);
    }

    #[test]
    fn any_records_can_be_read(records in prop::collection::vec(json_of_any_shape(), 0..8)) {
        let file: String = records.iter().map(|record| format!("{record}\n")).collect();
        read(file.as_bytes());
    }

    #[test]
    fn any_payloads_can_be_read(payloads in prop::collection::vec(json_of_any_shape(), 0..8)) {
        for kind in ["session_meta", "response_item", "event_msg", "compacted", "turn_context", "inter_agent_communication"] {
            let file: String = payloads.iter().map(|payload| line(kind, payload.clone()) + "\n").collect();
            read(file.as_bytes());
        }
    }

    /// Rollouts that are torn anywhere, and whose bytes are changed anywhere.
    #[test]
    fn torn_rollouts_can_be_read(seed in 0..2000_u64, cut in any::<prop::sample::Index>(), flip in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut file = case(seed).file("0199f2b4-0000-7000-8000-000000000000").into_bytes();
        read(&file[..cut.index(file.len())]);
        let at = flip.index(file.len());
        file[at] = byte;
        read(&file);
    }

    /// A context has each output after its call, and each item once.
    #[test]
    fn contexts_are_whole(seed in any::<u64>()) {
        let file = case(seed).file("0199f2b4-0000-7000-8000-000000000000");
        let (items, input) = context(&[file.as_bytes()], Truncation::None);
        let input = input.as_array().unwrap();
        prop_assert_eq!(items.len(), input.len());
        for (place, one) in items.iter().enumerate() {
            prop_assert!(items[..place].iter().all(|other| other != one));
        }
        let ids = |kind: &str| {
            let of_kind = input.iter().filter(|item| item["type"] == kind);
            of_kind.map(|item| item["call_id"].as_str().unwrap()).collect::<std::collections::BTreeSet<_>>()
        };
        prop_assert_eq!(ids("function_call"), ids("function_call_output"));
        prop_assert_eq!(ids("custom_tool_call"), ids("custom_tool_call_output"));
    }
}
