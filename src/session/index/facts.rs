//! What the lines of a session add to the facts in a list, in the order of the file.

use leafline_import::{EntryKind, SPARE_TITLE, SUMMARY_TITLE};

use super::prepare::PreparedLine;
use crate::store::ordinal::Ordinal;
use crate::store::session_record::{NAMED_HERE, SessionRecord};

/// Counts a line. Its number, its bytes and its ids are counted elsewhere.
pub(crate) fn count(record: &mut SessionRecord, line: &PreparedLine) {
    record.entries += u64::from(line.kind.is_entry());
    record.messages += u64::from(line.kind == EntryKind::Message);
    record.malformed += u64::from(line.ends_malformed);
    record.recovered += u64::from(line.is_recovered);
    record.splits += u64::from(line.goes_on);
    record.last_activity = record.last_activity.max(line.activity);
}

/// Notes the last message.
pub(crate) fn note_message(record: &mut SessionRecord, line: &PreparedLine, ordinal: Ordinal) {
    if line.kind == EntryKind::Message {
        let last = if line.is_sidechain {
            &mut record.last_sidechain_message
        } else {
            &mut record.last_message
        };
        *last = Some(ordinal);
    }
}

/// Sets or clears a title, unless there is one of a higher rank.
pub(crate) fn set_title(record: &mut SessionRecord, title: Option<String>, rank: u8) {
    if title_counts(record.title.as_ref(), record.title_rank, rank) {
        record.title = title;
        record.title_rank = rank;
    }
}

/// Whether a title of this rank takes the place of the one that a session has. An empty one in a header is none.
pub(crate) fn title_counts(title: Option<&String>, title_rank: u8, rank: u8) -> bool {
    match (title_rank, rank) {
        (SPARE_TITLE, _) => true,
        (_, SPARE_TITLE) => title.is_none_or(String::is_empty),
        (NAMED_HERE, _) => true,
        _ => rank >= title_rank,
    }
}

/// A summary's text is the title if there is no other. Later lines may remove it again: a summary that names an entry
/// on a sidechain does not count once the session has a conversation of its own.
pub(crate) fn set_summary(record: &mut SessionRecord, summary: Option<String>) {
    if record.title_rank == SUMMARY_TITLE
        || (record.title_rank < SUMMARY_TITLE && summary.is_some())
    {
        record.title_rank = if summary.is_some() { SUMMARY_TITLE } else { 0 };
        record.title = summary;
    }
}

/// Sets the session's time once all lines are counted: that of the last message with a time.
pub(crate) fn set_modified(record: &mut SessionRecord) {
    record.modified = record.last_activity.filter(|&time| time > 0).or(record.modified);
}
