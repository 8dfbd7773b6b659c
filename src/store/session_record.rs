//! The value of the `sessions` table: what a list of sessions shows, without reading any line.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

use bincode::de::BorrowDecoder;
use bincode::error::DecodeError;
use bincode::{BorrowDecode, Decode, Encode};
use leafline_import::{Family, Reading};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::clock::now;
use super::ordinal::Ordinal;
use super::record::{self, Record};
use super::session_key::SessionKey;
use super::type_counts::TypeCounts;
use crate::error::Result;

/// The title rank of a name that was set in the header in the store, and that the program's file does not have yet.
pub(crate) const NAMED_HERE: u8 = u8::MAX - 2;

/// The facts of one session. A list reads them as a [`ListedRecord`].
#[derive(Debug, Clone, Default, PartialEq, Encode, Decode)]
pub(crate) struct SessionRecord<Text = String, Bytes = Vec<u8>, Rest = SessionRest> {
    /// The header's id, WTF-8 as JavaScript would hold it.
    pub(crate) external_id: Bytes,
    /// 1, or `n` for the n-th file that claims the same id: addressed as `<id>~n`.
    pub(crate) number: u32,
    /// `Family::code`.
    pub(crate) family: u8,
    /// The version that the imported header states; 1 if it states none.
    pub(crate) imported_version: Text,
    /// Whether a migration rewrote the lines; the imported bytes are then in `originals`.
    pub(crate) migrated: bool,
    /// Whether a parent comes later, ids repeat or parents form a loop: then the tree is walked only by parents, since
    /// the nodes' depth, jump, settings and compaction are not valid.
    pub(crate) irregular: bool,
    /// The header's working directory.
    pub(crate) cwd: Option<Text>,
    /// The directory to which its project was moved.
    pub(crate) moved: Option<Moved<Text>>,
    /// The title or the name last set.
    pub(crate) title: Option<Text>,
    /// The header's `parentSession`, opaque.
    pub(crate) parent_session: Option<Text>,
    /// The agent whose conversation it is, if another session (`parent_session`) started it: the agent's id, which may
    /// be empty.
    pub(crate) agent: Option<Text>,
    /// The beginning of the first user message.
    pub(crate) first_prompt: Option<Text>,
    /// The header's time in milliseconds since 1970.
    pub(crate) created: Option<i64>,
    /// Time of the last message, or else of the header, or else of the file.
    pub(crate) modified: Option<i64>,
    /// Lines of all kinds; if a line has several records, each counts here.
    pub(crate) lines: u64,
    /// Records that end before their line does: all but the last one of a line.
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
    /// Entries whose id a later entry also has.
    pub(crate) duplicates: u64,
    /// Entries without a string id.
    pub(crate) unaddressed: u64,
    /// The facts that lists do not show; a whole record derefs to them.
    pub(crate) rest: Rest,
}

/// The facts of a session that no list shows.
#[derive(Debug, Clone, Default, PartialEq, Encode, Decode)]
pub(crate) struct SessionRest {
    /// Whether records are recovered from lines that are not JSON.
    pub(crate) recovers: bool,
    /// The rank of the record that set the title: the higher of two wins. [`NAMED_HERE`] counts as 0.
    pub(crate) title_rank: u8,
    /// Time of the last message of the user or the assistant.
    pub(crate) last_activity: Option<i64>,
    /// The header's ordinal.
    pub(crate) header: Ordinal,
    /// Bytes of the lines as stored, before compression: without what was cut out.
    pub(crate) text_bytes: u64,
    /// Rows in `settings`.
    pub(crate) settings: u64,
    /// Lines that are sealed. Those after them were appended since, each append in a chunk of its own.
    pub(crate) sealed: u64,
    /// The last message that is not on a sidechain, and the last that is on one.
    pub(crate) last_message: Option<Ordinal>,
    pub(crate) last_sidechain_message: Option<Ordinal>,
    /// Whether it was changed here and is exported as its program would save it: its lines and leaf then have bytes of
    /// their own.
    pub(crate) rewritten: bool,
    /// How often the session was written.
    pub(crate) revision: u64,
    /// The revision that last changed existing lines; 0 as long as lines were only added.
    pub(crate) changed_at: u64,
    /// Lines and bytes by type.
    pub(crate) types: TypeCounts,
    /// What was imported.
    pub(crate) imported: ImportedBytes,
    /// Paths of the files from which this session was imported: its keys in `sources`.
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

/// The imported bytes with which the session's bytes still begin, by which a later import distinguishes growth of the
/// file from a change. Empty for a session that was created or rewritten here; but one that is exported as its program
/// would save it keeps what identifies the imported file, whatever happened to its lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct ImportedBytes {
    /// How many.
    pub(crate) length: u64,
    /// Their [`Fingerprint`](super::fingerprint::Fingerprint).
    pub(crate) digest: u128,
    /// The chain of its whole blocks, from which it is continued.
    pub(crate) chain: u128,
    /// Whether the last line is complete: the bytes end with a line feed, or there are none.
    pub(crate) complete: bool,
}

impl Record for SessionRecord {
    const TABLE: &'static str = "sessions";

    fn from_bytes(bytes: &[u8], place: impl FnOnce() -> String) -> Result<Self> {
        record::versioned::<Self, _>(bytes, place, |rest| {
            let (record, _) = record::read::<Self>(rest)?;
            match record.contradiction() {
                None => Ok(record),
                Some(problem) => Err(problem),
            }
        })
    }
}

/// Bytes of a row's checksum.
const CHECK_BYTES: usize = 8;

/// Whether a row is one that was written for this session. In a page to which a checksum leads it is; this is asked of others.
pub(crate) fn is_proven(row: &[u8], session: SessionKey) -> bool {
    row.split_last_chunk::<CHECK_BYTES>().is_some_and(|(record, check)| {
        let read = || SessionRecord::from_bytes(record, String::new);
        *check == checksum(record, session) && read().is_ok_and(|read| read.to_bytes() == record)
    })
}

fn checksum(record: &[u8], session: SessionKey) -> [u8; CHECK_BYTES] {
    xxh3_64_with_seed(record, session.raw()).to_le_bytes()
}

impl SessionRecord {
    /// The row's value: the record, and behind it a checksum of it and of the session's key, by which it is known where no
    /// index leads to it.
    pub(crate) fn to_row(&self, session: SessionKey) -> Vec<u8> {
        let mut row = self.to_bytes();
        row.extend(checksum(&row, session));
        row
    }

    /// How the session's lines are read.
    pub(crate) fn reading(&self) -> Reading {
        Reading { family: self.known_family(), recovers: self.recovers }
    }

    /// Whether it has more than what was imported: lines were appended here, or anything was changed in a session that
    /// is exported as its program would save it.
    pub(crate) fn is_ahead(&self) -> bool {
        self.rewritten || (!self.migrated && self.bytes > self.imported.length)
    }

    /// Rows in `entries`: one for all entries with the same id.
    pub(crate) fn addressed(&self) -> u64 {
        self.entries.saturating_sub(self.unaddressed.saturating_add(self.duplicates))
    }

    /// Records that a session was changed here. Where the program saves the whole file, the session is from now on exported as
    /// it would save it. Its modification time becomes the current time: such a program lists sessions by the times of
    /// their files, and its messages state no time.
    pub(crate) fn note_change(&mut self) {
        if self.saves_whole() {
            self.rewritten = true;
            self.modified = Some(now());
        }
    }

    /// Records that the program's file has the session's name.
    pub(crate) fn note_named(&mut self) {
        if self.title_rank == NAMED_HERE {
            self.title_rank = 0;
        }
    }

    /// Whether its program writes the whole file each time.
    fn saves_whole(&self) -> bool {
        Family::from_code(self.family).is_some_and(Family::saves_whole)
    }

    /// The first contradiction in the record, if any. Checked before a record is written, and when it is read.
    pub(crate) fn contradiction(&self) -> Option<String> {
        let last = |message: Option<Ordinal>| message.map_or(0, Ordinal::number);
        let has_whole_file = !self.migrated && !self.rewritten;
        let imported = if has_whole_file { self.imported.length } else { 0 };
        let header = if self.lines > 0 { self.header.number() } else { 0 };
        let bounds = [
            ("lines up to the header", header, "lines", self.lines),
            ("lines up to the last message", last(self.last_message), "lines", self.lines),
            (
                "lines up to the last message on a sidechain",
                last(self.last_sidechain_message),
                "lines",
                self.lines,
            ),
            ("sealed lines", self.sealed, "lines", self.lines),
            ("bytes of text", self.text_bytes, "bytes", self.bytes),
            ("settings", self.settings, "entries", self.entries),
            ("imported bytes", imported, "bytes", self.bytes),
            ("as its last change of lines", self.changed_at, "as revision", self.revision),
        ];
        let contradiction = self.listed_contradiction().or_else(|| first_beyond(&bounds));
        contradiction.or_else(|| {
            if self.dropped > 0 && !self.migrated {
                Some("lines were dropped, and none migrated".to_owned())
            } else if self.rewritten && !self.saves_whole() {
                Some(
                    "it is exported as its program saves it, which writes no whole files"
                        .to_owned(),
                )
            } else {
                None
            }
        })
    }
}

/// A record's counts, and their upper bounds.
type Bound = (&'static str, u64, &'static str, u64);

/// The problem with the first count that exceeds its bound.
fn first_beyond(bounds: &[Bound]) -> Option<String> {
    let beyond = bounds.iter().find(|(_, count, _, bound)| count > bound);
    beyond.map(|(what, count, of, bound)| format!("it has {count} {what}, and {bound} {of}"))
}

impl<Text, Bytes, Rest> SessionRecord<Text, Bytes, Rest>
where
    Text: AsRef<str> + PartialEq,
    Bytes: AsRef<[u8]>,
{
    /// The working directory: the one to which the project was moved, as long as the header names the one from which it
    /// was moved.
    pub(crate) fn directory(&self) -> Option<&str> {
        let moved = self.moved.as_ref().filter(|moved| moved.from == self.cwd);
        moved.map(|moved| &moved.to).or(self.cwd.as_ref()).map(AsRef::as_ref)
    }

    /// The first contradiction in the facts that lists read, if any.
    fn listed_contradiction(&self) -> Option<String> {
        if Family::from_code(self.family).is_none() {
            return Some(format!("family {} is not known", self.family));
        }
        let without_row = self.duplicates.saturating_add(self.unaddressed);
        first_beyond(&[
            ("lines", self.lines, "bytes", self.bytes),
            ("records that end before their line", self.splits, "lines", self.lines),
            ("entries", self.entries, "lines", self.lines),
            ("messages", self.messages, "entries", self.entries),
            ("malformed lines", self.malformed, "lines", self.physical_lines()),
            ("recovered entries", self.recovered, "entries", self.entries),
            ("orphans", self.orphans, "entries", self.entries),
            ("entries without an id of their own", without_row, "entries", self.entries),
        ])
    }

    /// The family of the session's format.
    pub(crate) fn known_family(&self) -> Family {
        Family::from_code(self.family).expect("a record of no known family is not read")
    }

    /// Physical lines.
    pub(crate) fn physical_lines(&self) -> u64 {
        self.lines.saturating_sub(self.splits)
    }

    /// The id that callers use: lossy if it is not UTF-8, and `<id>~n` for a later claim of the same id.
    pub(crate) fn id(&self) -> String {
        self.borrowed_id().into_owned()
    }

    /// [`Self::id`], borrowed if it is the external one.
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

/// A record whose texts stay in the store's page, read only as far as a list needs: a session that is not listed costs
/// no memory.
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
    /// Decodes a record in place; `place` says where it is, for the error.
    pub(crate) fn borrowed(bytes: &'p [u8], place: impl FnOnce() -> String) -> Result<Self> {
        record::versioned::<SessionRecord, _>(bytes, place, |rest| {
            let record = record::read_borrowed::<Self>(rest)?;
            match record.listed_contradiction() {
                None => Ok(record),
                Some(problem) => Err(problem),
            }
        })
    }
}

/// The id under which the `number`-th session with the external id is addressed.
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

/// What an address says: the id, and the number if it differs from the one that is believed.
pub(crate) fn parse_address(address: &[u8], external_id: &[u8], number: u32) -> (Vec<u8>, u32) {
    if let Some(id) = address.strip_suffix(format!("~{number}").as_bytes())
        && number > 1
    {
        return (id.to_vec(), number);
    }
    let rest = address.strip_prefix(external_id).and_then(|rest| rest.strip_prefix(b"~"));
    let other = rest.and_then(|rest| std::str::from_utf8(rest).ok()?.parse().ok());
    match other {
        Some(number) if number > 1 => (external_id.to_vec(), number),
        _ => (address.to_vec(), 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_proves_itself_for_its_session_alone() {
        let record = SessionRecord {
            external_id: b"id".to_vec(),
            cwd: Some("/work".into()),
            created: Some(1_770_000_000_000),
            ..SessionRecord::default()
        };
        let session = SessionKey::new(7);
        let row = record.to_row(session);
        assert_eq!(SessionRecord::from_bytes(&row, String::new).unwrap(), record);
        assert!(is_proven(&row, session));
        assert!(!is_proven(&record.to_bytes(), session));
        assert!(!is_proven(&row, SessionKey::new(6)));
        for bit in 0..row.len() * 8 {
            let mut damaged = row.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_proven(&damaged, session), "bit {bit}");
        }
        for end in record.to_bytes().len() + 1..row.len() {
            assert!(!is_proven(&row[..end], session), "{end} bytes");
        }
    }

    #[test]
    fn an_address_says_what_of_a_record_is_damaged() {
        for (id, number) in [("id", 1), ("id", 3), ("i~4", 1), ("i~4", 2), ("", 5)] {
            let address = address_bytes(id.as_bytes(), number);
            let right = (id.as_bytes().to_vec(), number);
            assert_eq!(parse_address(&address, b"id damaged", number), right);
            let of_number = parse_address(&address, id.as_bytes(), 7);
            assert_eq!(address_bytes(&of_number.0, of_number.1), address);
        }
    }

    #[test]
    fn a_record_of_no_known_family_is_damage() {
        let record = SessionRecord { family: 17, ..SessionRecord::default() };
        let bytes = record.to_bytes();
        let read = SessionRecord::from_bytes(&bytes, || "1".to_owned()).map(drop);
        let listed = ListedRecord::borrowed(&bytes, || "1".to_owned()).map(drop);
        for outcome in [read, listed] {
            let error = outcome.unwrap_err().to_string();
            assert!(error.contains("family 17 is not known"), "{error}");
        }
    }

    /// A record in which every count is at its bound.
    fn full() -> SessionRecord {
        let rest = SessionRest {
            header: Ordinal::new(9),
            text_bytes: 10,
            settings: 9,
            sealed: 10,
            last_message: Some(Ordinal::new(9)),
            last_sidechain_message: Some(Ordinal::new(9)),
            revision: 3,
            changed_at: 3,
            imported: ImportedBytes { length: 10, ..ImportedBytes::default() },
            ..SessionRest::default()
        };
        SessionRecord {
            lines: 10,
            bytes: 10,
            messages: 9,
            entries: 9,
            malformed: 10,
            recovered: 9,
            orphans: 9,
            duplicates: 4,
            unaddressed: 5,
            rest,
            ..SessionRecord::default()
        }
    }

    #[test]
    fn a_record_that_contradicts_itself_is_damage() {
        assert_eq!(full().contradiction(), None);
        type Change = fn(&mut SessionRecord);
        let listed: [Change; 9] = [
            |record| record.lines = 11,
            |record| record.splits = 11,
            |record| record.entries = 11,
            |record| record.messages = 10,
            |record| record.malformed = 11,
            |record| record.recovered = 10,
            |record| record.orphans = 10,
            |record| record.duplicates = 5,
            |record| record.unaddressed = u64::MAX,
        ];
        let rest: [Change; 10] = [
            |record| record.header = Ordinal::new(10),
            |record| record.text_bytes = 11,
            |record| record.settings = 10,
            |record| record.sealed = 11,
            |record| record.last_message = Some(Ordinal::new(u64::MAX)),
            |record| record.last_sidechain_message = Some(Ordinal::new(10)),
            |record| record.changed_at = 4,
            |record| record.imported.length = 11,
            |record| record.dropped = 1,
            |record| record.rewritten = true,
        ];
        let is_listed = [true; 9].into_iter().chain([false; 10]);
        for (number, (change, is_listed)) in listed.iter().chain(&rest).zip(is_listed).enumerate() {
            let mut record = full();
            change(&mut record);
            let bytes = record.to_bytes();
            let read = SessionRecord::from_bytes(&bytes, || "1".to_owned());
            assert!(read.is_err(), "change {number}");
            let listed = ListedRecord::borrowed(&bytes, || "1".to_owned());
            assert_eq!(listed.is_err(), is_listed, "change {number}");
        }
        // Neither a migrated session nor one that was changed here has the imported bytes.
        let mut migrated = SessionRecord { migrated: true, dropped: 1, ..full() };
        migrated.imported.length = 11;
        assert_eq!(migrated.contradiction(), None);
        let mut rewritten = SessionRecord { family: Family::Opal.code(), ..full() };
        rewritten.rewritten = true;
        rewritten.imported.length = 11;
        assert_eq!(rewritten.contradiction(), None);
    }
}
