//! The usage that an entry reports.

use crate::kind::{EntryKind, MessageRole};
use crate::scan::{Raw, Scan};
use crate::usage::{Identity, Usage, UsageReport, dollars, tokens};

/// Whether entries of this kind and role can report usage: answers of the model, and what a summary, a tool or a call
/// outside the conversation has used (pi 0.87 and 1.6, omp 18: observed).
pub(crate) fn may_state_usage(kind: EntryKind, role: MessageRole) -> bool {
    match kind {
        EntryKind::Message => matches!(role, MessageRole::Assistant | MessageRole::ToolResult),
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
        // pi 1.x adds what the tool's nested calls have used.
        EntryKind::Message if role == MessageRole::ToolResult => (members.message_usage, None),
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
        let copied = members.message.filter(|message| has_made_up_id(scan, *message));
        Identity::of([copied.map_or(&*id, |message| message.as_str().as_bytes()), time.as_bytes()])
    });
    let model = model.and_then(Raw::to_string_lossy).map(std::borrow::Cow::into_owned);
    Some(UsageReport::Answer { identity, model, usage })
}

/// Whether a migration from version 1 made the entry's id up: it writes the id behind all other members. A branched file
/// repeats entries of its base, and their ids in the two differ.
fn has_made_up_id(scan: &Scan<'_>, message: Raw<'_>) -> bool {
    scan.members.id.is_some_and(|id| id.as_str().as_ptr() > message.as_str().as_ptr())
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
        ..Usage::default()
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
            ..Usage::default()
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
    fn an_answer_of_version_1_is_known_by_what_it_says() {
        let identity = |line: &str| match report(line, EntryKind::Message, MessageRole::Assistant) {
            Some(UsageReport::Answer { identity, .. }) => identity.unwrap(),
            other => panic!("{other:?}"),
        };
        let migrated = |id: &str, time: &str, cost: &str| {
            identity(&format!(
                r#"{{"type":"message","timestamp":"{time}","message":{{"usage":{{"input":1,"cost":{{"total":{cost}}}}}}},"id":"{id}","parentId":null}}"#
            ))
        };
        assert_eq!(migrated("a", "t", "1"), migrated("b", "t", "1"));
        assert_ne!(migrated("a", "t", "1"), migrated("a", "u", "1"));
        assert_ne!(migrated("a", "t", "1"), migrated("a", "t", "2"));
        let written = |id: &str| {
            identity(&format!(
                r#"{{"type":"message","id":"{id}","parentId":null,"timestamp":"t","message":{{"usage":{{"input":1}}}}}}"#
            ))
        };
        assert_ne!(written("a"), written("b"));
    }

    #[test]
    fn results_of_tools_report_what_their_nested_calls_used() {
        let line = r#"{"type":"message","id":"a","message":{"role":"toolResult","nestedCalls":{"calls":[{"id":"c/1","name":"read","status":"ok"}],"complete":true},"usage":{"input":7,"output":2,"cost":{"total":0.5}}}}"#;
        assert!(may_state_usage(EntryKind::Message, MessageRole::ToolResult));
        let found = report(line, EntryKind::Message, MessageRole::ToolResult).unwrap();
        let UsageReport::Answer { identity: Some(_), model: None, usage } = found else {
            panic!("{found:?}");
        };
        assert_eq!((usage.input, usage.output, usage.cost), (7, 2, Some(0.5)));
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
