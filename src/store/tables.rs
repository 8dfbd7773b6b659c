//! Every table of the store, in one place. `docs/storage.md` describes each in full.
//!
//! Keys begin with the dense `u64` session key, which is never used twice, so that one session's rows are adjacent and
//! a sweep of a session is a range of keys in each table. Prompts belong to no session; their tables come last.

use redb::TableDefinition;

/// Store-wide numbers by name: `format` and `reader` ([`format`](super::format)), `next_session`, and `store`, a random
/// one that distinguishes it from any other store.
pub(crate) const META: TableDefinition<&str, u64> = TableDefinition::new("meta");

/// Session key to its [`SessionRecord`](super::session_record::SessionRecord).
pub(crate) const SESSIONS: TableDefinition<u64, &[u8]> = TableDefinition::new("sessions");

/// The id a caller uses (`<id>`, or `<id>~2` for a second file that claims it) to session key.
pub(crate) const SESSION_IDS: TableDefinition<&[u8], u64> = TableDefinition::new("session_ids");

/// (bucket of [`SessionTimes`](super::session_index::SessionTimes), session key) of every session: the order of a list by time.
pub(crate) const SESSION_TIMES: TableDefinition<(i64, u64), ()> =
    TableDefinition::new("session_times");

/// (id of the session that started it, session key) of every session that is an agent's conversation.
pub(crate) const SESSION_PARENTS: TableDefinition<(&[u8], u64), ()> =
    TableDefinition::new("session_parents");

/// (session, entry id) to an [`EntryRecord`](super::entry_record::EntryRecord). Of an id that occurs twice, the later
/// entry.
pub(crate) const ENTRIES: TableDefinition<(u64, &[u8]), &[u8]> = TableDefinition::new("entries");

/// (session, parent's ordinal, ordinal): the children that do not directly follow their parent.
///
/// A child whose ordinal is its parent's plus one has no row: in real sessions that is nearly every entry, and the
/// parent's neighbour shows it at no cost. Roots have the parent [`NO_PARENT`].
pub(crate) const CHILDREN: TableDefinition<(u64, u64, u64), ()> = TableDefinition::new("children");

/// The parent's ordinal in [`CHILDREN`] of entries that have none in the session.
pub(crate) const NO_PARENT: u64 = u64::MAX;

/// Session key to the ordinal of its current leaf, or [`NO_LEAF`]. Every session has a row.
pub(crate) const LEAVES: TableDefinition<u64, u64> = TableDefinition::new("leaves");

/// The value in [`LEAVES`] of a session without a leaf.
pub(crate) const NO_LEAF: u64 = u64::MAX;

/// (session, first ordinal, part) to a part of a [`chunk`](super::chunk).
pub(crate) const LINES: TableDefinition<(u64, u64, u32), &[u8]> = TableDefinition::new("lines");

/// (session, target entry's id) to the label set on it.
pub(crate) const LABELS: TableDefinition<(u64, &[u8]), &[u8]> = TableDefinition::new("labels");

/// (session, settings id) to a [`SettingsRecord`](super::settings_record::SettingsRecord).
pub(crate) const SETTINGS: TableDefinition<(u64, u64), &[u8]> = TableDefinition::new("settings");

/// (session, ordinal) to a [`PointerRecord`](super::pointer_record::PointerRecord): the records of Claude Code that name
/// the leaf, and its compact boundaries.
pub(crate) const POINTERS: TableDefinition<(u64, u64), &[u8]> = TableDefinition::new("pointers");

/// (session, number) to a [`UsageRecord`](super::usage_record::UsageRecord): the usage of the model's answers, numbered from 0.
/// A session with a row [`NOT_COUNTED`] has none that count.
pub(crate) const USAGE: TableDefinition<(u64, u64), &[u8]> = TableDefinition::new("usage");

/// The number in [`USAGE`] of an empty row that says that the session's usage is not counted yet.
pub(crate) const NOT_COUNTED: u64 = u64::MAX;

/// SHA-256 to a [`BlobRecord`](super::blobs::BlobRecord): size and references.
pub(crate) const BLOBS: TableDefinition<&[u8; 32], &[u8]> = TableDefinition::new("blobs");

/// (SHA-256, part) to bytes. Separate from [`BLOBS`], so that a changed count rewrites no image.
pub(crate) const BLOB_PARTS: TableDefinition<(&[u8; 32], u32), &[u8]> =
    TableDefinition::new("blob_parts");

/// (session, part) to compressed bytes of the imported file, for a session that a migration changed.
pub(crate) const ORIGINALS: TableDefinition<(u64, u64), &[u8]> = TableDefinition::new("originals");

/// File path to a [`SourceRecord`](super::source_record::SourceRecord).
pub(crate) const SOURCES: TableDefinition<&[u8], &[u8]> = TableDefinition::new("sources");

/// Path of a file that a session storage keeps here to its [`FileRecord`](super::file_record::FileRecord).
pub(crate) const FILES: TableDefinition<&[u8], &[u8]> = TableDefinition::new("files");

/// (number of the file, part) to bytes of a file that is not a session.
pub(crate) const FILE_PARTS: TableDefinition<(u64, u32), &[u8]> =
    TableDefinition::new("file_parts");

/// Session key to the path of the file that the session is.
pub(crate) const SESSION_FILES: TableDefinition<u64, &[u8]> = TableDefinition::new("session_files");

/// Key of a removed session to its [`RemovedRecord`](super::removed_record::RemovedRecord).
pub(crate) const REMOVED: TableDefinition<u64, &[u8]> = TableDefinition::new("removed");

/// (external id, key) of every removed session.
pub(crate) const REMOVED_IDS: TableDefinition<(&[u8], u64), ()> =
    TableDefinition::new("removed_ids");

/// (session, form) to a [`SummaryRecord`](super::summary_record::SummaryRecord). The table is made with its first row.
pub(crate) const SUMMARIES: TableDefinition<(u64, &[u8]), &[u8]> =
    TableDefinition::new("summaries");

/// Dictionary id to a zstd dictionary.
pub(crate) const DICTIONARIES: TableDefinition<u32, &[u8]> = TableDefinition::new("dictionaries");

/// Session key to the owner of rows that no session record shows: of an unfinished import, or a deletion.
pub(crate) const UNFINISHED: TableDefinition<u64, u64> = TableDefinition::new("unfinished");

/// One row: a [`JournalRow`](super::journal::JournalRow), how far the tables are.
pub(crate) const JOURNAL: TableDefinition<u64, &[u8]> = TableDefinition::new("journal");

/// (session, sequence number) to the payload of a record of the journal that could not be folded, since its session is
/// damaged.
pub(crate) const UNFOLDED: TableDefinition<(u64, u64), &[u8]> = TableDefinition::new("unfolded");

/// A prompt's number, from 0 without a gap, to a [`PromptRecord`](super::prompt_record::PromptRecord).
pub(crate) const HISTORY: TableDefinition<u64, &[u8]> = TableDefinition::new("history");

/// (block of prompts, beginning of a word) to the [`Places`](super::prompt_block::Places) of the prompts in the block
/// that have it.
pub(crate) const HISTORY_TERMS: TableDefinition<(u64, &[u8]), &[u8]> =
    TableDefinition::new("history_terms");

/// Block of prompts to a [`PromptBlockRecord`](super::prompt_block::PromptBlockRecord).
pub(crate) const HISTORY_BLOCKS: TableDefinition<u64, &[u8]> =
    TableDefinition::new("history_blocks");

/// The names of all tables, and what errors call the tree that has them.
pub(super) const NAMES: [&str; 31] = [
    "meta",
    "sessions",
    "session_ids",
    "session_times",
    "session_parents",
    "entries",
    "children",
    "leaves",
    "lines",
    "labels",
    "settings",
    "pointers",
    "usage",
    "blobs",
    "blob_parts",
    "originals",
    "sources",
    "files",
    "file_parts",
    "session_files",
    "removed",
    "removed_ids",
    "summaries",
    "dictionaries",
    "unfinished",
    "journal",
    "unfolded",
    "history",
    "history_terms",
    "history_blocks",
    "names of tables",
];

/// The name of a table as errors have it.
pub(crate) fn name(table: &str) -> &'static str {
    NAMES.into_iter().find(|name| *name == table).unwrap_or("engine")
}
