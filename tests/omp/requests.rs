//! Random sessions with messages of which omp makes others before it sends them.

use serde_json::{Value, json};

use super::Case;
use super::random::Random;

/// The random session of a number.
pub(crate) fn case(seed: u64) -> Case {
    let mut random = Random::new(seed ^ 0x5e4d);
    let header = json!({
        "type": "session", "version": 3, "id": format!("request-{seed}"),
        "timestamp": "2026-09-21T10:00:00.000Z", "cwd": "/work",
    });
    let mut lines = vec![header.to_string()];
    for number in 0..2 + random.below(30) {
        let mut entry = entry(&mut random);
        entry["id"] = json!(format!("{number:08x}"));
        let parent = number.checked_sub(1).map(|parent| format!("{parent:08x}"));
        entry["parentId"] = json!(parent);
        entry["timestamp"] = json!("2026-09-21T10:00:01.000Z");
        lines.push(entry.to_string());
    }
    Case { name: format!("request {seed}"), text: lines.join("\n") + "\n" }
}

fn entry(random: &mut Random) -> Value {
    let message = |message: Value| json!({"type": "message", "message": message});
    match random.below(16) {
        0..=2 => {
            let mut user = json!({"role": "user", "content": content(random), "timestamp": 3});
            put(random, &mut user, "steering", &[json!(true), json!(true), json!(false)]);
            put(random, &mut user, "attribution", &[json!("user"), json!("agent"), json!(null)]);
            message(user)
        }
        3..=5 => message(turn(random)),
        6 => {
            let mut result = json!({
                "role": "toolResult", "toolCallId": "a", "toolName": "bash", "content": blocks(random),
                "isError": false, "timestamp": 4,
            });
            put(random, &mut result, "prunedAt", &[json!(5), json!(null)]);
            message(result)
        }
        7 => message(json!({"role": "developer", "content": content(random), "timestamp": 5})),
        8 | 9 => message(execution(random)),
        10 => message(mention(random)),
        11 => message(custom(random, "role", &["custom", "hookMessage"])),
        12 => custom(random, "type", &["custom_message"]),
        13 => json!({"type": "branch_summary", "summary": summary(random), "fromId": "root"}),
        14 => message(compacted(random)),
        _ => {
            let mut compaction = json!({
                "type": "compaction", "summary": summary(random), "tokensBefore": 9, "firstKeptEntryId": "00000001",
            });
            put(random, &mut compaction, "method", &[json!("handoff"), json!("remote")]);
            compaction
        }
    }
}

/// One of the values, or the member is missing.
fn put(random: &mut Random, object: &mut Value, name: &str, values: &[Value]) {
    if let Some(value) = values.get(random.below(values.len() + 1)) {
        object[name] = value.clone();
    }
}

const TEXTS: [&str; 10] = [
    "",
    "Please",
    "  a \n\n\n\nb\t\n",
    "| a  | b |\n|:--|--:|\n| 1 |2|\n",
    "<x>\n\n</x>\n```\n  code  \n\n\n</x>\n```",
    "\u{a0}| a |\n\u{3000}\n\n  </y>\n",
    "`tick`\r\nmore \u{1f600}\r",
    "~~~\nopen\n\n\n",
    "{{summary}} ... -> **MUST NOT**",
    "\n\n",
];

fn summary(random: &mut Random) -> Value {
    let odd = [json!(7.5), json!(["a", null, ["b", {"c": 1}], true]), json!({"goal": "x"})];
    if random.once_in(5) {
        return odd[random.below(odd.len())].clone();
    }
    json!(random.one(&TEXTS))
}

fn content(random: &mut Random) -> Value {
    if random.once_in(2) { json!(random.one(&TEXTS)) } else { blocks(random) }
}

fn blocks(random: &mut Random) -> Value {
    let count = random.below(4);
    let block = |random: &mut Random| match random.below(3) {
        0 => json!({"type": "image", "data": "AAAA", "mimeType": "image/png"}),
        _ => json!({"type": "text", "text": random.one(&TEXTS), "more": 1}),
    };
    json!((0..count).map(|_| block(random)).collect::<Vec<_>>())
}

fn turn(random: &mut Random) -> Value {
    let mut content = Vec::new();
    for _ in 0..random.below(5) {
        let mut block = match random.below(4) {
            0 => json!({"type": "text", "text": random.one(&["Yes", " \n", ""])}),
            1 => {
                json!({"type": "toolCall", "id": "a", "name": "bash", "arguments": {"1": 1, "a": "b"}})
            }
            _ => json!({"type": "thinking", "thinking": random.one(&["I see.", "", " \u{feff}"])}),
        };
        put(random, &mut block, "thinkingSignature", &[json!("c2ln"), json!("")]);
        content.push(block);
    }
    let mut turn = json!({
        "role": "assistant", "content": content, "api": "a", "provider": "p", "model": "m", "timestamp": 7,
        "stopReason": random.one(&["stop", "toolUse", "aborted", "aborted", "error", "length"]),
        "usage": {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 3, "cost": {"total": 0}},
    });
    put(
        random,
        &mut turn,
        "errorId",
        &[json!(0x0400_0000), json!(0x0c00_1000), json!(1), json!(null)],
    );
    put(
        random,
        &mut turn,
        "errorMessage",
        &[json!("Interrupted by user"), json!("Request was aborted")],
    );
    put(
        random,
        &mut turn,
        "stopDetails",
        &[json!({"type": "refusal"}), json!({"type": "x"}), json!(null)],
    );
    turn
}

fn execution(random: &mut Random) -> Value {
    let is_python = random.once_in(3);
    let mut execution = if is_python {
        json!({"role": "pythonExecution", "timestamp": 6})
    } else {
        json!({"role": "bashExecution", "timestamp": 6})
    };
    let name = if is_python { "code" } else { "command" };
    put(random, &mut execution, name, &[json!("git status"), json!("echo `x`"), json!(["ls", 2])]);
    put(random, &mut execution, "output", &[json!("clean\n"), json!(""), json!("a\nb"), json!(0)]);
    put(random, &mut execution, "exitCode", &[json!(0), json!(1), json!(null), json!("0")]);
    put(random, &mut execution, "cancelled", &[json!(false), json!(true), json!(false)]);
    put(random, &mut execution, "excludeFromContext", &[json!(false), json!(true), json!(false)]);
    put(random, &mut execution, "images", &[json!([{"type": "image", "data": "AA"}]), json!([])]);
    let meta = meta(random);
    put(random, &mut execution, "meta", &[meta.clone(), meta]);
    execution
}

/// What is noted of an output.
fn meta(random: &mut Random) -> Value {
    let mut meta = json!({});
    if !random.once_in(3) {
        let mut truncation = json!({
            "direction": random.one(&["head", "tail", "middle", "middle"]),
            "truncatedBy": random.one(&["lines", "bytes"]),
            "totalLines": random.one(&[1, 2, 90, 12_345]), "totalBytes": random.one(&[900, 5_000_000]),
            "outputLines": random.one(&[1, 7]), "outputBytes": random.one(&[1_023, 1_280, 1_300_000]),
        });
        let range = |start, end| json!({"start": start, "end": end});
        for (name, values) in [
            ("maxBytes", vec![json!(51_200), json!(3_000_000_000_u64)]),
            ("shownRange", vec![range(81, 90), range(5, 4)]),
            ("headRange", vec![range(1, 5)]),
            ("tailRange", vec![range(80, 90)]),
            ("elidedLines", vec![json!(1), json!(4_984), json!(1_234_567)]),
            ("elidedBytes", vec![json!(0), json!(1_150), json!(3_200_000)]),
            ("artifactId", vec![json!("4")]),
            ("nextOffset", vec![json!(11)]),
            ("partialLine", vec![json!(true), json!(false)]),
        ] {
            put(random, &mut truncation, name, &values);
        }
        meta["truncation"] = truncation;
    }
    put(random, &mut meta, "artifactError", &[json!("write")]);
    let report = json!({"type": "report", "value": "the tests"});
    put(random, &mut meta, "source", &[report, json!({"type": "path", "value": "/x"})]);
    let reached = json!({"reached": 5, "suggestion": 10});
    let mut limits = json!({});
    for name in ["matchLimit", "resultLimit", "headLimit"] {
        put(random, &mut limits, name, std::slice::from_ref(&reached));
    }
    let columns =
        [json!({"maxColumn": 768}), json!({"maxColumn": 9, "unit": "bytes", "artifactId": "7"})];
    put(random, &mut limits, "columnTruncated", &columns);
    put(random, &mut meta, "limits", &[limits]);
    meta
}

fn mention(random: &mut Random) -> Value {
    let count = random.below(4);
    let file = |random: &mut Random| {
        let mut file = json!({"path": random.one(&["a.md", "b \"c\".png"])});
        put(random, &mut file, "content", &[json!("text\n"), json!("")]);
        put(random, &mut file, "image", &[json!({"type": "image", "data": "AA"})]);
        file
    };
    let files: Vec<Value> = (0..count).map(|_| file(random)).collect();
    json!({"role": "fileMention", "files": files, "timestamp": 8})
}

fn custom(random: &mut Random, member: &str, of: &[&str]) -> Value {
    let names =
        ["note", "interrupted-thinking", "interrupted-thinking", "skill-prompt", "collab-prompt"];
    let mut custom = json!({"customType": random.one(&names), "display": true, "timestamp": 9});
    custom[member] = json!(random.one(of));
    let content = [content(random), content(random), json!({"no": "content"})];
    put(random, &mut custom, "content", &content);
    put(random, &mut custom, "attribution", &[json!("user"), json!("user"), json!("agent")]);
    custom
}

/// A summary as a message, with blocks of its own.
fn compacted(random: &mut Random) -> Value {
    let mut message = json!({"role": "compactionSummary", "timestamp": 10});
    let summary = summary(random);
    put(random, &mut message, "summary", &[summary]);
    put(random, &mut message, "method", &[json!("handoff")]);
    let payload = json!({"type": "openaiResponsesHistory", "provider": "p", "items": []});
    put(random, &mut message, "providerPayload", &[payload]);
    let images = json!([{"type": "image", "data": "AA"}]);
    if random.once_in(3) {
        put(random, &mut message, "blocks", &[images.clone(), json!([])]);
    }
    put(random, &mut message, "images", &[images]);
    message
}
