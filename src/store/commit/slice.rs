//! A slice: the rows of one commit, collected in memory.

use std::collections::HashMap;

use super::files::FileRow;
use super::guard::Guard;
use crate::store::blobs::Hash;
use crate::store::entry_record::EntryRows;
use crate::store::journal::JournalChange;
use crate::store::ordinal::Ordinal;
use crate::store::pointer_record::PointerRecord;
use crate::store::session_key::SessionKey;
use crate::store::session_record::SessionRecord;
use crate::store::settings_record::SettingsRecord;
use crate::store::source_record::SourceRecord;

/// A row of a session: the part of its key after the session, and its value.
#[derive(Debug)]
pub(super) struct Row<K, V> {
    pub(super) session: SessionKey,
    pub(super) key: K,
    pub(super) value: V,
}

/// What a blob gains.
#[derive(Debug)]
pub(super) struct BlobGain {
    /// Its bytes, if the slice has them.
    pub(super) bytes: Option<Vec<u8>>,
    /// Whether the base64 was cut out of the line: [`BlobRecord::holes`](crate::store::blobs::BlobRecord).
    pub(super) was_cut: bool,
    /// Whether a line refers to it; there may also be bytes for existing lines.
    pub(super) is_reference: bool,
}

/// How a session becomes invisible.
#[derive(Debug, Clone, Copy)]
pub(super) struct Retirement {
    /// The owner that sweeps its rows.
    pub(super) owner: u64,
    /// When it was removed, in milliseconds since 1970; `None` if another session takes its place.
    pub(super) removed_at: Option<i64>,
}

/// What belongs to a session.
trait OfSession {
    fn session(&self) -> SessionKey;
}

impl<K, V> OfSession for Row<K, V> {
    fn session(&self) -> SessionKey {
        self.session
    }
}

impl OfSession for FileRow {
    fn session(&self) -> SessionKey {
        self.session
    }
}

impl OfSession for EntryRows {
    fn session(&self) -> SessionKey {
        self.session
    }
}

/// Declares [`Slice`] by its lists, so that what applies to each of them is said once and applies to new ones.
macro_rules! slice {
    (
        lines { $($(#[$line_doc:meta])* $line:ident: $line_row:ty,)* }
        facts { $($(#[$fact_doc:meta])* $fact:ident: $fact_row:ty,)* }
        conditions { $($(#[$condition_doc:meta])* $condition:ident: $condition_row:ty,)* }
    ) => {
        /// Rows to write. Those of one session are in ascending order of their keys.
        #[derive(Debug, Default)]
        pub(super) struct Slice {
            $($(#[$line_doc])* pub(super) $line: Vec<$line_row>,)*
            $($(#[$fact_doc])* pub(super) $fact: Vec<$fact_row>,)*
            $($(#[$condition_doc])* pub(super) $condition: Vec<$condition_row>,)*
            /// Approximate bytes of the values.
            pub(super) weight: usize,
            /// Lines that were added.
            pub(super) line_count: u64,
            /// What the commit does to the journal.
            pub(super) journal: Option<JournalChange>,
        }

        impl Slice {
            /// Whether there is nothing to write.
            pub(super) fn is_empty(&self) -> bool {
                self.journal.is_none() $(&& self.$line.is_empty())* $(&& self.$fact.is_empty())*
            }

            /// Whether it has changes of sessions that were there before.
            pub(super) fn changes_sessions(&self) -> bool {
                self.guards.iter().any(|row| matches!(row.value, Guard::Same { .. }))
            }

            /// Whether the sessions that were there before, the files that they are, and the journal stay as they are.
            pub(super) fn is_apart(&self) -> bool {
                self.journal.is_none()
                    && self.retired.is_empty()
                    && self.files.is_empty()
                    && !self.changes_sessions()
            }

            /// Removes everything of a session.
            pub(super) fn forget(&mut self, session: SessionKey) {
                self.keep_bytes_of_blobs(session);
                $(self.$line.retain(|row| row.session() != session);)*
                $(self.$fact.retain(|row| row.session() != session);)*
                $(self.$condition.retain(|row| row.session() != session);)*
            }

            /// Passes on the session of each row that lines make, once for consecutive rows.
            pub(super) fn each_session_with_lines(&self, mut see: impl FnMut(SessionKey)) {
                let mut last = None;
                $(for row in &self.$line {
                    if last != Some(row.session()) {
                        last = Some(row.session());
                        see(row.session());
                    }
                })*
            }
        }
    };
}

slice! {
    // Made by lines. Only a session that is marked as unfinished, or whose record comes with them, has such rows.
    lines {
        /// New chunks, by their first lines.
        chunks: Row<Ordinal, Vec<u8>>,
        /// Chunks that are removed before any are added: their lines are in other chunks from now on.
        removed_chunks: Row<Ordinal, ()>,
        /// Chunks that replace those with the same first line, or removed ones.
        rewritten_chunks: Row<Ordinal, Vec<u8>>,
        /// Sessions whose rows in `children` are removed before any are added.
        reset_children: Row<(), ()>,
        entries: EntryRows,
        /// The parent, or none above a root, and the child.
        children: Row<(Option<Ordinal>, Ordinal), ()>,
        /// The target, the line, and the label that it sets, or none if it clears it; in order of lines.
        labels: Row<(Vec<u8>, Ordinal), Option<Vec<u8>>>,
        settings: Row<u64, SettingsRecord>,
        /// Lines, and what they point to.
        pointers: Row<Ordinal, PointerRecord>,
        /// Sessions whose rows in `usage` are removed before any are added.
        reset_usage: Row<(), ()>,
        /// Rows of `usage`, by number.
        usage: Row<u64, Vec<u8>>,
        originals: Row<u64, Vec<u8>>,
        /// References that lines no longer make, and whether the base64 had been cut out there.
        released: Row<Hash, bool>,
    }
    facts {
        blobs: Row<Hash, BlobGain>,
        leaves: Row<(), Option<Ordinal>>,
        sessions: Row<(), SessionRecord>,
        session_ids: Row<Vec<u8>, ()>,
        sources: Row<Vec<u8>, SourceRecord>,
        files: FileRow,
        /// When sessions that are files were written, in milliseconds since 1970, if that was not just now.
        written: Row<(), i64>,
        /// Records of the journal, by sequence number, that could not become rows.
        unfolded: Row<u64, Vec<u8>>,
        /// Sessions that become invisible. The row belongs to the session that replaces it, or, for a deletion, to
        /// itself.
        retired: Row<SessionKey, Retirement>,
        /// Removed sessions of which nothing is kept any longer. The row belongs to the session that was imported from
        /// the removed one's file.
        restored: Row<SessionKey, ()>,
        /// Sessions that are begun with this slice, and their owners.
        begun: Row<(), u64>,
        /// Sessions that this slice completes after earlier commits: their rows are proved.
        finished: Row<(), ()>,
    }
    conditions {
        /// Owners whose mark sessions must still have after earlier commits.
        held: Row<(), u64>,
        /// The conditions under which a session's rows are written.
        guards: Row<(), Guard>,
    }
}

impl Slice {
    /// Passes the bytes of a session's blobs to other sessions that refer to them: the slice has them only once.
    fn keep_bytes_of_blobs(&mut self, session: SessionKey) {
        let mut bytes: HashMap<Hash, Vec<u8>> = self
            .blobs
            .iter_mut()
            .filter(|row| row.session == session)
            .filter_map(|row| Some((row.key, row.value.bytes.take()?)))
            .collect();
        let kept = self.blobs.iter_mut().filter(|row| row.session != session);
        for row in kept.filter(|row| row.value.bytes.is_none()) {
            row.value.bytes = bytes.remove(&row.key);
        }
    }
}
