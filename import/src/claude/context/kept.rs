//! The messages that a compaction keeps word by word.
//!
//! They move behind the entry that the compaction names as their anchor, and what else is ahead of the compaction in the
//! file is gone, whatever hangs on it (observed).

use std::borrow::Cow;
use std::collections::HashMap;

use crate::claude::Scanner;
use crate::claude::record::Preserved;
use crate::conversation::{Above, Conversation, Images, Link, PathEnd};
use crate::scan::Raw;
use crate::{EntryKind, text};

/// The messages that a compaction keeps, and their place.
#[derive(Debug)]
pub(super) struct Kept {
    /// The compaction.
    boundary: u64,
    /// The entry that they hang on; `None` if it is not in the session.
    anchor: Option<u64>,
    /// First to last.
    entries: Vec<u64>,
    /// The place of each among `entries`.
    places: HashMap<u64, usize>,
}

/// What a boundary names, by uuid.
enum Named {
    Messages(Vec<Option<Vec<u8>>>),
    Segment { head: Vec<u8>, tail: Vec<u8> },
}

impl Kept {
    /// What is kept in the context at an entry, by the last compaction that is not behind it; for an entry that the
    /// session's last compaction keeps, by that one.
    pub(super) fn at<C: Conversation>(
        conversation: &mut C,
        leaf: u64,
    ) -> Result<Option<Self>, C::Error> {
        let Some(last) = conversation.last_compaction(u64::MAX)? else { return Ok(None) };
        let kept = Self::by(conversation, last)?;
        if last <= leaf || kept.as_ref().is_some_and(|kept| kept.places.contains_key(&leaf)) {
            return Ok(kept);
        }
        match conversation.last_compaction(leaf)? {
            Some(boundary) => Self::by(conversation, boundary),
            None => Ok(None),
        }
    }

    /// What a compaction keeps; `None` if nothing, and where one of the messages is not in the session (observed).
    fn by<C: Conversation>(conversation: &mut C, boundary: u64) -> Result<Option<Self>, C::Error> {
        let named = {
            let decoded = text::decode(conversation.line(boundary, Images::Omitted)?);
            let mut scanner = Scanner::new();
            let record = scanner.scan(text::trim_start_of_file(&decoded));
            let uuid = |raw: Raw<'_>| raw.as_string().map(Cow::into_owned);
            match record.preserved() {
                None => None,
                Some(Preserved::Messages { anchor, uuids }) => {
                    let uuids = uuids.elements().map(uuid).collect();
                    Some((anchor.and_then(uuid), Named::Messages(uuids)))
                }
                Some(Preserved::Segment { anchor, head, tail }) => {
                    let (head, tail) = (head.into_owned(), tail.into_owned());
                    Some((anchor.and_then(uuid), Named::Segment { head, tail }))
                }
            }
        };
        let Some((anchor, named)) = named else { return Ok(None) };
        let entries = match named {
            Named::Messages(uuids) => messages(conversation, &uuids)?,
            Named::Segment { head, tail } => segment(conversation, &head, &tail)?,
        };
        let Some(entries) = entries else { return Ok(None) };
        let anchor = anchor.map(|anchor| conversation.find(&anchor)).transpose()?.flatten();
        let places = entries.iter().enumerate().map(|(place, &entry)| (entry, place)).collect();
        let kept = Self { boundary, anchor: None, entries, places };
        Ok(Some(Self { anchor: anchor.filter(|&anchor| !kept.is_gone(anchor)), ..kept }))
    }

    /// The compaction: ahead of it there is only what it keeps.
    pub(super) fn boundary(&self) -> u64 {
        self.boundary
    }

    /// The entry at which the path to an entry begins: the kept messages follow the anchor.
    pub(super) fn leaf(&self, entry: u64) -> u64 {
        match self.entries.last() {
            Some(&last) if self.anchor == Some(entry) => last,
            _ => entry,
        }
    }

    /// Whether an entry was compacted.
    fn is_gone(&self, entry: u64) -> bool {
        entry < self.boundary && !self.places.contains_key(&entry)
    }

    /// What comes above an entry, where the compaction has changed that.
    pub(super) fn above<C: Conversation>(
        &self,
        conversation: &C,
        entry: u64,
    ) -> Result<Option<Above<u64>>, C::Error> {
        let above =
            |place: Option<u64>| Some(place.map_or(Above::End(PathEnd::Orphan), Above::Entry));
        if let Some(&place) = self.places.get(&entry) {
            let before = place.checked_sub(1).and_then(|before| self.entries.get(before).copied());
            return Ok(above(before.or(self.anchor)));
        }
        let Link::Entry(parent) = conversation.parent(entry)? else { return Ok(None) };
        let last = self.entries.last().copied();
        if self.anchor == Some(parent) && last.is_some() {
            return Ok(above(last));
        }
        if !self.is_gone(parent) {
            return Ok(None);
        }
        let is_message = conversation.node(entry)?.kind == EntryKind::Message;
        Ok(above(last.filter(|_| is_message)))
    }
}

/// The entries of a list; `None` if one is not in the session.
fn messages<C: Conversation>(
    conversation: &C,
    uuids: &[Option<Vec<u8>>],
) -> Result<Option<Vec<u64>>, C::Error> {
    let mut entries = Vec::with_capacity(uuids.len());
    for uuid in uuids {
        let entry = match uuid {
            Some(uuid) => conversation.find(uuid)?,
            None => None,
        };
        let Some(entry) = entry else { return Ok(None) };
        entries.push(entry);
    }
    Ok(Some(entries))
}

/// The entries from one up to another above it; `None` if it is not above.
fn segment<C: Conversation>(
    conversation: &C,
    head: &[u8],
    tail: &[u8],
) -> Result<Option<Vec<u64>>, C::Error> {
    let (Some(head), Some(tail)) = (conversation.find(head)?, conversation.find(tail)?) else {
        return Ok(None);
    };
    let (path, _) = conversation.climb(tail, |entry| {
        Ok(match conversation.parent(entry)? {
            Link::Entry(parent) if entry != head => Above::Entry(parent),
            _ => Above::End(PathEnd::Root),
        })
    })?;
    Ok((path.highest() == Some(head)).then(|| path.downwards().collect()))
}
