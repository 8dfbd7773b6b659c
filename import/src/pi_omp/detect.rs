//! Detects from a file's first bytes whether it is a session, of which program and version.

use crate::family::Family;
use crate::kind::EntryKind;
use crate::lines;
use crate::omp;
use crate::pi_omp::HeaderFacts;
use crate::pi_omp::positions::Positions;
use crate::recover::first_record;
use crate::scan::{Raw, Scan, Scanner, Shape};
use crate::text::decode;

/// What the start of a file shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Detection {
    /// The chosen family, or the one that the records show.
    pub family: Family,
    /// The header's version.
    pub version: crate::pi_omp::HeaderVersion,
    /// Whether the programs would rewrite the file on opening it.
    pub needs_migration: bool,
    /// The header.
    pub header: HeaderFacts,
}

/// Why a file is not a pi or omp session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotASession {
    /// There is nothing in it.
    #[error("the file is empty")]
    Empty,
    /// No line of it is JSON.
    #[error("no line of the file is JSON")]
    NoRecord,
    /// The prefix ends before the first record does.
    #[error("the first {bytes} bytes of the file hold no whole record")]
    PrefixTooShort {
        /// The number of bytes examined.
        bytes: usize,
    },
    /// The first record is not an object.
    #[error("the first record, on line {}, is not an object; a session starts with a header of type \"session\"", line + 1)]
    NotAnObject {
        /// The line's ordinal, from 0.
        line: u64,
    },
    /// The first record has another type.
    #[error("the first record, on line {}, has type {found:?}; a session starts with a header of type \"session\"", line + 1)]
    WrongType {
        /// The line's ordinal, from 0.
        line: u64,
        /// The type it has.
        found: String,
    },
    /// The first record has no type.
    #[error("the first record, on line {}, has no type; a session starts with a header of type \"session\"", line + 1)]
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

/// Detects what a file is from its first bytes; a few hundred kilobytes are enough.
///
/// `complete` says that `prefix` is the whole file, so that its last line counts without a terminator; otherwise a line
/// cut off by the prefix is ignored. `choice` is pi or omp if the caller chose one; another family counts as no choice.
///
/// The first record that parses must be an object of type `session` with a string `id`. omp may have title lines before
/// it (observed behaviour), so they are skipped unless pi was chosen. Without a choice, the file is omp's if a record
/// of the prefix shows what only omp writes (see [`omp::is_mark`]), otherwise pi's.
///
/// ```
/// use leafline_import::{Family, pi_omp::detect};
///
/// let file = br#"{"type":"title","v":1,"title":"Fix login"}
/// {"type":"session","version":3,"id":"1f9d2a6b","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}
/// "#;
/// let detection = detect(file, None, true)?;
/// assert_eq!(detection.family, Family::Omp);
/// assert_eq!(detection.header.line, 1);
/// assert_eq!(detection.header.title.as_deref(), Some("Fix login"));
/// # Ok::<(), leafline_import::pi_omp::NotASession>(())
/// ```
///
/// # Errors
///
/// [`NotASession`], with the reason.
pub fn detect(
    prefix: &[u8],
    choice: Option<Family>,
    complete: bool,
) -> Result<Detection, NotASession> {
    if prefix.is_empty() && complete {
        return Err(NotASession::Empty);
    }
    let choice = choice.filter(|family| family.is_pi_omp());
    let mut scanner = Scanner::new();
    let mut positions = Positions::default();
    let mut title: Option<Option<String>> = None;
    let mut header: Option<HeaderFacts> = None;
    let mut shows_omp = false;
    for (line, bytes) in (0..).zip(lines::split(prefix)) {
        if !complete && !bytes.ends_with(b"\n") {
            break;
        }
        let text = decode(bytes);
        let Some(text) = positions.text(&text) else {
            continue;
        };
        let mut scan = scanner.scan(text);
        let mut kind = EntryKind::of(&scan);
        if kind == EntryKind::Malformed {
            // omp reads the record with which the line begins, pi none of it: such a header is omp's.
            let first =
                first_record(text).filter(|_| header.is_none() && choice != Some(Family::Pi));
            let Some(first) = first else { continue };
            scan = scanner.scan(first);
            kind = EntryKind::of(&scan);
            if kind != EntryKind::Header || HeaderFacts::of(&scan, line).is_none() {
                continue;
            }
            shows_omp = true;
        }
        shows_omp |= omp::is_mark(&scan);
        if header.is_none() {
            if kind == EntryKind::Title && choice != Some(Family::Pi) {
                title = omp::title_of_slot(&scan).or(title);
            } else {
                header = Some(header_of(&scan, kind, line)?);
            }
        }
        if header.is_some() && (shows_omp || choice.is_some()) {
            break;
        }
    }
    let mut header = header.ok_or(if complete {
        NotASession::NoRecord
    } else {
        NotASession::PrefixTooShort { bytes: prefix.len() }
    })?;
    if let Some(title) = title {
        header.title = title;
    }
    Ok(Detection {
        family: choice.unwrap_or(if shows_omp { Family::Omp } else { Family::Pi }),
        version: header.version,
        needs_migration: header.version.needs_migration(),
        header,
    })
}

/// The header in a file's first record.
fn header_of(scan: &Scan<'_>, kind: EntryKind, line: u64) -> Result<HeaderFacts, NotASession> {
    if scan.shape != Shape::Object {
        return Err(NotASession::NotAnObject { line });
    }
    if kind == EntryKind::Header {
        return HeaderFacts::of(scan, line).ok_or(NotASession::HeaderWithoutId { line });
    }
    let found = scan.members.entry_type.and_then(Raw::to_string_lossy);
    Err(match found {
        None => NotASession::NoType { line },
        Some(found) => NotASession::WrongType { line, found: found.into_owned() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"type":"session","version":3,"id":"s"}"#;

    fn family(lines: &[&str]) -> Family {
        detect(lines.join("\n").as_bytes(), None, true).unwrap().family
    }

    fn reason(text: &str) -> NotASession {
        detect(text.as_bytes(), None, true).unwrap_err()
    }

    #[test]
    fn families_by_their_marks() {
        assert_eq!(family(&[HEADER]), Family::Pi);
        assert_eq!(family(&[r#"{"type":"title","title":""}"#, HEADER]), Family::Omp);
        assert_eq!(family(&[r#"{"type":"session","id":"s","title":"x"}"#]), Family::Omp);
        assert_eq!(family(&[HEADER, r#"{"type":"model_change","model":"a/b"}"#]), Family::Omp);
        assert_eq!(
            family(&[HEADER, r#"{"type":"model_change","provider":"a","modelId":"b"}"#]),
            Family::Pi
        );
        assert_eq!(family(&[HEADER, r#"{"type":"credential_pin"}"#]), Family::Omp);
        assert_eq!(family(&[HEADER, r#"{"type":"model_usage"}"#]), Family::Omp);
        // pi's own record of what a call has used.
        assert_eq!(family(&[HEADER, r#"{"type":"usage"}"#]), Family::Pi);
        assert_eq!(
            family(&[HEADER, r#"{"type":"compaction","fromExtension":false}"#]),
            Family::Omp
        );
        assert_eq!(family(&[HEADER, r#"{"type":"compaction","fromHook":false}"#]), Family::Pi);
    }

    #[test]
    fn omp_s_slot_takes_the_header_s_title_away() {
        let title = |slot: &str| {
            let file = format!("{slot}\n{{\"type\":\"session\",\"id\":\"s\",\"title\":\"H\"}}");
            detect(file.as_bytes(), None, true).unwrap().header.title
        };
        assert_eq!(title(r#"{"type":"title","v":1,"title":" ","pad":" "}"#), None);
        assert_eq!(title(r#"{"type":"title","v":1,"title":"S","pad":""}"#).as_deref(), Some("S"));
        // Not a slot: omp lists such a file, and no longer opens it.
        assert_eq!(title(r#"{"type":"title","title":""}"#), None);
        assert_eq!(title(r#"{"type":"title","title":5}"#).as_deref(), Some("H"));
        assert_eq!(title(r#"{"type":"title","title":"S"}"#).as_deref(), Some("S"));
    }

    #[test]
    fn the_choice_decides() {
        let detection = detect(HEADER.as_bytes(), Some(Family::Omp), true).unwrap();
        assert_eq!(detection.family, Family::Omp);
        let titled = format!("{{\"type\":\"title\"}}\n{HEADER}");
        let error = detect(titled.as_bytes(), Some(Family::Pi), true).unwrap_err();
        assert!(matches!(error, NotASession::WrongType { line: 0, found } if found == "title"));
    }

    #[test]
    fn the_header_is_the_first_parsed_record() {
        let text = format!("\u{feff}\n \n{{broken\n{HEADER}\n");
        assert_eq!(detect(text.as_bytes(), None, true).unwrap().header.line, 3);
        let text = format!("\n\u{a0}\u{feff}{HEADER}");
        assert_eq!(detect(text.as_bytes(), None, true).unwrap().header.line, 1);
    }

    #[test]
    fn a_header_with_something_behind_it_is_omp_s() {
        let behind = format!("{HEADER}{{\"type\":\"label\"}}\n{{\"type\":\"custom\"}}\n");
        let detection = detect(behind.as_bytes(), None, true).unwrap();
        assert_eq!((detection.family, detection.header.line), (Family::Omp, 0));
        assert_eq!(detection.header.id, b"s");
        let of_pi = detect(behind.as_bytes(), Some(Family::Pi), true).unwrap_err();
        assert!(matches!(of_pi, NotASession::WrongType { line: 1, .. }), "{of_pi}");
        // Of a title line omp reads nothing if there is more on it.
        let titled = format!("{{\"type\":\"title\",\"title\":\"T\"}}{HEADER}\n");
        assert_eq!(reason(&titled), NotASession::NoRecord);
    }

    #[test]
    fn reasons() {
        assert_eq!(reason(""), NotASession::Empty);
        assert_eq!(reason("\n{a\n"), NotASession::NoRecord);
        assert_eq!(reason("[1]"), NotASession::NotAnObject { line: 0 });
        assert_eq!(
            reason("{\"type\":\"session\",\"id\":5}"),
            NotASession::HeaderWithoutId { line: 0 }
        );
        assert_eq!(reason("{}"), NotASession::NoType { line: 0 });
        assert_eq!(reason("\n{\"metadata\":{}}"), NotASession::NoType { line: 1 });
        assert!(matches!(reason(r#"{"type":"message"}"#), NotASession::WrongType { .. }));
        let cut = &HEADER.as_bytes()[..20];
        assert_eq!(
            detect(cut, None, false).unwrap_err(),
            NotASession::PrefixTooShort { bytes: 20 }
        );
    }
}
