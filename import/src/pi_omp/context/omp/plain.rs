//! Contexts as omp 14.9.9 builds them: every entry of the path, or below the compaction, gives its message.

use super::compaction::plain_payload;
use super::message::{Made, append_branch_summary, append_whole, with_document};
use crate::EntryKind;
use crate::context::TakeMessage;
use crate::conversation::{Conversation, HistoryScope, Images, PathLimit, PathRuns};
use crate::ecma::Document;
use crate::pi_omp::context::image_places::resolved_in_own_content;
use crate::pi_omp::context::instant::milliseconds;
use crate::pi_omp::context::selection::Selection;
use crate::text;

/// What the context at an entry is made of. Beside a history that a provider keeps nothing above the compaction stays.
pub(super) fn select<C: Conversation>(
    conversation: &mut C,
    leaf: u64,
) -> Result<Selection, C::Error> {
    let mut selection = Selection::at(conversation, leaf)?;
    if let Some(compaction) = selection.compaction {
        let decoded = text::decode(conversation.line(compaction, Images::AsWritten)?);
        let has_history = super::facts::record_of(&decoded)
            .is_some_and(|record| plain_payload(record.member("preserveData")).is_some());
        if has_history {
            selection.kept = PathRuns::default();
        }
    }
    Ok(selection)
}

/// Passes on the messages of the context at an entry, or of the whole path to it.
pub(super) fn hand_out<C: Conversation>(
    conversation: &mut C,
    leaf: u64,
    scope: HistoryScope,
    take: TakeMessage<'_, C::Error>,
) -> Result<(), C::Error> {
    let selection = match scope {
        HistoryScope::Context => select(conversation, leaf)?,
        HistoryScope::Full => Selection::of_path(conversation.path(leaf, PathLimit::Root)?),
    };
    let mut message = Vec::new();
    for entry in selection.compaction.into_iter().chain(selection.entries()) {
        let kind = conversation.node_ahead_of_line(entry)?.kind;
        // An earlier compaction gives a message only in a full history.
        let is_hidden = kind == EntryKind::Compaction
            && scope == HistoryScope::Context
            && selection.compaction != Some(entry);
        if is_hidden {
            continue;
        }
        message.clear();
        let is_made =
            with_document(conversation, (entry, kind), &resolved_in_own_content, |document| {
                append(kind, document, &mut message)
            })?;
        if is_made {
            take(&[entry], &message)?;
        }
    }
    Ok(())
}

/// Appends the message of an entry. Returns whether it has one.
fn append(kind: EntryKind, document: &Document<'_>, out: &mut Vec<u8>) -> bool {
    match kind {
        EntryKind::Message => append_whole(document, out),
        EntryKind::CustomMessage => {
            Made::of("custom", out)
                .members(document, &["customType", "content", "display", "details", "attribution"])
                .end(milliseconds(document.get("timestamp")));
            true
        }
        EntryKind::BranchSummary => append_branch_summary(document, out),
        EntryKind::Compaction => {
            let mut made = Made::of("compactionSummary", out)
                .members(document, &["summary", "shortSummary", "tokensBefore"]);
            if let Some(payload) = plain_payload(document.get("preserveData")) {
                made = made.given("providerPayload", &payload);
            }
            made.end(milliseconds(document.get("timestamp")));
            true
        }
        _ => false,
    }
}
