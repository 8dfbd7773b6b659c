//! Random sessions with messages of which pi makes others before it sends them.

use serde_json::{Value, json};

use super::Case;
use super::random::Random;

/// The random session of a number.
pub(crate) fn session(seed: u64) -> Case {
    let mut random = Random::new(seed ^ 0x5e4d);
    let header = json!({
        "type": "session", "version": 3, "id": format!("request-{seed}"),
        "timestamp": "2026-09-21T10:00:00.000Z", "cwd": "/work",
    });
    let mut lines = vec![header.to_string()];
    let mut calls = 0;
    for number in 0..random.between(2, 30) {
        let mut entry = entry(&mut random, &mut calls);
        entry["id"] = json!(format!("{number:08x}"));
        let parent = number.checked_sub(1).map(|parent| format!("{parent:08x}"));
        entry["parentId"] = json!(parent);
        entry["timestamp"] = json!("2026-09-21T10:00:01.000Z");
        lines.push(entry.to_string());
    }
    Case { name: format!("request {seed}"), bytes: (lines.join("\n") + "\n").into_bytes() }
}

fn entry(random: &mut Random, calls: &mut usize) -> Value {
    let message = |message: Value| json!({"type": "message", "message": message});
    match random.below(16) {
        0 | 1 => message(json!({"role": "user", "content": text(random), "timestamp": 3})),
        2..=6 => message(turn(random, calls)),
        7..=10 => message(json!({
            "role": "toolResult", "toolCallId": random.between(0, *calls), "toolName": "bash",
            "content": [{"type": "text", "text": "r"}], "isError": false, "timestamp": 4,
        })),
        11 => message(json!({"role": "system", "content": text(random), "timestamp": 5})),
        12 => message(execution(random)),
        13 => {
            let content = match random.below(4) {
                0 => json!([{"type": "image", "data": "AAAA", "mimeType": "image/png"}]),
                1 => json!({"no": "content"}),
                _ => text(random),
            };
            json!({"type": "custom_message", "customType": "c", "content": content, "display": true})
        }
        14 => json!({"type": "branch_summary", "summary": summary(random), "fromId": "root"}),
        _ if random.chance(40) => json!({
            "type": "compaction", "summary": summary(random), "tokensBefore": 9, "firstKeptEntryId": "00000001",
        }),
        _ => json!({"type": "model_change", "provider": "p", "modelId": random.pick(&["m", "n"])}),
    }
}

fn text(random: &mut Random) -> Value {
    let texts = ["", "Please", " \n", "say \"\u{1f600}\"\u{1}", "`"];
    json!(random.pick(&texts))
}

fn summary(random: &mut Random) -> Value {
    let summaries = [
        json!("It was done.\n"),
        json!(7.5),
        json!(["a", null, ["b", {"c": 1}], true]),
        json!({"goal": "x"}),
        json!("</summary>"),
    ];
    random.pick(&summaries).clone()
}

/// What the user ran, with values that pi would not write among those that it would.
fn execution(random: &mut Random) -> Value {
    let mut execution = json!({"role": "bashExecution", "timestamp": 6});
    let mut put = |name: &str, values: &[Value]| {
        // One more than there are values: the member is missing.
        if let Some(value) = values.get(random.below(values.len() + 1)) {
            execution[name] = value.clone();
        }
    };
    put("command", &[json!("git status"), json!("echo `x`"), json!(null), json!(["ls", 2])]);
    put("output", &[json!("clean\n"), json!(""), json!("a\nb"), json!(0), json!([])]);
    put("exitCode", &[json!(0), json!(1), json!(null), json!(-0.0), json!("0"), json!(1e21)]);
    put("cancelled", &[json!(false), json!(false), json!(true)]);
    put("truncated", &[json!(true), json!(false)]);
    put("fullOutputPath", &[json!("/tmp/out.log"), json!("")]);
    put("excludeFromContext", &[json!(false), json!(true), json!(false)]);
    execution
}

fn turn(random: &mut Random, calls: &mut usize) -> Value {
    let mut blocks = Vec::new();
    for _ in 0..random.between(0, 4) {
        let thoughts = ["I see.", "", " \u{feff}\n"];
        let mut block = match random.below(5) {
            0 | 1 => json!({"type": "thinking", "thinking": random.pick(&thoughts)}),
            2 => json!({"type": "text", "text": "Yes", "textSignature": "s"}),
            3 => json!({"type": "other", "more": 1}),
            _ => {
                *calls += 1;
                json!({"type": "toolCall", "id": *calls, "name": "bash", "arguments": {"1": 1, "a": "b"}})
            }
        };
        let signs = [
            ("thinkingSignature", json!("c2ln")),
            ("thinkingSignature", json!("")),
            ("redacted", json!(true)),
            ("thoughtSignature", json!("dGhv")),
        ];
        if random.chance(50) {
            let (name, value) = random.pick(&signs);
            block[name] = value.clone();
        }
        blocks.push(block);
    }
    let reasons = ["stop", "toolUse", "stop", "toolUse", "error", "aborted", "length"];
    json!({
        "role": "assistant", "content": blocks, "api": random.pick(&["a", "a", "b"]), "provider": random.pick(&["p", "p", "q"]),
        "model": random.pick(&["m", "m", "n"]), "stopReason": random.pick(&reasons), "timestamp": 7,
    })
}
