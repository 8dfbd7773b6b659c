//! Detects a rollout from a file's first bytes.

use crate::codex::header::Header;
use crate::codex::kind::RecordKind;
use crate::codex::record::Record;
use crate::codex::scanner::Scanner;
use crate::lines;
use crate::scan::Raw;
use crate::text::decode;

/// The first bytes of a Zstandard frame.
const ZSTANDARD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// What the start of a file shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detection {
    /// The ordinal of the header's line, from 0; only blank lines come before it.
    pub line: u64,
    /// The header.
    pub header: Header,
}

/// Why a file holds no rollout.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotASession {
    /// There is nothing in it.
    #[error("the file is empty")]
    Empty,
    /// All its lines are blank.
    #[error("no line of the file is a record")]
    NoRecord,
    /// The prefix ends before the first record does.
    #[error("the first {bytes} bytes of the file hold no whole record")]
    PrefixTooShort {
        /// The number of bytes examined.
        bytes: usize,
    },
    /// The file is compressed. Codex can keep a rollout as `rollout-….jsonl.zst`.
    #[error("the file is compressed with Zstandard")]
    Compressed,
    /// The first line is the header of an early version, without a `type`. Codex no longer reads such files.
    #[error("line {} is a header of an early version of Codex, which today's does not read", line + 1)]
    EarlyVersion {
        /// The line's ordinal, from 0.
        line: u64,
    },
    /// The first line that is not blank is not a record.
    #[error("line {} is not JSON, or no object; a rollout starts with a session_meta", line + 1)]
    NotARecord {
        /// The line's ordinal, from 0.
        line: u64,
    },
    /// The first record has another type.
    #[error("the first record, on line {}, has type {found:?}; a rollout starts with a session_meta", line + 1)]
    WrongType {
        /// The line's ordinal, from 0.
        line: u64,
        /// The type that it has.
        found: String,
    },
    /// The first record has no type.
    #[error("the first record, on line {}, has no type; a rollout starts with a session_meta", line + 1)]
    NoType {
        /// The line's ordinal, from 0.
        line: u64,
    },
    /// The header has no id that is a string.
    #[error("the header on line {} has no id that is a string", line + 1)]
    HeaderWithoutId {
        /// The line's ordinal, from 0.
        line: u64,
    },
}

/// Detects from its first bytes whether a file is a rollout, whatever its name. The header can be tens of kilobytes
/// long, as it holds the model's instructions.
///
/// `complete` says that `prefix` is the whole file, so that its last line counts without a terminator.
///
/// The first line that is not blank must be a `session_meta` whose payload has a string `id`. Codex requires more (a
/// UUID; `timestamp`, `cwd`, `originator` and `cli_version`) and refuses to resume a file that lacks any; such a file
/// is accepted here.
///
/// ```
/// use leafline_import::codex::{NotASession, detect};
///
/// let file = br#"{"timestamp":"2026-11-20T10:00:00.000Z","type":"session_meta","payload":{"id":"0199f2b4-5c1e-7a30-9c55-3b1f0e8d2a61","cwd":"/home/robin/work"}}"#;
/// assert_eq!(detect(file, true)?.header.cwd.as_deref(), Some("/home/robin/work"));
///
/// let other = br#"{"type":"session","version":3,"id":"1f9d2a6b"}"#;
/// assert!(matches!(detect(other, true), Err(NotASession::WrongType { line: 0, .. })));
/// # Ok::<(), NotASession>(())
/// ```
///
/// # Errors
///
/// [`NotASession`], with the reason.
pub fn detect(prefix: &[u8], complete: bool) -> Result<Detection, NotASession> {
    if prefix.is_empty() && complete {
        return Err(NotASession::Empty);
    }
    if prefix.starts_with(&ZSTANDARD) {
        return Err(NotASession::Compressed);
    }
    let mut scanner = Scanner::new();
    for (line, bytes) in (0..).zip(lines::split(prefix)) {
        if !complete && !bytes.ends_with(b"\n") {
            break;
        }
        let text = decode(bytes);
        let record = scanner.scan(&text);
        if record.kind() != RecordKind::Blank {
            return header_of(&record, &text, line).map(|header| Detection { line, header });
        }
    }
    Err(if complete {
        NotASession::NoRecord
    } else {
        NotASession::PrefixTooShort { bytes: prefix.len() }
    })
}

fn header_of(record: &Record<'_>, text: &str, line: u64) -> Result<Header, NotASession> {
    match record.kind() {
        RecordKind::SessionMeta => Header::of(record).ok_or(NotASession::HeaderWithoutId { line }),
        kind if !kind.is_record() => Err(NotASession::NotARecord { line }),
        _ => Err(match record.type_name() {
            Some(found) => NotASession::WrongType { line, found: found.into_owned() },
            None if is_early_header(text) => NotASession::EarlyVersion { line },
            None => NotASession::NoType { line },
        }),
    }
}

/// Whether it is `{"id":…,"timestamp":…,"instructions":…}` without a type.
fn is_early_header(text: &str) -> bool {
    let Ok(record) = Raw::parse(text) else { return false };
    let [id, timestamp, instructions] = record.members(["id", "timestamp", "instructions"]);
    id.is_some_and(Raw::is_string)
        && timestamp.is_some_and(Raw::is_string)
        && instructions.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str =
        r#"{"timestamp":"2026-11-20T10:00:00.000Z","type":"session_meta","payload":{"id":"a"}}"#;

    fn reason(text: &str) -> NotASession {
        detect(text.as_bytes(), true).unwrap_err()
    }

    #[test]
    fn blank_lines_ahead_do_no_harm() {
        let found = detect(format!("\n \r\n{HEADER}\n{{torn").as_bytes(), true).unwrap();
        assert_eq!((found.line, found.header.id.as_str()), (2, "a"));
    }

    #[test]
    fn what_is_none() {
        assert_eq!(reason(""), NotASession::Empty);
        assert_eq!(reason("\n\n"), NotASession::NoRecord);
        assert_eq!(reason(&format!("{{torn\n{HEADER}")), NotASession::NotARecord { line: 0 });
        assert_eq!(reason(&format!("\u{feff}{HEADER}")), NotASession::NotARecord { line: 0 });
        assert_eq!(reason("[1]"), NotASession::NotARecord { line: 0 });
        let early = r#"{"id":"a","timestamp":"2025-05-07T17:24:21Z","instructions":null,"git":{}}"#;
        assert_eq!(reason(early), NotASession::EarlyVersion { line: 0 });
        assert_eq!(reason("{\"metadata\":{}}"), NotASession::NoType { line: 0 });
        assert_eq!(
            reason("{\"type\":\"response_item\",\"payload\":{}}"),
            NotASession::WrongType { line: 0, found: "response_item".to_owned() }
        );
        let without_id = HEADER.replace("\"id\"", "\"ID\"");
        assert_eq!(reason(&without_id), NotASession::HeaderWithoutId { line: 0 });
        assert_eq!(detect(b"\x28\xb5\x2f\xfd\0", true), Err(NotASession::Compressed));
    }

    #[test]
    fn a_prefix_that_cuts_the_header() {
        assert_eq!(
            detect(HEADER.as_bytes(), false),
            Err(NotASession::PrefixTooShort { bytes: HEADER.len() })
        );
        assert!(detect(format!("{HEADER}\n{{\"ty").as_bytes(), false).is_ok());
    }
}
