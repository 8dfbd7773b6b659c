//! Blocks of types that have no part of their own, known or not: their name, their title, and the text in them.

use crate::grammar::{self, Container, Scalar, StringToken, Visitor};
use crate::scan::Raw;
use crate::text::unescape;
use crate::view::Part;
use crate::view::content::string;

/// The members of a block that can be its title.
const TITLES: [&str; 2] = ["title", "filename"];

/// Members that hold no text for a reader. So do those that end in `id`, and those that begin with `encrypted`.
const UNREADABLE: [&[u8]; 9] = [
    b"type",
    b"data",
    b"file_data",
    b"image_url",
    b"signature",
    b"cache_control",
    b"media_type",
    b"mimeType",
    b"mime_type",
];

/// The length from which a string in the alphabet of base64 is a payload. Words of this length have a space.
const PAYLOAD: usize = 200;

/// A block as a part.
pub(crate) fn other(block: Raw<'_>, type_name: String) -> Part {
    let title = block.members(TITLES).into_iter().find_map(string);
    let title = title.filter(|title| !title.trim().is_empty());
    Part::Other { type_name, title, text: text_of(block, &TITLES) }
}

/// The text of the citations in a text block; `None` without any.
pub(super) fn citations(block: Raw<'_>) -> Option<Part> {
    let text = text_of(block.member("citations")?, &[]);
    let part = Part::Other { type_name: "citations".to_owned(), title: None, text };
    part.texts().iter().any(|text| !text.is_empty()).then_some(part)
}

/// The strings in a value for a reader, each on a line of its own, without the members of the value itself that have these
/// names. Base64 is left out.
pub(super) fn text_of(value: Raw<'_>, without: &[&str]) -> String {
    let mut texts = Texts {
        json: value.as_str(),
        without,
        open: Vec::new(),
        skipped_from: None,
        is_skipped: false,
        is_type: false,
        is_data: false,
        text: String::new(),
    };
    texts.push(string(Some(value)).unwrap_or_default());
    // Everything here was walked before, as a part of its line.
    let _ = grammar::walk(value.as_str(), &mut Vec::new(), &mut texts);
    texts.text
}

/// Collects strings. Memory, not the stack, grows with the nesting.
struct Texts<'v> {
    json: &'v str,
    without: &'v [&'v str],
    open: Vec<Open>,
    /// The number of containers around the one whose strings are skipped.
    skipped_from: Option<usize>,
    /// Whether the value that comes next is skipped, names the type, or is the data of its object.
    is_skipped: bool,
    is_type: bool,
    is_data: bool,
    text: String,
}

/// A container at hand.
#[derive(Default)]
struct Open {
    /// Whether its `type` is `text`, so that its `data` is no base64.
    is_text: bool,
    data: Option<StringToken>,
}

impl Texts<'_> {
    fn push(&mut self, text: String) {
        if text.trim().is_empty() || is_payload(&text) {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(&text);
    }

    fn value_of(&self, token: StringToken) -> String {
        let raw = self.json.get(token.start - 1..token.end + 1).unwrap_or_default();
        string(Raw::parse(raw).ok()).unwrap_or_default()
    }
}

impl Visitor for Texts<'_> {
    fn open(&mut self, _: Container, _: usize) {
        if self.is_skipped && self.skipped_from.is_none() {
            self.skipped_from = Some(self.open.len());
        }
        self.is_skipped = false;
        self.open.push(Open::default());
    }

    fn close(&mut self, _: Container, _: usize) {
        let closed = self.open.pop().unwrap_or_default();
        if let Some(data) = closed.data.filter(|_| closed.is_text) {
            self.push(self.value_of(data));
        }
        if self.skipped_from == Some(self.open.len()) {
            self.skipped_from = None;
        }
        self.is_skipped = false;
    }

    fn key(&mut self, token: StringToken) {
        let raw = self.json.get(token.start..token.end).unwrap_or_default();
        let name = unescape(raw);
        let is_without =
            self.open.len() == 1 && self.without.iter().any(|name_of| name_of.as_bytes() == &*name);
        self.is_type = &*name == b"type";
        self.is_data = &*name == b"data";
        self.is_skipped = is_without
            || UNREADABLE.contains(&&*name)
            || name.starts_with(b"encrypted")
            || name.ends_with(b"Id")
            || name.ends_with(b"_id")
            || &*name == b"id";
    }

    fn string(&mut self, token: StringToken) {
        if self.open.is_empty() || self.skipped_from.is_some() {
            return;
        }
        if !self.is_skipped {
            let text = self.value_of(token);
            self.push(text);
            return;
        }
        let value = self.is_type.then(|| self.value_of(token));
        if let Some(open) = self.open.last_mut() {
            match value {
                Some(name) => open.is_text = name == "text",
                None if self.is_data => open.data = Some(token),
                None => {}
            }
        }
        self.is_skipped = false;
    }

    fn scalar(&mut self, _: Scalar, _: usize, _: usize) {}
}

/// Whether a text is base64, or a URL of it.
fn is_payload(text: &str) -> bool {
    let is_base64 =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=');
    (text.starts_with("data:") && text.contains(";base64,"))
        || (text.len() >= PAYLOAD && text.bytes().all(is_base64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(block: &str) -> (String, Option<String>, String) {
        match other(Raw::parse(block).unwrap(), "b".to_owned()) {
            Part::Other { type_name, title, text } => (type_name, title, text),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_a_block_says_is_its_text() {
        for (block, title, text) in [
            (
                r#"{"type":"document","title":"t.pdf","source":{"type":"text","media_type":"text/plain","data":"said"}}"#,
                Some("t.pdf"),
                "said",
            ),
            (
                r#"{"source":{"data":"said","type":"text"},"context":"of the tide","title":null}"#,
                None,
                "said\nof the tide",
            ),
            (r#"{"source":{"type":"base64","data":"QUJD"},"title":"t"}"#, Some("t"), ""),
            (
                r#"{"source":{"type":"content","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","data":"QUJD"}}]}}"#,
                None,
                "a",
            ),
            (
                r#"{"type":"search_result","title":"x","source":"https://y","content":[{"type":"text","text":"a\n\"b\""}],"citations":{"enabled":true}}"#,
                Some("x"),
                "https://y\na\n\"b\"",
            ),
            (
                r#"{"type":"hologram","caption":"Tide","frames":[["one"],{"id":"f1","n":2}]}"#,
                None,
                "Tide\none",
            ),
            (
                r#"{"type":"redacted_thinking","data":"secret","cache_control":{"type":"ephemeral","ttl":"5m"}}"#,
                None,
                "",
            ),
            (
                r#"{"file_id":"f","encrypted_content":"x","toolUseId":"t","filename":"a.bin"}"#,
                Some("a.bin"),
                "",
            ),
        ] {
            let title = title.map(str::to_owned);
            assert_eq!(part(block), ("b".to_owned(), title, text.to_owned()), "{block}");
        }
    }

    #[test]
    fn base64_is_no_text() {
        let payload = "QUJD".repeat(60);
        assert_eq!(
            part(&format!(r#"{{"picture":"{payload}","url":"data:a/b;base64,QQ=="}}"#)).2,
            ""
        );
        assert_eq!(
            part(&format!(r#"{{"words":"{payload} is long"}}"#)).2,
            format!("{payload} is long")
        );
    }

    #[test]
    fn nesting_takes_no_stack() {
        let deep = format!("{}\"a\"{}", r#"{"x":["#.repeat(200_000), "]}".repeat(200_000));
        assert_eq!(part(&deep).2, "a");
    }
}
