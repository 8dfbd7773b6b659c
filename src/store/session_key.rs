//! The key of a session, with which all keys of its rows begin.

use std::fmt;
use std::ops::RangeInclusive;

use bincode::{Decode, Encode};

use super::ordinal::Ordinal;
use crate::error::Corruption;

/// The number that the store gives to a session. It is never used twice. Records contain only the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub(crate) struct SessionKey(u64);

impl SessionKey {
    /// All keys.
    pub(crate) const ALL: RangeInclusive<Self> = Self(0)..=Self(u64::MAX);

    /// The key with this number, from a table or a record.
    pub(crate) const fn new(raw: u64) -> Self {
        Self(raw)
    }

    /// The number, as in tables.
    pub(crate) const fn raw(self) -> u64 {
        self.0
    }

    /// Greater than the beginning of all keys of this session's rows, and at most that of later ones: a range of rows
    /// ends there.
    pub(super) const fn end(self) -> u64 {
        self.0.saturating_add(1)
    }

    /// The error for a damaged chunk of the session, named by the chunk's first line.
    pub(crate) fn damaged_chunk(self, first: Ordinal, problem: impl Into<String>) -> Corruption {
        Corruption {
            table: "lines",
            place: format!("session key {self}, chunk of line {first}"),
            problem: problem.into(),
        }
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
