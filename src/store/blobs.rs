//! Blobs: images and other long payloads, once each, by the SHA-256 of their bytes.

use bincode::{Decode, Encode};
use redb::Table;
use sha2::{Digest, Sha256};

use super::parts;
use super::record::Record;
use crate::error::{Corruption, Error, Result};
use crate::store::pages::ReadableTable;

/// A SHA-256.
pub(crate) type Hash = [u8; 32];

/// What the store records about a blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(crate) struct BlobRecord {
    /// Bytes; `None` while lines refer to a blob whose bytes are missing.
    pub(crate) size: Option<u64>,
    /// The number of holes and references in lines that name it, over all sessions.
    pub(crate) references: u64,
    /// How many of those had the base64 cut out, so that the line cannot be rendered without the bytes.
    pub(crate) holes: u64,
}

impl Record for BlobRecord {
    const TABLE: &'static str = "blobs";
}

/// The SHA-256 of some bytes.
pub(crate) fn hash(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// A hash in lower-case hex.
pub(crate) fn hex(hash: &Hash) -> String {
    use std::fmt::Write;
    hash.iter().fold(String::with_capacity(64), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes every write");
        text
    })
}

/// Reads 64 lower-case hex digits.
pub(crate) fn from_hex(text: &[u8]) -> Option<Hash> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut hash = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (byte, pair) in hash.iter_mut().zip(text.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(hash)
}

/// The open blob tables of a write transaction.
pub(crate) struct BlobTables<'t> {
    pub(crate) records: Table<'t, &'static [u8; 32], &'static [u8]>,
    pub(crate) parts: Table<'t, (&'static [u8; 32], u32), &'static [u8]>,
}

impl BlobTables<'_> {
    /// The record, if there is one.
    pub(crate) fn record(&self, hash: &Hash) -> Result<Option<BlobRecord>> {
        read_record(&self.records, hash)
    }

    fn put_record(&mut self, hash: &Hash, record: BlobRecord) -> Result<()> {
        self.records.insert(hash, record.to_bytes().as_slice())?;
        Ok(())
    }

    /// Counts references to a blob; `holes` of them need its bytes.
    pub(crate) fn refer(&mut self, hash: &Hash, references: u64, holes: u64) -> Result<()> {
        let old = self.record(hash)?.unwrap_or(BlobRecord { size: None, references: 0, holes: 0 });
        self.put_record(
            hash,
            BlobRecord {
                size: old.size,
                references: old.references + references,
                holes: old.holes + holes,
            },
        )
    }

    /// Stores the blob's bytes, unless they are there; returns whether they were new.
    pub(crate) fn put(&mut self, hash: &Hash, bytes: &[u8]) -> Result<bool> {
        let old = self.record(hash)?.unwrap_or(BlobRecord { size: None, references: 0, holes: 0 });
        if old.size.is_some() {
            return Ok(false);
        }
        for (part, row) in parts::cut(bytes) {
            self.parts.insert((hash, part), row)?;
        }
        self.put_record(hash, BlobRecord { size: Some(bytes.len() as u64), ..old })?;
        Ok(true)
    }

    /// Releases references, and frees the blob with the last one. Returns the bytes freed.
    pub(crate) fn release(&mut self, hash: &Hash, references: u64, holes: u64) -> Result<u64> {
        let Some(old) = self.record(hash)? else {
            return Ok(0);
        };
        let left = BlobRecord {
            size: old.size,
            references: old.references.saturating_sub(references),
            holes: old.holes.saturating_sub(holes),
        };
        if left.references > 0 {
            self.put_record(hash, left)?;
            return Ok(0);
        }
        self.records.remove(hash)?;
        let mut part = 0;
        while self.parts.remove((hash, part))?.is_some() {
            part += 1;
        }
        Ok(old.size.unwrap_or(0))
    }
}

/// The record of a blob, if there is one.
pub(crate) fn read_record(
    records: &impl ReadableTable<&'static [u8; 32], &'static [u8]>,
    hash: &Hash,
) -> Result<Option<BlobRecord>> {
    records.get(hash)?.map(|value| BlobRecord::from_bytes(value.value(), || hex(hash))).transpose()
}

/// A blob's bytes, if the store has them, checked against their hash.
pub(crate) fn read_bytes(
    records: &impl ReadableTable<&'static [u8; 32], &'static [u8]>,
    parts: &impl ReadableTable<(&'static [u8; 32], u32), &'static [u8]>,
    hash: &Hash,
) -> Result<Option<Vec<u8>>> {
    let Some(size) = read_record(records, hash)?.and_then(|record| record.size) else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    for row in parts.range((hash, 0)..=(hash, u32::MAX))? {
        bytes.extend_from_slice(row?.1.value());
    }
    let problem = if bytes.len() as u64 != size {
        format!("the parts have {} bytes, the record says {size}", bytes.len())
    } else if self::hash(&bytes) != *hash {
        "the bytes do not have this hash".to_owned()
    } else {
        return Ok(Some(bytes));
    };
    Err(Error::Corrupted(Corruption { table: "blob_parts", place: hex(hash), problem }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_goes_both_ways() {
        let hash = hash(b"abc");
        assert_eq!(hex(&hash), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(from_hex(hex(&hash).as_bytes()), Some(hash));
        assert_eq!(from_hex(b"BA"), None);
        assert_eq!(from_hex(&[b'A'; 64]), None);
    }
}
