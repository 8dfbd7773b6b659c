//! Existing lines with another parent or leaf, and otherwise unchanged.

use std::borrow::Cow;
use std::ops::Range;

use crate::grammar::{self, Container, Scalar, StringToken, Visitor};
use crate::opal::draft::{quoted, quoted_parent};
use crate::opal::{ParentId, WriteError};
use crate::scan::Raw;
use crate::text::{trim_start_of_file, unescape};

/// Appends a message's line with another `parent_id`. All other bytes stay, including the terminator and bytes that are
/// not UTF-8; nothing is appended on an error.
///
/// If the line has no such member, it is added: at its sorted place if the members are sorted by name, otherwise last.
///
/// ```
/// use leafline_import::opal::{ParentId, with_parent_id};
///
/// let line = br#"{"id":"m3","n":1e10,"parent_id":"m2","role":"user"}"#;
/// let mut out = Vec::new();
/// with_parent_id(line, ParentId::Id(b"summary"), &mut out)?;
/// assert_eq!(out, br#"{"id":"m3","n":1e10,"parent_id":"summary","role":"user"}"#);
/// # Ok::<(), leafline_import::opal::WriteError>(())
/// ```
///
/// # Errors
///
/// [`WriteError`] if the line is not a JSON object.
pub fn with_parent_id(
    line: &[u8],
    parent: ParentId<'_>,
    out: &mut Vec<u8>,
) -> Result<(), WriteError> {
    set_member(line, b"parent_id", &quoted_parent(parent), out)
}

/// Appends a header's line with another `session_id` and `current_id`, in the same way; a header of the documented
/// form, which has neither, gets both. White space and a BOM before the header are omitted: Opal does not read them.
///
/// ```
/// use leafline_import::opal::{ParentId, with_session};
///
/// let mut out = Vec::new();
/// with_session(br#"{"metadata":{"title":"Fix auth bug"}}"#, b"sess-1", ParentId::Null, &mut out)?;
/// assert_eq!(out, br#"{"current_id":null,"metadata":{"title":"Fix auth bug"},"session_id":"sess-1"}"#);
/// # Ok::<(), leafline_import::opal::WriteError>(())
/// ```
///
/// # Errors
///
/// [`WriteError`] if the line is not a JSON object.
pub fn with_session(
    header: &[u8],
    session_id: &[u8],
    current_id: ParentId<'_>,
    out: &mut Vec<u8>,
) -> Result<(), WriteError> {
    let header = begin_of_header(header);
    let mut with_current_id = Vec::with_capacity(header.len());
    set_member(header, b"current_id", &quoted_parent(current_id), &mut with_current_id)?;
    set_member(&with_current_id, b"session_id", &quoted(session_id), out)
}

/// Appends a header's line with other metadata, a JSON object, in the same way.
///
/// ```
/// use leafline_import::opal::with_metadata;
///
/// let mut out = Vec::new();
/// with_metadata(br#"{"current_id":null,"metadata":{},"x":1}"#, r#"{"title":"T"}"#, &mut out)?;
/// assert_eq!(out, br#"{"current_id":null,"metadata":{"title":"T"},"x":1}"#);
/// # Ok::<(), leafline_import::opal::WriteError>(())
/// ```
///
/// # Errors
///
/// [`WriteError`] if the line is not a JSON object.
pub fn with_metadata(header: &[u8], metadata: &str, out: &mut Vec<u8>) -> Result<(), WriteError> {
    set_member(begin_of_header(header), b"metadata", metadata.as_bytes(), out)
}

/// The header without anything before it.
fn begin_of_header(header: &[u8]) -> &[u8] {
    let text = stand_in(header);
    &header[text.len() - trim_start_of_file(&text).len()..]
}

/// Text with a `?` for each byte that is not UTF-8: of the same length, with the same JSON tokens in the same places.
fn stand_in(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    Cow::Owned(text)
}

/// Appends the object with one member set.
fn set_member(line: &[u8], name: &[u8], json: &[u8], out: &mut Vec<u8>) -> Result<(), WriteError> {
    let text = stand_in(line);
    let mut found = MemberPlaces { members: Vec::new(), depth: 0, name: None, start: 0 };
    grammar::walk(&text, &mut Vec::new(), &mut found)?;
    if !text.trim_start().starts_with('{') {
        return Err(WriteError::NotAnObject { found: Raw::of_walked(text.trim()).type_in_words() });
    }
    let members = found.members;
    let name_of = |member: &MemberPlace| unescape(&text[member.name.clone()]);
    let mut put = |replaced: Range<usize>, parts: [&[u8]; 5]| {
        out.extend_from_slice(&line[..replaced.start]);
        parts.iter().for_each(|part| out.extend_from_slice(part));
        out.extend_from_slice(&line[replaced.end..]);
    };
    // The last of repeated names counts.
    if let Some(member) = members.iter().rev().find(|member| *name_of(member) == *name) {
        put(member.value.clone(), [json, b"", b"", b"", b""]);
        return Ok(());
    }
    let next = if members.is_sorted_by_key(name_of) {
        members.iter().find(|member| *name_of(member) > *name)
    } else {
        None
    };
    match (next, members.last()) {
        (Some(next), _) => {
            let before = next.name.start - 1;
            put(before..before, [b"\"", name, b"\":", json, b","]);
        }
        (None, Some(last)) => {
            let after = last.value.end;
            put(after..after, [b",\"", name, b"\":", json, b""]);
        }
        (None, None) => {
            let inside = text.len() - text.trim_start().len() + 1;
            put(inside..inside, [b"\"", name, b"\":", json, b""]);
        }
    }
    Ok(())
}

/// The place of a member: the range between its name's quotes, and the range of its value.
struct MemberPlace {
    name: Range<usize>,
    value: Range<usize>,
}

/// Collects the places of the record's members.
struct MemberPlaces {
    members: Vec<MemberPlace>,
    depth: usize,
    name: Option<Range<usize>>,
    start: usize,
}

impl MemberPlaces {
    fn value(&mut self, start: usize, end: usize) {
        if self.depth == 1
            && let Some(name) = self.name.take()
        {
            self.members.push(MemberPlace { name, value: start..end });
        }
    }
}

impl Visitor for MemberPlaces {
    fn open(&mut self, _: Container, start: usize) {
        if self.depth == 1 {
            self.start = start;
        }
        self.depth += 1;
    }

    fn close(&mut self, _: Container, end: usize) {
        self.depth -= 1;
        self.value(self.start, end);
    }

    fn key(&mut self, token: StringToken) {
        if self.depth == 1 {
            self.name = Some(token.start..token.end);
        }
    }

    fn string(&mut self, token: StringToken) {
        self.value(token.start - 1, token.end + 1);
    }

    fn scalar(&mut self, _: Scalar, start: usize, end: usize) {
        self.value(start, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(line: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        with_parent_id(line, ParentId::Id(b"p"), &mut out).unwrap();
        out
    }

    #[test]
    fn only_the_value_changes() {
        assert_eq!(
            moved(b" { \"id\" : \"\xff\\ud800\", \"parent_id\" : null ,\"x\":[{\"parent_id\":1}]} \r\n"),
            b" { \"id\" : \"\xff\\ud800\", \"parent_id\" : \"p\" ,\"x\":[{\"parent_id\":1}]} \r\n"
        );
        assert_eq!(
            moved(br#"{"parent_id":1,"\u0070arent_id":[2],"id":"a"}"#),
            br#"{"parent_id":1,"\u0070arent_id":"p","id":"a"}"#
        );
    }

    #[test]
    fn a_member_that_is_not_there_is_added_at_its_place() {
        assert_eq!(moved(b" { } "), b" {\"parent_id\":\"p\" } ");
        assert_eq!(moved(br#"{"id":1,"role":2}"#), br#"{"id":1,"parent_id":"p","role":2}"#);
        assert_eq!(moved(br#"{"role":2,"id":1 }"#), br#"{"role":2,"id":1,"parent_id":"p" }"#);
        assert_eq!(moved(br#"{"a":{}}"#), br#"{"a":{},"parent_id":"p"}"#);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        let refused = |line: &[u8]| {
            let mut out = Vec::new();
            let error = with_parent_id(line, ParentId::Null, &mut out).unwrap_err();
            assert!(out.is_empty());
            error.to_string()
        };
        assert_eq!(refused(b" [1]\n"), "the record is an array: an object is needed");
        assert!(refused(b"{\"a\":1}{}").starts_with("the record cannot be read"));
        assert!(refused(b"\xff{}").starts_with("the record cannot be read"));
    }

    #[test]
    fn headers_of_both_forms() {
        let session = |header: &[u8]| {
            let mut out = Vec::new();
            with_session(header, b"s", ParentId::Id(b"c"), &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            session("\u{feff}{\"metadata\":{\"b\":1, \"a\":2}}\n".as_bytes()),
            "{\"current_id\":\"c\",\"metadata\":{\"b\":1, \"a\":2},\"session_id\":\"s\"}\n"
        );
        assert_eq!(
            session(br#"{"session_id":"old","metadata":{},"current_id":null,"x":1}"#),
            r#"{"session_id":"s","metadata":{},"current_id":"c","x":1}"#
        );
    }
}
