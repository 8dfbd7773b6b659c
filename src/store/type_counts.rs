//! How many lines of each type a session has: a part of its record that is read only where it is asked for.

use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use bincode::de::{BorrowDecoder, Decoder};
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{BorrowDecode, Decode, Encode};

use super::record::{append, read};

/// How many lines of a type there are. Messages count by role, as `message/user`.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct TypeCount {
    pub(crate) name: String,
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
}

/// The counts of all types. A record that is read for a list keeps them as they are stored.
#[derive(Debug, Clone, Default)]
pub(crate) struct TypeCounts {
    stored: Vec<u8>,
    counts: OnceLock<Vec<TypeCount>>,
}

impl Deref for TypeCounts {
    type Target = Vec<TypeCount>;

    fn deref(&self) -> &Vec<TypeCount> {
        // Bytes that are no counts are damage, which `verify` finds: the counts are not those of the lines.
        self.counts.get_or_init(|| match self.stored.is_empty() {
            true => Vec::new(),
            false => read::<Vec<TypeCount>>(&self.stored)
                .map_or_else(|_| Vec::new(), |(counts, _)| counts),
        })
    }
}

impl DerefMut for TypeCounts {
    fn deref_mut(&mut self) -> &mut Vec<TypeCount> {
        let _ = Self::deref(self);
        self.stored = Vec::new();
        self.counts.get_mut().expect("they were read just now")
    }
}

impl PartialEq for TypeCounts {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Encode for TypeCounts {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        let mut bytes = Vec::new();
        append(&**self, &mut bytes);
        bytes.encode(encoder)
    }
}

impl<Context> Decode<Context> for TypeCounts {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        Ok(Self { stored: Vec::decode(decoder)?, counts: OnceLock::new() })
    }
}

impl<'de, Context> BorrowDecode<'de, Context> for TypeCounts {
    fn borrow_decode<D: BorrowDecoder<'de, Context = Context>>(
        decoder: &mut D,
    ) -> Result<Self, DecodeError> {
        Self::decode(decoder)
    }
}
