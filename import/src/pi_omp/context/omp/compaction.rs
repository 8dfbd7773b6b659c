//! What a compaction keeps, where a provider made it or omp's notes stand for a summary.

use super::above::Above;
use super::facts;
use super::rules::Rules;
use crate::conversation::{Conversation, Images, PathRuns};
use crate::ecma::Document;
use crate::pi_omp::context::instant::milliseconds;
use crate::pi_omp::context::selection::Selection;
use crate::scan::Raw;
use crate::text;

/// The `details.kind` of a compaction that only begins a new window, beside notes that omp keeps.
const ROLLOVER: &str = "experimental-context-rollover";

/// What the line of the compaction that counts in a context decides about the entries after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compacted {
    /// The time of the first entry that follows the summary.
    pub(super) retained: Option<Retained>,
}

/// The time of an entry, in milliseconds since 1970, where it has one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Retained(pub(super) Option<i64>);

/// What the line of a compaction says of the entries around it.
struct Said {
    is_native: bool,
    is_remote: bool,
    is_rollover: bool,
    first_kept: Option<Vec<u8>>,
    replayed_through: Option<Vec<u8>>,
}

impl Compacted {
    /// Of the compaction of a selection, whose kept entries become those that omp keeps.
    pub(super) fn of<C: Conversation>(
        conversation: &mut C,
        leaf: u64,
        selection: &mut Selection,
    ) -> Result<Option<Self>, C::Error> {
        let Some(compaction) = selection.compaction else { return Ok(None) };
        let said = said_by(conversation, compaction)?;
        let above = Above::of(conversation, leaf, compaction)?;
        if let (Some(through), Rules::Today) =
            (&said.replayed_through, Rules::of(conversation.as_of()))
            && said.is_native
            && said.first_kept.as_deref() == Some(b"")
        {
            selection.kept = above.below(conversation, through)?;
        }
        let first = selection.kept.highest().or_else(|| selection.below.highest());
        let mut retained = None;
        if let (true, Some(first)) = (said.is_native, first) {
            retained = Some(Retained(time_of(conversation, first)?));
        }
        let request = match (said.is_rollover, &said.first_kept) {
            (true, Some(first)) => above.request(conversation, leaf, first)?,
            _ => None,
        };
        if said.is_remote {
            selection.kept = match &said.replayed_through {
                Some(through) => above.below(conversation, through)?,
                None => PathRuns::default(),
            };
        }
        if let Some(request) = request {
            selection.kept.push(request);
        }
        Ok(Some(Self { retained }))
    }
}

fn said_by<C: Conversation>(conversation: &mut C, compaction: u64) -> Result<Said, C::Error> {
    let decoded = text::decode(conversation.line(compaction, Images::AsWritten)?);
    let record = facts::record_of(&decoded);
    let id = |name: &str| {
        let id = record?.member(name)?.as_string()?;
        Some(id.into_owned())
    };
    let details = record.and_then(|record| record.member("details"));
    let kind = details.and_then(|details| details.member("kind"));
    let preserved = record.and_then(|record| record.member("preserveData"));
    Ok(Said {
        is_native: anthropic_state(preserved).is_some(),
        is_remote: remote_state(preserved).is_some(),
        is_rollover: kind.is_some_and(|kind| kind.is_text(ROLLOVER)),
        first_kept: id("firstKeptEntryId"),
        replayed_through: id("providerReplayThroughEntryId"),
    })
}

fn time_of<C: Conversation>(conversation: &mut C, entry: u64) -> Result<Option<i64>, C::Error> {
    let decoded = text::decode(conversation.line(entry, Images::Omitted)?);
    let record = facts::record_of(&decoded);
    Ok(milliseconds(record.and_then(|record| record.member("timestamp"))))
}

/// What omp hands to a provider that made the summary itself, as JSON.
pub(super) fn provider_payload(document: &Document<'_>) -> Option<String> {
    let preserved = document.get("preserveData");
    remote_state(preserved).map(history_payload).or_else(|| anthropic_payload(document))
}

/// The payload that omp 14.9.9 makes of what a compaction preserves: any list counts as a history.
pub(super) fn plain_payload(preserved: Option<Raw<'_>>) -> Option<String> {
    remote_list(preserved).map(history_payload)
}

fn history_payload([provider, items]: [Raw<'_>; 2]) -> String {
    object("openaiResponsesHistory", &[("provider", Some(provider)), ("items", Some(items))])
}

/// The payload of a summary that Anthropic's API made.
pub(super) fn anthropic_payload(document: &Document<'_>) -> Option<String> {
    let state = anthropic_state(document.get("preserveData"))?;
    let [provider, content, encrypted, files] = state;
    Some(object(
        "anthropicCompaction",
        &[
            ("provider", provider),
            ("content", content),
            ("encryptedContent", encrypted),
            ("filesText", files),
        ],
    ))
}

fn object(name: &str, members: &[(&str, Option<Raw<'_>>)]) -> String {
    let mut json = format!("{{\"type\":\"{name}\"").into_bytes();
    for (name, value) in members {
        if let Some(value) = value {
            json.extend_from_slice(format!(",\"{name}\":").as_bytes());
            // A member of what has been parsed is JSON.
            let _ = crate::ecma::restringify(value.as_str(), &mut json);
        }
    }
    json.push(b'}');
    String::from_utf8(json).expect("what is written from text is text: lone surrogates are escapes")
}

/// Provider and items of a history that OpenAI's API made, where the compaction has one.
fn remote_state(preserved: Option<Raw<'_>>) -> Option<[Raw<'_>; 2]> {
    remote_list(preserved).filter(|[_, items]| items.elements().all(Raw::is_object))
}

/// The same, whatever the list holds.
fn remote_list(preserved: Option<Raw<'_>>) -> Option<[Raw<'_>; 2]> {
    let state = preserved?.member("openaiRemoteCompaction")?;
    let provider = some_text(state.member("provider"))?;
    let items = state.member("replacementHistory").filter(|items| items.is_array())?;
    Some([provider, items])
}

/// `provider`, `content`, `encryptedContent` and `filesText` of a summary that Anthropic's API made.
fn anthropic_state(preserved: Option<Raw<'_>>) -> Option<[Option<Raw<'_>>; 4]> {
    let state = preserved?.member("anthropicCompaction")?;
    let [provider, content, encrypted, files] =
        ["provider", "content", "encryptedContent", "filesText"]
            .map(|name| some_text(state.member(name)));
    (provider.is_some() && content.is_some()).then_some([provider, content, encrypted, files])
}

fn some_text(value: Option<Raw<'_>>) -> Option<Raw<'_>> {
    value.filter(|value| value.is_string() && value.is_truthy())
}
