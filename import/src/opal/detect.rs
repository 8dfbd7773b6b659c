//! Detects an Opal session from a file's first bytes.

use crate::lines;
use crate::opal::{HeaderFacts, Line, LineKind, Scanner};
use crate::scan::{Raw, Shape};
use crate::text::{decode, is_blank, trim_start_of_file};

/// Why a file is not an Opal session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotASession {
    /// It has nothing but white space.
    #[error("the file is empty")]
    Empty,
    /// The prefix ends before the first line does.
    #[error("the first {bytes} bytes of the file hold no whole line")]
    PrefixTooShort {
        /// The number of bytes examined.
        bytes: usize,
    },
    /// The first line is not JSON.
    #[error("line {}, the first, is not JSON; an Opal session starts with its metadata", line + 1)]
    Malformed {
        /// The line's ordinal, from 0.
        line: u64,
    },
    /// The first line is not an object.
    #[error("line {}, the first, is not an object; an Opal session starts with its metadata", line + 1)]
    NotAnObject {
        /// The line's ordinal, from 0.
        line: u64,
    },
    /// The first line has a `type`, as the records of pi, omp and Claude Code have.
    #[error("line {}, the first, has a type, {found}; the metadata of an Opal session has none", line + 1)]
    HasType {
        /// The line's ordinal, from 0.
        line: u64,
        /// The type it has, as JSON text of at most 100 characters.
        found: String,
    },
    /// The first line has a member that only Claude Code's records have.
    #[error("line {}, the first, has a {name}, as Claude Code's records have", line + 1)]
    ClaudeCode {
        /// The line's ordinal, from 0.
        line: u64,
        /// `uuid`, `sessionId` or `leafUuid`.
        name: &'static str,
    },
    /// The first line has no `metadata` that is an object, or is a message.
    #[error("line {}, the first, is not the metadata of an Opal session", line + 1)]
    NoMetadata {
        /// The line's ordinal, from 0.
        line: u64,
    },
    /// The first line can only be recognised by its `metadata`, and what follows is not a message.
    #[error("line {} is not a message of an Opal session: it has neither id, parent_id nor role", line + 1)]
    NoMessage {
        /// The line's ordinal, from 0.
        line: u64,
    },
}

/// Detects from its first bytes whether a file is an Opal session, and returns its header.
///
/// `complete` says that `prefix` is the whole file, so that its last line counts without a terminator; otherwise a line
/// cut off by the prefix is ignored. At most two records of the prefix are read.
///
/// The first line that is not blank must be an object with a `metadata` that is an object, without a `type` and without
/// members that only records of other programs or Opal's own messages have. If it has neither `session_id` nor
/// `current_id`, which is the documented form, the next object in the prefix, if any, must be a message: other kinds of
/// data have lines with `metadata` too.
///
/// ```
/// use leafline_import::opal::{CurrentId, detect};
///
/// let file = br#"{"current_id":"6b4c","metadata":{"title":"Fix auth bug"},"session_id":"sess-1"}"#;
/// let header = detect(file, true)?;
/// assert_eq!(header.session_id.as_deref(), Some(&b"sess-1"[..]));
/// assert_eq!(header.current_id, CurrentId::Id(b"6b4c".to_vec()));
/// # Ok::<(), leafline_import::opal::NotASession>(())
/// ```
///
/// # Errors
///
/// [`NotASession`], with the reason.
pub fn detect(prefix: &[u8], complete: bool) -> Result<HeaderFacts, NotASession> {
    let mut scanner = Scanner::new();
    let mut header: Option<HeaderFacts> = None;
    let whole = |bytes: &[u8]| complete || bytes.ends_with(b"\n");
    for (line, bytes) in (0..).zip(lines::split(prefix)).take_while(|(_, bytes)| whole(bytes)) {
        let text = decode(bytes);
        if is_blank(&text) {
            continue;
        }
        if header.is_some() {
            let scanned = scanner.scan(&text);
            match scanned.kind() {
                LineKind::Message if !is_message(&scanned) => {
                    return Err(NotASession::NoMessage { line });
                }
                LineKind::Header | LineKind::Message => break,
                LineKind::Blank | LineKind::Malformed | LineKind::Scalar => continue,
            }
        }
        let text = trim_start_of_file(&text);
        let scanned = scanner.scan(text);
        header = Some(header_of(&scanned, text, line)?);
        let members = &scanned.members;
        if members.session_id.or(members.current_id).is_some() {
            break;
        }
    }
    header.ok_or(if complete {
        NotASession::Empty
    } else {
        NotASession::PrefixTooShort { bytes: prefix.len() }
    })
}

fn is_message(line: &Line<'_>) -> bool {
    let members = &line.members;
    members.entry_type.is_none() && members.id.or(members.parent_id).or(members.role).is_some()
}

/// The header in a file's first line.
fn header_of(scanned: &Line<'_>, text: &str, line: u64) -> Result<HeaderFacts, NotASession> {
    match scanned.shape {
        Shape::Object => {}
        Shape::Blank | Shape::Malformed => return Err(NotASession::Malformed { line }),
        Shape::Scalar => return Err(NotASession::NotAnObject { line }),
    }
    if let Some(found) = scanned.members.entry_type {
        let found = found.as_str().chars().take(100).collect();
        return Err(NotASession::HasType { line, found });
    }
    let has = |name: &&str| Raw::of_walked(text.trim()).member(name).is_some();
    if let Some(name) = ["uuid", "sessionId", "leafUuid"].into_iter().find(has) {
        return Err(NotASession::ClaudeCode { line, name });
    }
    HeaderFacts::of(scanned, line)
        .filter(|_| scanned.kind() == LineKind::Header)
        .ok_or(NotASession::NoMetadata { line })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(text: &str) -> NotASession {
        detect(text.as_bytes(), true).unwrap_err()
    }

    #[test]
    fn both_forms_of_header() {
        let message = r#"{"id":"m","parent_id":null,"role":"user","content":"x","is_error":false}"#;
        for header in [
            r#"{"metadata":{}}"#,
            r#"{"session_id":"s","metadata":{}}"#,
            r#"{"current_id":null,"metadata":{},"session_id":"s"}"#,
        ] {
            assert!(detect(header.as_bytes(), true).is_ok());
            let file = format!("\u{feff}\n \r\n\u{a0}{header}\n\n{{torn\n{message}\n");
            assert_eq!(detect(file.as_bytes(), true).unwrap().line, 2);
        }
    }

    #[test]
    fn what_is_none() {
        assert_eq!(reason(""), NotASession::Empty);
        assert_eq!(reason(" \n\n"), NotASession::Empty);
        assert_eq!(reason("{x\n{\"metadata\":{}}"), NotASession::Malformed { line: 0 });
        assert_eq!(reason("\n[1]"), NotASession::NotAnObject { line: 1 });
        for text in [
            "{}",
            r#"{"metadata":null,"session_id":"s","current_id":null}"#,
            r#"{"metadata":[]}"#,
            r#"{"metadata":{},"id":"m","role":"user"}"#,
            r#"{"metadata":{},"parent_id":null}"#,
        ] {
            assert_eq!(reason(text), NotASession::NoMetadata { line: 0 }, "{text}");
        }
        assert_eq!(
            reason("{\"metadata\":{}}\n{\"text\":\"a dataset\"}"),
            NotASession::NoMessage { line: 1 }
        );
        assert!(detect(b"{\"metadata\":{},\"session_id\":\"s\"}\n{\"x\":1}", true).is_ok());
    }

    #[test]
    fn other_families_are_not_taken() {
        let pi = r#"{"type":"session","version":3,"id":"s","metadata":{}}"#;
        let found = "\"session\"".to_owned();
        assert_eq!(reason(pi), NotASession::HasType { line: 0, found });
        let claude = r#"{"sessionId":"s","metadata":{}}"#;
        assert_eq!(reason(claude), NotASession::ClaudeCode { line: 0, name: "sessionId" });
    }

    #[test]
    fn a_prefix_that_cuts_a_line() {
        let file = b"{\"metadata\":{}}\n{\"te";
        assert!(detect(file, false).is_ok());
        assert_eq!(
            detect(&file[..10], false).unwrap_err(),
            NotASession::PrefixTooShort { bytes: 10 }
        );
        assert_eq!(detect(b"", false).unwrap_err(), NotASession::PrefixTooShort { bytes: 0 });
    }
}
