//! The rules of the context, one by one, on the sessions of `cases.jsonl`; and that a context costs no more than it has.

use serde_json::Value;

use crate::cases::named;
use crate::conversation::{conversation, leaf, messages};

/// A block in a few characters: `→` a call, `←` a result, `~` a thought.
fn word(block: &Value) -> String {
    let text = |name: &str| block[name].as_str().unwrap().to_owned();
    match block["type"].as_str().unwrap() {
        "text" => text("text"),
        "thinking" => format!("~{}", text("thinking")),
        "tool_use" => format!("→{} {}", text("id"), text("name")),
        "tool_result" => format!("←{} {}", text("tool_use_id"), text("content")),
        other => format!("<{other}>"),
    }
}

/// The messages of a case, each on a line: who, and what; a content that is a string in quotes.
fn told(name: &str) -> Vec<String> {
    let file = named(name).file;
    let mut session = conversation(file.as_bytes());
    let leaf = leaf(file.as_bytes()).unwrap();
    let line = |message: &Value| {
        let content = match &message["content"] {
            Value::String(text) => format!("{text:?}"),
            blocks => blocks.as_array().unwrap().iter().map(word).collect::<Vec<_>>().join(" + "),
        };
        format!("{}: {content}", message["role"].as_str().unwrap())
    };
    messages(&mut session, leaf).0.iter().map(line).collect()
}

const MISSING: &str = "[Tool result missing due to internal error]";

const INTERRUPTED: &str = "[Tool call interrupted: the session ended before this call's result was recorded, so its outcome is unknown. Check whether it took effect before relying on it or running it again.]";

#[test]
fn tools_side_by_side() {
    let both = [
        "user: \"hi\"",
        "assistant: →t1 Bash + →t2 Bash",
        "user: ←t1 out t1 + ←t2 out t2",
        "assistant: done",
    ];
    assert_eq!(told("smallest"), both);
    assert_eq!(
        told("smallest turned round")[2],
        "user: ←t2 out t2 + ←t1 out t1",
        "results are in the order of the file"
    );
    assert_eq!(told("three in the middle")[2], "user: ←t1 out t1 + ←t3 out t3 + ←t2 out t2");
    assert_eq!(
        told("sibling")[1..3],
        ["assistant: →t2 Bash + →t1 Bash", "user: ←t1 out t1 + ←t2 out t2"],
        "records of one message may hang on one parent; those on the path come first"
    );
    assert_eq!(told("text sibling off the path")[1], "assistant: ~th + tx + →t1 Bash + →t2 Bash");
    assert_eq!(told("sibling text only off")[1], "assistant: late + →t1 Bash");
    assert_eq!(told("progress off")[2], "user: ←t1 out t1 + ←t2 out t2");
    assert_eq!(told("nested sibling under result")[1], "assistant: →t1 Bash + →t2 Bash + →t3 Bash");
    // A second result of a call is not sent, nor what was said on another branch.
    assert_eq!(told("twice results")[2], "user: ←t1 first + ←t2 out t2");
    assert_eq!(told("nontool child")[2], "user: ←t1 out t1 + ←t2 out t2 + with text");
    // Without an id of the message nothing is looked for.
    assert_eq!(told("no message id type")[1], "assistant: →t2 Bash");
}

#[test]
fn results_stand_behind_their_calls() {
    assert_eq!(told("orphan result")[2], "user: \"(no content)\"");
    assert_eq!(told("orphan with text")[2], "user: and text");
    assert_eq!(told("orphan among")[2], "user: ←t1 out t1");
    assert_eq!(
        told("orphan first")[0],
        "user: [Orphaned tool result removed due to conversation resume]"
    );
    assert_eq!(told("prompt between")[2], "user: ←t1 out t1 + ←t2 out t2 + mid prompt");
    assert_eq!(
        told("late result")[1..],
        [
            "assistant: →t1 Bash".to_owned(),
            format!("user: ←t1 {MISSING} + next"),
            "assistant: more".to_owned(),
            "user: \"(no content)\"".to_owned(),
            "assistant: done".to_owned(),
        ]
    );
    assert_eq!(
        told("one of two")[1..3],
        [
            "assistant: →t1 Bash + →t2 Bash".to_owned(),
            format!("user: ←t2 {MISSING} + ←t1 out t1 + next"),
        ]
    );
    assert_eq!(
        told("twice call ids")[3..],
        ["assistant: [Tool use interrupted]", "user: \"(no content)\"", "assistant: done"]
    );
}

#[test]
fn calls_without_results() {
    // In the middle the record is not sent, and what the user said is one message.
    assert_eq!(told("no result in the middle"), ["user: hi\n + next", "assistant: done"]);
    assert_eq!(told("text and unresolved"), ["user: hi\n + next", "assistant: done"]);
    assert_eq!(
        told("text beside the path then unanswered"),
        ["user: \"hi\"", "assistant: x", "user: \"next\"", "assistant: done"]
    );
    // At the end the session was interrupted.
    assert_eq!(told("no result end")[2], format!("user: ←t1 {INTERRUPTED}"));
    assert_eq!(
        told("end two calls one results")[1..],
        [
            "assistant: →t1 Bash + →t2 Bash".to_owned(),
            format!("user: ←t1 out t1 + ←t2 {INTERRUPTED}"),
        ]
    );
    assert_eq!(told("tail text other"), ["user: \"hi\"", "assistant: late"]);
    assert_eq!(told("tail meta"), ["user: hi\n + m"]);
}

#[test]
fn what_is_put_together() {
    assert_eq!(
        told("strings"),
        [
            "user: one\n + two",
            "assistant: x",
            "assistant: x2",
            "user: three\n + four\n + five",
            "assistant: y"
        ]
    );
    assert_eq!(told("assistant same id across prompt").len(), 4);
    assert_eq!(told("assistant same id across other")[1], "assistant: x + y");
    assert_eq!(told("text after call on the path")[1], "assistant: late + →t1 Bash");
    assert_eq!(told("order of blocks 2")[1], "assistant: ~1 + →t1 Bash + ~2");
    assert_eq!(told("order of blocks 4")[1], "assistant: ~1 + →t1 Bash + →t2 Bash");
    assert_eq!(told("local")[2].matches("local-command-stdout").count(), 2);
    assert_eq!(told("slash")[0].matches(" + ").count(), 2);
    assert_eq!(told("side on path").len(), 4);
}

#[test]
fn what_is_left_out() {
    for name in ["thinking only in the middle", "white space only", "thinking then unanswered"] {
        assert_eq!(told(name), ["user: hi\n + next", "assistant: done"], "{name}");
    }
    assert_eq!(told("white space then call")[1], "assistant: →t1 Bash");
    assert_eq!(told("white space")[1], "assistant: ~1 + \n + ~2 + x");
    assert_eq!(told("empty")[1], "assistant: (no content)");
    assert_eq!(told("api error made up"), ["user: hi\n + again", "assistant: done"]);
    assert_eq!(told("apierror")[1], "assistant: API Error: 500");
    assert_eq!(told("user white space")[0], "user: a + b");
    assert_eq!(told("user white space alone")[2], "user: (no content)");
    // Thoughts are those of the model that goes on.
    assert_eq!(told("thoughts and models 1")[1], "assistant: x");
    assert_eq!(told("thoughts and models 2")[1], "assistant: ~old + x");
    assert_eq!(told("thoughts and models 7")[1], "assistant: ~old + x");
    assert_eq!(told("alias")[1].split(" + ").next(), Some("assistant: →t1 Agent"));
}

#[test]
fn what_came_with_a_message() {
    let sent = ["assistant: →t1 Bash", "user: ←t1 out t1 + beside\n + next"];
    assert_eq!(told("note below a call"), sent);
    assert_eq!(told("note below a result"), sent);
    let without = ["assistant: →t1 Bash", "user: ←t1 out t1 + next"];
    for name in ["note that leads to a prompt", "note on a sidechain"] {
        assert_eq!(told(name), without, "{name}");
    }
    assert_eq!(told("note below a text"), ["assistant: x", "user: \"next\""]);
    assert_eq!(
        told("result of another message")[1..3],
        ["assistant: →t2 Bash", "user: ←t2 out t2 + next"]
    );
}

#[test]
fn results_ahead_of_their_calls() {
    let sent = ["assistant: →t1 Bash", "user: ←t1 out t1 + next"];
    for name in ["result ahead of its call", "result ahead of its call and of another message"] {
        let told = told(name);
        assert_eq!(told[told.len() - 3..told.len() - 1], sent, "{name}");
    }
    let missing = format!("user: ←t1 {MISSING} + next");
    for name in ["prompt between result and call", "result between calls of one message"] {
        assert_eq!(told(name)[2], missing, "{name}");
    }
}

#[test]
fn the_turn_with_which_a_session_ends() {
    for name in ["attachment in the last turn", "attachment beside the last turn"] {
        assert_eq!(
            told(name)[1..3],
            ["assistant: →t1 Bash".to_owned(), format!("user: ←t1 {MISSING}")]
        );
    }
    for name in ["success of a hook in the last turn", "thought behind a result at the end"] {
        assert!(!told(name).concat().contains("→t1"), "{name}");
    }
    assert_eq!(told("lost result and error at the end"), ["user: \"hi\"", "assistant: x"]);
    assert_eq!(told("lost result and thought at the end")[2], "user: \"(no content)\"");
}

#[test]
fn orphans_go_on_at_the_entry_before_them_in_time() {
    assert_eq!(
        told("dangling"),
        ["user: \"one\"", "assistant: x", "user: \"three\"", "assistant: done"]
    );
    assert_eq!(told("times against file")[0], "user: one\n + three");
    assert_eq!(told("file later times earlier")[0], "user: one\n + two\n + three");
    assert_eq!(told("equal times")[0], "user: one\n + three");
    for name in [
        "dangling no times",
        "no time self",
        "no time candidate",
        "dangling first",
        "null in the middle",
    ] {
        assert_eq!(told(name)[0], "user: \"three\"", "{name}");
    }
    assert_eq!(told("boundary before")[0], "user: \"three\"");
    assert_eq!(told("candidate on side")[0], "user: one\n + side\n + three");
}

#[test]
fn a_context_begins_with_the_last_boundary() {
    assert_eq!(told("compact")[0], "user: This session is being continued. Summary: s\n + go");
    assert_eq!(told("two boundaries").len(), 2);
}

/// The lines that are read grow with the context, and not with the session.
#[test]
fn only_the_context_is_read() {
    let turn = |number: u64, parent: &str| {
        let (a1, a2, r1, r2) = (number * 4, number * 4 + 1, number * 4 + 2, number * 4 + 3);
        let call = |own: u64, parent: &str| {
            format!(
                r#"{{"type":"assistant","uuid":"{own}","parentUuid":{parent},"message":{{"id":"m{number}","role":"assistant","content":[{{"type":"tool_use","id":"t{own}","name":"Bash","input":{{}}}}]}}}}"#
            )
        };
        let result = |own: u64, of: u64| {
            format!(
                r#"{{"type":"user","uuid":"{own}","parentUuid":"{of}","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{of}","content":"x"}}]}}}}"#
            )
        };
        [call(a1, parent), call(a2, &format!("\"{a1}\"")), result(r1, a1), result(r2, a2)]
            .join("\n")
            + "\n"
    };
    let mut file = String::new();
    for number in 0..60 {
        let parent =
            if number == 0 { "null".to_owned() } else { format!("\"{}\"", number * 4 - 1) };
        file.push_str(&turn(number, &parent));
    }
    file.push_str("{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"b\",\"parentUuid\":null,\"logicalParentUuid\":\"239\"}\n");
    let recent: String = (61..64)
        .map(|number| {
            turn(
                number,
                &if number == 61 { "\"b\"".to_owned() } else { format!("\"{}\"", number * 4 - 1) },
            )
        })
        .collect();
    file.push_str(&recent);
    let mut session = conversation(file.as_bytes());
    let last = file.lines().count() as u64 - 1;
    let (messages, lines) = messages(&mut session, last);
    assert_eq!(messages.len(), 6);
    assert_eq!(lines[0], [241, 242]);
    assert_eq!(lines[1], [243, 244]);
    assert!(session.read.get() < 30, "{} lines were read", session.read.get());
}
