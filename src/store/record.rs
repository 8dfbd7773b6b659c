//! How records are encoded: a version byte, then bincode's variable-length encoding.

use bincode::config::{Configuration, Limit, LittleEndian, Varint};
use bincode::{BorrowDecode, Decode, Encode};

use crate::error::{Corruption, Error};

/// The largest record; a greater length is damage, and is not allocated.
const MAX_RECORD_BYTES: usize = 256 << 20;

const CONFIGURATION: Configuration<LittleEndian, Varint, Limit<MAX_RECORD_BYTES>> =
    bincode::config::standard().with_limit::<MAX_RECORD_BYTES>();

/// A value of a table: which table it belongs to, and which version of its layout this is.
pub(crate) trait Record: Encode + Decode<()> {
    /// The table's name, for errors.
    const TABLE: &'static str;
    /// The layout of its values.
    const VERSION: u8 = 1;

    /// The record's bytes.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![Self::VERSION];
        append(self, &mut bytes);
        bytes
    }

    /// Decodes a record; `place` says where it was, for the error.
    fn from_bytes(bytes: &[u8], place: impl FnOnce() -> String) -> Result<Self, Error> {
        versioned::<Self, _>(bytes, place, |rest| read(rest).map(|(record, _)| record))
    }
}

/// Decodes the part of an `R` record after its version.
pub(crate) fn versioned<'b, R: Record, T>(
    bytes: &'b [u8],
    place: impl FnOnce() -> String,
    read: impl FnOnce(&'b [u8]) -> Result<T, String>,
) -> Result<T, Error> {
    let decoded = match bytes.split_first() {
        Some((&version, rest)) if version == R::VERSION => read(rest),
        Some((&version, _)) => Err(format!("layout version {version} is not known")),
        None => Err("is empty".to_owned()),
    };
    decoded.map_err(|problem| {
        Error::Corrupted(Corruption { table: R::TABLE, place: place(), problem })
    })
}

/// Appends the bare encoding of `value`, without a version.
pub(crate) fn append<T: Encode>(value: &T, bytes: &mut Vec<u8>) {
    bincode::encode_into_std_write(value, bytes, CONFIGURATION)
        .expect("a record of ours fits in memory, and a vector takes every byte");
}

/// Decodes a value without a version: the value, and the number of bytes it took.
pub(crate) fn read<T: Decode<()>>(bytes: &[u8]) -> Result<(T, usize), String> {
    bincode::decode_from_slice(bytes, CONFIGURATION).map_err(|error| error.to_string())
}

/// Decodes a value without a version, borrowing its texts.
pub(crate) fn read_borrowed<'b, T: BorrowDecode<'b, ()>>(bytes: &'b [u8]) -> Result<T, String> {
    let decoded = bincode::borrow_decode_from_slice(bytes, CONFIGURATION);
    decoded.map(|(value, _)| value).map_err(|error| error.to_string())
}

/// Bytes that the variable-length encoding takes for `value`.
pub(crate) fn encoded_len(value: u64) -> usize {
    match value {
        0..=250 => 1,
        251..=0xffff => 3,
        0x1_0000..=0xffff_ffff => 5,
        _ => 9,
    }
}

/// Maps small numbers of either sign to small numbers without a sign.
pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// The inverse of [`zigzag`].
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Encode, Decode)]
    struct Sample(Vec<u64>, String);

    impl Record for Sample {
        const TABLE: &'static str = "sample";
    }

    #[test]
    fn records_come_back() {
        let sample = Sample(vec![0, 250, 251, 70_000, u64::MAX], "text".into());
        let bytes = sample.to_bytes();
        assert_eq!(Sample::from_bytes(&bytes, String::new).unwrap(), sample);
    }

    #[test]
    fn damage_is_an_error_not_a_panic() {
        let bytes = Sample(vec![1, 2, 3], "text".into()).to_bytes();
        for cut in 0..bytes.len() {
            assert!(Sample::from_bytes(&bytes[..cut], String::new).is_err());
        }
        let huge = [1, 253, 255, 255, 255, 255, 255, 255, 255, 127];
        assert!(Sample::from_bytes(&huge, String::new).is_err());
        let newer = [9, 0, 0];
        let error = Sample::from_bytes(&newer, || "key 7".into()).unwrap_err();
        assert!(error.to_string().contains("layout version 9"), "{error}");
    }

    #[test]
    fn lengths_match_the_encoding() {
        for value in [0, 250, 251, 65_535, 65_536, u64::from(u32::MAX), 1 << 32, u64::MAX] {
            let mut bytes = Vec::new();
            append(&value, &mut bytes);
            assert_eq!(bytes.len(), encoded_len(value), "{value}");
        }
        for value in [0, 1, -1, 77, -77, i64::MAX, i64::MIN] {
            assert_eq!(unzigzag(zigzag(value)), value);
        }
    }
}
