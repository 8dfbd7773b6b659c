//! The part of indexing that needs no order: a block of lines is scanned, its payloads cut out, and the
//! rest compressed into frames. Workers do this side by side.

use std::collections::HashMap;
use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use leafline_import::scan::{Payload, PayloadKind, PayloadPlace, Raw, Scan, Scanner};
use leafline_import::{EntryKind, MessageRole, lines, pi_omp, text, time};

use super::effect::{Effect, effect_of};
use super::frames::FrameEncoder;
use crate::store::blobs::{self, Hash};
use crate::store::chunk::{EncodedFrames, Hole, HoleKind};
use crate::store::compression::Dictionary;

/// Different type names that are told apart in the counts of a block.
const TYPE_NAMES: usize = 256;

/// What a line says of its place in the tree.
#[derive(Debug, Clone)]
pub(crate) enum ParentName {
    /// Nothing, null, or an empty id: a root, or no entry.
    None,
    /// An id, in [`Prepared::names`].
    Id(Range<usize>),
    /// A value that is no id: it can name no entry.
    NoId,
}

/// One line's facts.
#[derive(Debug, Clone)]
pub(crate) struct PreparedLine {
    pub(crate) kind: EntryKind,
    pub(crate) role: MessageRole,
    pub(crate) time: Option<i64>,
    /// For a message of the user or the assistant: when it was, as pi reckons a session's last activity.
    pub(crate) activity: Option<i64>,
    pub(crate) id: Option<Range<usize>>,
    pub(crate) parent: ParentName,
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
    /// All ids of the block, one behind the other.
    pub(crate) names: Vec<u8>,
    pub(crate) frames: EncodedFrames,
    /// A blob for each hole, in order.
    pub(crate) blobs: Vec<PreparedBlob>,
    /// Effects with the index of their line.
    pub(crate) effects: Vec<(usize, Effect)>,
    /// Lines and bytes by type name.
    pub(crate) types: Vec<(String, u64, u64)>,
    /// Bytes of the lines.
    pub(crate) bytes: u64,
    /// Bytes of the lines without what was cut out.
    pub(crate) text_bytes: u64,
}

/// One worker's tools.
pub(crate) struct Preparer {
    scanner: Scanner,
    encoder: FrameEncoder,
}

impl Preparer {
    pub(crate) fn new() -> Self {
        Self { scanner: Scanner::new(), encoder: FrameEncoder::new() }
    }

    /// Prepares the lines of a block. `opens_file` says that it begins the file, where a byte order mark
    /// and white space before the first record do not count.
    pub(crate) fn prepare(
        &mut self,
        block: &[u8],
        opens_file: bool,
        dictionary: &Dictionary,
    ) -> Prepared {
        let mut prepared = Prepared::default();
        let mut counts = TypeCounts::default();
        let mut at_start = opens_file;
        for line in lines::split(block) {
            let decoded = text::decode(line);
            let shown = if at_start { text::trim_start_of_file(&decoded) } else { &decoded };
            let scan = self.scanner.scan(shown);
            let (kind, role, time) = classify(&scan);
            at_start &= kind == EntryKind::Blank;
            counts.add(kind, role, &scan, line.len());
            describe(&mut prepared, (kind, role, time), &scan);
            // Positions in a text that was repaired, or trimmed, are none in the line's bytes.
            let exact =
                shown.len() == line.len() && matches!(decoded, std::borrow::Cow::Borrowed(_));
            let line_payloads = if exact { self.scanner.payloads() } else { &[] };
            let cut = cut_out(line, line_payloads);
            let length = cut.length(line);
            if self.encoder.is_full_for(length) {
                self.encoder.close(&mut prepared.frames, dictionary);
            }
            self.push_line(line, length, cut, &mut prepared);
        }
        self.encoder.close(&mut prepared.frames, dictionary);
        prepared.types = counts.into_rows();
        prepared.bytes = block.len() as u64;
        prepared
    }

    fn push_line(&mut self, line: &[u8], length: usize, cut: Cut, prepared: &mut Prepared) {
        let (pieces, holes, blobs) = take_apart(line, cut);
        self.encoder.push(pieces.into_iter(), holes.into_iter());
        prepared.blobs.extend(blobs);
        prepared.text_bytes += length as u64;
    }
}

impl std::fmt::Debug for Preparer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Preparer")
    }
}

/// Reads something off one line that is on its own, as it would be read in its file.
pub(crate) fn scan_line<T>(line: &[u8], read: impl FnOnce(&Scan<'_>) -> T) -> T {
    let decoded = text::decode(line);
    read(&Scanner::new().scan(text::trim_start_of_file(&decoded)))
}

/// What a line is: its kind, whose message, and its timestamp.
pub(crate) fn classify(scan: &Scan<'_>) -> (EntryKind, MessageRole, Option<i64>) {
    let members = &scan.members;
    let kind = match EntryKind::of(scan) {
        // Only a title line stands outside the tree; a record of that type with an id is an entry.
        EntryKind::Title if members.id.is_some_and(Raw::is_string) => EntryKind::Unknown,
        kind => kind,
    };
    let role = match kind {
        EntryKind::Message => MessageRole::of(scan),
        _ => MessageRole::None,
    };
    let time = members
        .timestamp
        .and_then(Raw::to_string_lossy)
        .and_then(|timestamp| time::parse_timestamp(&timestamp));
    (kind, role, time)
}

/// Adds the line's facts, and its effect.
fn describe(
    prepared: &mut Prepared,
    (kind, role, time): (EntryKind, MessageRole, Option<i64>),
    scan: &Scan<'_>,
) {
    let members = &scan.members;
    let mut line =
        PreparedLine { kind, role, time, activity: None, id: None, parent: ParentName::None };
    if kind.is_entry() {
        let mut name = |raw: Raw<'_>| {
            let id = raw.as_string()?;
            let start = prepared.names.len();
            prepared.names.extend_from_slice(&id);
            Some(start..prepared.names.len())
        };
        line.id = members.id.and_then(&mut name);
        line.parent = match members.parent_id.filter(|parent| parent.is_truthy()) {
            None => ParentName::None,
            Some(raw) => name(raw).map_or(ParentName::NoId, ParentName::Id),
        };
    }
    if matches!(role, MessageRole::User | MessageRole::Assistant) {
        line.activity = pi_omp::message_timestamp(scan).or(time);
    }
    if let Some(effect) = effect_of(kind, role, scan) {
        prepared.effects.push((prepared.lines.len(), effect));
    }
    prepared.lines.push(line);
}

/// What leaves a line before it is stored.
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

/// Finds what to cut out: base64 which decoding and encoding gives back as it was, and references.
fn cut_out(line: &[u8], payloads: &[Payload]) -> Cut {
    let place = |payload: &Payload| {
        let content = line.get(payload.range())?;
        let in_image = payload.place == PayloadPlace::ImageInContent;
        if payload.kind == PayloadKind::Reference {
            let hash = blobs::from_hex(content.get(content.len().checked_sub(64)?..)?)?;
            let kind = if in_image { HoleKind::ImageReference } else { HoleKind::TextReference };
            return Some(Place { range: payload.range(), kind, hash, bytes: None });
        }
        // The strict decoder refuses padding and trailing bits that encoding would not give back.
        let bytes = STANDARD.decode(content).ok()?;
        let kind = if in_image { HoleKind::Image } else { HoleKind::Payload };
        Some(Place { range: payload.range(), kind, hash: blobs::hash(&bytes), bytes: Some(bytes) })
    };
    Cut { places: payloads.iter().filter_map(place).collect() }
}

/// The name under which a line counts: its type's, messages with their role.
pub(crate) fn type_name(line: &[u8]) -> String {
    let mut counts = TypeCounts::default();
    scan_line(line, |scan| {
        let (kind, role, _) = classify(scan);
        counts.add(kind, role, scan, line.len());
    });
    counts.into_rows().into_iter().map(|(name, _, _)| name).next().unwrap_or_default()
}

/// A line on its own as it is stored: the bytes that stay, its holes, and a blob for each.
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
    unknown: HashMap<String, (u64, u64)>,
}

impl TypeCounts {
    fn add(&mut self, kind: EntryKind, role: MessageRole, scan: &Scan<'_>, length: usize) {
        let count = if kind == EntryKind::Unknown {
            let name = scan.members.entry_type.and_then(Raw::to_string_lossy).unwrap_or_default();
            let name =
                if name.len() > 64 || self.unknown.len() >= TYPE_NAMES { "" } else { &*name };
            self.unknown.entry(name.to_owned()).or_default()
        } else {
            self.known.entry((kind, role)).or_default()
        };
        count.0 += 1;
        count.1 += length as u64;
    }

    fn into_rows(self) -> Vec<(String, u64, u64)> {
        let known = self.known.into_iter().map(|((kind, role), (lines, bytes))| {
            let name = match role {
                MessageRole::None => kind.name().to_owned(),
                role => format!("{}/{}", kind.name(), role.name()),
            };
            (name, lines, bytes)
        });
        let unknown = self.unknown.into_iter().map(|(name, (lines, bytes))| {
            let name = if name.is_empty() { "(other)".to_owned() } else { name };
            (name, lines, bytes)
        });
        known.chain(unknown).collect()
    }
}
