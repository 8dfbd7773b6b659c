//! Rollouts with any events, for these tests and those of the store.

use serde_json::{Value, json};

use crate::cases::{
    Alone, Case, assistant, compacted, developer, event, item, line, message, rolled_back, user,
};

/// A generator of small numbers (SplitMix64).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    pub(crate) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }

    pub(crate) fn pick<'a>(&mut self, among: &[&'a str]) -> &'a str {
        among[self.index(among.len())]
    }
}

/// A rollout with any events.
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
