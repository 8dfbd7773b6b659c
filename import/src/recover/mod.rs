//! The records of a line that is not JSON: several on one line, a torn one, one with NUL bytes around it.
//!
//! The programs skip such a line, which cuts off everything below its records (observed). The line stays unchanged;
//! what can be read of it only keeps the tree together. The rules are the same for all families: the names of pi's and
//! omp's members (`id`, `parentId`) and of Claude Code's (`uuid`, `parentUuid`) are read side by side.

mod fragment;
mod frame;
mod walk;

use std::borrow::Cow;
use std::ops::Range;

use crate::grammar;
use crate::text::{decode, unescape};
use crate::time::parse_timestamp;
use frame::{Spans, Value};

/// How much of a record is present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wholeness {
    /// From its opening brace to the closing one. It may still not be JSON by itself.
    Whole,
    /// It begins with its brace and breaks off.
    Torn,
    /// Its beginning is lost.
    Fragment,
}

/// The value of a member that names another record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecoveredParent<'a> {
    /// `null`.
    Null,
    /// An id, as WTF-8.
    Id(Cow<'a, [u8]>),
    /// Anything else.
    Other,
}

/// The readable part of a record. Texts are WTF-8 (see [`crate::text`]); what could not be read is absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered<'a> {
    /// Its bytes in the line, without white space and NUL bytes around them.
    pub bytes: Range<usize>,
    /// How much of it is there.
    pub wholeness: Wholeness,
    /// `type`.
    pub record_type: Option<Cow<'a, [u8]>>,
    /// `uuid` (Claude Code).
    pub uuid: Option<Cow<'a, [u8]>>,
    /// `parentUuid` (Claude Code); `None` if it was not found.
    pub parent_uuid: Option<RecoveredParent<'a>>,
    /// `id` (pi, omp).
    pub id: Option<Cow<'a, [u8]>>,
    /// `parentId` (pi, omp); `None` if it was not found.
    pub parent_id: Option<RecoveredParent<'a>>,
    /// `timestamp`, as it is written.
    pub timestamp: Option<Cow<'a, [u8]>>,
    /// `sessionId` (Claude Code).
    pub session_id: Option<Cow<'a, [u8]>>,
    /// `isSidechain` is true (Claude Code).
    pub is_sidechain: bool,
}

impl Recovered<'_> {
    /// Its timestamp in milliseconds since 1970; `None` if that is no ISO time.
    #[must_use]
    pub fn time_ms(&self) -> Option<i64> {
        parse_timestamp(&String::from_utf8_lossy(self.timestamp.as_deref()?))
    }
}

/// Reads the records of a line in order; their bytes do not overlap.
///
/// The line may be anything. Escapes, control characters and the order of JSON's punctuation are not checked. A record
/// ends where its braces close; it is torn if before that the line ends or another record begins: at `{"name":` in the
/// middle of a string, which valid JSON never has, or where no value is possible. A record that begins where a value is
/// expected looks like a value; it counts as a record of its own if the one around it is torn and it has the members of
/// an entry. Records without any readable member are left out.
///
/// Time and memory are linear in the line, whatever its nesting.
///
/// ```
/// use leafline_import::recover::{Wholeness, recover};
///
/// let line = br#"{"parentUuid":"a","uuid":"b","message":{"content":"Hel{"parentUuid":"b","uuid":"c"}"#;
/// let records = recover(line);
/// assert_eq!(records.len(), 2);
/// assert_eq!(records[0].wholeness, Wholeness::Torn);
/// assert_eq!(records[0].uuid.as_deref(), Some(&b"b"[..]));
/// assert_eq!(records[1].wholeness, Wholeness::Whole);
/// assert_eq!(&line[records[1].bytes.clone()], br#"{"parentUuid":"b","uuid":"c"}"#);
/// ```
#[must_use]
pub fn recover(line: &[u8]) -> Vec<Recovered<'_>> {
    let mut records = Vec::new();
    walk::walk(line, &mut |found| {
        if found.spans != Spans::default() {
            records.push(read(line, found));
        }
    });
    records
}

/// The first record of a line that is not JSON, if it is whole: it may be JSON by itself.
///
/// ```
/// use leafline_import::recover::whole_record;
///
/// assert_eq!(whole_record(r#"{"uuid":"b"}{"uuid":"c"}"#), Some(r#"{"uuid":"b"}"#));
/// assert_eq!(whole_record(r#"{"uuid":"b","message":{"#), None);
/// ```
#[must_use]
pub fn whole_record(line: &str) -> Option<&str> {
    let first = recover(line.as_bytes()).into_iter().next();
    line.get(first.filter(|record| record.wholeness == Wholeness::Whole)?.bytes)
}

/// The beginning of a line that is not JSON, up to the end of the whole record with which it begins. White space alone may be
/// before it.
///
/// ```
/// use leafline_import::recover::first_record;
///
/// assert_eq!(first_record(" {\"id\":1} {\"id\":2}"), Some(" {\"id\":1}"));
/// assert_eq!(first_record("x{\"id\":1}"), None);
/// ```
#[must_use]
pub fn first_record(line: &str) -> Option<&str> {
    let bytes = line.as_bytes();
    let start = grammar::skip_space(bytes, 0);
    if bytes.get(start) != Some(&b'{') {
        return None;
    }
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at = grammar::read_string(bytes, at + 1).ok()?.end,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return line.get(..at);
        }
    }
    None
}

/// Divides a line that is not JSON into pieces, one for each record that can be [read](recover) from it, and returns
/// their byte ranges. Each piece begins where its record does, except the first, which begins with the line. Together
/// they are the line. A line from which nothing can be read is one piece.
///
/// A record is what can be read from its piece alone. So if a line breaks off before a value, the record that follows
/// is not taken for that value.
///
/// ```
/// use leafline_import::recover::pieces;
///
/// let line = br#"{"type":"user","uuid":"a","parentUuid":{"type":"user","uuid":"b","parentUuid":"a"}"#;
/// assert_eq!(pieces(line).collect::<Vec<_>>(), [0..39, 39..82]);
/// assert_eq!(pieces(b"no record").collect::<Vec<_>>(), [0..9]);
/// ```
pub fn pieces(line: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let starts = recover(line).into_iter().skip(1).map(|record| record.bytes.start);
    let starts: Vec<usize> = std::iter::once(0).chain(starts).collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([line.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| start..end).filter(|piece| !piece.is_empty())
}

/// A record and its place in the line.
#[derive(Debug, Clone)]
struct Found {
    bytes: Range<usize>,
    wholeness: Wholeness,
    spans: Spans,
}

fn read(line: &[u8], found: Found) -> Recovered<'_> {
    let spans = &found.spans;
    let text = |value: &Option<Value>| match value {
        Some(Value::Text(span)) => Some(string(&line[span.clone()])),
        _ => None,
    };
    let link = |value: &Option<Value>| {
        value.as_ref().map(|value| match value {
            Value::Null => RecoveredParent::Null,
            Value::Text(span) => RecoveredParent::Id(string(&line[span.clone()])),
            Value::True | Value::Other => RecoveredParent::Other,
        })
    };
    Recovered {
        record_type: text(&spans.record_type),
        uuid: text(&spans.uuid),
        parent_uuid: link(&spans.parent_uuid),
        id: text(&spans.id),
        parent_id: link(&spans.parent_id),
        timestamp: text(&spans.timestamp),
        session_id: text(&spans.session_id),
        is_sidechain: matches!(spans.is_sidechain, Some(Value::True)),
        bytes: found.bytes,
        wholeness: found.wholeness,
    }
}

/// The value of a string, given the bytes between its quotes.
fn string(inside_quotes: &[u8]) -> Cow<'_, [u8]> {
    match decode(inside_quotes) {
        Cow::Borrowed(text) => unescape(text),
        Cow::Owned(text) => Cow::Owned(unescape(&text).into_owned()),
    }
}

#[cfg(test)]
mod tests;
