//! A live change as it stands in the journal, before it is in the tables.

use std::collections::HashSet;

use bincode::{BorrowDecode, Decode, Encode};
use memchr::memmem;

use crate::error::{Corruption, Result};
use crate::store::journal::{Journaled, KnownJournal};
use crate::store::record::{self, Record};
use crate::store::session_key::SessionKey;
use crate::store::session_record::ImportedBytes;
use crate::store::source_record::SourceRecord;

/// The payload of a record of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(super) struct Change {
    /// The id by which the session is addressed.
    pub(super) session: Vec<u8>,
    /// Whole lines with their line feeds, as they follow those of the session; none where only the leaf moves.
    pub(super) text: Vec<u8>,
    /// The ids of the entries among them, in order.
    pub(super) ids: Vec<Vec<u8>>,
    /// The leaf behind them.
    pub(super) leaf: Leaf,
    /// What changes at the beginning of the session; then there are no new lines, and the leaf stays.
    pub(super) header: Option<HeaderChange>,
}

/// Lines outside the tree that others replace, and what these say of the session.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(super) struct HeaderChange {
    /// By their ordinals, with their line feeds.
    pub(super) lines: Vec<(u64, Vec<u8>)>,
    /// The new title, or none, and its rank.
    pub(super) title: Option<(Option<String>, u8)>,
    pub(super) cwd: Option<Option<String>>,
    pub(super) created: Option<Option<i64>>,
}

/// Where a change leaves the leaf.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(super) enum Leaf {
    /// Where it was.
    Same,
    /// Before all entries.
    None,
    /// At the last of the entries that it adds; the line of that one, in bytes of the text, where the next draft needs it.
    Last { line: Option<(u64, u64)> },
    /// At an entry with this id, which was there before.
    Moved(Vec<u8>),
    /// Where it is in a file with these lines at its end.
    OfFile,
    /// The same of a session that is a file, and when it was written, in milliseconds since 1970. Where the beginning
    /// changes, it stays.
    Written { at: i64 },
    /// The same of a session whose file has grown by these lines, and what the store has of the file then. Without lines, only
    /// the file's time is noted.
    Imported(Box<ImportedFile>),
}

impl Leaf {
    /// Whether the lines of a change are raw.
    pub(super) fn is_of_file(&self) -> bool {
        matches!(self, Self::OfFile | Self::Written { .. } | Self::Imported(_))
    }
}

/// What the store has of a session's file.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct ImportedFile {
    pub(crate) imported: ImportedBytes,
    /// Physical lines of the session, and its entries.
    pub(crate) lines: u64,
    pub(crate) entries: u64,
    /// The file's path, and its size and time.
    pub(crate) path: Vec<u8>,
    pub(crate) source: SourceRecord,
}

impl ImportedFile {
    /// What the journal has of a session's file beyond the tables, by the session's last record; `None` if that is another
    /// change.
    pub(crate) fn of(last: &Journaled) -> Result<Option<Self>> {
        Ok(match ReadChange::of(last)?.leaf {
            Leaf::Imported(file) => Some(*file),
            _ => None,
        })
    }
}

impl Record for Change {
    const TABLE: &'static str = "journal";
}

/// The lines that a record of the journal adds.
pub(crate) fn added_lines(payload: &[u8]) -> Result<Vec<u8>> {
    Change::from_bytes(payload, String::new).map(|change| change.text)
}

/// The same as it is read, of the record's bytes: a [`Change`] in the same order.
#[derive(Debug, BorrowDecode)]
pub(super) struct ReadChange<'j> {
    pub(super) session: &'j [u8],
    pub(super) text: &'j [u8],
    pub(super) ids: Vec<&'j [u8]>,
    pub(super) leaf: Leaf,
    pub(super) header: Option<HeaderChange>,
}

impl<'j> ReadChange<'j> {
    /// Reads a record of the journal.
    pub(super) fn of(journaled: &'j Journaled) -> Result<Self> {
        let place = || format!("record {}", journaled.sequence());
        record::versioned::<Change, _>(&journaled.payload, place, record::read_borrowed)
    }

    /// The line of the last entry.
    fn line(&self) -> Result<Option<&'j [u8]>> {
        let Leaf::Last { line: Some((start, end)) } = self.leaf else { return Ok(None) };
        let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        match range.and_then(|(start, end)| self.text.get(start..end)) {
            Some(line) => Ok(Some(line)),
            None => Err(Corruption {
                table: "journal",
                place: String::from_utf8_lossy(self.session).into_owned(),
                problem: "a record names a line that it does not have".into(),
            }
            .into()),
        }
    }
}

/// What the journal says of a session beyond the tables, read once.
#[derive(Debug, Default)]
pub(in super::super) struct Tail {
    epoch: u64,
    session: Option<SessionKey>,
    /// The last record that was read.
    read: u64,
    /// Entries that are in the journal alone, and some that were.
    ids: HashSet<Vec<u8>>,
    /// Whether the records have raw lines: all of them have, or none.
    is_raw: bool,
    /// What the last of them says of the session's file. Then all of them are growth of the file.
    file: Option<Box<ImportedFile>>,
    /// Whether one of them changes the header, or may name the session otherwise.
    names: bool,
    /// The leaf, if the journal moves it.
    pub(super) leaf: Option<TailLeaf>,
}

/// A leaf that only the journal knows.
#[derive(Debug, Clone)]
pub(super) struct TailLeaf {
    /// The entry's id; `None` before all entries.
    pub(super) id: Option<Vec<u8>>,
    /// Its line, if it was added by the journal and the family's drafts need it.
    pub(super) line: Option<Vec<u8>>,
    /// Whether the journal added it.
    pub(super) is_new: bool,
}

/// What lines have in them that name a session.
const NAMING: &[u8] = b"session_info";

/// Ids that are remembered although they are in the tables, before all are read again.
const MOST_STALE: usize = 4096;

impl Tail {
    /// Reads the records of a session that were not read yet.
    pub(super) fn catch_up(&mut self, known: &KnownJournal<'_>, session: SessionKey) -> Result<()> {
        let (epoch, mut pending) = (known.epoch(), known.pending(session));
        let Some(first) = pending.next().map(Journaled::sequence) else {
            *self = Self::default();
            return Ok(());
        };
        let count = 1 + pending.count();
        // Once all that was read is in the tables, these say more: the leaf may have moved there.
        let is_other = (self.epoch, self.session) != (epoch, Some(session)) || first > self.read;
        if is_other || self.ids.len() > count + MOST_STALE {
            *self = Self { epoch, session: Some(session), ..Self::default() };
        }
        let unread =
            known.pending(session).rev().take_while(|record| record.sequence() > self.read);
        let unread: Vec<&Journaled> = unread.collect();
        for journaled in unread.into_iter().rev() {
            self.take(journaled)?;
        }
        Ok(())
    }

    fn take(&mut self, journaled: &Journaled) -> Result<()> {
        let change = ReadChange::of(journaled)?;
        self.file = None;
        match &change.leaf {
            Leaf::Same => {}
            Leaf::Imported(file) => {
                self.is_raw = true;
                self.file = Some(file.clone());
            }
            Leaf::OfFile | Leaf::Written { .. } => self.is_raw |= change.header.is_none(),
            Leaf::None => self.leaf = Some(TailLeaf { id: None, line: None, is_new: false }),
            Leaf::Moved(id) => {
                self.leaf = Some(TailLeaf { id: Some(id.clone()), line: None, is_new: false });
            }
            Leaf::Last { .. } => {
                let line = change.line()?.map(<[u8]>::to_vec);
                let id = change.ids.last().map(|id| id.to_vec());
                self.leaf = Some(TailLeaf { id, line, is_new: true });
            }
        }
        self.names |= change.header.is_some() || memmem::find(change.text, NAMING).is_some();
        self.ids.extend(change.ids.into_iter().map(<[u8]>::to_vec));
        self.read = journaled.sequence();
        Ok(())
    }

    /// Whether the journal adds an entry with this id.
    pub(super) fn has(&self, id: &[u8]) -> bool {
        self.ids.contains(id)
    }

    /// Whether the journal changes the header, or has entries that name the session.
    pub(super) fn names(&self) -> bool {
        self.names
    }

    /// What the journal has of the session's file, if it has nothing else of the session.
    pub(super) fn file(&self) -> Option<&ImportedFile> {
        self.file.as_deref()
    }

    /// Whether what the journal has of the session are raw lines.
    pub(super) fn is_raw(&self) -> bool {
        self.is_raw
    }

    /// Whether the journal has anything of the session.
    pub(super) fn is_empty(&self) -> bool {
        self.read == 0
    }
}

/// The bytes of a record, with which a change is compared before it is written to the journal.
pub(super) fn payload(change: &Change) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(change.text.len() + 128);
    bytes.push(Change::VERSION);
    record::append(change, &mut bytes);
    bytes
}

/// Reads a payload in both ways, which say the same of it, and reads it again as it is written.
#[cfg(any(test, fuzzing))]
pub(crate) fn check_change(bytes: &[u8]) {
    let journaled = Journaled {
        session: SessionKey::new(1),
        payload: bytes.to_vec(),
        end: crate::store::journal::Place::default(),
    };
    let read = ReadChange::of(&journaled);
    let Ok(change) = Change::from_bytes(bytes, String::new) else {
        assert!(read.is_err());
        return;
    };
    let read = read.expect("what one can read the other can");
    assert_eq!((read.session, read.text), (&*change.session, &*change.text));
    assert_eq!((&read.leaf, &read.header), (&change.leaf, &change.header));
    assert_eq!(read.ids, change.ids);
    let _ = read.line();
    assert_eq!(Change::from_bytes(&payload(&change), String::new).expect("it was written"), change);
}

/// Payloads of each kind.
#[cfg(any(test, fuzzing))]
pub(crate) fn example_changes() -> Vec<Vec<u8>> {
    let header = HeaderChange {
        lines: vec![(0, b"{}\n".to_vec())],
        title: Some((Some("A title".to_owned()), 3)),
        cwd: Some(Some("/work".to_owned())),
        created: Some(None),
    };
    let leaves = [
        Leaf::Same,
        Leaf::None,
        Leaf::Last { line: Some((0, 12)) },
        Leaf::Moved(b"an-id".to_vec()),
        Leaf::OfFile,
        Leaf::Written { at: 1_771_300_000_000 },
        Leaf::Imported(Box::new(ImportedFile {
            imported: ImportedBytes { length: 11, digest: 1, chain: 0, complete: true },
            lines: 1,
            entries: 1,
            path: b"/work/a.jsonl".to_vec(),
            source: SourceRecord { session: SessionKey::new(1), size: 11, modified: Some(7) },
        })),
    ];
    let change = |leaf: Leaf| Change {
        session: b"live".to_vec(),
        text: b"{\"id\":\"a\"}\n".to_vec(),
        ids: vec![b"a".to_vec()],
        leaf,
        header: None,
    };
    let of_header = Change { header: Some(header), ..change(Leaf::Same) };
    leaves.map(change).iter().chain([&of_header]).map(payload).collect()
}
