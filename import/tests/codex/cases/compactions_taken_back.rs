//! Compactions in or above turns that were taken back.

use serde_json::json;

use super::{
    Alone, Case, assistant, compacted, event, line, replacement, rolled_back, talk, talk_behind,
    turn, user,
};

pub(super) fn compactions_taken_back() -> Vec<Case> {
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
