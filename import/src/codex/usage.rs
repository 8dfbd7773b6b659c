//! What a line reports of usage.

use std::borrow::Cow;

use crate::codex::json::whole_number;
use crate::codex::kind::RecordKind;
use crate::codex::record::Record;
use crate::kind::{EntryKind, MessageRole};
use crate::scan::Raw;
use crate::usage::{Identity, Usage, UsageReport};

/// Whether lines of this kind can report usage, or what it depends on: headers, events, and what sets the model of a turn.
pub(super) fn may_state_usage(kind: EntryKind, _: MessageRole) -> bool {
    matches!(kind, EntryKind::Header | EntryKind::System | EntryKind::Unknown)
}

/// What a line reports. The program repeats the total of the session; a fork of the older kind repeats its session's lines,
/// below that one's header.
pub(super) fn usage(record: &Record<'_>) -> Option<UsageReport> {
    match record.kind() {
        RecordKind::SessionMeta => {
            let id = record.payload_id()?;
            Some(UsageReport::Header(Identity::of([b"session", id.as_bytes()])))
        }
        RecordKind::TurnContext => {
            let model = record.payload_members().model.and_then(Raw::to_string_lossy)?;
            Some(UsageReport::Model(Cow::into_owned(model)))
        }
        RecordKind::EventMsg if record.payload_type().as_deref() == Some("token_count") => total(
            record.payload()?.member("info")?.members(["total_token_usage", "last_token_usage"]),
        ),
        RecordKind::TokenUsageRecord => {
            total(record.payload()?.members(["thread_token_usage", "usage"]))
        }
        _ => None,
    }
}

fn total([total, last]: [Option<Raw<'_>>; 2]) -> Option<UsageReport> {
    Some(UsageReport::Total { total: read(total?)?, last: last.and_then(read) })
}

/// The program counts cached tokens as input as well.
fn read(usage: Raw<'_>) -> Option<Usage> {
    if !usage.is_object() {
        return None;
    }
    let counts = usage.members([
        "input_tokens",
        "cached_input_tokens",
        "cache_write_input_tokens",
        "output_tokens",
        "reasoning_output_tokens",
    ]);
    let [input, cache_read, cache_write, output, reasoning] =
        counts.map(|count| count.and_then(whole_number).unwrap_or(0));
    let cached = cache_read.saturating_add(cache_write);
    let input = input.saturating_sub(cached);
    Some(Usage { input, output, reasoning, cache_read, cache_write, ..Usage::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codex::Scanner;
    use crate::usage::UsageCounter;

    #[test]
    fn totals_become_answers() {
        let count = |total: [u64; 3], last: [u64; 3]| {
            let usage = |[input, cached, output]: [u64; 3]| {
                format!(
                    r#"{{"input_tokens":{input},"cached_input_tokens":{cached},"output_tokens":{output},"reasoning_output_tokens":1,"total_tokens":9}}"#
                )
            };
            format!(
                r#"{{"type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{},"last_token_usage":{}}}}}}}"#,
                usage(total),
                usage(last)
            )
        };
        let first = count([100, 80, 7], [100, 80, 7]);
        let lines = [
            r#"{"type":"session_meta","payload":{"id":"s"}}"#.to_owned(),
            r#"{"type":"turn_context","payload":{"model":"gpt-5"}}"#.to_owned(),
            r#"{"type":"event_msg","payload":{"type":"token_count","info":null}}"#.to_owned(),
            first.clone(),
            first,
            count([150, 100, 9], [50, 20, 2]),
        ];
        let mut counter = UsageCounter::default();
        let mut answers = Vec::new();
        for line in &lines {
            let report = usage(&Scanner::new().scan(line));
            answers.extend(report.and_then(|report| counter.take(report)));
        }
        let used: Vec<_> = answers
            .iter()
            .map(|answer| (answer.usage.input, answer.usage.cache_read, answer.usage.output))
            .collect();
        assert_eq!(used, [(20, 80, 7), (30, 20, 2)]);
        assert!(answers.iter().all(|answer| answer.model.as_deref() == Some("gpt-5")));
    }
}
