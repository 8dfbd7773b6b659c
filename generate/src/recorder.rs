//! Writes entries as lines: their ids, parents and times, and the tree that they form.

use std::collections::VecDeque;
use std::io::{self, Write};

use crate::number::{instant, integer};
use crate::random::{Ids, Random};
use crate::shape::Summary;

/// How many entries of the current path are remembered, nearest last.
const REMEMBERED: usize = 256;
/// How many places all over the session are remembered, for going far back.
const FAR: usize = 512;
/// The most ids that a summary samples.
const SAMPLES: usize = 10_000;
/// Bytes buffered before they are written.
const BUFFER: usize = 1 << 20;

/// The position of an entry's id, parent and timestamp in its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Members {
    /// After the type, before the entry's own members.
    AfterIds,
    /// After the entry's own members, as in `custom` and `custom_message`.
    BeforeIds,
}

/// The file being written.
#[derive(Debug)]
pub(crate) struct Recorder<'a, W> {
    out: &'a mut W,
    buffer: Vec<u8>,
    ids: Ids,
    /// Version 1 has no ids.
    with_ids: bool,
    /// The ordinal of the next entry; that of the header is 0.
    next: u64,
    path: VecDeque<u64>,
    far: Vec<u64>,
    stops: usize,
    stride: u64,
    samples: Vec<u64>,
    bytes: u64,
    lines: u64,
    /// Milliseconds since 1970.
    pub(crate) clock: u64,
    pub(crate) branches: u64,
    pub(crate) compactions: u64,
    pub(crate) images: u64,
}

impl<'a, W: Write> Recorder<'a, W> {
    pub(crate) fn new(out: &'a mut W, with_ids: bool, clock: u64, random: &mut Random) -> Self {
        Self {
            out,
            buffer: Vec::with_capacity(BUFFER * 2),
            ids: Ids::new(random),
            with_ids,
            next: 1,
            path: VecDeque::with_capacity(REMEMBERED + 1),
            far: Vec::with_capacity(FAR),
            stops: 0,
            stride: 1,
            samples: Vec::new(),
            bytes: 0,
            lines: 0,
            clock,
            branches: 0,
            compactions: 0,
            images: 0,
        }
    }

    /// Bytes written so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn entries(&self) -> u64 {
        self.next - 1
    }

    /// Writes a line that is not an entry.
    pub(crate) fn line(&mut self, line: &[u8]) -> io::Result<()> {
        self.buffer.extend_from_slice(line);
        self.end_line(line.len())
    }

    /// Writes an entry as the child of the leaf; it becomes the leaf. `members` are the entry's own, each preceded by a
    /// comma.
    pub(crate) fn entry(&mut self, kind: &str, place: Members, members: &[u8]) -> io::Result<()> {
        let start = self.buffer.len();
        self.buffer.extend_from_slice(b"{\"type\":\"");
        self.buffer.extend_from_slice(kind.as_bytes());
        self.buffer.push(b'"');
        if place == Members::BeforeIds {
            self.buffer.extend_from_slice(members);
        }
        if self.with_ids {
            self.buffer.extend_from_slice(b",\"id\":\"");
            hexadecimal(&mut self.buffer, self.ids.of(self.next));
            match self.path.back() {
                Some(parent) => {
                    self.buffer.extend_from_slice(b"\",\"parentId\":\"");
                    hexadecimal(&mut self.buffer, self.ids.of(*parent));
                    self.buffer.push(b'"');
                }
                None => self.buffer.extend_from_slice(b"\",\"parentId\":null"),
            }
        }
        self.buffer.extend_from_slice(b",\"timestamp\":\"");
        instant(&mut self.buffer, self.clock);
        self.buffer.push(b'"');
        if place == Members::AfterIds {
            self.buffer.extend_from_slice(members);
        }
        self.buffer.push(b'}');
        self.step();
        self.end_line(self.buffer.len() - start)
    }

    fn step(&mut self) {
        self.path.push_back(self.next);
        if self.path.len() > REMEMBERED {
            self.path.pop_front();
        }
        if self.next.is_multiple_of(self.stride) {
            self.samples.push(self.next);
        }
        if self.samples.len() > SAMPLES {
            self.stride *= 2;
            let stride = self.stride;
            self.samples.retain(|ordinal| ordinal.is_multiple_of(stride));
        }
        self.next += 1;
    }

    fn end_line(&mut self, length: usize) -> io::Result<()> {
        self.buffer.push(b'\n');
        self.bytes += length as u64 + 1;
        self.lines += 1;
        if self.buffer.len() >= BUFFER {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Marks the leaf as a place to which a later branch may return.
    pub(crate) fn stop_here(&mut self, random: &mut Random) {
        let Some(leaf) = self.path.back() else {
            return;
        };
        self.stops += 1;
        if self.far.len() < FAR {
            self.far.push(*leaf);
        } else {
            // Reservoir sampling: every stop of the session is equally likely to be remembered.
            let place = random.below(self.stops);
            if place < FAR {
                self.far[place] = *leaf;
            }
        }
    }

    /// Moves the leaf back: mostly 1 to 200 entries up the path, sometimes to anywhere in the session.
    pub(crate) fn branch(&mut self, random: &mut Random) {
        if self.path.len() < 2 {
            return;
        }
        self.branches += 1;
        if random.chance(100) && !self.far.is_empty() {
            let target = *random.pick(&self.far);
            self.path.clear();
            self.path.push_back(target);
            return;
        }
        let back = random.between(1, (self.path.len() - 1).min(200));
        self.path.truncate(self.path.len() - back);
    }

    /// The ordinal of an entry about `back` entries up the path, or of the furthest one remembered.
    pub(crate) fn ancestor(&self, back: usize) -> Option<u64> {
        let place = self.path.len().saturating_sub(back + 1);
        self.path.get(place).copied()
    }

    /// Appends an entry's id.
    pub(crate) fn write_id(&self, out: &mut Vec<u8>, ordinal: u64) {
        hexadecimal(out, self.ids.of(ordinal));
    }

    /// Writes the rest and returns the summary.
    pub(crate) fn finish(mut self, session_id: String) -> io::Result<Summary> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        self.out.flush()?;
        let text = |ordinal: &u64| format!("{:08x}", self.ids.of(*ordinal));
        let named = self.with_ids;
        Ok(Summary {
            session_id,
            lines: self.lines,
            entries: self.next - 1,
            bytes: self.bytes,
            branches: self.branches,
            compactions: self.compactions,
            images: self.images,
            sample_ids: self.samples.iter().filter(|_| named).map(text).collect(),
            leaf_id: self.path.back().filter(|_| named).map(text),
        })
    }
}

fn hexadecimal(out: &mut Vec<u8>, value: u32) {
    for shift in (0..8).rev() {
        out.push(b"0123456789abcdef"[(value >> (shift * 4) & 15) as usize]);
    }
}

/// Appends `,"name":"text"`; the text is already escaped.
pub(crate) fn text_member(out: &mut Vec<u8>, name: &str, text: &[u8]) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":\"");
    out.extend_from_slice(text);
    out.push(b'"');
}

/// Appends `,"name":value`.
pub(crate) fn integer_member(out: &mut Vec<u8>, name: &str, value: u64) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    integer(out, value);
}
