//! The programs themselves are asked in `tests/pi` and `tests/omp` of the store; here is one case for each rule.

use std::convert::Infallible;

use super::super::pi::Rules;
use super::{AskedModel, OfOmp, OfPi};
use crate::{ContextModel, JsonText};

const CALL: &str = r#"{"role":"assistant","content":[{"type":"toolCall","id":"1","name":"bash","arguments":{}}],"api":"a","provider":"p","model":"m","stopReason":"toolUse"}"#;
const RESULT: &str = r#"{"role":"toolResult","toolCallId":"1","content":[]}"#;
const MISSING: &str = r#"{"role":"toolResult","toolCallId":"1","toolName":"bash","content":[{"type":"text","text":"No result provided"}],"isError":true}"#;
const INTERRUPTED: &str = r#","errorMessage":"Interrupted by user""#;
const USER: &str = r#"{"role":"user","content":"Go on"}"#;
const SYSTEM: &str = r#"{"role":"system","content":"Be kind"}"#;

/// What pi sends of messages, each with the place of the one that it was made from.
fn placed(messages: &[&str], rules: Rules) -> Vec<(u64, String)> {
    let name = |name: &str| JsonText::of_raw(&format!("\"{name}\"")).ok();
    let model = ContextModel { provider: name("p"), model_id: name("m") };
    let mut sent = Vec::new();
    let mut take = |places: &[u64], message: &[u8]| {
        sent.push((places[0], String::from_utf8(message.to_vec()).unwrap()));
        Ok::<(), Infallible>(())
    };
    let model = AskedModel { model: &model, api: Some("\"a\"".to_owned()) };
    let mut request = OfPi::new(Some(model), rules);
    for (place, message) in (0..).zip(messages) {
        request.push(&[place], message.as_bytes(), &mut take).unwrap();
    }
    request.finish(&mut take).unwrap();
    sent
}

fn pi(messages: &[&str]) -> Vec<String> {
    placed(messages, Rules::Today).into_iter().map(|(_, message)| message).collect()
}

fn omp(messages: &[&str]) -> Vec<String> {
    let mut sent = Vec::new();
    let mut take = |_: &[u64], message: &[u8]| {
        sent.push(String::from_utf8(message.to_vec()).unwrap());
        Ok::<(), Infallible>(())
    };
    let mut request = OfOmp::default();
    for message in messages {
        request.push(&[0], message.as_bytes(), &mut take).unwrap();
    }
    request.finish(&mut take).unwrap();
    sent
}

#[test]
fn pi_s_own_messages_are_a_user_s() {
    for (message, sent) in [
        (
            r#"{"role":"bashExecution","command":"ls","output":"a","exitCode":2,"timestamp":5}"#,
            r#"{"role":"user","content":[{"type":"text","text":"Ran `ls`\n```\na\n```\n\nCommand exited with code 2"}],"timestamp":5}"#,
        ),
        (
            r#"{"role":"bashExecution","command":"ls","output":"","cancelled":true,"truncated":true,"fullOutputPath":"/o"}"#,
            r#"{"role":"user","content":[{"type":"text","text":"Ran `ls`\n(no output)\n\n(command cancelled)\n\n[Output truncated. Full output: /o]"}]}"#,
        ),
        (
            r#"{"role":"custom","customType":"c","content":"x","timestamp":null}"#,
            r#"{"role":"user","content":[{"type":"text","text":"x"}],"timestamp":null}"#,
        ),
        (
            r#"{"role":"custom","customType":"c","timestamp":1}"#,
            r#"{"role":"user","content":[],"timestamp":1}"#,
        ),
        (
            r#"{"role":"branchSummary","summary":"s"}"#,
            r#"{"role":"user","content":[{"type":"text","text":"The following is a summary of a branch that this conversation came back from:\n\n<summary>\ns</summary>"}]}"#,
        ),
        (
            r#"{"role":"compactionSummary","summary":"s"}"#,
            r#"{"role":"user","content":[{"type":"text","text":"The conversation history before this point was compacted into the following summary:\n\n<summary>\ns\n</summary>"}]}"#,
        ),
        (USER, USER),
        (SYSTEM, SYSTEM),
    ] {
        assert_eq!(pi(&[message]), [sent]);
    }
    for unsent in [
        r#"{"role":"bashExecution","command":"ls","excludeFromContext":true}"#,
        r#"{"role":"other","content":"x"}"#,
        r#"{"role":7}"#,
        r#""text""#,
    ] {
        assert_eq!(pi(&[unsent]), [""; 0], "{unsent}");
    }
}

#[test]
fn pi_before_0_87_knows_no_system_messages() {
    let null = r#"{"role":"user","content":null}"#;
    let sent: Vec<String> =
        placed(&[SYSTEM, null], Rules::Plain).into_iter().map(|(_, message)| message).collect();
    assert_eq!(sent, [null]);
    assert_eq!(pi(&[null]), [r#"{"role":"user","content":[]}"#]);
}

#[test]
fn a_call_without_a_result_has_one_that_says_so() {
    let at = |place, message: &str| (place, message.to_owned());
    assert_eq!(
        placed(&[CALL, RESULT, USER], Rules::Today),
        [at(0, CALL), at(1, RESULT), at(2, USER)]
    );
    assert_eq!(placed(&[CALL, USER], Rules::Today), [at(0, CALL), at(0, MISSING), at(1, USER)]);
    assert_eq!(placed(&[USER, CALL], Rules::Today), [at(0, USER), at(1, CALL), at(1, MISSING)]);
    // What is said meanwhile comes after the results.
    let held = placed(&[CALL, SYSTEM, RESULT, USER], Rules::Today);
    assert_eq!(held, [at(0, CALL), at(2, RESULT), at(1, SYSTEM), at(3, USER)]);
    // A failed turn has no calls, and its results stay.
    let failed = CALL.replace("toolUse", "error");
    assert_eq!(placed(&[&failed, RESULT], Rules::Today), [at(1, RESULT)]);
}

#[test]
fn thoughts_of_another_model_are_not_sent() {
    let turn = |api_and_model: (&str, &str), blocks: &str| {
        let (api, model) = api_and_model;
        format!(
            r#"{{"role":"assistant","content":[{blocks}],"api":"{api}","provider":"p","model":"{model}"}}"#
        )
    };
    let said = r#"{"type":"thinking","thinking":"t","thinkingSignature":"s"},{"type":"thinking","thinking":" "},{"type":"thinking","thinking":"","thinkingSignature":"s"},{"type":"thinking","redacted":true},{"type":"text","text":"x","textSignature":"s"}"#;
    let own = r#"{"type":"thinking","thinking":"t","thinkingSignature":"s"},{"type":"thinking","thinking":"","thinkingSignature":"s"},{"type":"thinking","redacted":true},{"type":"text","text":"x","textSignature":"s"}"#;
    assert_eq!(pi(&[&turn(("a", "m"), said)]), [turn(("a", "m"), own)]);
    let text = r#"{"type":"text","text":"x"}"#;
    let thought = r#"{"type":"text","text":"t"}"#;
    for other in [("a", "n"), ("b", "m")] {
        let said = turn(other, said);
        assert_eq!(pi(&[&said]), [turn(other, text)]);
        // Before 1.3 it was text.
        let before = [(0, turn(other, &format!("{thought},{text}")))];
        assert_eq!(placed(&[&said], Rules::Edited), before);
        assert_eq!(placed(&[&said], Rules::Plain), before);
    }
    let call = r#"{"role":"assistant","content":[{"type":"toolCall","id":"1","thoughtSignature":"s","name":"b"}],"model":"n","stopReason":"error"}"#;
    assert_eq!(pi(&[call]), [""; 0]);
    let call = call.replace("error", "toolUse");
    assert_eq!(pi(&[&call, RESULT])[0], call.replace(r#""thoughtSignature":"s","#, ""));
}

#[test]
fn omp_s_own_messages_are_a_user_s_or_a_developer_s() {
    for (message, sent) in [
        (
            r#"{"role":"pythonExecution","code":"1","output":"2","exitCode":1,"timestamp":5}"#,
            r#"{"role":"user","content":[{"type":"text","text":"Ran Python:\n```python\n1\n```\nOutput:\n```\n2\n```\n\nExecution failed with code 1"}],"attribution":"user","timestamp":5}"#,
        ),
        (
            r#"{"role":"custom","customType":"c","content":"x","attribution":"agent"}"#,
            r#"{"role":"developer","content":[{"type":"text","text":"x"}],"attribution":"agent"}"#,
        ),
        (
            r#"{"role":"custom","customType":"skill-prompt","content":"x","attribution":"user"}"#,
            r#"{"role":"user","content":[{"type":"text","text":"x"}],"attribution":"user"}"#,
        ),
        (
            r#"{"role":"branchSummary","summary":"s  \n\n","timestamp":1}"#,
            r#"{"role":"user","content":[{"type":"text","text":"Branch-return summary:\n\n<summary>\ns\n</summary>"}],"attribution":"agent","historyRewriteAt":1,"timestamp":1}"#,
        ),
        (
            r#"{"role":"branchSummary","summary":"s","historyRewriteAt":1,"timestamp":2}"#,
            r#"{"role":"user","content":[{"type":"text","text":"Branch-return summary:\n\n<summary>\ns\n</summary>"}],"attribution":"agent","historyRewriteAt":1,"timestamp":2}"#,
        ),
        (
            r#"{"role":"user","content":"Wait","steering":true,"timestamp":1}"#,
            r#"{"role":"user","content":"<system-notice>\nUser interjection during work: priority; supersedes conflicting prior instructions. Re-read; ensure current work reflects user intent.\n</system-notice>\nWait","timestamp":1,"attribution":"user"}"#,
        ),
        (USER, r#"{"role":"user","content":"Go on","attribution":"user"}"#),
        (
            r#"{"role":"toolResult","content":[{"type":"image"},{"type":"text","text":"a"},{"type":"text","text":"b"}],"prunedAt":1}"#,
            r#"{"role":"toolResult","content":[{"type":"image"},{"type":"text","text":"ab"}],"prunedAt":1,"attribution":"agent"}"#,
        ),
        (
            r#"{"role":"fileMention","files":[{"path":"a","content":"x"},{"path":"b","content":""}],"timestamp":1}"#,
            r#"{"role":"developer","content":[{"type":"text","text":"<file path=\"a\">\nx\n</file>\n<file path=\"b\">\n</file>"}],"attribution":"user","timestamp":1}"#,
        ),
    ] {
        assert_eq!(omp(&[message]), [sent]);
    }
    let with_image = r#"{"role":"custom","customType":"c","content":[{"type":"image","data":"A"},{"type":"text","text":"x"}]}"#;
    let sent = [
        r#"{"role":"developer","content":[{"type":"text","text":"x"}]}"#,
        r#"{"role":"user","content":[{"type":"text","text":"Images attached to c."},{"type":"image","data":"A"}]}"#,
    ];
    assert_eq!(omp(&[with_image]), sent);
    for unsent in [SYSTEM, r#"{"role":"pythonExecution","excludeFromContext":1}"#] {
        assert_eq!(omp(&[unsent]), [""; 0], "{unsent}");
    }
}

#[test]
fn omp_sends_no_thoughts_that_were_interrupted() {
    let turn = |blocks: &str, reason: &str| {
        format!(
            r#"{{"role":"assistant","content":[{blocks}],"stopReason":"{reason}"{INTERRUPTED}}}"#
        )
    };
    let text = r#"{"type":"text","text":"x"}"#;
    let thought = r#"{"type":"thinking","thinking":"t"}"#;
    let both = format!("{text},{thought}");
    assert_eq!(omp(&[&turn(&both, "aborted")]), [turn(text, "aborted")]);
    assert_eq!(omp(&[&turn(&both, "stop")]), [turn(&both, "stop")]);
    assert_eq!(omp(&[&turn(thought, "aborted")]), [""; 0]);
    // With a note on them the turn stays.
    let note = r#"{"role":"custom","customType":"interrupted-thinking","content":"t"}"#;
    let sent = omp(&[&turn(thought, "aborted"), note]);
    assert_eq!((sent.len(), &*sent[0]), (2, &*turn("", "aborted")));
    let refused = r#"{"role":"assistant","content":[],"stopReason":"error","stopDetails":{"type":"refusal"}}"#;
    assert_eq!(omp(&[refused]), [""; 0]);
}
