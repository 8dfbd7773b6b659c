//! JSON reading beyond [`Raw`]: all members of an object in one walk, whole numbers, and what the program's parser
//! refuses although `JSON.parse` accepts it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::grammar::{self, Container, Scalar, StringToken, Visitor, read_string};
use crate::scan::Raw;
use crate::text::unescape;

/// The deepest nesting that the program reads, as the number of containers around a value (observed).
const DEEPEST: usize = 127;

/// The members of an object, each with its last value. Empty for anything else.
#[derive(Debug, Clone, Default)]
pub(super) struct Object<'a> {
    members: BTreeMap<Cow<'a, [u8]>, Raw<'a>>,
}

impl<'a> Object<'a> {
    pub(super) fn of(raw: Raw<'a>) -> Self {
        if !raw.is_object() {
            return Self::default();
        }
        let text = raw.as_str();
        let mut visitor =
            MembersVisitor { text, depth: 0, name: None, start: 0, members: BTreeMap::new() };
        let walked = grammar::walk(text, &mut Vec::new(), &mut visitor);
        walked.map_or_else(|_| Self::default(), |()| Self { members: visitor.members })
    }

    pub(super) fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.members.get(name.as_bytes()).copied()
    }

    /// The member, if it is present and not null.
    pub(super) fn value(&self, name: &str) -> Option<Raw<'a>> {
        self.get(name).filter(|value| !value.is_null())
    }
}

struct MembersVisitor<'a> {
    text: &'a str,
    depth: usize,
    name: Option<Cow<'a, [u8]>>,
    start: usize,
    members: BTreeMap<Cow<'a, [u8]>, Raw<'a>>,
}

impl MembersVisitor<'_> {
    fn add(&mut self, start: usize, end: usize) {
        if self.depth != 1 {
            return;
        }
        let Some(name) = self.name.take() else { return };
        self.members.insert(name, Raw::of_walked(&self.text[start..end]));
    }
}

impl Visitor for MembersVisitor<'_> {
    fn open(&mut self, _: Container, start: usize) {
        if self.depth == 1 {
            self.start = start;
        }
        self.depth += 1;
    }

    fn close(&mut self, _: Container, end: usize) {
        self.depth -= 1;
        self.add(self.start, end);
    }

    fn key(&mut self, token: StringToken) {
        if self.depth == 1 {
            self.name = Some(unescape(&self.text[token.start..token.end]));
        }
    }

    fn string(&mut self, token: StringToken) {
        self.add(token.start - 1, token.end + 1);
    }

    fn scalar(&mut self, _: Scalar, start: usize, end: usize) {
        self.add(start, end);
    }
}

/// A non-negative whole number that is written as one: `1.0` and `1e0` do not count, as in the program.
pub(super) fn whole_number(raw: Raw<'_>) -> Option<u64> {
    let text = raw.as_str();
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Whether the program's parser accepts a line that is JSON. It refuses three things that `JSON.parse` accepts
/// (observed): more than 127 nested containers, an escape of a lone surrogate, and a whole number that is written as one
/// and does not fit into 64 bits.
pub(super) fn is_taken_by_the_program(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let Ok(token) = read_string(bytes, at) else { return false };
                if token.escaped && has_lone_surrogate(&text[token.start..token.end]) {
                    return false;
                }
                at = token.end + 1;
            }
            b'{' | b'[' => {
                depth += 1;
                if depth > DEEPEST {
                    return false;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'-' | b'0'..=b'9' => {
                let is_of_number =
                    |byte: &&u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
                let start = at - 1;
                at += bytes[at..].iter().take_while(is_of_number).count();
                if !fits_64_bits(&text[start..at]) {
                    return false;
                }
            }
            _ => {}
        }
    }
    true
}

/// Whether a number is a fraction, or fits into 64 bits.
fn fits_64_bits(number: &str) -> bool {
    let is_short = number.len() < 19;
    is_short
        || number.contains(['.', 'e', 'E'])
        || number.parse::<u64>().is_ok()
        || number.parse::<i64>().is_ok()
}

/// Whether the text between a string's quotes contains an escape of a lone surrogate.
fn has_lone_surrogate(inside: &str) -> bool {
    // An escape of a surrogate begins with `\ud` or `\uD`; hardly any string with an escape has one.
    let may_have = inside.contains("\\ud") || inside.contains("\\uD");
    may_have && std::str::from_utf8(&unescape(inside)).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_a_name_counts() {
        let raw = Raw::parse(r#"{"a":1,"b":[{"a":2}],"\u0061":{"c":[3]},"d":null}"#).unwrap();
        let object = Object::of(raw);
        assert_eq!(object.get("a").map(Raw::as_str), Some(r#"{"c":[3]}"#));
        assert_eq!(object.get("b").map(Raw::as_str), Some(r#"[{"a":2}]"#));
        assert_eq!((object.value("d"), object.get("c")), (None, None));
        assert!(object.get("d").is_some());
    }

    #[test]
    fn numbers_are_whole_as_written() {
        let number = |text| whole_number(Raw::parse(text).unwrap());
        assert_eq!(number("12"), Some(12));
        for text in ["1.0", "1e0", "-1", "\"1\"", "null", "99999999999999999999"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn what_the_program_refuses() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(is_taken_by_the_program(&nested(127)));
        assert!(!is_taken_by_the_program(&nested(128)));
        assert!(is_taken_by_the_program(r#"{"a":"\ud83c\udf43 \\ud83c [[["}"#));
        assert!(!is_taken_by_the_program(r#"{"a":"\ud83c"}"#));
        assert!(!is_taken_by_the_program(r#"{"\udf43":1}"#));
        for number in
            ["18446744073709551615", "-9223372036854775808", "18446744073709551616.0", "1e400"]
        {
            assert!(is_taken_by_the_program(&format!("[{number}, {number}]")), "{number}");
        }
        for number in ["18446744073709551616", "-9223372036854775809"] {
            assert!(!is_taken_by_the_program(&format!("[{number}]")), "{number}");
            assert!(is_taken_by_the_program(&format!("[\"{number}\"]")), "{number}");
        }
    }
}
