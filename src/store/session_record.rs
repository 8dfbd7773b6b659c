//! The value of the `sessions` table: what a list of sessions shows, without a look at any line.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

use bincode::de::BorrowDecoder;
use bincode::error::DecodeError;
use bincode::{BorrowDecode, Decode, Encode};
use leafline_import::Family;

use super::record::{self, Record};
use super::type_counts::TypeCounts;
use crate::error::{Corruption, Result};

/// The facts of one session. A list reads them as a [`ListedRecord`].
#[derive(Debug, Clone, Default, PartialEq, Encode, Decode)]
pub(crate) struct SessionRecord<Text = String, Bytes = Vec<u8>, Rest = SessionRest> {
    /// The header's id, WTF-8 as JavaScript would hold it.
    pub(crate) external_id: Bytes,
    /// 1, or `n` for the n-th file that claims the same id: addressed as `<id>~n`.
    pub(crate) number: u32,
    /// `Family::code`.
    pub(crate) family: u8,
    /// The version that the imported header states, 1 where it states none.
    pub(crate) imported_version: Text,
    /// Whether a migration rewrote the lines; the imported bytes are then in `originals`.
    pub(crate) migrated: bool,
    /// Whether a parent comes later, ids repeat or parents loop: then the tree is walked the exact way, and
    /// depth, jump, settings and compaction of the nodes are not to be trusted.
    pub(crate) irregular: bool,
    /// The header's working directory.
    pub(crate) cwd: Option<Text>,
    /// Where its project was moved to.
    pub(crate) moved: Option<Moved<Text>>,
    /// The title or the name last set.
    pub(crate) title: Option<Text>,
    /// The header's `parentSession`, opaque.
    pub(crate) parent_session: Option<Text>,
    /// The agent whose conversation it is, where another session (`parent_session`) started one: its id, which may be empty.
    pub(crate) agent: Option<Text>,
    /// The beginning of the first user message.
    pub(crate) first_prompt: Option<Text>,
    /// The header's time in milliseconds since 1970.
    pub(crate) created: Option<i64>,
    /// Time of the last message; else of the header; else the file's.
    pub(crate) modified: Option<i64>,
    /// Lines, of all kinds; each record of a line that holds several counts here.
    pub(crate) lines: u64,
    /// Records that end before their line does: those before the last one of a line.
    pub(crate) splits: u64,
    /// Bytes of the lines.
    pub(crate) bytes: u64,
    /// Messages among the lines.
    pub(crate) messages: u64,
    /// Entries among the lines.
    pub(crate) entries: u64,
    /// Lines that are not JSON.
    pub(crate) malformed: u64,
    /// Entries of such lines.
    pub(crate) recovered: u64,
    /// Lines of the imported file that are not JSON and that the migration dropped, as the programs do.
    pub(crate) dropped: u64,
    /// Entries that name a parent which is not in the session.
    pub(crate) orphans: u64,
    /// Entries whose id a later entry has as well.
    pub(crate) duplicates: u64,
    /// Entries without a string id.
    pub(crate) unaddressed: u64,
    /// What lists do not show; a whole record derefs to it.
    pub(crate) rest: Rest,
}

/// What of a session no list shows.
#[derive(Debug, Clone, Default, PartialEq, Encode, Decode)]
pub(crate) struct SessionRest {
    /// Whether records are recovered from lines that are not JSON.
    pub(crate) recovers: bool,
    /// Which record set the title: the higher of two stays. 0 but in Claude Code's sessions.
    pub(crate) title_rank: u8,
    /// Time of the last message of the user or the assistant.
    pub(crate) last_activity: Option<i64>,
    /// The header's ordinal.
    pub(crate) header: u64,
    /// Bytes of the lines as they are stored before compression: holes cut out.
    pub(crate) text_bytes: u64,
    /// Rows in `settings`.
    pub(crate) settings: u64,
    /// The first line of those that were appended since lines were last sealed: each append made a chunk.
    pub(crate) sealed: u64,
    /// The last message that is on no sidechain, and the last that is on one; of Claude Code's sessions alone.
    pub(crate) last_message: Option<u64>,
    pub(crate) last_sidechain_message: Option<u64>,
    /// Whether it was changed here, and is exported as its program would write it; of Opal's sessions alone.
    pub(crate) rewritten: bool,
    /// How often the session was written.
    pub(crate) revision: u64,
    /// The revision that last changed lines which were there before; 0 while lines were only added.
    pub(crate) changed_at: u64,
    /// Lines and bytes by type.
    pub(crate) types: TypeCounts,
    /// What was imported.
    pub(crate) imported: ImportedBytes,
    /// Paths of the files that this session was imported from: its keys in `sources`.
    pub(crate) sources: Vec<Vec<u8>>,
}

impl Deref for SessionRecord {
    type Target = SessionRest;

    fn deref(&self) -> &SessionRest {
        &self.rest
    }
}

impl DerefMut for SessionRecord {
    fn deref_mut(&mut self) -> &mut SessionRest {
        &mut self.rest
    }
}

/// A project's move.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Moved<Text = String> {
    /// The working directory that the header named.
    pub(crate) from: Option<Text>,
    /// The one that it is now.
    pub(crate) to: Text,
}

/// The bytes that were imported and that the session's bytes still begin with, by which a later import of the
/// file is told from a change. Of a session that was made or rewritten here, none; but one of Opal's keeps what tells the
/// imported file, whatever became of its lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct ImportedBytes {
    /// How many.
    pub(crate) length: u64,
    /// Their [`Fingerprint`](super::fingerprint::Fingerprint).
    pub(crate) digest: u128,
    /// The chain of its whole blocks, by which it is gone on with.
    pub(crate) chain: u128,
    /// Whether the last line is complete: the bytes end with a line feed, or there are none.
    pub(crate) complete: bool,
}

impl Record for SessionRecord {
    const TABLE: &'static str = "sessions";
}

impl SessionRecord {
    /// The family whose format the lines have. A code that no family has is damage.
    pub(crate) fn known_family(&self) -> Result<Family> {
        Family::from_code(self.family).ok_or_else(|| {
            let place = format!("session {}", self.id());
            let problem = format!("there is no family {}", self.family);
            Corruption { table: Self::TABLE, place, problem }.into()
        })
    }

    /// Whether it holds more than what was imported: lines were appended here, or, of Opal's, anything was changed.
    pub(crate) fn is_ahead(&self) -> bool {
        self.rewritten || (!self.migrated && self.bytes > self.imported.length)
    }
}

impl<Text, Bytes, Rest> SessionRecord<Text, Bytes, Rest>
where
    Text: AsRef<str> + PartialEq,
    Bytes: AsRef<[u8]>,
{
    /// The working directory: the one that it was moved to, as long as the header names the one that it was moved from.
    pub(crate) fn directory(&self) -> Option<&str> {
        let moved = self.moved.as_ref().filter(|moved| moved.from == self.cwd);
        moved.map(|moved| &moved.to).or(self.cwd.as_ref()).map(AsRef::as_ref)
    }

    /// Physical lines.
    pub(crate) fn physical_lines(&self) -> u64 {
        self.lines.saturating_sub(self.splits)
    }

    /// The id that callers use: WTF-8 as far as it is UTF-8, `<id>~n` for a later claim of the same id.
    pub(crate) fn id(&self) -> String {
        self.borrowed_id().into_owned()
    }

    /// [`Self::id`], borrowed where it is the external one.
    pub(crate) fn borrowed_id(&self) -> Cow<'_, str> {
        match std::str::from_utf8(self.external_id.as_ref()) {
            Ok(id) if self.number <= 1 => Cow::Borrowed(id),
            _ => {
                let id = String::from_utf8_lossy(self.external_id.as_ref());
                Cow::Owned(address(&id, self.number))
            }
        }
    }
}

/// A record whose texts stay in the store's page, read as far as a list needs it: a session that is not taken costs no
/// memory.
pub(crate) type ListedRecord<'p> = SessionRecord<&'p str, &'p [u8], Unread>;

/// The end of a record that is left unread.
#[derive(Debug)]
pub(crate) struct Unread;

impl<'p, Context> BorrowDecode<'p, Context> for Unread {
    fn borrow_decode<D: BorrowDecoder<'p, Context = Context>>(
        _: &mut D,
    ) -> std::result::Result<Self, DecodeError> {
        Ok(Self)
    }
}

impl<'p> ListedRecord<'p> {
    /// Reads a record where it stands; `place` says where that is, for the error.
    pub(crate) fn borrowed(bytes: &'p [u8], place: impl FnOnce() -> String) -> Result<Self> {
        record::versioned::<SessionRecord, _>(bytes, place, record::read_borrowed)
    }
}

/// The id by which the `number`-th session with the external id is addressed.
pub(crate) fn address(external_id: &str, number: u32) -> String {
    match number {
        0 | 1 => external_id.to_owned(),
        number => format!("{external_id}~{number}"),
    }
}

/// The key in `session_ids`: the id's own bytes, which need not be UTF-8.
pub(crate) fn address_bytes(external_id: &[u8], number: u32) -> Vec<u8> {
    let mut bytes = external_id.to_vec();
    if number > 1 {
        bytes.extend_from_slice(format!("~{number}").as_bytes());
    }
    bytes
}
