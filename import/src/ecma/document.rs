//! A parsed text that refers to its source, for rewriting it and editing a few members.

use crate::ecma::build::build;
use crate::ecma::dialect::{Dialect, ECMASCRIPT};
use crate::ecma::write::{write, write_name};
use crate::grammar::{Malformed, StringToken};
use crate::scan::Raw;
use crate::text::unescape;

/// One value of the text. Positions are bytes of the text.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: NodeKind,
}

#[derive(Debug, Clone)]
pub(super) enum NodeKind {
    String(StringToken),
    Number,
    Literal,
    /// Its elements are this range of the document's children.
    Array(usize, usize),
    /// Its members are this range of the document's children, in the order of writing.
    Object(usize, usize),
    /// JSON text set by an edit.
    Given(String),
}

/// The name of a member.
#[derive(Debug, Clone, Copy)]
pub(super) enum Name {
    /// It is an element of an array.
    Absent,
    Written(StringToken),
    /// Set by an edit.
    Given(&'static str),
}

impl Name {
    pub(super) fn is(self, text: &str, name: &str) -> bool {
        match self {
            Self::Absent => false,
            Self::Given(given) => given == name,
            Self::Written(token) => {
                let raw = &text[token.start..token.end];
                raw == name || (token.escaped && *unescape(raw) == *name.as_bytes())
            }
        }
    }
}

/// A value in its container.
#[derive(Debug, Clone, Copy)]
pub(super) struct Child {
    pub(super) name: Name,
    pub(super) node: usize,
}

/// A parsed JSON text, with repeated members merged and members in ECMAScript's order.
///
/// Members of the record, and of an object in it, can be set and removed with the effect of JavaScript's assignment and
/// `delete`: a member that exists keeps its place, a new one goes last.
///
/// ```
/// use leafline_import::ecma::Document;
///
/// let mut document = Document::parse(r#"{"id":"old","message":{"role":"hookMessage"},"index":2}"#)?;
/// document.set("id", r#""new""#.to_owned());
/// document.set("parentId", "null".to_owned());
/// document.remove("index");
/// document.set_within("message", "role", r#""custom""#.to_owned());
/// let mut out = Vec::new();
/// document.write(&mut out);
/// assert_eq!(out, br#"{"id":"new","message":{"role":"custom"},"parentId":null}"#);
/// # Ok::<(), leafline_import::Malformed>(())
/// ```
#[derive(Debug, Clone)]
pub struct Document<'a> {
    pub(super) text: &'a str,
    pub(super) dialect: &'static Dialect,
    pub(super) nodes: Vec<Node>,
    pub(super) children: Vec<Child>,
    pub(super) root: usize,
}

impl<'a> Document<'a> {
    /// Parses a text.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if `JSON.parse` would throw.
    pub fn parse(text: &'a str) -> Result<Self, Malformed> {
        build(text, &ECMASCRIPT)
    }

    /// Parses a text that will be written in another program's dialect.
    pub(crate) fn parse_as(text: &'a str, dialect: &'static Dialect) -> Result<Self, Malformed> {
        build(text, dialect)
    }

    /// Whether the text is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        matches!(self.nodes[self.root].kind, NodeKind::Object(..))
    }

    /// The value of a member as written in the text; `None` if there is none, if it was set by an edit, or if the text
    /// is not an object.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.raw(self.member(self.root, name)?)
    }

    /// The value of a member of the object that is the member `outer`; `None` as for [`Document::get`].
    #[must_use]
    pub fn get_within(&self, outer: &str, name: &str) -> Option<Raw<'a>> {
        let outer = self.member(self.root, outer)?;
        self.raw(self.member(outer, name)?)
    }

    pub(super) fn raw(&self, node: usize) -> Option<Raw<'a>> {
        let node = &self.nodes[node];
        match node.kind {
            NodeKind::Given(_) => None,
            _ => Some(Raw::of_walked(&self.text[node.start..node.end])),
        }
    }

    /// Sets a member of the record to JSON text, which is written unchanged. No effect if the text is not an object.
    /// The name must not be an array index or need escapes.
    pub fn set(&mut self, name: &'static str, json: String) {
        self.set_member(self.root, name, json);
    }

    /// The same within the object in the member `outer` of the record. No effect if that is not an object.
    pub fn set_within(&mut self, outer: &str, name: &'static str, json: String) {
        if let Some(outer) = self.member(self.root, outer) {
            self.set_member(outer, name, json);
        }
    }

    /// Removes a member of the record, if there is one.
    pub fn remove(&mut self, name: &str) {
        self.remove_member(self.root, name);
    }

    pub(super) fn remove_member(&mut self, object: usize, name: &str) {
        if let NodeKind::Object(first, last) = self.nodes[object].kind
            && let Some(place) = self.place(first, last, name)
        {
            // Other ranges may follow this one, so it shrinks in place.
            self.children.copy_within(place + 1..last, place);
            self.nodes[object].kind = NodeKind::Object(first, last - 1);
        }
    }

    /// Appends the text as `JSON.stringify` would write it.
    pub fn write(&self, out: &mut Vec<u8>) {
        write(self, self.root, out);
    }

    /// The record's members, each name and value as `JSON.stringify` would write it; none if the text is not an object.
    pub(crate) fn members(&self) -> impl Iterator<Item = (String, String)> {
        let (first, last) = match self.nodes[self.root].kind {
            NodeKind::Object(first, last) => (first, last),
            _ => (0, 0),
        };
        self.children[first..last].iter().map(|child| {
            let (mut name, mut value) = (Vec::new(), Vec::new());
            write_name(self, child.name, &mut name);
            write(self, child.node, &mut value);
            (utf8(name), utf8(value))
        })
    }

    /// Appends the value of a member of the record as `JSON.stringify` would write it. Returns whether there is such a
    /// member; if not, nothing is appended.
    ///
    /// ```
    /// use leafline_import::ecma::Document;
    ///
    /// let document = Document::parse(r#"{"message":{"role":"user","tries":1.0}}"#)?;
    /// let mut out = Vec::new();
    /// assert!(document.write_member("message", &mut out) && !document.write_member("data", &mut out));
    /// assert_eq!(out, br#"{"role":"user","tries":1}"#);
    /// # Ok::<(), leafline_import::Malformed>(())
    /// ```
    pub fn write_member(&self, name: &str, out: &mut Vec<u8>) -> bool {
        let member = self.member(self.root, name);
        if let Some(node) = member {
            write(self, node, out);
        }
        member.is_some()
    }

    fn place(&self, first: usize, last: usize, name: &str) -> Option<usize> {
        (first..last).find(|&place| self.children[place].name.is(self.text, name))
    }

    pub(super) fn member(&self, object: usize, name: &str) -> Option<usize> {
        match self.nodes[object].kind {
            NodeKind::Object(first, last) => {
                let place = self.place(first, last, name)?;
                Some(self.children[place].node)
            }
            _ => None,
        }
    }

    pub(super) fn set_member(&mut self, object: usize, name: &'static str, json: String) {
        let NodeKind::Object(first, last) = self.nodes[object].kind else {
            return;
        };
        let node = self.nodes.len();
        self.nodes.push(Node { start: 0, end: 0, kind: NodeKind::Given(json) });
        if let Some(place) = self.place(first, last, name) {
            self.children[place].node = node;
            return;
        }
        let child = Child { name: Name::Given(name), node };
        // Members are one range, so an object that grows moves to the end.
        let start = if last == self.children.len() {
            first
        } else {
            let start = self.children.len();
            self.children.extend_from_within(first..last);
            start
        };
        self.children.push(child);
        self.nodes[object].kind = NodeKind::Object(start, self.children.len());
    }
}

fn utf8(json: Vec<u8>) -> String {
    String::from_utf8(json).expect("what is written from text is text: lone surrogates are escapes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(document: &Document<'_>) -> String {
        let mut out = Vec::new();
        document.write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn edits_keep_places() {
        let mut document =
            Document::parse(r#"{"a":1,"m":{"r":1,"s":[2]},"\u0062":2,"c":3,"a":{"x":[]}}"#)
                .unwrap();
        assert_eq!(document.get("b").map(Raw::as_str), Some("2"));
        assert_eq!(document.get_within("m", "s").map(Raw::as_str), Some("[2]"));
        document.set_within("m", "t", "7".to_owned());
        document.set_within("m", "r", "8".to_owned());
        document.set("d", "4".to_owned());
        document.set("b", "5".to_owned());
        document.remove("c");
        document.remove("nothing");
        document.set("e", "null".to_owned());
        document.remove("d");
        assert_eq!(text(&document), r#"{"a":{"x":[]},"m":{"r":8,"s":[2],"t":7},"b":5,"e":null}"#);
    }

    #[test]
    fn edits_of_what_is_no_object_do_nothing() {
        let mut document = Document::parse("[1]").unwrap();
        document.set("a", "1".to_owned());
        document.remove("a");
        document.set_within("a", "b", "1".to_owned());
        assert!(!document.is_object());
        assert_eq!(text(&document), "[1]");
    }
}
