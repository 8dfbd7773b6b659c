//! The part of indexing that needs no order: scans a block of lines, cuts its payloads out, and compresses the rest
//! into frames. Workers do this in parallel.

use std::collections::HashMap;
use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use leafline_import::scan::{Payload, PayloadKind, PayloadPlace, Scanner};
use leafline_import::{
    Effect, EntryKind, Family, Line, LineReader, MessageRole, ParentLink, Reading, UsageReport,
    read_line, text,
};

use super::frames::FrameEncoder;
use super::records::{RecordPlace, each_record};
use crate::store::blobs::{self, Hash};
use crate::store::chunk::{EncodedFrames, Hole, HoleKind};
use crate::store::compression::Dictionary;
use crate::store::type_counts::{OTHER, name_to_count};

/// The number of type names that the counts of a block distinguish.
const TYPE_NAMES: usize = 256;

/// A line of so many stored bytes is not copied beside others: 1 MiB.
const LONG_LINE: usize = 1 << 20;

/// What a line says about its place in the tree.
#[derive(Debug, Clone)]
pub(crate) enum ParentName {
    /// Nothing, null, or an empty id: it is a root, or not an entry.
    None,
    /// An id, in [`Prepared::names`].
    Id(Range<usize>),
    /// A value that is not an id, and so can name no entry.
    NoId,
    /// The entry before it.
    Previous,
}

/// One line's facts.
#[derive(Debug, Clone)]
pub(crate) struct PreparedLine {
    pub(crate) kind: EntryKind,
    pub(crate) role: MessageRole,
    pub(crate) is_sidechain: bool,
    /// Whether it becomes the leaf by being the last entry.
    pub(crate) leads: bool,
    pub(crate) time: Option<i64>,
    /// For a message of the user or the assistant: its time, as pi computes a session's last activity.
    pub(crate) activity: Option<i64>,
    pub(crate) id: Option<Range<usize>>,
    pub(crate) parent: ParentName,
    /// Whether it is an entry although it is not JSON.
    pub(crate) is_recovered: bool,
    /// Whether another record follows on the same line.
    pub(crate) goes_on: bool,
    /// Whether it ends a line that is not JSON.
    pub(crate) ends_malformed: bool,
}

/// Bytes for the store by their hash.
#[derive(Debug)]
pub(crate) struct PreparedBlob {
    pub(crate) hash: Hash,
    pub(crate) bytes: Option<Vec<u8>>,
}

/// A block of lines, ready to be put in order.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    pub(crate) lines: Vec<PreparedLine>,
    /// All ids of the block, one after the other.
    pub(crate) names: Vec<u8>,
    pub(crate) frames: EncodedFrames,
    /// A blob for each hole, in order.
    pub(crate) blobs: Vec<PreparedBlob>,
    /// Effects with the index of their line.
    pub(crate) effects: Vec<(usize, Effect)>,
    /// Reports of usage with the index of their line.
    pub(crate) usage: Vec<(usize, UsageReport)>,
    /// Lines and bytes by type name.
    pub(crate) types: Vec<(String, u64, u64)>,
    /// Bytes of the lines.
    pub(crate) bytes: u64,
    /// Bytes of the lines without what was cut out.
    pub(crate) text_bytes: u64,
}

impl Prepared {
    /// Approximate bytes of memory that it takes.
    pub(crate) fn memory(&self) -> usize {
        let blobs = self.blobs.iter().map(|blob| blob.bytes.as_ref().map_or(0, Vec::len) + 64);
        self.frames.memory()
            + self.names.len()
            + std::mem::size_of_val(&*self.lines)
            + 256 * (self.effects.len() + self.usage.len())
            + blobs.sum::<usize>()
    }

    /// Frees the unused capacity of vectors.
    fn shrink(&mut self) {
        self.frames.shrink();
        self.names.shrink_to_fit();
        self.lines.shrink_to_fit();
        self.effects.shrink_to_fit();
        self.usage.shrink_to_fit();
    }
}

/// One worker's tools.
pub(crate) struct Preparer {
    reader: LineReader,
    encoder: FrameEncoder,
}

impl Preparer {
    pub(crate) fn new(reading: Reading) -> Self {
        Self { reader: LineReader::new(reading), encoder: FrameEncoder::new() }
    }

    /// Switches to the lines of another session.
    pub(crate) fn set_reading(&mut self, reading: Reading) {
        self.reader.set_reading(reading);
    }

    /// Prepares the lines of a block. `opens_file` says that it begins the file, where a byte order mark and white
    /// space before the first record are ignored.
    pub(crate) fn prepare(
        &mut self,
        block: &[u8],
        opens_file: bool,
        dictionary: &Dictionary,
    ) -> Prepared {
        let mut prepared = Prepared::default();
        let mut counts = TypeCounts::default();
        let family = self.reader.reading().family;
        let encoder = &mut self.encoder;
        each_record(&mut self.reader, block, opens_file, |record| {
            describe(&mut prepared, family, &record.read, record.place);
            counts.add(&record.read, record.bytes.len());
            let cut = cut_out(record.bytes, record.payloads);
            push_line(encoder, record.bytes, cut, &mut prepared, dictionary);
        });
        encoder.close(&mut prepared.frames, dictionary);
        prepared.types = counts.into_rows();
        prepared.bytes = block.len() as u64;
        prepared.shrink();
        prepared
    }
}

fn push_line(
    encoder: &mut FrameEncoder,
    line: &[u8],
    cut: Cut,
    prepared: &mut Prepared,
    dictionary: &Dictionary,
) {
    let length = cut.length(line);
    if encoder.is_full_for(length) {
        encoder.close(&mut prepared.frames, dictionary);
    }
    let (pieces, holes, blobs) = take_apart(line, cut);
    match &*pieces {
        &[whole] if length >= LONG_LINE => {
            encoder.push_alone(whole, &holes, &mut prepared.frames, dictionary);
        }
        _ => encoder.push(pieces.into_iter(), holes.into_iter()),
    }
    prepared.blobs.extend(blobs);
    prepared.text_bytes += length as u64;
}

impl std::fmt::Debug for Preparer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Preparer")
    }
}

impl PreparedLine {
    /// The facts of a record, without its names.
    pub(crate) fn of(read: &Line<'_>, place: RecordPlace) -> Self {
        let is_malformed = place.is_piece || read.is_malformed();
        let kind = read.kind();
        Self {
            kind,
            role: read.role(),
            is_sidechain: read.is_sidechain(),
            leads: kind.is_entry() && read.leads(),
            time: read.time(),
            activity: read.activity(),
            id: None,
            parent: ParentName::None,
            is_recovered: is_malformed && kind.is_entry(),
            goes_on: place.goes_on,
            ends_malformed: !place.goes_on && is_malformed,
        }
    }
}

/// Adds the line's facts, its effect, and what it reports of usage.
fn describe(prepared: &mut Prepared, family: Family, read: &Line<'_>, place: RecordPlace) {
    let mut line = PreparedLine::of(read, place);
    if line.kind.is_entry() {
        let mut name = |id: &[u8]| {
            let start = prepared.names.len();
            prepared.names.extend_from_slice(id);
            start..prepared.names.len()
        };
        line.id = read.id().map(|id| name(&id));
        line.parent = match read.parent() {
            ParentLink::None => ParentName::None,
            ParentLink::Id(id) => ParentName::Id(name(&id)),
            ParentLink::NoId => ParentName::NoId,
            ParentLink::Previous => ParentName::Previous,
        };
    }
    if let Some(effect) = read.effect() {
        prepared.effects.push((prepared.lines.len(), effect));
    }
    if family.may_state_usage(line.kind, line.role) {
        let place = prepared.lines.len();
        prepared.usage.extend(read.usage().into_iter().map(|report| (place, report)));
    }
    prepared.lines.push(line);
}

/// What is cut out of a line before it is stored.
struct Cut {
    places: Vec<Place>,
}

struct Place {
    range: Range<usize>,
    kind: HoleKind,
    hash: Hash,
    bytes: Option<Vec<u8>>,
}

impl Cut {
    fn length(&self, line: &[u8]) -> usize {
        let gone: usize = self
            .places
            .iter()
            .filter(|place| place.kind.is_cut())
            .map(|place| place.range.len())
            .sum();
        line.len() - gone
    }
}

/// Finds what to cut out: base64 that decoding and encoding reproduces exactly, and references.
fn cut_out(line: &[u8], payloads: &[Payload]) -> Cut {
    let place = |payload: &Payload| {
        let content = line.get(payload.range())?;
        let in_image = payload.place == PayloadPlace::ImageInContent;
        if payload.kind == PayloadKind::Reference {
            let hash = blobs::from_hex(content.get(content.len().checked_sub(64)?..)?)?;
            let kind = if in_image { HoleKind::ImageReference } else { HoleKind::TextReference };
            return Some(Place { range: payload.range(), kind, hash, bytes: None });
        }
        // The strict decoder refuses padding and trailing bits that encoding would not reproduce.
        let bytes = STANDARD.decode(content).ok()?;
        let kind = if in_image { HoleKind::Image } else { HoleKind::Payload };
        Some(Place { range: payload.range(), kind, hash: blobs::hash(&bytes), bytes: Some(bytes) })
    };
    Cut { places: payloads.iter().filter_map(place).collect() }
}

/// The name under which a line is counted: its type's, for messages with their role.
pub(crate) fn type_name(reading: Reading, line: &[u8]) -> String {
    read_line(reading, line, type_name_of)
}

/// [`type_name`] of a line that was already read.
pub(crate) fn type_name_of(read: &Line<'_>) -> String {
    match read.count_name() {
        Some(name) => name_to_count(&name).to_owned(),
        None => name_of(read.kind(), read.role()),
    }
}

fn name_of(kind: EntryKind, role: MessageRole) -> String {
    match role {
        MessageRole::None => kind.name().to_owned(),
        role => format!("{}/{}", kind.name(), role.name()),
    }
}

/// A single line in its stored form: the bytes that stay, its holes, and a blob for each.
pub(crate) struct StoredLine {
    pub(crate) text: Vec<u8>,
    pub(crate) holes: Vec<Hole>,
    pub(crate) blobs: Vec<PreparedBlob>,
}

impl StoredLine {
    /// Cuts the payloads out of a line.
    pub(crate) fn of(line: &[u8]) -> Self {
        let mut scanner = Scanner::new();
        let decoded = text::decode(line);
        scanner.scan(&decoded);
        let is_exact = matches!(decoded, std::borrow::Cow::Borrowed(_));
        let payloads = if is_exact { scanner.payloads() } else { &[] };
        let (pieces, holes, blobs) = take_apart(line, cut_out(line, payloads));
        Self { text: pieces.concat(), holes, blobs }
    }
}

/// A line's pieces without what is cut out of it, its holes, and a blob for each.
fn take_apart(line: &[u8], cut: Cut) -> (Vec<&[u8]>, Vec<Hole>, Vec<PreparedBlob>) {
    let mut pieces = Vec::with_capacity(cut.places.len() + 1);
    let mut holes = Vec::with_capacity(cut.places.len());
    let mut blobs = Vec::with_capacity(cut.places.len());
    let mut from = 0;
    let mut removed = 0;
    for place in cut.places {
        holes.push(Hole {
            line: 0,
            offset: (place.range.start - removed) as u64,
            kind: place.kind,
            hash: place.hash,
        });
        if place.kind.is_cut() {
            pieces.push(line.get(from..place.range.start).unwrap_or_default());
            from = place.range.end;
            removed += place.range.len();
        }
        blobs.push(PreparedBlob { hash: place.hash, bytes: place.bytes });
    }
    pieces.push(line.get(from..).unwrap_or_default());
    (pieces, holes, blobs)
}

/// Lines and bytes by type, within a block.
#[derive(Default)]
struct TypeCounts {
    known: HashMap<(EntryKind, MessageRole), (u64, u64)>,
    named: HashMap<String, (u64, u64)>,
}

impl TypeCounts {
    fn add(&mut self, line: &Line<'_>, length: usize) {
        let count = match line.count_name() {
            None => self.known.entry((line.kind(), line.role())).or_default(),
            Some(name) => {
                let is_new = !self.named.contains_key(&*name);
                let is_too_much = is_new && self.named.len() >= TYPE_NAMES;
                let name = if is_too_much { OTHER } else { name_to_count(&name) };
                if !self.named.contains_key(name) {
                    self.named.insert(name.to_owned(), (0, 0));
                }
                self.named.get_mut(name).expect("it was put there if it was not there")
            }
        };
        count.0 += 1;
        count.1 += length as u64;
    }

    fn into_rows(self) -> Vec<(String, u64, u64)> {
        let known = self
            .known
            .into_iter()
            .map(|((kind, role), (lines, bytes))| (name_of(kind, role), lines, bytes));
        let named = self.named.into_iter().map(|(name, (lines, bytes))| (name, lines, bytes));
        known.chain(named).collect()
    }
}
