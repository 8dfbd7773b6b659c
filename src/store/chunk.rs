//! A chunk: consecutive lines of a session, compressed, with their nodes. The value of the `lines` table.
//!
//! ```text
//! version        1 byte
//! lengths        of the three sections
//! check          of directory and nodes
//! directory      dictionary id, frames, line lengths, holes
//! nodes          one column a field of the node records
//! frames         compressed text, one frame after the other
//! ```
//!
//! A *frame* holds some consecutive lines and is compressed on its own, so that reading a line costs one
//! small decompression, while the chunk as a whole fills the pages that redb gives it. A *hole* is where a
//! blob's base64 was cut out of a line, or where the line names a blob.

use bincode::{Decode, Encode};

use super::columns::{ColumnWriter, Columns};
use super::node::Node;
use super::ordinal::Ordinal;
use super::record::{append, encoded_len, read};

/// The layout.
pub(crate) const VERSION: u8 = 1;

/// Bytes of the check of directory and nodes.
const CHECK_LEN: usize = 4;

/// Bytes of text a frame aims at: a line or two. On a generated session of 1 GB, frames of 4 KiB made the store
/// 2% smaller and a look-up a tenth slower.
pub(crate) const FRAME_TARGET: usize = 2 << 10;

/// Bytes that a chunk of several frames may take: a run of two pages of redb, which is read whole for a look-up.
/// Runs of four pages made the store 6% smaller, since less of each stays empty, and a look-up a fifth slower.
pub(crate) const CHUNK_CAPACITY: usize = super::parts::run_capacity(2);

/// Some consecutive lines, compressed together.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Frame {
    /// How many lines.
    pub(crate) lines: u64,
    /// Their bytes, holes cut out.
    pub(crate) text_len: u64,
    /// Bytes in the chunk.
    pub(crate) stored_len: u64,
    /// Whether those are compressed.
    pub(crate) compressed: bool,
    /// The low half of the XXH3 of the text: proves that what was read is what was written, and lets a cache recognise
    /// rewritten text.
    pub(crate) check: u32,
}

/// The check of a frame's text.
pub(crate) fn text_check(text: &[u8]) -> u32 {
    let [a, b, c, d, ..] = xxhash_rust::xxh3::xxh3_64(text).to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Where a blob belongs in a line.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Hole {
    /// The line, counted from the chunk's first.
    pub(crate) line: u64,
    /// Bytes of the stored line before it.
    pub(crate) offset: u64,
    /// What stands there.
    pub(crate) kind: HoleKind,
    /// The blob's SHA-256.
    pub(crate) hash: [u8; 32],
}

impl Hole {
    /// Whether it lies in the line that it names, given the stored length of each line of the chunk.
    fn is_in_its_line(&self, lengths: &[u64]) -> bool {
        let length = usize::try_from(self.line).ok().and_then(|line| lengths.get(line));
        let there = if self.kind.is_cut() { 0 } else { REFERENCE_LEN as u64 };
        let end = self.offset.checked_add(there);
        length.zip(end).is_some_and(|(&length, end)| end <= length)
    }
}

/// What a hole stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(crate) enum HoleKind {
    /// The blob's base64 was cut out here; it is the `data` of an image block in a `content` array.
    Image,
    /// The blob's base64 was cut out here, from any other place.
    Payload,
    /// The stored line has the text `blob:sha256:<hash>` here, as the `data` of such an image block.
    ImageReference,
    /// The stored line has that text here, in any other string.
    TextReference,
}

impl HoleKind {
    /// Whether the line lost text here: it needs the blob to come back.
    pub(crate) fn is_cut(self) -> bool {
        matches!(self, Self::Image | Self::Payload)
    }
}

/// Bytes of the text `blob:sha256:<64 hex digits>`.
pub(crate) const REFERENCE_LEN: usize = 76;

/// A frame on its way into a chunk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EncodedFrame<'a> {
    /// The directory's row.
    pub(crate) frame: &'a Frame,
    /// The frame's stored bytes.
    pub(crate) bytes: &'a [u8],
    /// Stored bytes of each line, terminators included, holes cut out.
    pub(crate) lengths: &'a [u64],
    /// Holes, `line` counted from the frame's first.
    pub(crate) holes: &'a [Hole],
}

/// Frames one after the other, in four buffers whatever their number.
#[derive(Debug, Default)]
pub(crate) struct EncodedFrames {
    /// Each with the number of its holes.
    frames: Vec<(Frame, usize)>,
    bytes: Vec<u8>,
    lengths: Vec<u64>,
    holes: Vec<Hole>,
}

impl EncodedFrames {
    /// Adds a frame. Its row says how many bytes and lines it has.
    pub(crate) fn push(&mut self, frame: EncodedFrame<'_>) {
        self.frames.push((frame.frame.clone(), frame.holes.len()));
        self.bytes.extend_from_slice(frame.bytes);
        self.lengths.extend_from_slice(frame.lengths);
        self.holes.extend_from_slice(frame.holes);
    }

    /// Bytes of memory that they take, roughly.
    pub(crate) fn memory(&self) -> usize {
        self.bytes.len()
            + std::mem::size_of_val(&*self.frames)
            + std::mem::size_of_val(&*self.lengths)
            + std::mem::size_of_val(&*self.holes)
    }

    /// Gives back what vectors have asked for and did not need.
    pub(crate) fn shrink(&mut self) {
        self.frames.shrink_to_fit();
        self.bytes.shrink_to_fit();
        self.lengths.shrink_to_fit();
        self.holes.shrink_to_fit();
    }

    /// Each frame.
    pub(crate) fn iter(&self) -> impl Iterator<Item = EncodedFrame<'_>> {
        let (mut bytes, mut lengths, mut holes) = (&*self.bytes, &*self.lengths, &*self.holes);
        self.frames.iter().map(move |(frame, hole_count)| EncodedFrame {
            frame,
            bytes: take_front(&mut bytes, frame.stored_len),
            lengths: take_front(&mut lengths, frame.lines),
            holes: take_front(&mut holes, *hole_count as u64),
        })
    }
}

fn take_front<'a, T>(rest: &mut &'a [T], count: u64) -> &'a [T] {
    let count = usize::try_from(count).expect("a frame of ours is in memory");
    let (front, behind) = rest.split_at(count);
    *rest = behind;
    front
}

#[derive(Debug, Clone, Default, Encode, Decode)]
struct Directory {
    dictionary: u32,
    frames: Vec<Frame>,
    lengths: Vec<u64>,
    holes: Vec<Hole>,
}

/// Collects frames and nodes until they fill a chunk.
#[derive(Debug)]
pub(crate) struct ChunkBuilder {
    first: Ordinal,
    directory: Directory,
    nodes: ColumnWriter,
    frames: Vec<u8>,
    head_len: usize,
}

/// The most that the fixed fields, the counts of the vectors and the two lengths take.
const HEAD_FIXED: usize = 1 + 3 * 5 + CHECK_LEN + 5 + 11 * 5;

impl ChunkBuilder {
    /// An empty chunk whose first line will be `first`.
    pub(crate) fn new(first: Ordinal, dictionary: u32) -> Self {
        Self {
            first,
            directory: Directory { dictionary, ..Directory::default() },
            nodes: ColumnWriter::default(),
            frames: Vec::new(),
            head_len: HEAD_FIXED,
        }
    }

    /// The chunk's first line.
    pub(crate) fn first(&self) -> Ordinal {
        self.first
    }

    /// Whether nothing was pushed yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.directory.frames.is_empty()
    }

    /// The dictionary that the frames were compressed with.
    pub(crate) fn dictionary(&self) -> u32 {
        self.directory.dictionary
    }

    /// Bytes of the chunk as it stands, never less than [`Self::finish`] gives.
    fn len(&self) -> usize {
        self.head_len + self.frames.len()
    }

    /// Whether the frame and its nodes fit a chunk that is not to outgrow [`CHUNK_CAPACITY`].
    pub(crate) fn has_room(&self, frame: &EncodedFrame<'_>, nodes: &[Node]) -> bool {
        let nodes_len = self.nodes.len_of(self.next_ordinal(), nodes);
        self.len() + frame.bytes.len() + frame_row_len(frame) + nodes_len <= CHUNK_CAPACITY
    }

    /// How many lines were pushed.
    pub(crate) fn line_count(&self) -> u64 {
        self.directory.lengths.len() as u64
    }

    /// The ordinal that the next line will have.
    pub(crate) fn next_ordinal(&self) -> Ordinal {
        self.first.later(self.line_count()).expect("fewer than 2^64 lines were ever stored")
    }

    /// Bytes of the lines' text.
    pub(crate) fn text_bytes(&self) -> u64 {
        self.directory.frames.iter().map(|frame| frame.text_len).sum()
    }

    /// Holes in the lines.
    pub(crate) fn hole_count(&self) -> usize {
        self.directory.holes.len()
    }

    /// Adds a frame and its lines' nodes.
    pub(crate) fn push(&mut self, frame: &EncodedFrame<'_>, nodes: &[Node]) {
        assert_eq!(frame.lengths.len(), nodes.len(), "a node a line");
        self.head_len += frame_row_len(frame);
        let before = self.line_count();
        for (ordinal, node) in self.next_ordinal().onwards().zip(nodes) {
            self.head_len += self.nodes.push(ordinal, node);
        }
        self.directory.lengths.extend_from_slice(frame.lengths);
        self.directory.holes.extend(
            frame.holes.iter().map(|hole| Hole { line: hole.line + before, ..hole.clone() }),
        );
        self.directory.frames.push(frame.frame.clone());
        self.frames.extend_from_slice(frame.bytes);
    }

    /// The chunk's bytes.
    pub(crate) fn finish(self) -> Vec<u8> {
        encode(&self.directory, self.nodes.columns(), &self.frames)
    }
}

fn encode(directory: &Directory, columns: &Columns, frames: &[u8]) -> Vec<u8> {
    let mut sections = Vec::with_capacity(64 + directory.lengths.len() * 12);
    append(directory, &mut sections);
    let directory_len = sections.len() as u64;
    append(columns, &mut sections);
    let nodes_len = sections.len() as u64 - directory_len;
    let mut bytes = Vec::with_capacity(sections.len() + frames.len() + 32);
    bytes.push(VERSION);
    append(&[directory_len, nodes_len, frames.len() as u64], &mut bytes);
    bytes.extend_from_slice(&text_check(&sections).to_le_bytes());
    bytes.extend_from_slice(&sections);
    bytes.extend_from_slice(frames);
    bytes
}

/// The lengths of the sections, and where the first begins.
fn section_lengths(bytes: &[u8]) -> Result<([u64; 3], usize), String> {
    let (lengths, taken) = read::<[u64; 3]>(bytes.get(1..).unwrap_or_default())?;
    Ok((lengths, 1 + taken + CHECK_LEN))
}

/// Proves that directory and nodes, which `start` leads to, are those that were written.
fn check_head(bytes: &[u8], start: usize, [directory, nodes, _]: [u64; 3]) -> Result<(), String> {
    let end = directory.checked_add(nodes).and_then(|length| usize::try_from(length).ok());
    let head = end.and_then(|end| bytes.get(start..start.checked_add(end)?));
    let check = bytes.get(start.saturating_sub(CHECK_LEN)..start);
    let (Some(head), Some(check)) = (head, check) else {
        return Err("a section is longer than the chunk".into());
    };
    if check == text_check(head).to_le_bytes() {
        return Ok(());
    }
    Err("directory and nodes do not match their check".into())
}

fn frame_row_len(frame: &EncodedFrame<'_>) -> usize {
    let row = &frame.frame;
    let numbers = [row.lines, row.text_len, row.stored_len, u64::from(row.check)];
    numbers.into_iter().map(encoded_len).sum::<usize>()
        + 1
        + frame.lengths.iter().map(|&length| encoded_len(length)).sum::<usize>()
        + frame.holes.iter().map(|hole| 9 + encoded_len(hole.offset) + 1 + 32).sum::<usize>()
}

/// A chunk as it was read.
#[derive(Debug)]
pub(crate) struct Chunk<'a> {
    first: Ordinal,
    bytes: &'a [u8],
    directory: Directory,
    nodes: &'a [u8],
    frames: &'a [u8],
}

/// Where a line is: its frame, and its bytes in the frame's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinePlace {
    pub(crate) frame: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl<'a> Chunk<'a> {
    /// Reads the directory of a chunk whose first line is `first`, and checks it against the bytes.
    pub(crate) fn parse(first: Ordinal, bytes: &'a [u8]) -> Result<Self, String> {
        match bytes.first() {
            Some(&VERSION) => Self::parse_sections(first, bytes),
            Some(version) => Err(format!("chunk layout version {version} is not known")),
            None => Err("the chunk is empty".into()),
        }
    }

    fn parse_sections(first: Ordinal, bytes: &'a [u8]) -> Result<Self, String> {
        let (lengths, start) = section_lengths(bytes)?;
        check_head(bytes, start, lengths)?;
        let mut rest = bytes.get(start..).unwrap_or_default();
        let mut sections = [&b""[..]; 3];
        for (section, length) in sections.iter_mut().zip(lengths) {
            let cut = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
            (*section, rest) = cut.ok_or("a section is longer than the chunk")?;
        }
        let [directory, nodes, frames] = sections;
        let (directory, _) = read::<Directory>(directory)?;
        let sum = |field: fn(&Frame) -> u64| {
            directory.frames.iter().try_fold(0u64, |sum, frame| sum.checked_add(field(frame)))
        };
        if sum(|frame| frame.stored_len) != Some(frames.len() as u64) {
            return Err("the frames' lengths do not add up to the chunk's".into());
        }
        if sum(|frame| frame.lines) != Some(directory.lengths.len() as u64) {
            return Err("the frames' lines do not add up to the chunk's".into());
        }
        let text = directory.lengths.iter().try_fold(0u64, |sum, &length| sum.checked_add(length));
        // A walk from chunk to chunk would not get on.
        if directory.lengths.is_empty() {
            return Err("the chunk has no lines".into());
        }
        if first.later(directory.lengths.len() as u64).is_none() {
            return Err("the chunk has lines beyond the last number of a line".into());
        }
        if text.is_none() || sum(|frame| frame.text_len) != text {
            return Err("the lines' lengths do not add up to the frames' text".into());
        }
        if directory.holes.iter().any(|hole| !hole.is_in_its_line(&directory.lengths)) {
            return Err("a hole lies outside its line".into());
        }
        Ok(Self { first, bytes, directory, nodes, frames })
    }

    /// Whether `row`, the first of a chunk's rows, is all of it. Damage counts as whole: parsing reports it.
    pub(crate) fn is_whole(row: &[u8]) -> bool {
        section_lengths(row).map_or(true, |(lengths, start)| {
            lengths
                .iter()
                .try_fold(start as u64, |sum, &length| sum.checked_add(length))
                .is_none_or(|total| total <= row.len() as u64)
        })
    }

    /// The chunk's first line.
    pub(crate) fn first(&self) -> Ordinal {
        self.first
    }

    /// The chunk as it is stored.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// How many lines the chunk holds.
    pub(crate) fn line_count(&self) -> u64 {
        self.directory.lengths.len() as u64
    }

    /// Whether the line with this ordinal is in the chunk.
    pub(crate) fn holds(&self, ordinal: Ordinal) -> bool {
        ordinal.lines_since(self.first).is_some_and(|before| before < self.line_count())
    }

    /// The dictionary that the frames were compressed with.
    pub(crate) fn dictionary(&self) -> u32 {
        self.directory.dictionary
    }

    /// The directory's rows.
    pub(crate) fn frames(&self) -> &[Frame] {
        &self.directory.frames
    }

    /// All holes, in order of lines.
    pub(crate) fn holes(&self) -> &[Hole] {
        &self.directory.holes
    }

    /// Stored length of each line.
    pub(crate) fn lengths(&self) -> &[u64] {
        &self.directory.lengths
    }

    /// Where the line with this ordinal is; `None` if the chunk does not hold it.
    pub(crate) fn locate(&self, ordinal: Ordinal) -> Option<LinePlace> {
        let index = ordinal.index_from(self.first)?;
        let length = usize::try_from(*self.directory.lengths.get(index)?).ok()?;
        let mut first = 0usize;
        for (position, frame) in self.directory.frames.iter().enumerate() {
            let end_line = first + usize::try_from(frame.lines).ok()?;
            if index < end_line {
                let before = self.directory.lengths.get(first..index)?.iter().sum::<u64>();
                let start = usize::try_from(before).ok()?;
                return Some(LinePlace { frame: position, start, end: start + length });
            }
            first = end_line;
        }
        None
    }

    /// The holes of one line.
    pub(crate) fn holes_of(&self, ordinal: Ordinal) -> &[Hole] {
        let Some(line) = ordinal.lines_since(self.first) else { return &[] };
        let from = self.directory.holes.partition_point(|hole| hole.line < line);
        let to = self.directory.holes.partition_point(|hole| hole.line <= line);
        self.directory.holes.get(from..to).unwrap_or_default()
    }

    /// A frame's stored bytes.
    pub(crate) fn frame_bytes(&self, index: usize) -> &'a [u8] {
        let before: u64 =
            self.directory.frames.iter().take(index).map(|frame| frame.stored_len).sum();
        let length = self.directory.frames.get(index).map_or(0, |frame| frame.stored_len);
        // `parse` proved that the sums fit the slice.
        let start = usize::try_from(before).unwrap_or(usize::MAX);
        let end = usize::try_from(before + length).unwrap_or(usize::MAX);
        self.frames.get(start..end).unwrap_or_default()
    }

    /// Where the nodes stand in the chunk's bytes.
    #[cfg(test)]
    pub(crate) fn nodes_in(&self, bytes: &[u8]) -> std::ops::Range<usize> {
        let end = bytes.len() - self.frames.len();
        end - self.nodes.len()..end
    }

    /// The nodes of all lines.
    pub(crate) fn nodes(&self) -> Result<Vec<Node>, String> {
        Columns::read(self.nodes, self.first, self.directory.lengths.len())
    }

    /// The chunk's bytes with other nodes for the same lines.
    pub(crate) fn with_nodes(&self, nodes: &[Node]) -> Vec<u8> {
        assert_eq!(nodes.len(), self.directory.lengths.len(), "a node a line");
        let mut columns = ColumnWriter::default();
        for (ordinal, node) in self.first.onwards().zip(nodes) {
            columns.push(ordinal, node);
        }
        encode(&self.directory, columns.columns(), self.frames)
    }
}

/// Gives a chunk the check that its directory and nodes have, whatever they say: damage that no check sees.
#[cfg(any(test, fuzzing))]
pub(crate) fn reseal(bytes: &mut [u8]) -> Option<()> {
    let ([directory, nodes, _], start) = section_lengths(bytes).ok()?;
    let end = usize::try_from(directory.checked_add(nodes)?).ok()?.checked_add(start)?;
    let check = text_check(bytes.get(start..end)?).to_le_bytes();
    bytes.get_mut(start - CHECK_LEN..start)?.copy_from_slice(&check);
    Some(())
}

#[cfg(test)]
mod tests;
