//! The records of a block of a file's lines.

use std::borrow::Cow;

use leafline_import::recover::pieces;
use leafline_import::scan::Payload;
use leafline_import::{EntryKind, Line, LineReader, lines, text};

/// A record of a block, as it is read in its file.
pub(crate) struct BlockRecord<'r> {
    /// What it says.
    pub(crate) read: Line<'r>,
    /// Its bytes: its line, or its part of a line that is not JSON.
    pub(crate) bytes: &'r [u8],
    /// The payloads in the bytes. Empty if the text was repaired or trimmed: places in the text are then not places in
    /// the bytes.
    pub(crate) payloads: &'r [Payload],
    /// Where it stands.
    pub(crate) place: RecordPlace,
}

/// Where a record stands.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RecordPlace {
    /// Whether another record follows on its line.
    pub(crate) goes_on: bool,
    /// Whether it is on a line that is not JSON.
    pub(crate) is_piece: bool,
}

/// Passes on the records of a block of lines. `opens_file` says that it begins the file, where a byte order mark and
/// white space before the first record are ignored.
pub(crate) fn each_record(
    reader: &mut LineReader,
    block: &[u8],
    opens_file: bool,
    mut take: impl FnMut(&BlockRecord<'_>),
) {
    let mut at_start = opens_file;
    for bytes in lines::split(block) {
        let decoded = text::decode(bytes);
        let shown = shown(&decoded, at_start);
        let read = reader.read(shown);
        if read.is_malformed() && reader.reading().recovers {
            each_piece(reader, bytes, at_start, &mut take);
            at_start = false;
            continue;
        }
        at_start &= read.kind() == EntryKind::Blank;
        let is_exact = shown.len() == bytes.len() && matches!(decoded, Cow::Borrowed(_));
        let payloads = if is_exact { reader.payloads(shown) } else { &[] };
        take(&BlockRecord { read, bytes, payloads, place: RecordPlace::default() });
    }
}

/// Passes on the records of a line that is not JSON.
fn each_piece(
    reader: &mut LineReader,
    line: &[u8],
    at_start: bool,
    take: &mut impl FnMut(&BlockRecord<'_>),
) {
    let mut pieces = pieces(line).filter_map(|piece| line.get(piece)).peekable();
    while let Some(bytes) = pieces.next() {
        let decoded = text::decode(bytes);
        let read = reader.read(shown(&decoded, at_start));
        let place = RecordPlace { goes_on: pieces.peek().is_some(), is_piece: true };
        take(&BlockRecord { read, bytes, payloads: &[], place });
    }
}

fn shown(decoded: &str, at_start: bool) -> &str {
    if at_start { text::trim_start_of_file(decoded) } else { decoded }
}
