//! The usage that an entry reports.

use crate::kind::{EntryKind, MessageRole};
use crate::scan::{Raw, Scan};
use crate::usage::{Identity, Usage, UsageReport, dollars, tokens};

/// Whether entries of this kind and role can report an answer's usage: those of the model, and what a summary or a call
/// outside the conversation has used (pi 0.87, omp 18: observed).
pub(crate) fn may_state_usage(kind: EntryKind, role: MessageRole) -> bool {
    match kind {
        EntryKind::Message => role == MessageRole::Assistant,
        EntryKind::Compaction | EntryKind::BranchSummary | EntryKind::Unknown => true,
        _ => false,
    }
}

/// What an entry of this kind and role reports.
pub(crate) fn usage(scan: &Scan<'_>, kind: EntryKind, role: MessageRole) -> Option<UsageReport> {
    let members = &scan.members;
    let (usage, model) = match kind {
        EntryKind::Message if role == MessageRole::Assistant => {
            (members.message_usage, members.message_model)
        }
        EntryKind::Compaction | EntryKind::BranchSummary => (members.usage, None),
        EntryKind::Unknown => {
            let name = members.entry_type?;
            let is_usage = name.is_text("usage") || name.is_text("model_usage");
            (members.usage.filter(|_| is_usage), members.model)
        }
        _ => return None,
    };
    let usage = read(usage?)?;
    let identity = members.id.and_then(Raw::as_string).map(|id| {
        let time = members.timestamp.map_or("", Raw::as_str);
        Identity::of([&id, time.as_bytes()])
    });
    let model = model.and_then(Raw::to_string_lossy).map(std::borrow::Cow::into_owned);
    Some(UsageReport::Answer { identity, model, usage })
}

/// The members of a `usage`; `None` if it is not an object. A value that is not a number, negative or out of range counts as
/// zero.
fn read(usage: Raw<'_>) -> Option<Usage> {
    if !usage.is_object() {
        return None;
    }
    let [input, output, cache_read, cache_write, long, reasoning, tokens_of_reasoning, cost] =
        usage.members([
            "input",
            "output",
            "cacheRead",
            "cacheWrite",
            "cacheWrite1h",
            "reasoning",
            "reasoningTokens",
            "cost",
        ]);
    let count = |value: Option<Raw<'_>>| value.and_then(tokens).unwrap_or(0);
    let cache_write = count(cache_write);
    Some(Usage {
        input: count(input),
        output: count(output),
        reasoning: count(reasoning.or(tokens_of_reasoning)),
        cache_read: count(cache_read),
        cache_write,
        cache_write_1h: count(long).min(cache_write),
        cost: cost.and_then(|cost| cost.member("total")).and_then(dollars),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Scanner;

    fn report(line: &str, kind: EntryKind, role: MessageRole) -> Option<UsageReport> {
        usage(&Scanner::new().scan(line), kind, role)
    }

    fn of(json: &str) -> Option<Usage> {
        let line = format!(r#"{{"type":"message","message":{{"usage":{json}}}}}"#);
        match report(&line, EntryKind::Message, MessageRole::Assistant)? {
            UsageReport::Answer { usage, .. } => Some(usage),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn all_members() {
        let found = of(
            r#"{"input":100,"output":20,"cacheRead":3,"cacheWrite":4,"cacheWrite1h":1,"reasoning":7,"cost":{"input":9,"total":0.25}}"#,
        );
        let expected = Usage {
            input: 100,
            output: 20,
            reasoning: 7,
            cache_read: 3,
            cache_write: 4,
            cache_write_1h: 1,
            cost: Some(0.25),
        };
        assert_eq!(found, Some(expected));
        assert_eq!(of(r#"{"reasoningTokens":31}"#).unwrap().reasoning, 31);
    }

    #[test]
    fn what_is_no_count_is_zero() {
        for none in ["null", "[]", "7", r#""usage""#] {
            assert_eq!(of(none), None, "{none}");
        }
        for odd in [
            r#"{"input":-5,"output":"7","cacheRead":null,"cacheWrite":[1],"cost":3}"#,
            r#"{"input":1e999,"output":{},"cacheRead":-0,"cost":{"total":-1}}"#,
            r#"{"input":18446744073709551616,"cost":{"total":"1"}}"#,
            "{}",
        ] {
            assert_eq!(of(odd), Some(Usage::default()), "{odd}");
        }
    }

    #[test]
    fn numbers_however_they_are_written() {
        let found = of(r#"{"input":1e3,"output":2.0,"cacheRead":1.9,"input":1E2}"#).unwrap();
        assert_eq!((found.input, found.output, found.cache_read), (100, 2, 1));
        let found = of(r#"{"input":18446744073709551615,"output":9007199254740993}"#).unwrap();
        assert_eq!((found.input, found.output), (u64::MAX, 9_007_199_254_740_993));
    }

    #[test]
    fn entries_beside_the_conversation_report_usage() {
        let rest = r#""id":"a","timestamp":"t","model":"m","usage":{"input":3}"#;
        for (name, kind, model) in [
            ("usage", EntryKind::Unknown, Some("m")),
            ("model_usage", EntryKind::Unknown, Some("m")),
            ("compaction", EntryKind::Compaction, None),
            ("branch_summary", EntryKind::BranchSummary, None),
        ] {
            let line = format!(r#"{{"type":"{name}",{rest}}}"#);
            let found = report(&line, kind, MessageRole::None).expect(name);
            let UsageReport::Answer { identity: Some(_), model: named, usage } = found else {
                panic!("{name}: {found:?}");
            };
            assert_eq!((named.as_deref(), usage.input), (model, 3), "{name}");
        }
        let other = format!(r#"{{"type":"other",{rest}}}"#);
        assert_eq!(report(&other, EntryKind::Unknown, MessageRole::None), None);
    }
}
