//! Physical lines: splitting bytes at `\n`, and reading a file in blocks that end at a line boundary.
//!
//! A line is its bytes including the terminator. Nothing here looks inside a line, so whatever the bytes are (CRLF, a
//! BOM, NUL bytes, invalid UTF-8, a torn last line), the lines of a file put together are the file.

use std::io::{self, Read};
use std::iter::FusedIterator;

use memchr::{memchr, memrchr};

/// Splits bytes into lines; each keeps its `\n`, and only the last may lack one.
///
/// ```
/// let lines: Vec<&[u8]> = leafline_import::lines::split(b"a\r\n\nb").collect();
/// assert_eq!(lines, [&b"a\r\n"[..], b"\n", b"b"]);
/// ```
#[must_use]
pub fn split(bytes: &[u8]) -> Lines<'_> {
    Lines { rest: bytes }
}

/// The lines of a byte slice, made by [`split`]. Their concatenation is the slice.
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Lines<'a> {
    /// What is left to split.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = memchr(b'\n', self.rest).map_or(self.rest.len(), |newline| newline + 1);
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(line)
    }
}

impl FusedIterator for Lines<'_> {}

/// Reads a source in blocks that end at a line boundary, so that workers can split and scan them independently.
///
/// A block has about the target size; it is longer only for a single line. Memory in use is the larger of the target
/// and the longest line, plus at most one target of bytes carried over to the next block. The blocks put together are
/// the source.
///
/// ```
/// use leafline_import::lines::BlockReader;
///
/// let mut reader = BlockReader::new(&b"one\ntwo\nthr"[..], 5);
/// let mut blocks = Vec::new();
/// let mut buffer = Vec::new();
/// while let Some(block) = reader.next_block(buffer)? {
///     blocks.push(block.clone());
///     buffer = block;
/// }
/// assert_eq!(blocks, [&b"one\n"[..], b"two\n", b"thr"]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct BlockReader<R> {
    reader: R,
    target_bytes: usize,
    carry: Vec<u8>,
    ended: bool,
}

impl<R: Read> BlockReader<R> {
    /// A reader of blocks of about `target_bytes` bytes (at least 1).
    pub fn new(reader: R, target_bytes: usize) -> Self {
        Self { reader, target_bytes: target_bytes.max(1), carry: Vec::new(), ended: false }
    }

    /// The next block, in `buffer`: its contents are dropped and its memory is reused. `None` at the end.
    ///
    /// # Errors
    ///
    /// Errors of the source. No byte read before the error is lost: the next call continues there.
    pub fn next_block(&mut self, mut buffer: Vec<u8>) -> io::Result<Option<Vec<u8>>> {
        buffer.clear();
        buffer.append(&mut self.carry);
        let mut searched = 0;
        while !self.ended {
            let wanted = if buffer.len() < self.target_bytes {
                self.target_bytes - buffer.len()
            } else {
                self.target_bytes
            };
            buffer.reserve(wanted);
            let limit = wanted as u64;
            match self.reader.by_ref().take(limit).read_to_end(&mut buffer) {
                Ok(read) => self.ended = (read as u64) < limit,
                Err(error) => {
                    self.carry = buffer;
                    return Err(error);
                }
            }
            if self.ended {
                break;
            }
            if let Some(newline) = memrchr(b'\n', &buffer[searched..]) {
                let end = searched + newline + 1;
                self.carry.extend_from_slice(&buffer[end..]);
                buffer.truncate(end);
                return Ok(Some(buffer));
            }
            searched = buffer.len();
        }
        Ok((!buffer.is_empty()).then_some(buffer))
    }

    /// Returns the source; bytes already read ahead are dropped.
    pub fn into_inner(self) -> R {
        self.reader
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_terminators() {
        let lines: Vec<&[u8]> = split(b"\n\na\n").collect();
        assert_eq!(lines, [&b"\n"[..], b"\n", b"a\n"]);
        assert_eq!(split(b"").count(), 0);
    }

    #[test]
    fn a_line_longer_than_the_target_is_one_block() {
        let mut bytes = vec![b'x'; 10_000];
        bytes.extend_from_slice(b"\nshort\nlast");
        bytes.extend_from_slice(&[b'y'; 100]);
        let mut reader = BlockReader::new(&bytes[..], 64);
        let first = reader.next_block(Vec::new()).unwrap().unwrap();
        assert!(first.len() >= 10_001 && first.len() < 10_001 + 64);
        assert_eq!(first.last(), Some(&b'\n'));
        let mut all = first;
        while let Some(block) = reader.next_block(Vec::new()).unwrap() {
            all.extend_from_slice(&block);
        }
        assert_eq!(all, bytes);
    }

    /// Fails once in the middle, as a network file may.
    struct Flaky<'a> {
        parts: Vec<io::Result<&'a [u8]>>,
    }

    impl Read for Flaky<'_> {
        fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
            match self.parts.pop() {
                None => Ok(0),
                Some(Err(error)) => Err(error),
                Some(Ok(part)) => {
                    let taken = part.len().min(target.len());
                    target[..taken].copy_from_slice(&part[..taken]);
                    if taken < part.len() {
                        self.parts.push(Ok(&part[taken..]));
                    }
                    Ok(taken)
                }
            }
        }
    }

    #[test]
    fn an_error_loses_no_bytes() {
        let mut reader = BlockReader::new(
            Flaky {
                parts: vec![
                    Ok(&b"b\nc"[..]),
                    Err(io::Error::other("gone for a moment")),
                    Ok(&b"a\nb"[..]),
                ],
            },
            100,
        );
        assert!(reader.next_block(Vec::new()).is_err());
        assert_eq!(reader.next_block(Vec::new()).unwrap().unwrap(), b"a\nbb\nc");
        assert_eq!(reader.next_block(Vec::new()).unwrap(), None);
    }
}
