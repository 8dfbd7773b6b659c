//! An object that is written member by member.

use crate::ecma;
use crate::scan::Raw;

/// A JSON object without a closing brace.
pub(super) struct Object<'o> {
    out: &'o mut Vec<u8>,
    separator: u8,
}

impl<'o> Object<'o> {
    pub(super) fn begin(out: &'o mut Vec<u8>) -> Self {
        Self { out, separator: b'{' }
    }

    /// A message of a role.
    pub(super) fn of_role(role: &str, out: &'o mut Vec<u8>) -> Self {
        Self::begin(out).text("role", role.as_bytes())
    }

    fn name(&mut self, name: &str) {
        self.out.push(self.separator);
        self.separator = b',';
        self.out.extend_from_slice(format!("\"{name}\":").as_bytes());
    }

    /// Adds a member, unless its value is undefined.
    pub(super) fn member(mut self, name: &str, value: Option<Raw<'_>>) -> Self {
        if let Some(value) = value {
            self.name(name);
            self.out.extend_from_slice(value.as_str().as_bytes());
        }
        self
    }

    /// Adds a member that is given as JSON.
    pub(super) fn json(mut self, name: &str, json: &[u8]) -> Self {
        self.name(name);
        self.out.extend_from_slice(json);
        self
    }

    /// Adds a member whose value is this string, given as WTF-8.
    pub(super) fn text(mut self, name: &str, value: &[u8]) -> Self {
        self.name(name);
        ecma::write_string(value, self.out);
        self
    }

    pub(super) fn end(self) {
        if self.separator == b'{' {
            self.out.push(b'{');
        }
        self.out.push(b'}');
    }
}

/// A block of text, given as WTF-8.
pub(super) fn text_block(text: &[u8]) -> Vec<u8> {
    let mut block = Vec::with_capacity(text.len() + 32);
    Object::begin(&mut block).text("type", b"text").text("text", text).end();
    block
}

/// A block of text whose text is any value, or none.
pub(super) fn block_of(text: Option<Raw<'_>>) -> Vec<u8> {
    let mut block = Vec::new();
    Object::begin(&mut block).text("type", b"text").member("text", text).end();
    block
}

/// Blocks as a list.
pub(super) fn list<'b>(blocks: impl IntoIterator<Item = &'b [u8]>) -> Vec<u8> {
    let mut list = vec![b'['];
    for block in blocks {
        if list.len() > 1 {
            list.push(b',');
        }
        list.extend_from_slice(block);
    }
    list.push(b']');
    list
}

/// Whether a value is null or undefined.
pub(super) fn is_nullish(value: Option<Raw<'_>>) -> bool {
    value.is_none_or(Raw::is_null)
}

pub(super) fn is_truthy(value: Option<Raw<'_>>) -> bool {
    value.is_some_and(Raw::is_truthy)
}

pub(super) fn is_text(value: Option<Raw<'_>>, text: &str) -> bool {
    value.is_some_and(|value| value.is_text(text))
}
