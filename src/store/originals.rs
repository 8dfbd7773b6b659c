//! The imported bytes of a session that a migration changed: compressed pieces, one row each.

use super::compression::{Compressor, Dictionary, NO_DICTIONARY};
use super::snapshot::Snapshot;
use super::tables;
use crate::error::{Corruption, Result};

/// Marks a piece that is kept as it is.
const PLAIN: u8 = 0;
/// Marks a piece that is compressed, its length before it.
const COMPRESSED: u8 = 1;

/// A piece's row: a mark, its length in 8 bytes where it is compressed, and its bytes.
pub(crate) fn encode(compressor: &mut Compressor, bytes: &[u8]) -> Vec<u8> {
    let plain = Dictionary::new(NO_DICTIONARY, None);
    match compressor.compress(bytes, &plain) {
        Some(compressed) => {
            let mut row = vec![COMPRESSED];
            row.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            row.extend_from_slice(compressed);
            row
        }
        None => [&[PLAIN], bytes].concat(),
    }
}

fn decode(snapshot: &Snapshot<'_>, row: &[u8]) -> Result<Vec<u8>, String> {
    match row.split_first() {
        Some((&PLAIN, bytes)) => Ok(bytes.to_vec()),
        Some((&COMPRESSED, rest)) => {
            let (length, compressed) = rest.split_first_chunk().ok_or("a length is missing")?;
            let length =
                usize::try_from(u64::from_le_bytes(*length)).map_err(|error| error.to_string())?;
            let plain = Dictionary::new(NO_DICTIONARY, None);
            snapshot.store().decompressors().decompress(compressed, length, &plain)
        }
        _ => Err("the piece has no known mark".into()),
    }
}

/// Hands out the pieces of a session's imported bytes, in order, until `take` answers `false`.
pub(crate) fn read_originals(
    snapshot: &Snapshot<'_>,
    session: u64,
    take: &mut dyn FnMut(&[u8]) -> Result<bool>,
) -> Result<()> {
    let table = snapshot.table(tables::ORIGINALS)?;
    for row in table.range((session, 0)..(session + 1, 0))? {
        let (key, value) = row?;
        let bytes = decode(snapshot, value.value()).map_err(|problem| Corruption {
            table: "originals",
            place: format!("session key {session}, piece {}", key.value().1),
            problem,
        })?;
        if !take(&bytes)? {
            break;
        }
    }
    Ok(())
}
