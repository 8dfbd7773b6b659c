//! The walk over the line: strings, braces and where records begin and end.

use memchr::{memchr, memchr3};

use super::frame::{Frame, Value};
use super::{Found, Wholeness, fragment};

/// Containers below this many levels are only counted. Real records have up to 11 levels (observed), and only the
/// members of records are read.
const DEEPEST: usize = 256;

/// The longest name with which a record can begin, in bytes.
const LONGEST_NAME: usize = 64;

/// Emits every record of the line.
pub(super) fn walk(line: &[u8], emit: &mut impl FnMut(Found)) {
    let mut at = 0;
    while at < line.len() {
        let start = memchr(b'{', &line[at..]).map_or(line.len(), |offset| at + offset);
        if let Some(found) = fragment::read(line, at..start) {
            emit(found);
        }
        if start == line.len() {
            return;
        }
        at = Walk { line, open: vec![Frame::new(start, true)], deeper: 0, entries: Vec::new() }
            .record(start + 1, emit);
    }
}

/// The walk over one record.
struct Walk<'a> {
    line: &'a [u8],
    /// The open containers; the first is the record itself.
    open: Vec<Frame>,
    /// How many containers are open below the last one in `open`.
    deeper: usize,
    /// Whole objects inside the record that have the members of an entry.
    entries: Vec<Found>,
}

/// Where a string ends.
enum StringEnd {
    /// At the quote at this byte.
    Quote(usize),
    /// At another record, which begins at this byte.
    Record(usize),
    /// Nowhere.
    Never,
}

impl Walk<'_> {
    /// Reads a record from the byte after its brace; returns where to go on.
    fn record(mut self, mut at: usize, emit: &mut impl FnMut(Found)) -> usize {
        while let Some(&byte) = self.line.get(at) {
            match byte {
                b'"' => match string_end(self.line, at + 1) {
                    StringEnd::Quote(end) => {
                        self.string(at + 1, end);
                        at = end;
                    }
                    StringEnd::Record(next) => return self.torn(next, emit),
                    StringEnd::Never => break,
                },
                b'{' if !self.expects_value() && begins_record(self.line, at) => {
                    return self.torn(at, emit);
                }
                b'{' | b'[' => self.open(at, byte == b'{'),
                b'}' | b']' => {
                    if let Some(record) = self.close(at + 1, byte == b'}') {
                        emit(record);
                        return at + 1;
                    }
                }
                _ => self.mark(byte, at),
            }
            at += 1;
        }
        let end = self.line.len();
        self.torn(end, emit)
    }

    /// The innermost container, unless it is only counted.
    fn innermost(&mut self) -> Option<&mut Frame> {
        if self.deeper > 0 { None } else { self.open.last_mut() }
    }

    fn expects_value(&self) -> bool {
        self.deeper > 0 || self.open.last().is_some_and(|frame| frame.expects_value)
    }

    fn string(&mut self, start: usize, end: usize) {
        let line = self.line;
        if let Some(frame) = self.innermost() {
            frame.string(line, start..end);
        }
    }

    /// Takes a byte outside strings that neither opens nor closes anything.
    fn mark(&mut self, byte: u8, at: usize) {
        let line = self.line;
        let Some(frame) = self.innermost() else { return };
        match byte {
            b':' => frame.colon(),
            b',' => frame.comma(),
            b' ' | b'\t' | b'\n' | b'\r' => {}
            // Nothing continues after a run of NUL bytes; what follows is another record.
            0 => frame.expects_value = false,
            b'n' if line[at..].starts_with(b"null") => frame.value(line, Value::Null),
            b't' if line[at..].starts_with(b"true") => frame.value(line, Value::True),
            _ => frame.value(line, Value::Other),
        }
    }

    fn open(&mut self, at: usize, is_object: bool) {
        let line = self.line;
        if let Some(frame) = self.innermost() {
            frame.value(line, Value::Other);
        }
        if self.deeper > 0 || self.open.len() == DEEPEST {
            self.deeper += 1;
        } else {
            self.open.push(Frame::new(at, is_object));
        }
    }

    /// Closes the innermost container of a kind, and those left open inside it. Returns the record if this is its end.
    fn close(&mut self, end: usize, is_object: bool) -> Option<Found> {
        if self.deeper > 0 {
            self.deeper -= 1;
            return None;
        }
        let place = self.open.iter().rposition(|frame| frame.is_object == is_object)?;
        self.open.truncate(place + 1);
        let frame = self.open.pop()?;
        let bytes = frame.start..end;
        let found = Found { bytes, wholeness: Wholeness::Whole, spans: frame.spans() };
        if place == 0 {
            return Some(found);
        }
        if found.spans.are_of_an_entry() {
            self.entries.push(found);
        }
        None
    }

    /// Ends a torn record; returns where to go on.
    fn torn(mut self, end: usize, emit: &mut impl FnMut(Found)) -> usize {
        let mut records = std::mem::take(&mut self.entries);
        for (level, frame) in self.open.into_iter().enumerate() {
            let bytes = frame.start..end;
            let found = Found { bytes, wholeness: Wholeness::Torn, spans: frame.spans() };
            if level == 0 || found.spans.are_of_an_entry() {
                records.push(found);
            }
        }
        records.sort_by_key(|record| record.bytes.start);
        let starts: Vec<usize> = records.iter().map(|record| record.bytes.start).collect();
        let mut past = 0;
        for (place, mut record) in records.into_iter().enumerate() {
            if record.bytes.start < past {
                continue;
            }
            if record.wholeness == Wholeness::Torn {
                let next = starts.get(place + 1).copied().unwrap_or(end);
                record.bytes.end = next.min(end);
                record.bytes = trimmed(self.line, record.bytes);
            }
            past = record.bytes.end;
            emit(record);
        }
        end
    }
}

/// Finds the end of a string, given the byte after its opening quote.
fn string_end(line: &[u8], mut at: usize) -> StringEnd {
    while let Some(offset) = line.get(at..).and_then(|rest| memchr3(b'"', b'\\', b'{', rest)) {
        at += offset;
        match line[at] {
            b'"' => return StringEnd::Quote(at),
            b'{' if begins_record(line, at) => return StringEnd::Record(at),
            // A brace needs no escape, so a brace after a backslash is examined by itself.
            b'\\' if line.get(at + 1) != Some(&b'{') => at += 2,
            _ => at += 1,
        }
    }
    StringEnd::Never
}

/// Whether an object with a plain name begins at the brace at `at`. In a JSON string the quote would end the string,
/// and no letter could follow.
fn begins_record(line: &[u8], at: usize) -> bool {
    let past_space = |from: usize| {
        let rest = line.get(from..).unwrap_or_default();
        let spaces = rest.iter().take(LONGEST_NAME).take_while(|byte| matches!(byte, b' ' | b'\t'));
        from + spaces.count()
    };
    let quote = past_space(at + 1);
    if line.get(quote) != Some(&b'"') {
        return false;
    }
    let rest = &line[quote + 1..];
    let is_plain = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$');
    let length = rest.iter().take(LONGEST_NAME).take_while(is_plain).count();
    let after = quote + 1 + length;
    length > 0 && line.get(after) == Some(&b'"') && line.get(past_space(after + 1)) == Some(&b':')
}

/// A range without white space and NUL bytes around it.
pub(super) fn trimmed(line: &[u8], range: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let is_padding = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0);
    let bytes = &line[range.clone()];
    let before = bytes.iter().take_while(|byte| is_padding(byte)).count();
    let after = bytes[before..].iter().rev().take_while(|byte| is_padding(byte)).count();
    range.start + before..range.end - after
}
