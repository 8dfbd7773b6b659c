//! The choice of an import's dictionary: the best of those in the store, or a new one, judged by a sample of the files.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

use leafline_import::lines;

use super::folder::FoundFile;
use crate::error::Result;
use crate::store::Store;
use crate::store::chunk::FRAME_TARGET;
use crate::store::compression::{Compressor, Dictionary, NO_DICTIONARY};

/// Bytes of a trained dictionary. In frames of 4 KiB and chunks of four pages, a generated session of 1 GB was
/// stored in 0.303 of its bytes with 32 KiB, in 0.306 with 110 KiB, zstd's default, and in 0.307 with 12 KiB.
const DICTIONARY_BYTES: usize = 32 << 10;

/// Below this, a store gains less from a dictionary than the dictionary takes.
const WORTH_TRAINING: u64 = 1 << 20;

/// Bytes read as a sample. Training on 3 MiB took 0.15 to 0.25 s, while nothing else goes on.
const SAMPLE_BYTES: u64 = 2 << 20;

/// Bytes read in one place of the files.
const PIECE_BYTES: u64 = 96 << 10;

/// Longer lines are not sampled: most are images, or compress well enough alone.
const LONGEST_LINE: usize = 64 << 10;

/// A new dictionary must beat the best known one by a twentieth.
const GAIN: f64 = 0.95;

/// How many known dictionaries are tried, the newest first.
const TRIED: usize = 8;

/// The choice for an import of some files, made when the first of them adds lines: an import that finds nothing new
/// reads no sample and trains nothing.
pub(super) struct Choice<'s> {
    store: &'s Store,
    files: &'s [FoundFile],
    chosen: Option<Arc<Dictionary>>,
}

impl<'s> Choice<'s> {
    /// The choice for these files, each with its size.
    pub(super) fn new(store: &'s Store, files: &'s [FoundFile]) -> Self {
        Self { store, files, chosen: None }
    }

    /// The dictionary.
    pub(super) fn dictionary(&mut self) -> Result<Arc<Dictionary>> {
        let chosen = match self.chosen.take() {
            Some(chosen) => chosen,
            None => choose(self.store, self.files)?,
        };
        Ok(Arc::clone(self.chosen.insert(chosen)))
    }
}

fn choose(store: &Store, files: &[FoundFile]) -> Result<Arc<Dictionary>> {
    let ids = store.dictionary_ids()?;
    let newest: Vec<u32> = ids.into_iter().rev().take(TRIED).collect();
    let total: u64 = files.iter().map(|file| file.bytes).sum();
    if newest.is_empty() && total < WORTH_TRAINING {
        return store.dictionary(NO_DICTIONARY);
    }
    let sample = sample(files, total);
    // Every fourth frame is held back: a dictionary is judged by text that it was not trained on.
    let (held, trained): (Vec<_>, Vec<_>) =
        sample.into_iter().enumerate().partition(|(index, _)| index % 4 == 0);
    let held: Vec<Vec<u8>> = held.into_iter().map(|(_, frame)| frame).collect();
    let trained: Vec<Vec<u8>> = trained.into_iter().map(|(_, frame)| frame).collect();
    let mut best = store.dictionary(NO_DICTIONARY)?;
    let mut least = compressed_bytes(&held, &best);
    for id in newest {
        let known = store.dictionary(id)?;
        let bytes = compressed_bytes(&held, &known);
        if bytes < least {
            (best, least) = (known, bytes);
        }
    }
    if total < WORTH_TRAINING || trained.len() < 16 {
        return Ok(best);
    }
    // Training fails on samples that have nothing in common; the best known dictionary is used then.
    let Ok(bytes) = zstd::dict::from_samples(&trained, DICTIONARY_BYTES) else {
        return Ok(best);
    };
    let new = compressed_bytes(&held, &Dictionary::new(u32::MAX, Some(&bytes)));
    #[expect(clippy::cast_precision_loss, reason = "a sample has a few million bytes")]
    let gains = (new as f64) < least as f64 * GAIN;
    if gains { store.add_dictionary(&bytes) } else { Ok(best) }
}

fn compressed_bytes(frames: &[Vec<u8>], dictionary: &Dictionary) -> usize {
    let mut compressor = Compressor::new();
    frames
        .iter()
        .map(|frame| compressor.compress(frame, dictionary).map_or(frame.len(), <[u8]>::len))
        .sum()
}

/// Frames of whole lines from places spread evenly over all files. Files that cannot be read are skipped.
fn sample(files: &[FoundFile], total: u64) -> Vec<Vec<u8>> {
    let pieces = (SAMPLE_BYTES / PIECE_BYTES).min(total / PIECE_BYTES + 1);
    let mut frames = Vec::new();
    let mut files = files.iter().scan(0, |before, file| {
        let start = *before;
        *before += file.bytes;
        Some((file, start))
    });
    let mut current = files.next();
    let mut open: Option<(&PathBuf, File)> = None;
    for piece in 0..pieces {
        let at = u128::from(total) * u128::from(piece) / u128::from(pieces);
        let at = u64::try_from(at).unwrap_or(u64::MAX);
        while current.is_some_and(|(file, start)| at >= start + file.bytes) {
            current = files.next();
        }
        let Some((found, start)) = current else {
            break;
        };
        if open.as_ref().is_none_or(|(known, _)| *known != &found.path) {
            open = found.open().ok().map(|file| (&found.path, file));
        }
        let Some((_, file)) = &mut open else { continue };
        let mut bytes = Vec::new();
        let read = file
            .seek(SeekFrom::Start(at - start))
            .and_then(|_| file.take(PIECE_BYTES).read_to_end(&mut bytes));
        if read.is_ok() {
            cut_frames(&bytes, at > start, &mut frames);
        }
    }
    frames
}

fn cut_frames(bytes: &[u8], starts_inside: bool, frames: &mut Vec<Vec<u8>>) {
    let mut frame = Vec::new();
    for line in lines::split(bytes).skip(usize::from(starts_inside)) {
        if !line.ends_with(b"\n") || line.len() > LONGEST_LINE {
            continue;
        }
        frame.extend_from_slice(line);
        if frame.len() >= FRAME_TARGET {
            frames.push(std::mem::take(&mut frame));
        }
    }
    if !frame.is_empty() {
        frames.push(frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_has_the_bounds() {
        use crate::documented::{bound, number};
        assert_eq!(bound("a dictionary"), format!("{} KiB", number(DICTIONARY_BYTES >> 10)));
        let sample = format!(
            "{} MiB, of {} MiB of files or more",
            number(SAMPLE_BYTES >> 20),
            WORTH_TRAINING >> 20
        );
        assert_eq!(bound("the sample for it"), sample);
    }
}
