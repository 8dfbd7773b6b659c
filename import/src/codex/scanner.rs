//! One pass over a line: whether it is JSON, and the members of the record and of its payload.

use std::borrow::Cow;

use crate::codex::payload;
use crate::codex::record::{Members, Payload, Record};
use crate::grammar::{self, Container, Scalar, StringToken, Visitor};
use crate::scan::{self, Raw, Shape};
use crate::text::{is_blank, unescape};

/// Scans lines, reusing its memory. Nesting costs memory, never stack.
///
/// ```
/// use leafline_import::codex::{RecordKind, Scanner};
///
/// let line = r#"{"timestamp":"2026-11-20T10:00:00.000Z","ordinal":7,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hello"}]}}"#;
/// let mut scanner = Scanner::new();
/// let record = scanner.scan(line);
/// assert_eq!(record.kind(), RecordKind::ResponseItem);
/// assert_eq!(record.ordinal(), Some(7));
/// assert_eq!(record.payload_type().as_deref(), Some("message"));
/// assert_eq!(record.role().as_deref(), Some("user"));
/// ```
#[derive(Debug, Default)]
pub struct Scanner {
    open: Vec<Container>,
    payloads: Vec<scan::Payload>,
}

impl Scanner {
    /// A scanner that has not allocated yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Scans one line, with or without its terminator.
    ///
    /// A BOM makes a line malformed, even at the start of the file: Codex does not read a file that begins with one
    /// (observed).
    pub fn scan<'a>(&mut self, text: &'a str) -> Record<'a> {
        let nothing = |shape| Record::new(text, shape, Members::default(), Payload::default());
        self.payloads.clear();
        if is_blank(text) {
            return nothing(Shape::Blank);
        }
        let mut visitor = LineVisitor {
            text,
            payloads: &mut self.payloads,
            members: Members::default(),
            payload: Payload::default(),
            depth: 0,
            place: None,
            is_payload: false,
            start: 0,
            in_payload: false,
            payload_place: None,
            payload_start: 0,
        };
        if grammar::walk(text, &mut self.open, &mut visitor).is_err() {
            self.payloads.clear();
            nothing(Shape::Malformed)
        } else if text.as_bytes().get(grammar::skip_space(text.as_bytes(), 0)) == Some(&b'{') {
            Record::new(text, Shape::Object, visitor.members, visitor.payload)
        } else {
            nothing(Shape::Scalar)
        }
    }

    /// The payloads of the line scanned last, in the order of the text.
    #[must_use]
    pub fn payloads(&self) -> &[scan::Payload] {
        &self.payloads
    }
}

/// Where a member's value goes.
type Place<'a, T> = for<'members> fn(&'members mut T) -> &'members mut Option<Raw<'a>>;

fn place<'a>(name: &[u8]) -> Option<Place<'a, Members<'a>>> {
    Some(match name {
        b"timestamp" => |members| &mut members.timestamp,
        b"ordinal" => |members| &mut members.ordinal,
        b"type" => |members| &mut members.record_type,
        b"payload" => |members| &mut members.payload,
        b"metadata" => |members| &mut members.metadata,
        _ => return None,
    })
}

fn payload_place<'a>(name: &[u8]) -> Option<Place<'a, Payload<'a>>> {
    Some(match name {
        b"type" => |payload| &mut payload.payload_type,
        b"id" => |payload| &mut payload.id,
        b"role" => |payload| &mut payload.role,
        b"content" => |payload| &mut payload.content,
        b"call_id" => |payload| &mut payload.call_id,
        b"name" => |payload| &mut payload.name,
        b"turn_id" => |payload| &mut payload.turn_id,
        b"model" => |payload| &mut payload.model,
        b"cwd" => |payload| &mut payload.cwd,
        b"message" => |payload| &mut payload.message,
        _ => return None,
    })
}

struct LineVisitor<'a, 'scratch> {
    text: &'a str,
    payloads: &'scratch mut Vec<scan::Payload>,
    members: Members<'a>,
    payload: Payload<'a>,
    depth: usize,
    /// Where the value of the current member of the record goes.
    place: Option<Place<'a, Members<'a>>>,
    /// That member is `payload`.
    is_payload: bool,
    /// Where its value starts, if it is a container.
    start: usize,
    /// The open containers are the record and its payload.
    in_payload: bool,
    payload_place: Option<Place<'a, Payload<'a>>>,
    payload_start: usize,
}

impl<'a> LineVisitor<'a, '_> {
    #[inline]
    fn value(&mut self, start: usize, end: usize) {
        let raw = || Raw::of_walked(&self.text[start..end]);
        match self.depth {
            1 => {
                if let Some(place) = self.place {
                    *place(&mut self.members) = Some(raw());
                }
            }
            2 if self.in_payload => {
                if let Some(place) = self.payload_place {
                    *place(&mut self.payload) = Some(raw());
                }
            }
            _ => {}
        }
    }

    fn name(&self, token: StringToken) -> Cow<'a, [u8]> {
        let raw = &self.text[token.start..token.end];
        if token.escaped { unescape(raw) } else { Cow::Borrowed(raw.as_bytes()) }
    }
}

impl Visitor for LineVisitor<'_, '_> {
    #[inline]
    fn open(&mut self, container: Container, start: usize) {
        match self.depth {
            1 => {
                self.start = start;
                self.in_payload = self.is_payload && container == Container::Object;
            }
            2 => self.payload_start = start,
            _ => {}
        }
        self.depth += 1;
    }

    #[inline]
    fn close(&mut self, _: Container, end: usize) {
        self.depth -= 1;
        match self.depth {
            1 => {
                self.in_payload = false;
                self.value(self.start, end);
            }
            2 => self.value(self.payload_start, end),
            _ => {}
        }
    }

    #[inline]
    fn key(&mut self, token: StringToken) {
        match self.depth {
            1 => {
                let name = self.name(token);
                self.place = place(&name);
                self.is_payload = *name == *b"payload";
                if self.is_payload {
                    self.payload = Payload::default();
                }
            }
            2 if self.in_payload => self.payload_place = payload_place(&self.name(token)),
            _ => {}
        }
    }

    #[inline]
    fn string(&mut self, token: StringToken) {
        if !token.escaped {
            self.payloads.extend(payload::find(self.text, token.start, token.end));
        }
        self.value(token.start - 1, token.end + 1);
    }

    #[inline]
    fn scalar(&mut self, _: Scalar, start: usize, end: usize) {
        self.value(start, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codex::RecordKind;

    fn text(raw: Option<Raw<'_>>) -> Option<&str> {
        raw.map(Raw::as_str)
    }

    #[test]
    fn the_last_payload_counts() {
        let line = r#"{"type":"event_msg","payload":{"type":"a","turn_id":"t","role":{"type":"deep"}},"payload":{"\u0074ype":"b","content":[{"type":"c"}]},"metadata":{"type":"m"}}"#;
        let record = Scanner::new().scan(line);
        assert_eq!(record.payload_type().as_deref(), Some("b"));
        assert_eq!(record.turn_id(), None);
        assert_eq!(text(record.payload_members().content), Some(r#"[{"type":"c"}]"#));
        assert_eq!(text(record.metadata()), Some(r#"{"type":"m"}"#));
        let record = Scanner::new().scan(r#"{"payload":{"type":"a"},"payload":7}"#);
        assert_eq!((record.payload_type(), text(record.payload())), (None, Some("7")));
    }

    #[test]
    fn shapes() {
        let kind = |text| Scanner::new().scan(text).kind();
        assert_eq!(kind(" \r\n"), RecordKind::Blank);
        assert_eq!(kind("[1]\n"), RecordKind::Scalar);
        assert_eq!(kind("{torn"), RecordKind::Malformed);
        assert_eq!(kind("{}"), RecordKind::Unknown);
        assert_eq!(kind("\u{feff}{\"type\":\"compacted\"}"), RecordKind::Malformed);
        assert_eq!(kind("{\"type\":\"comp\\u0061cted\"}\r\n"), RecordKind::Compacted);
    }

    #[test]
    fn a_million_levels() {
        let open = r#"{"payload":{"content":[{"payload":"#.repeat(250_000);
        let deep = format!("{open}null{}", "}]}}".repeat(250_000));
        assert_eq!(Scanner::new().scan(&deep).kind(), RecordKind::Unknown);
        assert_eq!(Scanner::new().scan(&open).kind(), RecordKind::Malformed);
    }
}
