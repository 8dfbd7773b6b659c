//! Sessions made by hand, one for each rule.

use super::Case;

const HEADER: &str = r#"{"type":"session","version":3,"id":"case","timestamp":"2026-03-01T08:00:00.000Z","cwd":"/work"}"#;

/// Entries in a row, each the child of the one before, by their members but for id, parent and time.
fn chain(name: &str, entries: &[&str]) -> Case {
    let mut text = format!("{HEADER}\n");
    for (number, members) in entries.iter().enumerate() {
        let parent = match number.checked_sub(1) {
            None => "null".to_owned(),
            Some(before) => format!("\"e{before}\""),
        };
        text.push_str(&format!(
            "{{\"id\":\"e{number}\",\"parentId\":{parent},\"timestamp\":\"2026-03-01T08:00:{number:02}.000Z\",{members}}}\n"
        ));
    }
    Case { name: name.to_owned(), text }
}

const USER: &str = r#""type":"message","message":{"role":"user","content":"Please"}"#;
const RESET: &str = r#""type":"reset_boundary""#;
const NOTE: &str =
    r#""type":"custom_message","customType":"interrupted-thinking","content":"n","display":false"#;
const USAGE: &str = r#""usage":{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":3,"cost":{"total":0}}"#;

/// A turn of the model's that ended for a reason.
fn turn(reason: &str, content: &str) -> String {
    format!(
        r#""type":"message","message":{{"role":"assistant","content":[{content}],"provider":"p","model":"m","stopReason":"{reason}",{USAGE}}}"#
    )
}

/// A call of a tool.
fn call(id: &str) -> String {
    format!(r#"{{"type":"toolCall","id":"{id}","name":"read","arguments":{{}}}}"#)
}

/// Its result.
fn result(id: &str) -> String {
    format!(
        r#""type":"message","message":{{"role":"toolResult","toolCallId":"{id}","content":"r"}}"#
    )
}

/// A compaction that keeps from an entry on.
fn compaction(kept: &str, more: &str) -> String {
    format!(
        r#""type":"compaction","summary":"s","firstKeptEntryId":"{kept}","tokensBefore":9{more}"#
    )
}

pub(crate) fn all() -> Vec<Case> {
    let mut cases = resets();
    cases.extend(calls());
    cases.extend(failed_turns());
    cases.extend(compactions());
    cases.extend(other_messages());
    cases
}

fn resets() -> Vec<Case> {
    let compaction = compaction("e0", "");
    vec![
        chain("a reset hides what is above it", &[USER, RESET, NOTE]),
        chain("a reset at the leaf", &[USER, RESET]),
        chain("a reset at the root", &[RESET, USER]),
        chain("two resets", &[USER, RESET, USER, RESET, NOTE]),
        chain("a reset below a compaction", &[USER, &compaction, USER, RESET, NOTE]),
        chain("a reset above a compaction", &[USER, RESET, NOTE, &compaction, USER]),
        chain(
            "the settings above a reset",
            &[r#""type":"model_change","model":"p/m""#, RESET, USER],
        ),
    ]
}

fn calls() -> Vec<Case> {
    let two = format!("{},{}", call("a"), call("b"));
    let signed = format!(
        r#"{{"type":"thinking","thinking":"t","thinkingSignature":"c2ln","x":1}},{{"type":"redactedThinking","data":"AAAA"}},{two}"#
    );
    let redacted = format!(r#"{{"type":"redactedThinking","data":"AAAA"}},{}"#, call("a"));
    let chain = |name: &str, entries: &[&str]| chain(name, entries);
    let (a, b) = (result("a"), result("b"));
    vec![
        chain("both calls have results", &[USER, &turn("toolUse", &two), &b, &a]),
        chain("one call has a result", &[USER, &turn("toolUse", &two), &b, USER]),
        chain("no call has a result", &[USER, &turn("toolUse", &two), USER]),
        chain("a result above its call", &[&a, &turn("toolUse", &two)]),
        chain(
            "a result after another turn",
            &[&turn("toolUse", &two), &turn("stop", ""), USER, &a],
        ),
        chain("signatures of a changed turn", &[&turn("toolUse", &signed), &a]),
        chain("signatures of an unchanged turn", &[&turn("toolUse", &signed), &a, &b]),
        chain("nothing stays but redacted thinking", &[&turn("toolUse", &redacted), USER]),
        chain(
            "the same id in two turns",
            &[&turn("toolUse", &call("a")), &turn("toolUse", &call("a")), &a],
        ),
    ]
}

fn failed_turns() -> Vec<Case> {
    let text = r#"{"type":"text","text":"Yes"}"#;
    let with_call = format!("{text},{}", call("a"));
    let (stop, failed, aborted) = (turn("stop", text), turn("error", text), turn("aborted", text));
    let failed_call = turn("error", &with_call);
    let a = result("a");
    let recovery = turn("stop", text).replace(r#""role""#, r#""retryRecovery":{"n":1},"role""#);
    vec![
        chain("failed turns", &[USER, &failed, USER, &aborted, &stop]),
        chain("a failed turn at the leaf", &[USER, &failed]),
        chain("an empty turn with an error", &[USER, &turn("error", ""), NOTE]),
        chain("an empty turn that was aborted", &[USER, &turn("aborted", ""), NOTE]),
        chain("an interrupted turn with its note", &[USER, &aborted, NOTE, USER]),
        chain("two interrupted turns with one note", &[USER, &failed, &aborted, NOTE]),
        chain("a failed turn with a call", &[USER, &failed_call, &a, USER]),
        chain("a failed turn whose result goes far below", &[&failed_call, USER, &a, &stop, &a]),
        chain("a note after a result that goes", &[&failed, &failed_call, &a, NOTE]),
        chain("a note after a result that stays", &[&failed, &failed_call, USER, &a, NOTE]),
        chain(
            "the calls of two turns",
            &[&turn("toolUse", &call("a")), &a, &failed_call, &a, USER],
        ),
        chain(
            "an entry of no message before the note",
            &[&aborted, r#""type":"custom","customType":"x""#, NOTE],
        ),
        chain("a turn that a retry made good", &[USER, &recovery, &stop]),
    ]
}

fn compactions() -> Vec<Case> {
    let keeps = |more: &str| compaction("e1", more);
    let all = keeps(
        r#","warning":"w","method":"remote","tokensAfter":5,"shortSummary":"t","details":{}"#,
    );
    let native = keeps(
        r#","preserveData":{"anthropicCompaction":{"provider":"p","content":"c","encryptedContent":"e","model":"m"}}"#,
    );
    let remote = r#","preserveData":{"openaiRemoteCompaction":{"provider":"p","replacementHistory":[{"b":1,"1":2}]}}"#;
    let through = keeps(&format!(r#"{remote},"providerReplayThroughEntryId":"e1""#));
    let rollover = r#","details":{"kind":"experimental-context-rollover"}"#;
    let late = compaction("e2", rollover);
    let skill =
        r#""type":"custom_message","customType":"skill-prompt","content":"c","attribution":"user""#;
    let stop = turn("stop", "");
    vec![
        chain("all members of a compaction", &[USER, USER, &all, USER]),
        chain("a summary of Anthropic's", &[USER, USER, &native, USER]),
        chain("a history of OpenAI's", &[USER, USER, NOTE, &keeps(remote), USER]),
        chain("a history of OpenAI's, and what came after it", &[USER, USER, NOTE, &through, USER]),
        chain("a rollover", &[USER, &stop, NOTE, &late, &stop]),
        chain("a rollover after a skill", &[USER, skill, NOTE, &late, &stop]),
        chain("a rollover that keeps the request", &[USER, USER, NOTE, &keeps(rollover), &stop]),
        chain("a rollover below a reset", &[USER, RESET, NOTE, &late, &stop]),
        chain(
            "calls that a compaction parts",
            &[&turn("toolUse", &call("a")), &result("a"), &keeps(""), USER],
        ),
    ]
}

fn other_messages() -> Vec<Case> {
    let custom = |more: &str| format!(r#""type":"custom_message",{more}"#);
    let all = [
        custom(
            r#""customType":"c","content":"x","display":true,"details":{"1":1.0,"a":null},"attribution":"user""#,
        ),
        custom(r#""customType":"","content":[],"display":"yes","attribution":null"#),
        custom(r#""customType":7,"content":"x","details":null,"attribution":"agent""#),
        custom(r#""customType":"no content","display":true"#),
        custom(r#""customType":"prewalk-plan","content":"x","display":true"#),
        custom(r#""customType":"vibe-mode-context","content":"x","display":true"#),
    ];
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    vec![
        chain("custom messages", &all),
        chain(
            "levels",
            &[
                r#""type":"thinking_level_change","thinkingLevel":"high""#,
                r#""type":"thinking_level_change","thinkingLevel":null"#,
                r#""type":"thinking_level_change""#,
            ],
        ),
        chain(
            "branch summaries",
            &[
                r#""type":"branch_summary","fromId":"root","summary":"","details":{"kind":"x"}"#,
                r#""type":"branch_summary","fromId":"e0","summary":"b""#,
            ],
        ),
    ]
}
