//! Compactions, of today and of early versions.

use serde_json::{Value, json};

use super::{
    Alone, Case, PICTURE, SUMMARY, assistant, call, compacted, developer, item, line, message,
    of_user, output, replacement, user,
};

pub(super) fn compactions() -> Vec<Case> {
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

pub(super) fn early_compactions() -> Vec<Case> {
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
