//! The text of one JSON value, read on demand.

use std::borrow::Cow;

use crate::grammar::{self, Container, Malformed, Scalar, StringToken, Visitor, skip_space};
use crate::text::unescape;

/// The text of one valid JSON value. Reading it never recurses, and copies only text with escapes.
///
/// ```
/// use leafline_import::scan::Raw;
///
/// let value = Raw::parse(r#"{"tags": ["a", "\u0062"], "size": 1e3}"#)?;
/// assert_eq!(value.member("size").and_then(|size| size.as_f64()), Some(1000.0));
/// let tags = value.member("tags").expect("it was written above");
/// let tags: Vec<_> = tags.elements().filter_map(|tag| tag.to_string_lossy()).collect();
/// assert_eq!(tags, ["a", "b"]);
/// # Ok::<(), leafline_import::Malformed>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// Checks that a text is one JSON value.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if `JSON.parse` would throw.
    pub fn parse(text: &'a str) -> Result<Self, Malformed> {
        grammar::walk(text, &mut Vec::new(), &mut ())?;
        Ok(Self(text.trim_matches([' ', '\t', '\n', '\r'])))
    }

    /// A value that a walk over the text has found.
    pub(crate) fn of_walked(text: &'a str) -> Self {
        Self(text)
    }

    /// The text as written, without white space around it.
    #[must_use]
    pub fn as_str(self) -> &'a str {
        self.0
    }

    fn first_byte(self) -> u8 {
        self.0.as_bytes().first().copied().unwrap_or(b'n')
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// Whether it is a string.
    #[must_use]
    pub fn is_string(self) -> bool {
        self.first_byte() == b'"'
    }

    /// Whether it is a number.
    #[must_use]
    pub fn is_number(self) -> bool {
        matches!(self.first_byte(), b'-' | b'0'..=b'9')
    }

    /// Whether it is an object.
    #[must_use]
    pub fn is_object(self) -> bool {
        self.first_byte() == b'{'
    }

    /// Whether it is an array.
    #[must_use]
    pub fn is_array(self) -> bool {
        self.first_byte() == b'['
    }

    /// Its JSON type, in words.
    pub(crate) fn type_in_words(self) -> &'static str {
        match self.first_byte() {
            b'"' => "a string",
            b'{' => "an object",
            b'[' => "an array",
            b't' | b'f' => "a boolean",
            b'n' => "null",
            _ => "a number",
        }
    }

    fn inside_quotes(self) -> Option<&'a str> {
        self.0.strip_prefix('"')?.strip_suffix('"')
    }

    /// A string's value as WTF-8 (see [`crate::text`]); `None` for anything else.
    #[must_use]
    pub fn as_string(self) -> Option<Cow<'a, [u8]>> {
        self.inside_quotes().map(unescape)
    }

    /// A string's value with U+FFFD for each lone surrogate; `None` for anything else.
    #[must_use]
    pub fn to_string_lossy(self) -> Option<Cow<'a, str>> {
        Some(match self.as_string()? {
            Cow::Borrowed(_) => Cow::Borrowed(self.inside_quotes()?),
            Cow::Owned(bytes) => Cow::Owned(lossy_of_wtf8(bytes)),
        })
    }

    /// Whether it is a string of exactly this value.
    #[must_use]
    pub fn is_text(self, value: &str) -> bool {
        self.as_string().is_some_and(|string| *string == *value.as_bytes())
    }

    /// A number as JavaScript reads it: the nearest double, infinite if it is out of range.
    #[must_use]
    pub fn as_f64(self) -> Option<f64> {
        if self.is_number() { self.0.parse().ok() } else { None }
    }

    /// Whether JavaScript treats the value as true: all but `null`, `false`, zero and the empty string.
    #[must_use]
    pub fn is_truthy(self) -> bool {
        match self.0 {
            "null" | "false" | "\"\"" => false,
            _ => self.as_f64() != Some(0.0),
        }
    }

    /// The elements of an array, in order; none for anything else.
    #[must_use]
    pub fn elements(self) -> Elements<'a> {
        let rest = self.0.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        Elements { rest: rest.unwrap_or("") }
    }

    /// The member of an object with this name, the last of several; `None` if there is none or the value is not an
    /// object.
    #[must_use]
    pub fn member(self, name: &str) -> Option<Raw<'a>> {
        let [member] = self.members([name]);
        member
    }

    /// The members of an object with these names, each as [`Raw::member`] returns it, in one walk. No name may be given
    /// twice.
    pub(crate) fn members<const COUNT: usize>(
        self,
        names: [&str; COUNT],
    ) -> [Option<Raw<'a>>; COUNT] {
        if !self.is_object() {
            return [None; COUNT];
        }
        let mut find = FindMembers {
            text: self.0,
            names,
            depth: 0,
            place: None,
            start: 0,
            found: [None; COUNT],
        };
        let walked = grammar::walk(self.0, &mut Vec::new(), &mut find);
        walked.map_or([None; COUNT], |()| find.found)
    }
}

/// Replaces each lone surrogate by U+FFFD; everything else in WTF-8 is UTF-8.
fn lossy_of_wtf8(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let bytes = error.as_bytes();
        let mut text = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            // A surrogate's three bytes are three invalid chunks; only the first is replaced.
            if chunk.invalid().first() == Some(&0xed) {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        text
    })
}

/// The elements of an array, made by [`Raw::elements`].
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Raw<'a>;

    fn next(&mut self) -> Option<Raw<'a>> {
        let bytes = self.rest.as_bytes();
        let start = skip_space(bytes, 0);
        if start == bytes.len() {
            return None;
        }
        let end = value_end(bytes, start);
        let element = Raw(&self.rest[start..end]);
        let comma = skip_space(bytes, end);
        self.rest = self.rest.get(comma + 1..).unwrap_or("");
        Some(element)
    }
}

/// The end of the value at `at` in a text that is known to be valid.
fn value_end(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at = grammar::read_string(bytes, at + 1).map_or(bytes.len(), |token| token.end),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' | b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
        if depth == 0 && matches!(byte, b'"' | b'}' | b']') {
            return at.min(bytes.len());
        }
    }
    bytes.len()
}

/// Keeps the last member of each name at the top level of an object.
struct FindMembers<'a, 'name, const COUNT: usize> {
    text: &'a str,
    names: [&'name str; COUNT],
    depth: usize,
    /// The index of the current member's name.
    place: Option<usize>,
    start: usize,
    found: [Option<Raw<'a>>; COUNT],
}

impl<const COUNT: usize> FindMembers<'_, '_, COUNT> {
    fn value(&mut self, start: usize, end: usize) {
        if self.depth == 1
            && let Some(place) = self.place
        {
            self.found[place] = Some(Raw(&self.text[start..end]));
        }
    }
}

impl<const COUNT: usize> Visitor for FindMembers<'_, '_, COUNT> {
    fn open(&mut self, _: Container, start: usize) {
        if self.depth == 1 {
            self.start = start;
        }
        self.depth += 1;
    }

    fn close(&mut self, _: Container, end: usize) {
        self.depth -= 1;
        self.value(self.start, end);
    }

    fn key(&mut self, token: StringToken) {
        if self.depth == 1 {
            let raw = &self.text[token.start..token.end];
            let unescaped;
            let name = if token.escaped {
                unescaped = unescape(raw);
                &*unescaped
            } else {
                raw.as_bytes()
            };
            self.place = self.names.iter().position(|wanted| wanted.as_bytes() == name);
        }
    }

    fn string(&mut self, token: StringToken) {
        self.value(token.start - 1, token.end + 1);
    }

    fn scalar(&mut self, _: Scalar, start: usize, end: usize) {
        self.value(start, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw<'_> {
        Raw::parse(text).unwrap()
    }

    #[test]
    fn truth_is_javascript_s() {
        for text in ["null", "false", "0", "-0", "0.0e5", "1e-999", "\"\""] {
            assert!(!raw(text).is_truthy(), "{text}");
        }
        for text in ["true", "1", "\"0\"", "[]", "{}", "1e999", "\"\\u0000\""] {
            assert!(raw(text).is_truthy(), "{text}");
        }
    }

    #[test]
    fn elements_of_any_kind() {
        let array = raw(r#" [ 1 ,"a,]\"" , [ 2 , [ ] ] ,{"b":"]"}, null,true ] "#);
        let elements: Vec<_> = array.elements().map(Raw::as_str).collect();
        assert_eq!(elements, ["1", r#""a,]\"""#, "[ 2 , [ ] ]", r#"{"b":"]"}"#, "null", "true"]);
        assert_eq!(raw("[ ]").elements().count(), 0);
        assert_eq!(raw("{}").elements().count(), 0);
        assert_eq!(raw("[[]]").elements().count(), 1);
    }

    #[test]
    fn the_last_member_wins() {
        let object = raw(r#"{"a":1,"b":{"a":2},"\u0061":[3]}"#);
        assert_eq!(object.member("a").map(Raw::as_str), Some("[3]"));
        assert_eq!(object.member("b").and_then(|b| b.member("a")).map(Raw::as_str), Some("2"));
        assert_eq!(object.member("c"), None);
        let [c, b, a] = object.members(["c", "b", "a"]).map(|member| member.map(Raw::as_str));
        assert_eq!((c, b, a), (None, Some(r#"{"a":2}"#), Some("[3]")));
        assert_eq!(raw("[1]").members(["a"]), [None]);
    }

    #[test]
    fn lone_surrogates_become_one_replacement() {
        let value = raw(r#""a\ud800b\udc00é""#);
        assert_eq!(value.to_string_lossy().unwrap(), "a\u{fffd}b\u{fffd}é");
    }

    #[test]
    fn a_million_levels() {
        let deep = format!("[{}1{},2]", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert_eq!(raw(&deep).elements().count(), 2);
    }
}
