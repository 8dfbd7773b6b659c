//! What a record reports of the usage of an answer.

use std::borrow::Cow;

use crate::claude::kind::RecordKind;
use crate::claude::record::Record;
use crate::kind::{EntryKind, MessageRole};
use crate::scan::Raw;
use crate::usage::{Identity, ServiceTier, Usage, UsageReport, dollars};

/// Whether records of this kind and role can report an answer's usage: the model's, and what a tool reports of an agent
/// while it runs (observed).
pub(super) fn may_state_usage(kind: EntryKind, role: MessageRole) -> bool {
    match kind {
        EntryKind::Message => role == MessageRole::Assistant,
        EntryKind::Unknown => true,
        _ => false,
    }
}

/// The usage that a record reports: the answer's comes last, after that of other requests which it led to.
pub(super) fn usage(record: &Record<'_>) -> Vec<UsageReport> {
    said(record).and_then(|said| said.reports()).unwrap_or_default()
}

fn said<'a>(record: &Record<'a>) -> Option<Said<'a>> {
    let members = &record.scan().members;
    match record.kind() {
        RecordKind::Assistant => Some(Said {
            usage: members.message_usage?,
            message_id: record.message_id(),
            request_id: record.request_id(),
            model: members.message_model,
            cost: record.cost(),
        }),
        // An agent's record, inside what its tool reports.
        RecordKind::Progress => {
            let inner = members.data?.member("message")?;
            let [name, message, request_id, cost] =
                inner.members(["type", "message", "requestId", "costUSD"]);
            if !name?.is_text("assistant") {
                return None;
            }
            let [usage, message_id, model] = message?.members(["usage", "id", "model"]);
            let message_id = message_id.and_then(Raw::as_string);
            Some(Said { usage: usage?, message_id, request_id, model, cost })
        }
        _ => None,
    }
}

/// The members that say what an answer has used.
struct Said<'a> {
    usage: Raw<'a>,
    message_id: Option<Cow<'a, [u8]>>,
    request_id: Option<Raw<'a>>,
    model: Option<Raw<'a>>,
    cost: Option<Raw<'a>>,
}

impl Said<'_> {
    fn reports(self) -> Option<Vec<UsageReport>> {
        let [speed, geography, tier, searches, iterations] = self.usage.members([
            "speed",
            "inference_geo",
            "service_tier",
            "server_tool_use",
            "iterations",
        ]);
        let in_us = geography.is_some_and(|geography| geography.is_text("us"));
        let tier = tier.and_then(Raw::to_string_lossy).unwrap_or_default();
        let searches = searches.and_then(|searches| searches.member("web_search_requests"));
        let mut usage = Usage {
            web_searches: searches.and_then(count).unwrap_or(0),
            tier: ServiceTier::named(&tier),
            in_us,
            cost: self.cost.and_then(dollars),
            ..read(self.usage)?
        };
        let name = |model: Raw<'_>| model.to_string_lossy().map(Cow::into_owned);
        let is_fast = speed.is_some_and(|speed| speed.is_text("fast"));
        let model = self.model.and_then(name);
        let model = model.map(|model| if is_fast { model + "-fast" } else { model });
        let mut reports = Vec::new();
        let mut requests = 0;
        let iterations = iterations.into_iter().flat_map(Raw::elements);
        for (place, iteration) in iterations.enumerate() {
            let [kind, advisor] = iteration.members(["type", "model"]);
            let Some(used) = read(iteration) else { continue };
            let is = |name| kind.is_some_and(|kind| kind.is_text(name));
            // The answer's own counts are the sum over its messages, and without the others.
            let model = if is("advisor_message") {
                advisor.and_then(name)
            } else if is("compaction") {
                model.clone()
            } else {
                if is("message") {
                    requests += 1;
                    usage.longest_input = usage.longest_input.max(used.all_input());
                }
                continue;
            };
            let identity = self.identity(place + 1);
            let tier = if is("compaction") { usage.tier } else { ServiceTier::Standard };
            let usage = Usage { in_us, tier, ..used };
            reports.push(UsageReport::Answer { identity, model, usage });
        }
        if requests < 2 {
            usage.longest_input = 0;
        }
        let identity = self.identity(0);
        reports.push(UsageReport::Answer { identity, model, usage });
        Some(reports)
    }

    /// Records with one message's id and one request's are the same answer, in whatever file (observed). `place` is 0 for
    /// the answer, and counts the iterations from 1.
    fn identity(&self, place: usize) -> Option<u64> {
        let message = self.message_id.as_deref()?;
        let request = self.request_id.and_then(Raw::as_string).unwrap_or_default();
        let mut identity = Identity::new();
        identity.text(message);
        identity.text(&request);
        if place > 0 {
            identity.text(&place.to_le_bytes());
        }
        Some(identity.finish())
    }
}

fn count(value: Raw<'_>) -> Option<u64> {
    value.as_str().parse().ok()
}

/// The tokens of a `usage` or of an iteration. `None` without those of input and output.
fn read(usage: Raw<'_>) -> Option<Usage> {
    let [input, output, cache_write, cache_read, kept] = usage.members([
        "input_tokens",
        "output_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
        "cache_creation",
    ]);
    let [short, long] = kept.map_or([None, None], |kept| {
        kept.members(["ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"])
            .map(|value| value.and_then(count))
    });
    let kept = long.unwrap_or(0).saturating_add(short.unwrap_or(0));
    let cache_write = cache_write.and_then(count).unwrap_or(kept);
    Some(Usage {
        input: count(input?)?,
        output: count(output?)?,
        cache_read: cache_read.and_then(count).unwrap_or(0),
        cache_write,
        cache_write_1h: long.unwrap_or(0).min(cache_write),
        ..Usage::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude::Scanner;

    fn all(line: &str) -> Vec<UsageReport> {
        usage(&Scanner::new().scan(line))
    }

    fn of(line: &str) -> Option<UsageReport> {
        let mut reports = all(line);
        assert!(reports.len() < 2, "{reports:?}");
        reports.pop()
    }

    fn line(usage: &str, rest: &str) -> String {
        format!(
            r#"{{"type":"assistant",{rest}"message":{{"id":"m","model":"claude-opus-4-6","usage":{usage}}}}}"#
        )
    }

    #[test]
    fn all_members() {
        let usage = r#"{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_5m_input_tokens":4,"ephemeral_1h_input_tokens":5},"speed":"fast"}"#;
        let found = of(&line(usage, r#""requestId":"r","costUSD":0.5,"#)).unwrap();
        let expected = Usage {
            input: 1,
            output: 2,
            cache_read: 3,
            cache_write: 9,
            cache_write_1h: 5,
            cost: Some(0.5),
            ..Usage::default()
        };
        let UsageReport::Answer { identity, model, usage } = found else { panic!("{found:?}") };
        assert_eq!((model.as_deref(), usage), (Some("claude-opus-4-6-fast"), expected));
        assert_eq!(identity, Some(Identity::of([b"m", b"r"])));
    }

    #[test]
    fn a_record_without_whole_numbers_of_tokens_reports_nothing() {
        for usage in [
            "null",
            "{}",
            r#"{"input_tokens":1}"#,
            r#"{"input_tokens":-1,"output_tokens":2}"#,
            r#"{"input_tokens":1.5,"output_tokens":2}"#,
            r#"{"input_tokens":"1","output_tokens":2}"#,
        ] {
            assert_eq!(of(&line(usage, "")), None, "{usage}");
        }
    }

    #[test]
    fn an_agents_record_is_the_same_answer_where_a_tool_reports_it() {
        let own = line(r#"{"input_tokens":1,"output_tokens":2}"#, r#""requestId":"r","#);
        let told = format!(r#"{{"type":"progress","uuid":"u","data":{{"message":{own}}}}}"#);
        assert!(of(&own).is_some());
        assert_eq!(of(&told), of(&own));
    }

    #[test]
    fn what_an_answer_led_to_counts_to_the_models_that_did_it() {
        let usage = r#"{"input_tokens":10,"output_tokens":20,"service_tier":"batch","inference_geo":"us","speed":"fast","server_tool_use":{"web_search_requests":3,"web_fetch_requests":5},"iterations":[
            {"type":"message","input_tokens":4,"cache_read_input_tokens":100,"output_tokens":5},
            {"type":"advisor_message","model":"claude-opus-4-5","input_tokens":70,"output_tokens":8},
            {"type":"compaction","input_tokens":60,"output_tokens":7},
            {"type":"message","input_tokens":6,"cache_creation_input_tokens":1,"output_tokens":15},
            {"type":"later","input_tokens":9,"output_tokens":9},null,3]}"#;
        let reports = all(&line(usage, ""));
        let answers: Vec<_> = reports
            .iter()
            .map(|report| match report {
                UsageReport::Answer { identity, model, usage } => {
                    (identity.unwrap(), model.as_deref().unwrap(), *usage)
                }
                other => panic!("{other:?}"),
            })
            .collect();
        let [advisor, compaction, answer] = answers[..] else { panic!("{answers:?}") };
        let used = |input, output| Usage { input, output, in_us: true, ..Usage::default() };
        assert_eq!((advisor.1, advisor.2), ("claude-opus-4-5", used(70, 8)));
        let expected = Usage { tier: ServiceTier::Batch, ..used(60, 7) };
        assert_eq!((compaction.1, compaction.2), ("claude-opus-4-6-fast", expected));
        let expected =
            Usage { web_searches: 3, longest_input: 104, tier: ServiceTier::Batch, ..used(10, 20) };
        assert_eq!((answer.1, answer.2), ("claude-opus-4-6-fast", expected));
        assert!(answer.0 != advisor.0 && advisor.0 != compaction.0);
    }

    #[test]
    fn one_request_is_as_long_as_the_answer() {
        let usage = r#"{"input_tokens":10,"output_tokens":20,"iterations":[{"type":"message","input_tokens":10,"output_tokens":20}]}"#;
        let Some(UsageReport::Answer { usage, .. }) = of(&line(usage, "")) else { panic!() };
        assert_eq!(usage.longest_input, 0);
    }
}
