//! What a line reports of usage.

use crate::codex::json::whole_number;
use crate::codex::kind::RecordKind;
use crate::codex::record::Record;
use crate::kind::{EntryKind, MessageRole};
use crate::scan::Raw;
use crate::usage::{Identity, ServiceTier, Usage, UsageReport};

/// Whether lines of this kind can report usage, or what it depends on: headers, events, and what sets the model of a turn.
pub(super) fn may_state_usage(kind: EntryKind, _: MessageRole) -> bool {
    matches!(kind, EntryKind::Header | EntryKind::System | EntryKind::Unknown)
}

/// What a line reports. The program repeats the total of the session; a fork of the older kind repeats its session's lines.
pub(super) fn usage(record: &Record<'_>) -> Vec<UsageReport> {
    let reports = match record.kind() {
        RecordKind::SessionMeta => [header(record), None, None],
        RecordKind::TurnContext => {
            let tier = record.payload().and_then(|payload| payload.member("service_tier"));
            [model(record.payload_members().model), tier.map(tier_of), turn(record)]
        }
        RecordKind::EventMsg => match record.payload_type().as_deref() {
            Some("token_count") => {
                let info = record.payload().and_then(|payload| payload.member("info"));
                let names = ["total_token_usage", "last_token_usage"];
                [info.and_then(|info| total(info.members(names))), None, None]
            }
            Some("task_started" | "turn_started") => [turn(record), None, None],
            Some("thread_settings_applied") => {
                let settings =
                    record.payload().and_then(|payload| payload.member("thread_settings"));
                let [named, tier] = settings
                    .map_or([None; 2], |settings| settings.members(["model", "service_tier"]));
                // Settings without a tier are those of the standard one.
                let tier = tier.map_or(UsageReport::Tier(ServiceTier::Standard), tier_of);
                [model(named), settings.map(|_| tier), None]
            }
            _ => return Vec::new(),
        },
        RecordKind::TokenUsageRecord => {
            let names = ["thread_token_usage", "usage"];
            [record.payload().and_then(|payload| total(payload.members(names))), None, None]
        }
        _ => return Vec::new(),
    };
    reports.into_iter().flatten().collect()
}

/// The header. What follows another rollout's lines (`history_base`) repeats none of them, and may be one of several
/// rollouts of a session.
fn header(record: &Record<'_>) -> Option<UsageReport> {
    let id = record.payload_id()?;
    let [history, base] = record.payload()?.members(["history_base", "forked_from_id"]);
    let history = history.filter(|history| history.is_object());
    let number = |id: &str, history: &str| {
        let mut identity = Identity::new();
        for text in ["session", id, history] {
            identity.text(text.as_bytes());
        }
        identity.finish()
    };
    let base = base.and_then(Raw::to_string_lossy).filter(|_| history.is_none());
    Some(UsageReport::Header {
        id: number(&id, history.map_or("", Raw::as_str)),
        made: made(&id),
        base: base.map(|base| number(&base, "")),
    })
}

fn turn(record: &Record<'_>) -> Option<UsageReport> {
    record.turn_id().map(|id| UsageReport::Turn(made(&id)))
}

/// When an id was made, and in which order with others of that time: the first 64 bits of a UUID of version 7; of another
/// id 0.
fn made(id: &str) -> u64 {
    let is_uuid = id.len() == 36 && id.as_bytes().get(14) == Some(&b'7');
    let digits: String = id.chars().filter(|&digit| digit != '-').take(16).collect();
    if is_uuid { u64::from_str_radix(&digits, 16).unwrap_or(0) } else { 0 }
}

fn model(name: Option<Raw<'_>>) -> Option<UsageReport> {
    name.and_then(Raw::to_string_lossy).map(|name| UsageReport::Model(name.into_owned()))
}

fn tier_of(name: Raw<'_>) -> UsageReport {
    UsageReport::Tier(ServiceTier::named(&name.to_string_lossy().unwrap_or_default()))
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
            answers.extend(report.into_iter().filter_map(|report| counter.take(report)));
        }
        let used: Vec<_> = answers
            .iter()
            .map(|answer| (answer.usage.input, answer.usage.cache_read, answer.usage.output))
            .collect();
        assert_eq!(used, [(20, 80, 7), (30, 20, 2)]);
        assert!(answers.iter().all(|answer| answer.model.as_deref() == Some("gpt-5")));
    }

    #[test]
    fn the_tier_is_that_of_the_settings_that_were_applied_last() {
        let settings = |settings: &str| {
            let line = format!(
                r#"{{"type":"event_msg","payload":{{"type":"thread_settings_applied","thread_settings":{settings}}}}}"#
            );
            usage(&Scanner::new().scan(&line))
        };
        let tier = UsageReport::Tier;
        let named = UsageReport::Model("m".to_owned());
        assert_eq!(
            settings(r#"{"model":"m","service_tier":"priority"}"#),
            [named, tier(ServiceTier::Priority)]
        );
        assert_eq!(settings(r#"{"service_tier":"flex"}"#), [tier(ServiceTier::Flex)]);
        assert_eq!(settings("{}"), [tier(ServiceTier::Standard)]);
        let turn = r#"{"type":"turn_context","payload":{"service_tier":"priority"}}"#;
        assert_eq!(usage(&Scanner::new().scan(turn)), [tier(ServiceTier::Priority)]);
    }

    #[test]
    fn headers_say_what_they_repeat_and_when_they_were_made() {
        let header = |rest: &str| {
            let line = format!(
                r#"{{"type":"session_meta","payload":{{"id":"01a221e7-a93d-7501-9673-b392c82243ef"{rest}}}}}"#
            );
            match usage(&Scanner::new().scan(&line)).pop() {
                Some(UsageReport::Header { id, made, base }) => (id, made, base),
                other => panic!("{other:?}"),
            }
        };
        let plain = header("");
        assert_eq!((plain.1, plain.2), (0x01a2_21e7_a93d_7501, None));
        let fork = header(r#","forked_from_id":"b""#);
        assert!(fork.0 == plain.0 && fork.2.is_some());
        let history = r#","history_base":{"thread_id":"b"}"#;
        let paginated = header(&format!(r#","forked_from_id":"b"{history}"#));
        assert!(paginated.0 != plain.0 && paginated.2.is_none());
        assert_eq!((made("t1"), made("01a221e7-a93d-4501-9673-b392c82243ef")), (0, 0));
    }
}
