//! What some of the cases give, in full.

use leafline::context::ContextLeaf;

use super::cases;
use super::contexts::Question;

/// The messages at the leaf of a case.
fn messages(name: &str) -> Vec<String> {
    let case = cases::all().into_iter().find(|case| case.name == name).unwrap();
    let question = Question::of(case).unwrap();
    let context = question.reader().build_context(ContextLeaf::Current, None).unwrap();
    context.messages.iter().map(|message| message.json.as_str().to_owned()).collect()
}

const USER: &str = r#"{"role":"user","content":"Please"}"#;

#[test]
fn a_reset_hides_what_is_above_it() {
    assert!(messages("a reset at the leaf").is_empty());
    let note = r#"{"role":"custom","customType":"interrupted-thinking","content":"n","display":false,"timestamp":1772352002000}"#;
    assert_eq!(messages("a reset hides what is above it"), [note]);
    let at_4 = note.replace("2002000", "2004000");
    assert_eq!(messages("a reset below a compaction"), [&*at_4]);
    let summary =
        r#"{"role":"compactionSummary","summary":"s","tokensBefore":9,"timestamp":1772352003000}"#;
    assert_eq!(messages("a reset above a compaction"), [summary, USER, note, USER]);
}

#[test]
fn calls_without_a_result_go() {
    let turn = |content: &str| {
        format!(
            r#"{{"role":"assistant","content":[{content}],"provider":"p","model":"m","stopReason":"toolUse","usage":{{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":3,"cost":{{"total":0}}}}}}"#
        )
    };
    let call =
        |id: &str| format!(r#"{{"type":"toolCall","id":"{id}","name":"read","arguments":{{}}}}"#);
    let result = |id: &str| format!(r#"{{"role":"toolResult","toolCallId":"{id}","content":"r"}}"#);
    assert_eq!(messages("one call has a result"), [USER, &turn(&call("b")), &result("b"), USER]);
    assert_eq!(messages("no call has a result"), [USER, USER]);
    let thinking = r#"{"type":"thinking","thinking":"t","x":1}"#;
    let changed = turn(&format!("{thinking},{}", call("a")));
    assert_eq!(messages("signatures of a changed turn"), [changed, result("a")]);
}

#[test]
fn failed_turns_go_with_their_results() {
    assert_eq!(messages("a failed turn with a call"), [USER, USER]);
    assert_eq!(messages("an empty turn with an error").len(), 2);
    let kept = messages("an interrupted turn with its note");
    assert_eq!(kept.len(), 4);
    assert!(
        kept[1].contains(r#""stopReason":"aborted""#) && kept[2].contains("interrupted-thinking")
    );
    assert_eq!(messages("two interrupted turns with one note").len(), 3);
    assert_eq!(messages("a note after a result that goes").len(), 2);
}

#[test]
fn compactions_and_custom_messages_have_omp_s_members() {
    assert_eq!(
        messages("all members of a compaction"),
        [
            r#"{"role":"compactionSummary","summary":"s","shortSummary":"t","tokensBefore":9,"tokensAfter":5,"method":"remote","warning":"w","timestamp":1772352002000}"#,
            USER,
            USER
        ]
    );
    assert_eq!(
        messages("custom messages"),
        [
            r#"{"role":"custom","customType":"c","content":"x","display":true,"details":{"1":1,"a":null},"attribution":"user","timestamp":1772352000000}"#,
            r#"{"role":"custom","customType":"custom-message","content":[],"display":false,"attribution":"agent","timestamp":1772352001000}"#,
            r#"{"role":"custom","customType":"custom-message","content":"x","display":false,"details":null,"attribution":"agent","timestamp":1772352002000}"#,
        ]
    );
}
