//! A record of the journal, in its bytes.

use xxhash_rust::xxh3::Xxh3;

use super::super::session_key::SessionKey;
use super::row::Place;

/// Bytes of a record before its payload.
pub(super) const HEAD: usize = 56;

/// Records begin at multiples of this.
const ALIGNMENT: u64 = 8;

/// The longest payload: what is longer goes into the tables at once.
pub(crate) const MOST_PAYLOAD: usize = 256 << 10;

/// What was written to a session, before it is in the tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Journaled {
    pub(crate) session: SessionKey,
    /// What it means is said by the layer that writes it.
    pub(crate) payload: Vec<u8>,
    /// The place behind it.
    pub(crate) end: Place,
}

impl Journaled {
    /// Its number.
    pub(crate) fn sequence(&self) -> u64 {
        self.end.sequence
    }

    /// The bytes that it takes.
    pub(super) fn bytes(&self) -> u64 {
        size(self.payload.len())
    }
}

/// What each record says of its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) epoch: u64,
    /// The commits that its writer saw: [`JournalRow::commits`](super::row::JournalRow).
    pub(super) commits: u64,
    /// The last record of which its writer knew that it was on the disk, if it says so: of one that is missing or damaged it
    /// proves that it was there.
    pub(super) synced: Option<u64>,
}

/// The head of a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    pub(super) length: usize,
    pub(super) stamp: Stamp,
    pub(super) sequence: u64,
    pub(super) session: u64,
    /// The checksum of the record before.
    previous: u64,
    check: u64,
}

/// Bytes that a record with this payload takes.
pub(super) fn size(payload: usize) -> u64 {
    (HEAD as u64 + payload as u64).next_multiple_of(ALIGNMENT)
}

/// The bytes of the record that follows a place, and its checksum.
pub(super) fn encode(
    after: &Place,
    stamp: Stamp,
    session: SessionKey,
    payload: &[u8],
) -> (Vec<u8>, u64) {
    let mut bytes = Vec::with_capacity(HEAD + payload.len() + 7);
    let sequence = after.sequence + 1;
    let unsynced = stamp.synced.and_then(|synced| sequence.checked_sub(synced));
    let unsynced = unsynced.and_then(|count| u32::try_from(count).ok()).unwrap_or(0);
    // The caller has compared it with `MOST_PAYLOAD`.
    let length = u64::try_from(payload.len()).unwrap_or(u64::MAX) | u64::from(unsynced) << 32;
    for number in [length, stamp.epoch, sequence, session.raw(), stamp.commits, after.check] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    let check = checksum(&bytes, payload);
    bytes.extend_from_slice(&check.to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    (bytes, check)
}

impl Head {
    /// Reads the bytes of a head; `None` if they cannot be one.
    pub(super) fn parse(bytes: &[u8; HEAD]) -> Option<Self> {
        let number = |index: usize| -> Option<u64> {
            let bytes = bytes.get(index * 8..index * 8 + 8)?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        let (length, unsynced) = (number(0)? & u64::from(u32::MAX), number(0)? >> 32);
        let length = usize::try_from(length).ok().filter(|length| *length <= MOST_PAYLOAD)?;
        let (sequence, session) = (number(2)?, number(3)?);
        let synced = if unsynced == 0 { None } else { sequence.checked_sub(unsynced) };
        let stamp = Stamp { epoch: number(1)?, commits: number(4)?, synced };
        Some(Self { length, stamp, sequence, session, previous: number(5)?, check: number(6)? })
    }

    /// Whether the record follows a place in an epoch, as far as its head says.
    pub(super) fn follows(&self, place: &Place, epoch: u64) -> bool {
        self.stamp.epoch == epoch
            && place.sequence.checked_add(1) == Some(self.sequence)
            && self.previous == place.check
    }

    /// The place that the record follows, as far as its head says: not where that is in the file.
    pub(super) fn behind(&self) -> Place {
        Place { sequence: self.sequence.saturating_sub(1), check: self.previous, at: 0 }
    }

    /// Whether the payload and the head are as they were written.
    pub(super) fn fits(&self, bytes: &[u8; HEAD], payload: &[u8]) -> bool {
        bytes.get(..HEAD - 8).is_some_and(|head| checksum(head, payload) == self.check)
    }

    /// The place behind the record, which begins at a byte.
    pub(super) fn end(&self, at: u64) -> Place {
        Place { sequence: self.sequence, check: self.check, at: at + size(self.length) }
    }
}

fn checksum(head: &[u8], payload: &[u8]) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(head);
    hasher.update(payload);
    hasher.digest()
}
