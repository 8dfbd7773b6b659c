//! The bytes between records: nothing, or the end of a record whose beginning is lost.

use std::ops::Range;

use memchr::memchr;
use memchr::memmem;

use super::frame::{Spans, Value};
use super::walk::trimmed;
use super::{Found, Wholeness};

/// Reads the bytes between two records. They are the rest of a record if they contain `"uuid":"`: inside a string its
/// quotes would be escaped. If there are several, the last is the record's own, as it comes after everything that the
/// record contains. pi and omp write ids at the beginning, so nothing of theirs can be read here.
pub(super) fn read(line: &[u8], between: Range<usize>) -> Option<Found> {
    if between.is_empty() {
        return None;
    }
    let spans = Spans {
        uuid: Some(last_text(line, &between, b"\"uuid\":")?),
        timestamp: last_text(line, &between, b"\"timestamp\":"),
        ..Spans::default()
    };
    Some(Found { bytes: trimmed(line, between), wholeness: Wholeness::Fragment, spans })
}

/// The string after the last occurrence of a name.
fn last_text(line: &[u8], within: &Range<usize>, name: &[u8]) -> Option<Value> {
    let bytes = &line[within.clone()];
    let after = memmem::rfind(bytes, name)? + name.len();
    let spaces = bytes[after..].iter().take_while(|byte| **byte == b' ').count();
    let start = after + spaces + 1;
    if bytes.get(start - 1) != Some(&b'"') {
        return None;
    }
    let end = start + memchr(b'"', &bytes[start..])?;
    Some(Value::Text(within.start + start..within.start + end))
}
