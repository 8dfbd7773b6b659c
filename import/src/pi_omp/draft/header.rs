//! The first line of a new session.

use super::write::{write_string_member, write_text_member};
use crate::time::format_timestamp;

/// The header of a new session, of version 3.
///
/// ```
/// use leafline_import::pi_omp::Header;
///
/// let header = Header { id: "1f9d2a6b", title: None, timestamp: 1_733_234_400_000, cwd: "/work", parent_session: None };
/// let mut line = Vec::new();
/// header.write(&mut line);
/// let expected = concat!(
///     r#"{"type":"session","version":3,"id":"1f9d2a6b","timestamp":"2024-12-03T14:00:00.000Z","cwd":"/work"}"#,
///     "\n",
/// );
/// assert_eq!(line, expected.as_bytes());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header<'a> {
    /// The session's id.
    pub id: &'a str,
    /// omp: the title, which a fork takes from its source.
    pub title: Option<&'a str>,
    /// The time in milliseconds since 1970, written in the form of [`format_timestamp`].
    pub timestamp: i64,
    /// The working folder.
    pub cwd: &'a str,
    /// Lineage: the path or id of the session that it comes from, as WTF-8 (see [`crate::text`]).
    pub parent_session: Option<&'a [u8]>,
}

impl Header<'_> {
    /// Appends the header's line, ended by `
    /// `: type, version, id, title, timestamp, cwd, parentSession (observed behaviour, writing). Members that are
    /// `None` are omitted.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        write_text_member("type", b"\"session\"", out);
        write_text_member("version", b"3", out);
        write_string_member("id", self.id.as_bytes(), out);
        if let Some(title) = self.title {
            write_string_member("title", title.as_bytes(), out);
        }
        write_string_member("timestamp", format_timestamp(self.timestamp).as_bytes(), out);
        write_string_member("cwd", self.cwd.as_bytes(), out);
        if let Some(parent) = self.parent_session {
            write_string_member("parentSession", parent, out);
        }
        out.extend_from_slice(b"}\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn omp_s_title_and_lineage() {
        let header = Header {
            id: "i",
            title: Some("t\""),
            timestamp: 0,
            cwd: "/é",
            parent_session: Some(b"\xed\xa0\x80"),
        };
        let mut out = Vec::new();
        header.write(&mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"type\":\"session\",\"version\":3,\"id\":\"i\",\"title\":\"t\\\"\",\"timestamp\":\"1970-01-01T00:00:00.000Z\",\"cwd\":\"/é\",\"parentSession\":\"\\ud800\"}\n"
        );
    }
}
