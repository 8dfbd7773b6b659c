//! The imported bytes of a session that a migration changed: compressed pieces, one row each.

use super::compression::{Compressor, Dictionary, NO_DICTIONARY};
use super::fingerprint::Fingerprint;
use super::session_record::ImportedBytes;
use super::session_rows::SessionRows;
use super::snapshot::Snapshot;
use super::tables;
use crate::error::{Corruption, Result};
use crate::store::pages::Range;

/// Marks a piece that is not compressed.
const PLAIN: u8 = 0;
/// Marks a compressed piece, with its length before it.
const COMPRESSED: u8 = 1;

/// A piece's row: a mark, its length in 8 bytes if it is compressed, and its bytes.
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

/// A piece's bytes, at most `most`.
pub(super) fn decode(snapshot: &Snapshot, row: &[u8], most: u64) -> Result<Vec<u8>, String> {
    match row.split_first() {
        Some((&PLAIN, bytes)) => Ok(bytes.to_vec()),
        Some((&COMPRESSED, rest)) => {
            let (length, compressed) = rest.split_first_chunk().ok_or("a length is missing")?;
            let length = u64::from_le_bytes(*length);
            if length > most {
                return Err(format!(
                    "it has {length} bytes, and {most} are left of what was imported"
                ));
            }
            let length = usize::try_from(length).map_err(|error| error.to_string())?;
            let plain = Dictionary::new(NO_DICTIONARY, None);
            let (store, mut bytes) = (snapshot.store(), Vec::new());
            store.decompressors().decompress(compressed, length, &plain, &mut bytes)?;
            Ok(bytes)
        }
        _ => Err("the piece has no known mark".into()),
    }
}

/// The bytes of a session's pieces in the store.
pub(crate) fn stored_bytes(rows: SessionRows<'_>) -> Result<u64> {
    let mut bytes = 0;
    for row in pieces(rows)? {
        bytes += row?.1.value().len() as u64;
    }
    Ok(bytes)
}

/// The rows of a session's pieces.
fn pieces(rows: SessionRows<'_>) -> Result<Range<'static, (u64, u64), &'static [u8]>> {
    let all = (rows.session.raw(), 0)..(rows.session.end(), 0);
    rows.snapshot.table(tables::ORIGINALS)?.range(all)
}

/// Passes on the pieces of a session's imported bytes, in order, until `take` returns `false`.
///
/// The last piece is only passed on once the number of bytes and the fingerprint prove that all of them are the
/// imported bytes.
pub(crate) fn read_originals(
    rows: SessionRows<'_>,
    imported: &ImportedBytes,
    take: &mut dyn FnMut(&[u8]) -> Result<bool>,
) -> Result<()> {
    let damaged = |place: &str, problem: String| Corruption {
        table: "originals",
        place: format!("session key {}{place}", rows.session),
        problem,
    };
    let mut fingerprint = Fingerprint::default();
    let mut last: Option<Vec<u8>> = None;
    for (expected, row) in (0..).zip(pieces(rows)?) {
        let (key, value) = row?;
        let (_, piece) = key.value();
        if piece != expected {
            let problem = format!("expected piece {expected}, found {piece}");
            return Err(damaged("", problem).into());
        }
        let left = imported.length.saturating_sub(fingerprint.length());
        let bytes = decode(rows.snapshot, value.value(), left)
            .map_err(|problem| damaged(&format!(", piece {piece}"), problem))?;
        fingerprint.take(&bytes);
        if let Some(before) = last.replace(bytes)
            && !take(&before)?
        {
            return Ok(());
        }
    }
    if fingerprint.length() != imported.length {
        let (found, imported) = (fingerprint.length(), imported.length);
        let problem = format!("the pieces have {found} bytes, and {imported} were imported");
        return Err(damaged("", problem).into());
    }
    if fingerprint.digest() != imported.digest {
        let problem = "the bytes do not have the fingerprint of those that were imported";
        return Err(damaged("", problem.into()).into());
    }
    if let Some(bytes) = last {
        take(&bytes)?;
    }
    Ok(())
}
