//! One pass over a line of a Claude Code session.

use crate::claude::members::MembersVisitor;
use crate::claude::record::Record;
use crate::grammar::{Both, Visitor};
use crate::scan::{self, Payload};

/// Scans lines; keeps its memory from one to the next.
///
/// It is the scan of [`crate::scan`], on the same grammar and with the same payloads, which reads the members of Claude
/// Code's records as well.
///
/// ```
/// use leafline_import::claude::{RecordKind, Scanner};
///
/// let mut scanner = Scanner::new();
/// let record = scanner.scan(
///     r#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"Hello"},"uuid":"a"}"#,
/// );
/// assert_eq!(record.kind(), RecordKind::User);
/// assert_eq!(record.uuid().as_deref(), Some(&b"a"[..]));
/// assert!(record.is_entry() && record.is_prompt());
/// ```
#[derive(Debug, Default)]
pub struct Scanner {
    line: scan::Scanner,
}

impl Scanner {
    /// A scanner with no memory in use yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Scans one line, with or without its terminator; decode its bytes with [`crate::text::decode`] first.
    ///
    /// What is JSON is what `JSON.parse` takes, with any depth of nesting. Any other line gives a record without facts,
    /// of the kind blank, malformed or scalar; what a malformed line still holds is for
    /// [`recover`](crate::recover::recover()).
    pub fn scan<'a>(&mut self, text: &'a str) -> Record<'a> {
        let mut visitor = MembersVisitor::new(text);
        let scan = self.line.scan_beside(text, &mut visitor);
        Record::new(scan, visitor)
    }

    /// The same while another visitor reads the line too.
    pub(super) fn scan_beside<'a>(
        &mut self,
        text: &'a str,
        beside: &mut impl Visitor,
    ) -> Record<'a> {
        let mut visitor = MembersVisitor::new(text);
        let scan = self.line.scan_beside(text, &mut Both { first: &mut visitor, second: beside });
        Record::new(scan, visitor)
    }

    /// The payloads of the line scanned last, in the order in which they stand. The base64 data of Claude Code's images
    /// are among them, as [`PayloadPlace::Other`](crate::scan::PayloadPlace::Other).
    #[must_use]
    pub fn payloads(&self) -> &[Payload] {
        self.line.payloads()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude::RecordKind;
    use crate::scan::{PayloadKind, PayloadPlace};

    #[test]
    fn images_are_payloads() {
        let line = format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"image","source":{{"type":"base64","data":"{}"}}}}]}}}}"#,
            "QUJD".repeat(256)
        );
        let mut scanner = Scanner::new();
        assert!(scanner.scan(&line).is_prompt());
        let [payload] = scanner.payloads() else { panic!("one image was written above") };
        assert_eq!((payload.kind, payload.place), (PayloadKind::Base64, PayloadPlace::Other));
        assert_eq!(payload.range().len(), 1024);
    }

    #[test]
    fn lines_that_are_no_records() {
        let mut scanner = Scanner::new();
        for (line, kind) in [
            ("", RecordKind::Blank),
            (" \u{feff}\r\n", RecordKind::Blank),
            ("\0\0\0", RecordKind::Malformed),
            (r#"{"type":"user","uuid":"a"}{"type":"user","uuid":"b"}"#, RecordKind::Malformed),
            (r#"{"type":"user","uuid":"a""#, RecordKind::Malformed),
            (r#"[{"type":"user","uuid":"a"}]"#, RecordKind::Scalar),
            ("\"massive error\"", RecordKind::Scalar),
            ("{}", RecordKind::Unknown),
        ] {
            let record = scanner.scan(line);
            assert_eq!(record.kind(), kind, "{line}");
            assert!(record.uuid().is_none() && !record.is_entry() && !record.is_prompt(), "{line}");
        }
    }

    #[test]
    fn a_million_levels_and_a_long_string() {
        let deep = format!(
            r#"{{"uuid":"a","message":{{"content":{}{}}},"text":"{}"}}"#,
            "[".repeat(1_000_000),
            "]".repeat(1_000_000),
            "x".repeat(2_000_000)
        );
        assert_eq!(Scanner::new().scan(&deep).uuid().as_deref(), Some(&b"a"[..]));
        assert_eq!(Scanner::new().scan(&deep[..1_500_000]).kind(), RecordKind::Malformed);
    }
}
