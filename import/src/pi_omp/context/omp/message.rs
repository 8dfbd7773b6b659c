//! From an entry's line to the message that omp makes of it.

use std::collections::HashSet;

use super::content::without_loose_calls;
use super::key::Key;
use super::rules::Rules;
use super::{Retained, compaction};
use crate::conversation::{Conversation, Images};
use crate::ecma::Document;
use crate::pi_omp::context::image_places::resolved_by_omp;
use crate::pi_omp::context::instant::milliseconds;
use crate::recover::first_record;
use crate::scan::Raw;
use crate::{EntryKind, text};

/// What omp calls a custom message that has no type.
const UNNAMED: &str = "\"custom-message\"";

/// Appends the message of an entry, after clearing `out`. Returns whether it has one. With `results`, the ids of the
/// results in the context, tool calls without a result are left out of a turn.
pub(super) fn append<C: Conversation>(
    conversation: &mut C,
    entry: u64,
    results: Option<&HashSet<Key>>,
    out: &mut Vec<u8>,
) -> Result<bool, C::Error> {
    out.clear();
    let kind = conversation.node_ahead_of_line(entry)?.kind;
    with_document(conversation, (entry, kind), &resolved_by_omp, |document| match kind {
        EntryKind::Message => append_message(document, results, out),
        EntryKind::CustomMessage => append_custom(document, out),
        EntryKind::BranchSummary => append_branch_summary(document, out),
        EntryKind::Compaction => {
            append_compaction(document, (milliseconds(document.get("timestamp")), None), out);
            true
        }
        _ => false,
    })
}

/// Appends the summary with which a context begins, after clearing `out`.
pub(super) fn append_summary<C: Conversation>(
    conversation: &mut C,
    entry: u64,
    retained: Option<Retained>,
    out: &mut Vec<u8>,
) -> Result<(), C::Error> {
    out.clear();
    let kind = EntryKind::Compaction;
    let rules = Rules::of(conversation.as_of());
    with_document(conversation, (entry, kind), &resolved_by_omp, |document| {
        let own = milliseconds(document.get("timestamp"));
        // A summary that the provider reads as its own must not be newer than what follows it.
        let is_native = compaction::anthropic_payload(document).is_some();
        let before = retained.and_then(|Retained(time)| time).map(|time| time - 1);
        match (before.filter(|_| is_native), rules) {
            (before, Rules::Today) => append_compaction(document, (own, before), out),
            (before, Rules::Plain | Rules::Resets) => {
                append_compaction(document, (before.or(own), None), out);
            }
        }
        true
    })
    .map(|_| ())
}

/// Reads an entry's line with its images, as far as these offsets in it are to be resolved.
pub(super) fn with_document<C: Conversation>(
    conversation: &mut C,
    (entry, kind): (u64, EntryKind),
    resolved: &dyn Fn(&str) -> Vec<usize>,
    read: impl FnOnce(&mut Document<'_>) -> bool,
) -> Result<bool, C::Error> {
    if !matches!(
        kind,
        EntryKind::Message
            | EntryKind::CustomMessage
            | EntryKind::BranchSummary
            | EntryKind::Compaction
    ) {
        return Ok(false);
    }
    let decoded = text::decode(conversation.line(entry, Images::Resolved(resolved))?);
    let document = Document::parse(&decoded).ok();
    let document = document.or_else(|| Document::parse(first_record(&decoded)?).ok());
    Ok(document.is_some_and(|mut document| read(&mut document)))
}

fn append_message(
    document: &mut Document<'_>,
    results: Option<&HashSet<Key>>,
    out: &mut Vec<u8>,
) -> bool {
    if let (Some(results), Some(content)) = (results, document.get_within("message", "content")) {
        document.set_within("message", "content", without_loose_calls(content, results));
    }
    append_whole(document, out)
}

/// A message as it is written. omp throws where it is missing or null: there is nothing to be like.
pub(super) fn append_whole(document: &Document<'_>, out: &mut Vec<u8>) -> bool {
    document.get("message").is_some_and(|message| !message.is_null())
        && document.write_member("message", out)
}

pub(super) fn append_branch_summary(document: &Document<'_>, out: &mut Vec<u8>) -> bool {
    let is_there = document.get("summary").is_some_and(Raw::is_truthy);
    if is_there {
        Made::of("branchSummary", out)
            .members(document, &["summary", "fromId"])
            .end(milliseconds(document.get("timestamp")));
    }
    is_there
}

/// A custom message; members of the wrong type are replaced by defaults.
fn append_custom(document: &Document<'_>, out: &mut Vec<u8>) -> bool {
    let content = document.get("content");
    if !content.is_some_and(|content| content.is_string() || content.is_array()) {
        return false;
    }
    let name = document.get("customType");
    let is_named = name.is_some_and(|name| name.is_string() && name.is_truthy());
    let display = document.get("display").is_some_and(|display| display.as_str() == "true");
    let mut made = Made::of("custom", out);
    made = if is_named {
        made.members(document, &["customType"])
    } else {
        made.given("customType", UNNAMED)
    };
    made = made
        .members(document, &["content"])
        .given("display", if display { "true" } else { "false" })
        .members(document, &["details"]);
    if let Some(attribution) = document.get("attribution") {
        let is_user = attribution.is_text("user");
        made = made.given("attribution", if is_user { "\"user\"" } else { "\"agent\"" });
    }
    made.end(milliseconds(document.get("timestamp")));
    true
}

/// With the summary's time, and that at which it counts as written among the messages around it, if it is another.
fn append_compaction(
    document: &Document<'_>,
    (time, rewritten): (Option<i64>, Option<i64>),
    out: &mut Vec<u8>,
) {
    let mut made = Made::of("compactionSummary", out)
        .members(document, &["summary", "shortSummary", "tokensBefore", "tokensAfter", "method"]);
    if let Some(payload) = compaction::provider_payload(document) {
        made = made.given("providerPayload", &payload);
    }
    made = made.members(document, &["warning"]);
    if let Some(rewritten) = rewritten {
        made = made.given("historyRewriteAt", &rewritten.to_string());
    }
    made.end(time);
}

/// A message that is being made.
pub(super) struct Made<'o>(&'o mut Vec<u8>);

impl<'o> Made<'o> {
    pub(super) fn of(role: &str, out: &'o mut Vec<u8>) -> Self {
        out.extend_from_slice(format!("{{\"role\":\"{role}\"").as_bytes());
        Self(out)
    }

    /// Adds those of these members that the entry has.
    pub(super) fn members(self, document: &Document<'_>, names: &[&str]) -> Self {
        for name in names {
            let before = self.0.len();
            self.0.extend_from_slice(format!(",\"{name}\":").as_bytes());
            if !document.write_member(name, self.0) {
                self.0.truncate(before);
            }
        }
        self
    }

    /// Adds a member that is given as JSON.
    pub(super) fn given(self, name: &str, json: &str) -> Self {
        self.0.extend_from_slice(format!(",\"{name}\":{json}").as_bytes());
        self
    }

    /// Adds the time, in milliseconds since 1970.
    pub(super) fn end(self, time: Option<i64>) {
        // JSON has no NaN.
        let time = time.map_or_else(|| "null".to_owned(), |time| time.to_string());
        self.0.extend_from_slice(format!(",\"timestamp\":{time}}}").as_bytes());
    }
}
