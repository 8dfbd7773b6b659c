//! The content of a record's message, read on the same walk as the record.

use crate::claude::{Record, Scanner};
use crate::ecma::{Builder, Document, Memory};
use crate::grammar::{Container, Scalar, StringToken, Visitor};
use crate::recover::whole_record;
use crate::scan::Shape;
use crate::text::unescape;

/// The depths at which the visitor reads names, as the number of containers around them.
const IN_RECORD: usize = 1;
const IN_MESSAGE: usize = 2;

/// Scans records with their contents; keeps its memory from one to the next.
#[derive(Debug, Default)]
pub(super) struct ContentScanner {
    scanner: Scanner,
    memory: Memory,
}

impl ContentScanner {
    /// Scans a line, and makes something of the record and the content of its message, if it has one. `recovers` says
    /// whether the whole record is read of a line that begins with one and is not JSON.
    pub(super) fn scan<T>(
        &mut self,
        text: &str,
        recovers: bool,
        make: impl FnOnce(&Record<'_>, Option<&mut Document<'_>>) -> T,
    ) -> T {
        let mut visitor = ContentVisitor::new(text, std::mem::take(&mut self.memory));
        let mut record = self.scanner.scan_beside(text, &mut visitor);
        if record.scan().shape == Shape::Malformed
            && recovers
            && let Some(whole) = whole_record(text)
        {
            visitor = ContentVisitor::new(whole, visitor.builder.into_memory());
            record = self.scanner.scan_beside(whole, &mut visitor);
        }
        let has_content = record.scan().members.message_content.is_some();
        let content = visitor.builder.document().filter(|_| has_content);
        let made = make(&record, content);
        self.memory = visitor.builder.into_memory();
        made
    }
}

/// Builds the document of `message.content`; of the last one, where there are several.
struct ContentVisitor<'a> {
    text: &'a str,
    builder: Builder<'a>,
    depth: usize,
    /// Whether the member at hand is the record's message, and whether it is an object that is not over.
    is_message: bool,
    in_message: bool,
    /// Whether the member of the message at hand is its content, and whether that is a container that is not over.
    is_content: bool,
    in_content: bool,
}

impl<'a> ContentVisitor<'a> {
    fn new(text: &'a str, memory: Memory) -> Self {
        Self {
            text,
            builder: Builder::of_ecmascript(text, memory),
            depth: 0,
            is_message: false,
            in_message: false,
            is_content: false,
            in_content: false,
        }
    }

    fn is_named(&self, token: StringToken, name: &[u8]) -> bool {
        let raw = &self.text[token.start..token.end];
        if token.escaped { *unescape(raw) == *name } else { raw.as_bytes() == name }
    }

    /// Whether a value that begins or stands here is the content itself.
    fn is_at_content(&self) -> bool {
        self.depth == IN_MESSAGE && self.in_message && self.is_content
    }
}

impl Visitor for ContentVisitor<'_> {
    #[inline]
    fn open(&mut self, container: Container, start: usize) {
        if self.depth == IN_RECORD {
            self.in_message = self.is_message && container == Container::Object;
        }
        self.in_content |= self.is_at_content();
        if self.in_content {
            self.builder.open(container, start);
        }
        self.depth += 1;
    }

    #[inline]
    fn close(&mut self, container: Container, end: usize) {
        self.depth -= 1;
        if self.in_content {
            self.builder.close(container, end);
            self.in_content = self.depth > IN_MESSAGE;
        }
        self.in_message &= self.depth > IN_RECORD;
    }

    #[inline]
    fn key(&mut self, token: StringToken) {
        if self.in_content {
            self.builder.key(token);
        } else if self.depth == IN_RECORD {
            self.is_message = self.is_named(token, b"message");
            if self.is_message {
                self.builder.clear();
            }
        } else if self.depth == IN_MESSAGE && self.in_message {
            self.is_content = self.is_named(token, b"content");
            if self.is_content {
                self.builder.clear();
            }
        }
    }

    #[inline]
    fn string(&mut self, token: StringToken) {
        if self.in_content || self.is_at_content() {
            self.builder.string(token);
        }
    }

    #[inline]
    fn scalar(&mut self, scalar: Scalar, start: usize, end: usize) {
        if self.in_content || self.is_at_content() {
            self.builder.scalar(scalar, start, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Raw;

    #[test]
    fn contents_are_those_of_the_scan() {
        let mut scanner = ContentScanner::default();
        for (line, expected) in [
            (r#"{"message":{"content":"a\u0062"}}"#, Some(r#""ab""#)),
            (r#"{"message":{"content":[{"b":1.0,"c":[{}]},"d",[2]],"id":"e"}}"#, None),
            (r#"{"message":{"content":null}}"#, None),
            (r#"{"message":{"content":-0}}"#, Some("0")),
            (r#"{"message":{"content":{"content":["a"],"message":{"content":1}}}}"#, None),
            (r#"{"message":{"content":["a"],"content":"b"},"x":{"content":"c"}}"#, Some(r#""b""#)),
            (r#"{"message":{"content":["a",["b"]],"\u0063ontent":[ "c" ]}}"#, Some(r#"["c"]"#)),
            (r#"{"message":{"content":"a"},"\u006dessage":{"content":["b"]}}"#, Some(r#"["b"]"#)),
            (
                r#"{"x":{"message":{"content":"a"}},"content":"b","message":["content","c"]}"#,
                Some(""),
            ),
            (r#"{"message":{"content":"a"},"message":{"id":"b"}}"#, Some("")),
            (r#"{"message":{"content":"a"},"message":null}"#, Some("")),
            (r#"{"message":{"x":{"content":"a"},"y":[{"content":"b"}]}}"#, Some("")),
            (r#"{"message":{"content":["a"]}"#, Some("")),
            (r#"[{"message":{"content":["a"]}}]"#, Some("")),
            ("", Some("")),
        ] {
            let (found, written) = scanner.scan(line, false, |record, content| {
                let found = record.scan().members.message_content.map(Raw::as_str);
                let mut written = Vec::new();
                let raw = content.and_then(|content| {
                    content.write(&mut written);
                    content.raw_of(content.value()).map(Raw::as_str)
                });
                assert_eq!(raw, found, "{line}");
                (found.map(str::to_owned), String::from_utf8(written).unwrap())
            });
            let expected =
                expected.map_or_else(|| found.unwrap().replace("1.0", "1"), str::to_owned);
            assert_eq!(written, expected, "{line}");
        }
    }

    #[test]
    fn a_torn_line_is_read_to_the_end_of_its_record() {
        let mut scanner = ContentScanner::default();
        let line =
            r#"{"uuid":"a","message":{"content":["b"]}}{"uuid":"c","message":{"content":"d"}}"#;
        for (recovers, expected) in [(false, None), (true, Some(&br#"["b"]"#[..]))] {
            let content = scanner.scan(line, recovers, |_, content| {
                let content = content?;
                let mut written = Vec::new();
                content.write(&mut written);
                Some(written)
            });
            assert_eq!(content.as_deref(), expected);
        }
    }
}
