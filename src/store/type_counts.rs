//! How many lines of each type a session has: the part of its record from which the store's totals are computed.

use std::ops::{Deref, DerefMut};

use bincode::de::{BorrowDecoder, Decoder};
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{BorrowDecode, Decode, Encode};

use super::record::{append, read};

/// The name for lines whose type has too long a name, or is one type too many.
pub(crate) const OTHER: &str = "(other)";

/// Types with longer names count as [`OTHER`].
const LONGEST_NAME: usize = 64;

/// The number of lines of a type. Messages count by role, as `message/user`.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct TypeCount {
    pub(crate) name: String,
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
}

/// The counts of all types. In a record, their length in bytes comes before them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TypeCounts(Vec<TypeCount>);

/// The name under which a line with this type is counted.
pub(crate) fn name_to_count(stated: &str) -> &str {
    if stated.is_empty() || stated.len() > LONGEST_NAME { OTHER } else { stated }
}

impl TypeCounts {
    /// Corrects the bytes of a line that is counted under this name.
    pub(crate) fn change_bytes(&mut self, name: &str, before: u64, after: u64) {
        let place = |name: &str| self.0.iter().position(|count| count.name == name);
        let count = place(name).or_else(|| place(OTHER)).and_then(|place| self.0.get_mut(place));
        if let Some(count) = count {
            count.bytes = (count.bytes + after).saturating_sub(before);
        }
    }
}

impl Deref for TypeCounts {
    type Target = Vec<TypeCount>;

    fn deref(&self) -> &Vec<TypeCount> {
        &self.0
    }
}

impl DerefMut for TypeCounts {
    fn deref_mut(&mut self) -> &mut Vec<TypeCount> {
        &mut self.0
    }
}

impl Encode for TypeCounts {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        let mut bytes = Vec::new();
        append(&self.0, &mut bytes);
        bytes.encode(encoder)
    }
}

impl<Context> Decode<Context> for TypeCounts {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let stored: Vec<u8> = Vec::decode(decoder)?;
        match read::<Vec<TypeCount>>(&stored) {
            Ok((counts, length)) if length == stored.len() => Ok(Self(counts)),
            Ok(_) => Err(damaged("there are bytes behind them")),
            Err(problem) => Err(damaged(&problem)),
        }
    }
}

fn damaged(problem: &str) -> DecodeError {
    DecodeError::OtherString(format!("the counts of lines by type: {problem}"))
}

impl<'de, Context> BorrowDecode<'de, Context> for TypeCounts {
    fn borrow_decode<D: BorrowDecoder<'de, Context = Context>>(
        decoder: &mut D,
    ) -> Result<Self, DecodeError> {
        Self::decode(decoder)
    }
}
