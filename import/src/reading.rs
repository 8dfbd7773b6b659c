//! Reading the lines of a session of any family.

use std::borrow::Cow;

use crate::family::{Family, FamilyScanner, LineScan, with_format, with_scan};
use crate::format::{EntryIds, Format};
use crate::line::{Line, LineFacts};
use crate::recover::{Wholeness, first_record, recover, whole_record};
use crate::scan::{Payload, Shape};
use crate::text;

/// How the lines of a session are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The family of the lines.
    pub family: Family,
    /// Whether records are recovered from lines that are not JSON.
    pub recovers: bool,
}

impl Reading {
    /// For sessions in which every line is JSON.
    #[must_use]
    pub fn plain(family: Family) -> Self {
        Self { family, recovers: false }
    }

    /// The record of a line that is not JSON which counts as the whole line; `None` if the program does not read such
    /// lines. Where records are [recovered](Self::recovers), that is the first whole one.
    #[must_use]
    pub fn record_of(self, line: &str) -> Option<&str> {
        if self.recovers { whole_record(line) } else { self.first_record(line) }
    }

    fn first_record(self, line: &str) -> Option<&str> {
        if self.family.reads_first_record() { first_record(line) } else { None }
    }

    /// The id of the entry on a line, given the line's ordinal from 0: the id that the line states or, in families
    /// whose lines state none, the ordinal in decimal. As WTF-8 (see [`crate::text`]).
    #[must_use]
    pub fn id_at<'a>(self, line: &Line<'a>, ordinal: u64) -> Option<Cow<'a, [u8]>> {
        match self.family.entry_ids() {
            EntryIds::Stated => line.id(),
            EntryIds::Ordinals if line.kind().is_entry() => {
                Some(Cow::Owned(ordinal.to_string().into_bytes()))
            }
            EntryIds::Ordinals => None,
        }
    }
}

/// Reads lines, reusing its memory.
///
/// ```
/// use leafline_import::{EntryKind, Family, LineReader, Reading};
///
/// let mut reader = LineReader::new(Reading::plain(Family::Opal));
/// let line = reader.read(r#"{"id":"m1","parent_id":null,"role":"user","content":"Hello"}"#);
/// assert_eq!(line.kind(), EntryKind::Message);
/// assert_eq!(line.id().as_deref(), Some(&b"m1"[..]));
/// assert_eq!(line.message_text().as_deref(), Some("Hello"));
/// ```
#[derive(Debug)]
pub struct LineReader {
    reading: Reading,
    scanner: FamilyScanner,
}

impl LineReader {
    /// A reader that has not allocated yet.
    #[must_use]
    pub fn new(reading: Reading) -> Self {
        Self { reading, scanner: FamilyScanner::new(reading.family) }
    }

    /// How it reads.
    #[must_use]
    pub fn reading(&self) -> Reading {
        self.reading
    }

    /// Switches to the lines of another session.
    pub fn set_reading(&mut self, reading: Reading) {
        if self.reading.family != reading.family {
            self.scanner = FamilyScanner::new(reading.family);
        }
        self.reading = reading;
    }

    /// The facts of a line, or of a single record, given its decoded text.
    pub fn read<'a>(&mut self, text: &'a str) -> Line<'a> {
        let scan = self.scanner.scan(text);
        let is_malformed = shape(&scan) == Shape::Malformed;
        if !is_malformed {
            return Line::new(scan, false);
        }
        if !self.reading.recovers {
            return self.read_first(text).unwrap_or(Line::new(scan, true));
        }
        let Some(recovered) = recover(text.as_bytes()).into_iter().next() else {
            return Line::new(scan, is_malformed);
        };
        // A record that is JSON by itself, with something around it, has all its facts.
        if recovered.wholeness == Wholeness::Whole
            && let Some(whole) = text.get(recovered.bytes.clone())
        {
            let scan = self.scanner.scan(whole);
            if shape(&scan) == Shape::Object {
                return Line::new(scan, is_malformed);
            }
        }
        let recovered = with_format!(self.reading.family, F => F::recovered(recovered));
        Line::new(LineScan::Recovered(recovered), is_malformed)
    }

    /// The record with which a line begins that is not JSON, where the program reads it.
    fn read_first<'a>(&mut self, text: &'a str) -> Option<Line<'a>> {
        let first = self.reading.first_record(text)?;
        let scan = self.scanner.scan(first);
        (shape(&scan) == Shape::Object).then(|| Line::new(scan, true))
    }

    /// What the user or the model says in a single line that is known to be a message.
    pub fn message_text(&mut self, line: &[u8]) -> Option<String> {
        let decoded = text::decode(line);
        self.read(text::trim_start_of_file(&decoded)).message_text()
    }

    /// The payloads of the line read last, which is JSON and has this text.
    #[must_use]
    pub fn payloads(&self, text: &str) -> &[Payload] {
        self.scanner.payloads(text)
    }
}

fn shape(scan: &LineScan<'_>) -> Shape {
    with_scan!(scan, line => LineFacts::shape(line))
}

/// Reads something from a single line, as it would be read in its file.
pub fn read_line<T>(reading: Reading, line: &[u8], read: impl FnOnce(&Line<'_>) -> T) -> T {
    let decoded = text::decode(line);
    read(&LineReader::new(reading).read(text::trim_start_of_file(&decoded)))
}
