//! What a record reports of the usage of an answer.

use std::borrow::Cow;

use crate::claude::kind::RecordKind;
use crate::claude::record::Record;
use crate::kind::{EntryKind, MessageRole};
use crate::scan::Raw;
use crate::usage::{Identity, Usage, UsageReport, dollars};

/// Whether records of this kind and role can report an answer's usage: the model's, and what a tool reports of an agent
/// while it runs (observed).
pub(super) fn may_state_usage(kind: EntryKind, role: MessageRole) -> bool {
    match kind {
        EntryKind::Message => role == MessageRole::Assistant,
        EntryKind::Unknown => true,
        _ => false,
    }
}

/// The usage that a record reports.
pub(super) fn usage(record: &Record<'_>) -> Option<UsageReport> {
    let members = &record.scan().members;
    match record.kind() {
        RecordKind::Assistant => {
            let said = Said {
                usage: members.message_usage?,
                message_id: record.message_id(),
                request_id: record.request_id(),
                model: members.message_model,
                cost: record.cost(),
            };
            said.report()
        }
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
            Said { usage: usage?, message_id, request_id, model, cost }.report()
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
    fn report(self) -> Option<UsageReport> {
        let (usage, is_fast) = read(self.usage)?;
        let usage = Usage { cost: self.cost.and_then(dollars), ..usage };
        // Records with one message's id and one request's are the same answer, in whatever file (observed).
        let request = self.request_id.and_then(Raw::as_string).unwrap_or_default();
        let identity = self.message_id.map(|message| Identity::of([&message, &request]));
        let model = self.model.and_then(Raw::to_string_lossy).map(Cow::into_owned);
        let model = model.map(|model| if is_fast { model + "-fast" } else { model });
        Some(UsageReport::Answer { identity, model, usage })
    }
}

/// The members of a `usage`, and whether the model answered in its fast mode, which has prices of its own. `None` without
/// tokens of input and output.
fn read(usage: Raw<'_>) -> Option<(Usage, bool)> {
    let [input, output, cache_write, cache_read, kept, speed] = usage.members([
        "input_tokens",
        "output_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
        "cache_creation",
        "speed",
    ]);
    let count = |value: Raw<'_>| value.as_str().parse::<u64>().ok();
    let [short, long] = kept.map_or([None, None], |kept| {
        kept.members(["ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"])
            .map(|value| value.and_then(count))
    });
    let kept = long.unwrap_or(0).saturating_add(short.unwrap_or(0));
    let cache_write = cache_write.and_then(count).unwrap_or(kept);
    let usage = Usage {
        input: count(input?)?,
        output: count(output?)?,
        cache_read: cache_read.and_then(count).unwrap_or(0),
        cache_write,
        cache_write_1h: long.unwrap_or(0).min(cache_write),
        ..Usage::default()
    };
    Some((usage, speed.is_some_and(|speed| speed.is_text("fast"))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude::Scanner;

    fn of(line: &str) -> Option<UsageReport> {
        usage(&Scanner::new().scan(line))
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
            reasoning: 0,
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
}
