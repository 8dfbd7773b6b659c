//! Gathers stored lines into frames.

use crate::store::chunk::{EncodedFrame, EncodedFrames, FRAME_TARGET, Frame, Hole, text_check};
use crate::store::compression::{Compressor, Dictionary};

/// The most lines in a frame: a bound on what one look-up must add up.
const FRAME_LINES: usize = 256;

/// How much of the text buffer is kept from frame to frame, in bytes.
const KEPT_TEXT: usize = 1 << 20;

/// Gathers lines until they make a frame, and compresses it.
pub(crate) struct FrameEncoder {
    compressor: Compressor,
    text: Vec<u8>,
    lengths: Vec<u64>,
    holes: Vec<Hole>,
}

impl FrameEncoder {
    pub(crate) fn new() -> Self {
        Self {
            compressor: Compressor::new(),
            text: Vec::with_capacity(4 * FRAME_TARGET),
            lengths: Vec::new(),
            holes: Vec::new(),
        }
    }

    /// Whether a line of `length` bytes begins a new frame, so that the current one must be closed.
    pub(crate) fn is_full_for(&self, length: usize) -> bool {
        let gathered = self.text.len();
        gathered > 0
            && (self.lengths.len() >= FRAME_LINES
                || gathered >= FRAME_TARGET
                || (gathered + length > FRAME_TARGET && gathered >= FRAME_TARGET / 2))
    }

    /// Adds a line: its stored bytes in pieces, and its holes, whose `line` is set here.
    pub(crate) fn push<'l>(
        &mut self,
        pieces: impl Iterator<Item = &'l [u8]>,
        holes: impl Iterator<Item = Hole>,
    ) {
        let before = self.text.len();
        for piece in pieces {
            self.text.extend_from_slice(piece);
        }
        let line = self.lengths.len() as u64;
        self.holes.extend(holes.map(|hole| Hole { line, ..hole }));
        self.lengths.push((self.text.len() - before) as u64);
    }

    /// Makes a frame of a line alone, whose stored bytes are in one piece: a long line is not copied.
    pub(crate) fn push_alone(
        &mut self,
        text: &[u8],
        holes: &[Hole],
        frames: &mut EncodedFrames,
        dictionary: &Dictionary,
    ) {
        self.close(frames, dictionary);
        encode(&mut self.compressor, (text, &[text.len() as u64], holes), frames, dictionary);
    }

    /// Turns the gathered lines, if any, into a frame.
    pub(crate) fn close(&mut self, frames: &mut EncodedFrames, dictionary: &Dictionary) {
        if self.lengths.is_empty() {
            return;
        }
        let lines = (&*self.text, &*self.lengths, &*self.holes);
        encode(&mut self.compressor, lines, frames, dictionary);
        self.lengths.clear();
        self.holes.clear();
        self.text.clear();
        // One very long line should not hold its memory for the rest of the work.
        self.text.shrink_to(KEPT_TEXT);
    }
}

/// Compresses lines into a frame: their text, the length of each, and their holes.
fn encode(
    compressor: &mut Compressor,
    (text, lengths, holes): (&[u8], &[u64], &[Hole]),
    frames: &mut EncodedFrames,
    dictionary: &Dictionary,
) {
    let compressed = compressor.compress(text, dictionary);
    let bytes = compressed.unwrap_or(text);
    frames.push(EncodedFrame {
        frame: &Frame {
            lines: lengths.len() as u64,
            text_len: text.len() as u64,
            stored_len: bytes.len() as u64,
            compressed: compressed.is_some(),
            check: text_check(text),
        },
        bytes,
        lengths,
        holes,
    });
    compressor.shrink(KEPT_TEXT);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_has_the_bounds() {
        use crate::documented::{bound, number};
        assert_eq!(bound("lines of a frame"), number(FRAME_LINES));
    }
}
