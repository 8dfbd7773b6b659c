//! One pass over a line: whether it is JSON, and the members that Opal's files have.

use std::borrow::Cow;

use crate::grammar::{self, Container, Scalar, StringToken, Visitor};
use crate::opal::{Line, Members};
use crate::scan::{Raw, Shape};
use crate::text::{is_blank, unescape};

/// Scans lines, reusing its memory. Nesting costs memory, never stack.
///
/// ```
/// use leafline_import::opal::{LineKind, Parent, Scanner};
/// use leafline_import::MessageRole;
///
/// let text = r#"{"content":"fix \u0074he bug","id":"m1","is_error":false,"parent_id":null,"role":"user"}"#;
/// let mut scanner = Scanner::new();
/// let line = scanner.scan(text);
/// assert_eq!(line.kind(), LineKind::Message);
/// assert_eq!(line.parent(), Parent::Root);
/// assert_eq!(line.role(), MessageRole::User);
/// assert_eq!(line.content_range().map(|range| &text[range]), Some(r"fix \u0074he bug"));
/// assert_eq!(line.content().as_deref(), Some("fix the bug"));
/// ```
#[derive(Debug, Default)]
pub struct Scanner {
    open: Vec<Container>,
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
    pub fn scan<'a>(&mut self, text: &'a str) -> Line<'a> {
        let mut line =
            Line { shape: Shape::Malformed, members: Members::default(), content_start: 0 };
        if is_blank(text) {
            line.shape = Shape::Blank;
            return line;
        }
        let mut visitor = LineVisitor {
            text,
            members: Members::default(),
            content_start: 0,
            depth: 0,
            place: None,
            is_content: false,
            start: 0,
        };
        if grammar::walk(text, &mut self.open, &mut visitor).is_err() {
            return line;
        }
        if text.as_bytes().get(grammar::skip_space(text.as_bytes(), 0)) == Some(&b'{') {
            line.shape = Shape::Object;
            line.members = visitor.members;
            line.content_start = visitor.content_start;
        } else {
            line.shape = Shape::Scalar;
        }
        line
    }
}

/// Where a member's value goes.
type Place<'a> = for<'members> fn(&'members mut Members<'a>) -> &'members mut Option<Raw<'a>>;

fn place_of<'a>(name: &[u8]) -> Option<Place<'a>> {
    let place: Place<'a> = match name {
        b"id" => |members| &mut members.id,
        b"parent_id" => |members| &mut members.parent_id,
        b"role" => |members| &mut members.role,
        b"content" => |members| &mut members.content,
        b"is_error" => |members| &mut members.is_error,
        b"tool_calls" => |members| &mut members.tool_calls,
        b"call_id" => |members| &mut members.call_id,
        b"name" => |members| &mut members.name,
        b"thinking" => |members| &mut members.thinking,
        b"metadata" => |members| &mut members.metadata,
        b"timestamp" => |members| &mut members.timestamp,
        b"session_id" => |members| &mut members.session_id,
        b"current_id" => |members| &mut members.current_id,
        b"type" => |members| &mut members.entry_type,
        _ => return None,
    };
    Some(place)
}

struct LineVisitor<'a> {
    text: &'a str,
    members: Members<'a>,
    content_start: usize,
    depth: usize,
    /// Where the value of the current member of the record goes.
    place: Option<Place<'a>>,
    is_content: bool,
    /// Where that value starts, if it is a container.
    start: usize,
}

impl LineVisitor<'_> {
    #[inline]
    fn value(&mut self, start: usize, end: usize) {
        if self.depth == 1
            && let Some(place) = self.place
        {
            *place(&mut self.members) = Some(Raw::of_walked(&self.text[start..end]));
            if self.is_content {
                self.content_start = start;
            }
        }
    }
}

impl Visitor for LineVisitor<'_> {
    #[inline]
    fn open(&mut self, _: Container, start: usize) {
        if self.depth == 1 {
            self.start = start;
        }
        self.depth += 1;
    }

    #[inline]
    fn close(&mut self, _: Container, end: usize) {
        self.depth -= 1;
        self.value(self.start, end);
    }

    #[inline]
    fn key(&mut self, token: StringToken) {
        if self.depth == 1 {
            let raw = &self.text[token.start..token.end];
            let name = if token.escaped { unescape(raw) } else { Cow::Borrowed(raw.as_bytes()) };
            self.place = place_of(&name);
            self.is_content = *name == *b"content";
        }
    }

    #[inline]
    fn string(&mut self, token: StringToken) {
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
    use crate::opal::LineKind;

    #[test]
    fn a_million_levels() {
        let open = r#"{"id":[{"content":"#.repeat(300_000);
        let deep = format!("{open}null{}", "}]}".repeat(300_000));
        assert_eq!(Scanner::new().scan(&deep).kind(), LineKind::Message);
        assert_eq!(Scanner::new().scan(&open).kind(), LineKind::Malformed);
    }
}
