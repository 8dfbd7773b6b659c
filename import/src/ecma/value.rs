//! Values inside a document, for those who read and edit it deeper than its members.

use crate::ecma::document::{Document, NodeKind};
use crate::ecma::write::write;
use crate::scan::Raw;

/// A value of a document: the document itself, or one inside it. It stays the same while the document is edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Value(usize);

impl<'a> Document<'a> {
    /// The whole document.
    pub(crate) fn value(&self) -> Value {
        Value(self.root)
    }

    /// The elements of an array, in order; none of anything else.
    pub(crate) fn elements(&self, of: Value) -> impl Iterator<Item = Value> {
        (0..).map_while(move |place| self.element(of, place))
    }

    /// One of them, for those who edit them as they go; `None` behind the last.
    pub(crate) fn element(&self, of: Value, place: usize) -> Option<Value> {
        let NodeKind::Array(first, last) = self.nodes[of.0].kind else { return None };
        self.children[first..last].get(place).map(|child| Value(child.node))
    }

    /// A value as written in the text; `None` if it was set by an edit.
    pub(crate) fn raw_of(&self, value: Value) -> Option<Raw<'a>> {
        self.raw(value.0)
    }

    /// The value of an object's member as written in the text; `None` as for [`Document::get`].
    pub(crate) fn get_of(&self, object: Value, name: &str) -> Option<Raw<'a>> {
        self.raw(self.member(object.0, name)?)
    }

    /// An object's member; `None` if there is none or the value is not an object.
    pub(crate) fn member_of(&self, object: Value, name: &str) -> Option<Value> {
        self.member(object.0, name).map(Value)
    }

    /// Sets an object's member, as [`Document::set`] sets one of the record.
    pub(crate) fn set_of(&mut self, object: Value, name: &'static str, json: String) {
        self.set_member(object.0, name, json);
    }

    /// Removes an object's member, if there is one.
    pub(crate) fn remove_of(&mut self, object: Value, name: &str) {
        self.remove_member(object.0, name);
    }

    /// Appends a value as the document's dialect writes it.
    pub(crate) fn write_value(&self, value: Value, out: &mut Vec<u8>) {
        write(self, value.0, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(document: &Document<'_>, value: Value) -> String {
        let mut out = Vec::new();
        document.write_value(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_inside_is_edited_by_itself() {
        let text = r#"[{"a":1,"b":[2,{"c":3}],"a":4},{"a":5},"\u0041",[]]"#;
        let mut document = Document::parse(text).unwrap();
        let all: Vec<Value> = document.elements(document.value()).collect();
        let [first, second, string, empty] = all[..] else { panic!("{all:?}") };
        assert_eq!(document.get_of(first, "a").map(Raw::as_str), Some("4"));
        assert_eq!(document.get_of(string, "a"), None);
        assert_eq!(document.elements(empty).chain(document.elements(first)).count(), 0);
        let inner = document.member_of(first, "b").unwrap();
        let inner = document.elements(inner).last().unwrap();
        document.set_of(inner, "d", "6".to_owned());
        document.set_of(first, "e", "7".to_owned());
        document.remove_of(first, "a");
        document.remove_of(second, "nothing");
        document.remove_of(string, "a");
        document.set_of(second, "a", "8".to_owned());
        assert_eq!(written(&document, first), r#"{"b":[2,{"c":3,"d":6}],"e":7}"#);
        assert_eq!(written(&document, second), r#"{"a":8}"#);
        assert_eq!(written(&document, string), r#""A""#);
        assert_eq!(document.raw_of(string).map(Raw::as_str), Some(r#""\u0041""#));
        assert_eq!(
            written(&document, document.value()),
            r#"[{"b":[2,{"c":3,"d":6}],"e":7},{"a":8},"A",[]]"#
        );
    }
}
