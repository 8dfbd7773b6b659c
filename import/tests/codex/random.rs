//! Any rollouts, any bytes, any pieces of rollouts.

use leafline_import::codex::{
    self, ContextBuilder, Facts, Scanner, SessionName, Truncation, detect, render, takes_part,
};
use leafline_import::lines;
use leafline_import::text::decode;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::cases::{
    Alone, Case, assistant, compacted, developer, event, item, line, message, rolled_back, user,
};
use crate::context;

/// A generator of small numbers (SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn pick<'a>(&mut self, among: &[&'a str]) -> &'a str {
        among[usize::try_from(self.below(among.len() as u64)).unwrap()]
    }
}

/// A rollout that anything can happen in.
pub(crate) fn case(seed: u64) -> Case {
    let mut dice = Dice(seed);
    let mut lines = Vec::new();
    for number in 0..4 + dice.below(30) {
        lines.push(any_line(&mut dice, number));
    }
    lines.push(assistant("the end"));
    let case = Case::new(format!("random {seed}"), lines);
    if dice.below(3) == 0 { case.paginated() } else { case }
}

fn any_line(dice: &mut Dice, number: u64) -> String {
    let turn = dice.pick(&["t1", "t2", "t3"]);
    let call = dice.pick(&["c1", "c2", "c3"]);
    match dice.below(22) {
        0..=4 => user(&format!("u{number}")),
        5 | 6 => assistant(&format!("a{number}")),
        7 => user("<environment_context>x</environment_context>"),
        8 => developer(dice.pick(&["<model_switch>x", "plain"])),
        9 => item(
            json!({"type": "function_call", "name": "f", "arguments": number.to_string(), "call_id": call}),
        ),
        10 => item(
            json!({"type": "function_call_output", "call_id": call, "output": number.to_string()}),
        ),
        11 => item(
            json!({"type": "custom_tool_call", "name": "f", "input": number.to_string(), "call_id": call}),
        ),
        12 => rolled_back(dice.below(4)),
        13 | 14 => any_compaction(dice, number),
        15 | 16 => event(json!({"type": "task_started", "turn_id": turn})),
        17 => event(json!({"type": "task_complete", "turn_id": turn, "last_agent_message": null})),
        18 => event(json!({"type": "turn_aborted", "turn_id": turn, "reason": "interrupted"})),
        _ => line(
            "inter_agent_communication",
            json!({"author": "/root", "recipient": "/root/w", "other_recipients": [], "content": number.to_string(), "trigger_turn": true}),
        ),
    }
}

fn any_compaction(dice: &mut Dice, number: u64) -> String {
    let summary = format!("S{number}");
    let alone = [Alone::No, Alone::Window, Alone::Whole][usize::try_from(dice.below(3)).unwrap()];
    if dice.below(4) == 0 {
        return compacted(&summary, None, alone);
    }
    let kept = (0..dice.below(4)).map(|index| match dice.below(4) {
        0 => json!({"type": "function_call_output", "call_id": "c1", "output": "kept"}),
        1 => message("user", "<skill>x</skill>"),
        _ => message("user", &format!("r{number}.{index}")),
    });
    let kept: Vec<Value> = kept.collect();
    compacted(&summary, Some(kept), alone)
}

/// Reads bytes in every way there is.
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

/// JSON of the members' names at any place.
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

    /// A context has each output behind a call, and each item once.
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
