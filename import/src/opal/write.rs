//! The header of a session, and whole sessions, as Opal writes them.

use crate::opal::draft::{quoted, quoted_parent, write_object};
use crate::opal::{ParentId, WriteError, encode};
use crate::scan::Raw;

/// The first line of a session.
///
/// ```
/// use leafline_import::opal::{Header, ParentId};
///
/// let header = Header {
///     session_id: b"sess-1",
///     current_id: ParentId::Id(b"msg_2"),
///     metadata: r#"{"title": "Fix auth bug"}"#,
/// };
/// let mut line = Vec::new();
/// header.write(&mut line)?;
/// let expected = concat!(
///     r#"{"current_id":"msg_2","metadata":{"title":"Fix auth bug"},"session_id":"sess-1"}"#,
///     "\n",
/// );
/// assert_eq!(line, expected.as_bytes());
/// # Ok::<(), leafline_import::opal::WriteError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header<'a> {
    /// The session's id as WTF-8 (see [`crate::text`]), and the name of its file without `.jsonl`.
    pub session_id: &'a [u8],
    /// The leaf; null if the session has none.
    pub current_id: ParentId<'a>,
    /// The metadata, as the JSON text of an object.
    pub metadata: &'a str,
}

impl Header<'_> {
    /// Appends the header's line, ended by `\n`. Nothing is appended on an error.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if the metadata is not a JSON object.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let malformed_member =
            |malformed| WriteError::MalformedMember { name: "metadata".to_owned(), malformed };
        let metadata = Raw::parse(self.metadata).map_err(malformed_member)?;
        if !metadata.is_object() {
            return Err(WriteError::WrongMember {
                name: "metadata",
                expected: "an object",
                found: metadata.type_in_words(),
            });
        }
        let mut encoded = Vec::with_capacity(self.metadata.len());
        encode(metadata.as_str(), &mut encoded)?;
        let (session_id, current_id) = (quoted(self.session_id), quoted_parent(self.current_id));
        let members: [(&[u8], &[u8]); 3] =
            [(b"current_id", &current_id), (b"metadata", &encoded), (b"session_id", &session_id)];
        write_object(members, out);
        out.push(b'\n');
        Ok(())
    }
}

/// Appends a whole session: the header's line, then the messages' lines in the given order, each ended by `
/// `. A line without a terminator gets one; an empty line is omitted, as Opal writes none.
///
/// ```
/// use leafline_import::opal::write_session;
///
/// let mut file = Vec::new();
/// write_session(br#"{"metadata":{}}"#, [&b"{\"id\":\"m1\"}\n"[..], b"{\"id\":\"m2\"}"], &mut file);
/// assert_eq!(file, b"{\"metadata\":{}}\n{\"id\":\"m1\"}\n{\"id\":\"m2\"}\n");
/// ```
pub fn write_session<'a>(
    header: &[u8],
    messages: impl IntoIterator<Item = &'a [u8]>,
    out: &mut Vec<u8>,
) {
    write_line(header, out);
    for message in messages {
        write_line(message, out);
    }
}

fn write_line(line: &[u8], out: &mut Vec<u8>) {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    if !text.is_empty() {
        out.extend_from_slice(text);
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers() {
        let mut header =
            Header { session_id: b"s", current_id: ParentId::Null, metadata: r#"{"b":1,"a":2}"# };
        let mut out = Vec::new();
        header.write(&mut out).unwrap();
        assert_eq!(
            String::from_utf8(std::mem::take(&mut out)).unwrap(),
            "{\"current_id\":null,\"metadata\":{\"a\":2,\"b\":1},\"session_id\":\"s\"}\n"
        );
        for (metadata, reason) in [
            ("[]", "metadata is an array: an object is needed"),
            ("{", "metadata cannot be read: the text is not JSON: unexpected input at byte 1"),
        ] {
            header.metadata = metadata;
            assert_eq!(header.write(&mut out).unwrap_err().to_string(), reason);
        }
        assert!(out.is_empty());
    }
}
