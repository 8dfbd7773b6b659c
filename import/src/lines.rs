//! Physical lines: splitting bytes at `\n`, and reading a file in blocks that end at a line boundary.
//!
//! A line is its bytes including the terminator. Nothing here looks inside a line, so whatever the bytes are (CRLF, a
//! BOM, NUL bytes, invalid UTF-8, a torn last line), the lines of a file put together are the file.

use std::io::{self, Read};
use std::iter::FusedIterator;

use memchr::{memchr, memrchr};

/// The longest line that a [`BlockReader`] reads if it is told no other bound: 1 GiB, the terminator aside.
pub const LONGEST_LINE: u64 = 1 << 30;

/// A line is longer than its reader reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the line that begins at byte {at} has more than {longest} bytes, the bound for a line")]
pub struct LineTooLong {
    /// Where it begins, in bytes from the beginning of the source.
    pub at: u64,
    /// The bound.
    pub longest: u64,
}

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
/// the source. A line longer than [`LONGEST_LINE`], or another bound, is an error, [`LineTooLong`], and ends the reading.
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
    longest: u64,
    /// Where the next block begins.
    at: u64,
    failed: Option<LineTooLong>,
}

impl<R: Read> BlockReader<R> {
    /// A reader of blocks of about `target_bytes` bytes (at least 1).
    pub fn new(reader: R, target_bytes: usize) -> Self {
        Self {
            reader,
            target_bytes: target_bytes.max(1),
            carry: Vec::new(),
            ended: false,
            longest: LONGEST_LINE,
            at: 0,
            failed: None,
        }
    }

    /// The same with another bound for a line, in bytes without its terminator.
    #[must_use]
    pub fn longest_line(self, longest: u64) -> Self {
        Self { longest, ..self }
    }

    /// The same for a source that begins at this byte of a file, for the error of a long line.
    #[must_use]
    pub fn beginning_at(self, at: u64) -> Self {
        Self { at, ..self }
    }

    /// The next block, in `buffer`: its contents are dropped and its memory is reused. `None` at the end.
    ///
    /// # Errors
    ///
    /// Errors of the source: no byte read before one is lost, and the next call continues there. [`LineTooLong`] within an
    /// error of the kind `InvalidData`, which each further call returns too.
    pub fn next_block(&mut self, mut buffer: Vec<u8>) -> io::Result<Option<Vec<u8>>> {
        if let Some(failed) = self.failed {
            return Err(io::Error::new(io::ErrorKind::InvalidData, failed));
        }
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
                break;
            }
            searched = buffer.len();
            // Here it is a part of one line.
            if searched as u64 > self.longest {
                return Err(self.fail(self.at));
            }
        }
        self.check(&buffer)?;
        self.at += buffer.len() as u64;
        Ok((!buffer.is_empty()).then_some(buffer))
    }

    /// Fails if a line of a block is too long.
    fn check(&mut self, block: &[u8]) -> io::Result<()> {
        if block.len() as u64 <= self.longest {
            return Ok(());
        }
        let mut at = self.at;
        for line in split(block) {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            if text.len() as u64 > self.longest {
                return Err(self.fail(at));
            }
            at += line.len() as u64;
        }
        Ok(())
    }

    fn fail(&mut self, at: u64) -> io::Error {
        let failed = LineTooLong { at, longest: self.longest };
        self.failed = Some(failed);
        self.carry = Vec::new();
        io::Error::new(io::ErrorKind::InvalidData, failed)
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

    #[test]
    fn a_line_has_a_bound() {
        let bytes = b"one\ntwelve bytes\nthr\n";
        for target in [1, 5, 64] {
            for longest in 0..20 {
                let mut reader = BlockReader::new(&bytes[..], target).longest_line(longest);
                let mut read = Vec::new();
                let failed = loop {
                    match reader.next_block(Vec::new()) {
                        Ok(Some(block)) => read.extend(block),
                        Ok(None) => break None,
                        Err(error) => break Some(error.downcast::<LineTooLong>().unwrap()),
                    }
                };
                let at = match longest {
                    0..3 => Some(0),
                    3..12 => Some(4),
                    _ => None,
                };
                assert_eq!(failed, at.map(|at| LineTooLong { at, longest }), "{target} {longest}");
                assert!(bytes.starts_with(&read), "what is before it may be given");
                assert!(failed.is_some() || read == bytes);
                assert_eq!(reader.next_block(Vec::new()).is_err(), failed.is_some(), "and again");
            }
        }
        // An endless line is given up as soon as it is too long.
        let mut reader = BlockReader::new(io::repeat(b' '), 64).longest_line(1000).beginning_at(7);
        let failed = reader.next_block(Vec::new()).unwrap_err().downcast::<LineTooLong>().unwrap();
        assert_eq!(failed, LineTooLong { at: 7, longest: 1000 });
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
