//! One pass over a line: whether it is JSON, the members an index needs, and its payloads.
//!
//! It accepts what `JSON.parse` accepts. Other values are skipped without building anything, and nesting costs memory,
//! never stack.

mod members;
mod payload;
mod raw;

pub use members::Members;
pub use payload::{Payload, PayloadKind, PayloadPlace, REFERENCE_PREFIX, SMALLEST_BASE64};
pub(crate) use payload::{is_base64, is_reference};
pub use raw::{Elements, Raw};

use crate::grammar::{self, Both, Container, Malformed, Scalar, StringToken, Visitor};
use crate::text::{is_blank, unescape};
use members::Slot;

/// What a line is, regardless of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Nothing, or JavaScript white space only.
    Blank,
    /// Not JSON.
    Malformed,
    /// JSON, but no object.
    Scalar,
    /// A JSON object.
    Object,
}

/// What a scan found in a line.
#[derive(Debug, Clone, Copy)]
pub struct Scan<'a> {
    /// What the line is.
    pub shape: Shape,
    /// The members of a line that is an object; all absent for any other.
    pub members: Members<'a>,
}

/// Scans lines, reusing its memory.
///
/// ```
/// use leafline_import::scan::{Scanner, Shape};
///
/// let mut scanner = Scanner::new();
/// let scan = scanner.scan(r#"{"type":"message","id":"a1b2c3d4","message":{"role":"user","content":"Hello"}}"#);
/// assert_eq!(scan.shape, Shape::Object);
/// assert_eq!(scan.members.id.and_then(|id| id.as_string()).as_deref(), Some(&b"a1b2c3d4"[..]));
/// assert!(scan.members.message_role.is_some_and(|role| role.is_text("user")));
/// assert!(scanner.payloads().is_empty());
/// ```
#[derive(Debug, Default)]
pub struct Scanner {
    open: Vec<Container>,
    frames: Vec<Frame>,
    payloads: Vec<Payload>,
}

impl Scanner {
    /// A scanner that has not allocated yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Scans one line, with or without its terminator.
    ///
    /// Pass the lines of a file, up to the first that is not blank, through [`crate::text::trim_start_of_file`].
    pub fn scan<'a>(&mut self, text: &'a str) -> Scan<'a> {
        // In a walk of its own: with a second visitor that does nothing it would cost up to 4% more (measured).
        self.scan_through(text, |line, open| grammar::walk(line.text, open, line))
    }

    /// Scans one line while another visitor reads it too, so that a family whose records have other members needs no
    /// second pass. What the other visitor received means nothing if the shape is not an object.
    pub(crate) fn scan_beside<'a>(&mut self, text: &'a str, beside: &mut impl Visitor) -> Scan<'a> {
        self.scan_through(text, |line, open| {
            grammar::walk(line.text, open, &mut Both { first: line, second: beside })
        })
    }

    #[inline]
    fn scan_through<'a>(
        &mut self,
        text: &'a str,
        walk: impl FnOnce(&mut LineVisitor<'a, '_>, &mut Vec<Container>) -> Result<(), Malformed>,
    ) -> Scan<'a> {
        self.frames.clear();
        self.payloads.clear();
        let mut scan = Scan { shape: Shape::Malformed, members: Members::default() };
        if is_blank(text) {
            scan.shape = Shape::Blank;
            return scan;
        }
        let mut line = LineVisitor {
            text,
            members: &mut scan.members,
            payloads: &mut self.payloads,
            frames: &mut self.frames,
            frame: Frame::OUTSIDE,
            record_slot: None,
            record_start: 0,
            in_message: false,
            message_slot: None,
            message_start: 0,
        };
        if walk(&mut line, &mut self.open).is_err() {
            scan.members = Members::default();
            self.payloads.clear();
        } else if text.as_bytes().get(grammar::skip_space(text.as_bytes(), 0)) == Some(&b'{') {
            scan.shape = Shape::Object;
        } else {
            scan.members = Members::default();
            scan.shape = Shape::Scalar;
        }
        scan
    }

    /// The payloads of the line scanned last, in the order of the text.
    #[must_use]
    pub fn payloads(&self) -> &[Payload] {
        &self.payloads
    }
}

/// The name of the member whose value comes next, as far as payloads depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Type,
    Data,
    Content,
    Message,
    Other,
}

/// The facts of each open container that are needed to place payloads.
#[derive(Debug, Clone, Copy)]
struct Frame {
    /// Whether it is the array of a member named `content`.
    is_content: bool,
    /// Whether it is an element of such an array.
    in_content: bool,
    /// Whether its `type` is `image`.
    is_image: bool,
    /// The name of the current member.
    name: Name,
    /// The index of its `data` in the list of payloads.
    data: Option<u32>,
}

impl Frame {
    const OUTSIDE: Self = Self {
        is_content: false,
        in_content: false,
        is_image: false,
        name: Name::Other,
        data: None,
    };
}

struct LineVisitor<'a, 'scratch> {
    text: &'a str,
    members: &'scratch mut Members<'a>,
    payloads: &'scratch mut Vec<Payload>,
    /// The frames around the current one; their number is the depth.
    frames: &'scratch mut Vec<Frame>,
    frame: Frame,
    record_slot: Option<Slot>,
    record_start: usize,
    in_message: bool,
    message_slot: Option<Slot>,
    message_start: usize,
}

// Always inlined: two walks have this visitor, and calls would cost each of them 6% (measured).
impl LineVisitor<'_, '_> {
    #[inline(always)]
    fn value(&mut self, start: usize, end: usize) {
        match self.frames.len() {
            1 => {
                if let Some(slot) = self.record_slot {
                    self.members.set(slot, Raw::of_walked(&self.text[start..end]));
                }
            }
            2 if self.in_message => {
                if let Some(slot) = self.message_slot {
                    self.members.set(slot, Raw::of_walked(&self.text[start..end]));
                }
            }
            _ => {}
        }
    }

    #[inline(always)]
    fn note_payload(&mut self, token: StringToken) {
        let content = &self.text.as_bytes()[token.start..token.end];
        let kind = if token.escaped {
            None
        } else if payload::is_reference(content) {
            Some(PayloadKind::Reference)
        } else if self.frame.name == Name::Data && payload::is_base64(content) {
            Some(PayloadKind::Base64)
        } else {
            None
        };
        let index = u32::try_from(self.payloads.len()).ok().filter(|_| kind.is_some());
        if let Some(kind) = kind {
            self.payloads.push(Payload {
                start: token.start,
                end: token.end,
                place: PayloadPlace::Other,
                kind,
            });
        }
        if self.frame.name == Name::Data {
            self.frame.data = index;
        }
    }
}

impl Visitor for LineVisitor<'_, '_> {
    #[inline(always)]
    fn open(&mut self, container: Container, start: usize) {
        match self.frames.len() {
            1 => {
                self.record_start = start;
                self.in_message =
                    self.frame.name == Name::Message && container == Container::Object;
            }
            2 => self.message_start = start,
            _ => {}
        }
        match self.frame.name {
            Name::Type => self.frame.is_image = false,
            Name::Data => self.frame.data = None,
            _ => {}
        }
        let inner = Frame {
            is_content: container == Container::Array && self.frame.name == Name::Content,
            in_content: self.frame.is_content,
            ..Frame::OUTSIDE
        };
        self.frames.push(std::mem::replace(&mut self.frame, inner));
    }

    #[inline(always)]
    fn close(&mut self, _: Container, end: usize) {
        if let Some(data) = self.frame.data
            && self.frame.is_image
            && self.frame.in_content
        {
            self.payloads[data as usize].place = PayloadPlace::ImageInContent;
        }
        self.frame = self.frames.pop().unwrap_or(Frame::OUTSIDE);
        match self.frames.len() {
            1 => {
                self.in_message = false;
                self.value(self.record_start, end);
            }
            2 => self.value(self.message_start, end),
            _ => {}
        }
    }

    #[inline(always)]
    fn key(&mut self, token: StringToken) {
        let raw = &self.text[token.start..token.end];
        let unescaped;
        let name = if token.escaped {
            unescaped = unescape(raw);
            &*unescaped
        } else {
            raw.as_bytes()
        };
        self.frame.name = match name {
            b"type" => Name::Type,
            b"data" => Name::Data,
            b"content" => Name::Content,
            _ => Name::Other,
        };
        match self.frames.len() {
            1 => {
                self.record_slot = Slot::of_record(name);
                if self.record_slot == Some(Slot::Message) {
                    self.frame.name = Name::Message;
                    self.members.clear_message();
                }
            }
            2 if self.in_message => self.message_slot = Slot::of_message(name),
            _ => {}
        }
    }

    #[inline(always)]
    fn string(&mut self, token: StringToken) {
        if self.frame.name == Name::Type {
            let raw = &self.text[token.start..token.end];
            self.frame.is_image = raw == "image" || (token.escaped && *unescape(raw) == *b"image");
        }
        self.note_payload(token);
        self.value(token.start - 1, token.end + 1);
    }

    #[inline(always)]
    fn scalar(&mut self, _: Scalar, start: usize, end: usize) {
        match self.frame.name {
            Name::Type => self.frame.is_image = false,
            Name::Data => self.frame.data = None,
            _ => {}
        }
        self.value(start, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base64() -> String {
        "QUJD".repeat(256)
    }

    fn places(text: &str) -> Vec<(PayloadKind, PayloadPlace)> {
        let mut scanner = Scanner::new();
        scanner.scan(text);
        let note = |payload: &Payload| (payload.kind, payload.place);
        scanner.payloads().iter().map(note).collect()
    }

    const IMAGE: (PayloadKind, PayloadPlace) = (PayloadKind::Base64, PayloadPlace::ImageInContent);
    const OTHER: (PayloadKind, PayloadPlace) = (PayloadKind::Base64, PayloadPlace::Other);

    #[test]
    fn members_of_record_and_message() {
        let text = r#"{"message":{"role":"old","provider":"p","content":[{"role":"deep"}]},"model":{"id":"x"},"\u0069d" : "a\u0062" ,"message":{"role":"user","usage":{"model":1},"content":"c"},"id2":1}"#;
        let members = Scanner::new().scan(text).members;
        assert_eq!(members.id.and_then(Raw::as_string).as_deref(), Some(&b"ab"[..]));
        assert_eq!(members.model.map(Raw::as_str), Some(r#"{"id":"x"}"#));
        assert_eq!(members.message_role.map(Raw::as_str), Some("\"user\""));
        assert_eq!(members.message_content.map(Raw::as_str), Some("\"c\""));
        assert_eq!(members.message_provider, None);
        assert_eq!(members.message_model, None);
        assert_eq!(members.role, None);
        let text = r#"{"message":{"role":"user"},"message":5}"#;
        let members = Scanner::new().scan(text).members;
        assert_eq!(members.message.map(Raw::as_str), Some("5"));
        assert_eq!(members.message_role, None);
        let text = r#"{"message":[{"role":"user"}],"id":[1,{"type":2}]}"#;
        let members = Scanner::new().scan(text).members;
        assert_eq!(members.message_role, None);
        assert_eq!(members.id.map(Raw::as_str), Some(r#"[1,{"type":2}]"#));
        assert_eq!(members.entry_type, None);
    }

    #[test]
    fn shapes() {
        let shape = |text| Scanner::new().scan(text).shape;
        assert_eq!(shape(" \u{feff}\r\n"), Shape::Blank);
        assert_eq!(shape("[{\"id\":1}]"), Shape::Scalar);
        assert_eq!(shape(" {} \r\n"), Shape::Object);
        assert_eq!(shape("{\"id\":1}{}"), Shape::Malformed);
        assert_eq!(Scanner::new().scan("{\"id\":1}{}").members, Members::default());
        assert_eq!(Scanner::new().scan("[{\"id\":1}]").members, Members::default());
    }

    #[test]
    fn images_in_content_in_any_order() {
        let data = base64();
        assert_eq!(
            places(&format!(r#"{{"message":{{"content":[{{"type":"image","data":"{data}"}}]}}}}"#)),
            [IMAGE]
        );
        assert_eq!(
            places(&format!(
                r#"{{"a":{{"content":[1,{{"data":"{data}","x":{{}},"type":"im\u0061ge"}}]}}}}"#
            )),
            [IMAGE]
        );
        assert_eq!(
            places(&format!(
                r#"[{{"content":[{{"data":"{data}","data":"{data}","type":"x","type":"image"}}]}}]"#
            )),
            [OTHER, IMAGE]
        );
    }

    #[test]
    fn data_that_is_no_image_in_content() {
        let data = base64();
        for text in [
            format!(r#"{{"type":"image","data":"{data}"}}"#),
            format!(r#"{{"content":{{"type":"image","data":"{data}"}}}}"#),
            format!(r#"{{"content":[[{{"type":"image","data":"{data}"}}]]}}"#),
            format!(
                r#"{{"content":[{{"type":"image","source":{{"type":"base64","data":"{data}"}}}}]}}"#
            ),
            format!(r#"{{"content":[{{"type":"image","type":5,"data":"{data}"}}]}}"#),
            format!(r#"{{"content":[{{"type":"image","data":"{data}","data":5}}]}}"#),
        ] {
            assert_eq!(places(&text), [OTHER], "{text}");
        }
        assert_eq!(places(&format!(r#"{{"text":"{data}","data":["{data}"]}}"#)), []);
        assert_eq!(places(&format!(r#"{{"data":"{data}\u0041AAA"}}"#)), []);
        assert_eq!(places(&format!(r#"{{"data":"{data}"}}{{}}"#)), []);
    }

    #[test]
    fn references_anywhere() {
        let reference = format!("blob:sha256:{}", "0f".repeat(32));
        let text = format!(
            r#"{{"content":[{{"data":"{reference}","type":"image"}},"{reference}"],"{reference}":1}}"#
        );
        assert_eq!(
            places(&text),
            [
                (PayloadKind::Reference, PayloadPlace::ImageInContent),
                (PayloadKind::Reference, PayloadPlace::Other)
            ]
        );
        let mut scanner = Scanner::new();
        scanner.scan(&text);
        assert_eq!(&text[scanner.payloads()[0].range()], reference);
    }

    #[test]
    fn a_million_levels() {
        let deep = format!(
            "{}null{}",
            r#"{"content":[{"message":"#.repeat(400_000),
            "}]}".repeat(400_000)
        );
        assert_eq!(Scanner::new().scan(&deep).shape, Shape::Object);
    }
}
