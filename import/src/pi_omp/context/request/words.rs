//! A value in a text, as JavaScript writes it there.

use crate::ecma;
use crate::grammar::{self, Container, Scalar, StringToken, Visitor};
use crate::scan::Raw;

/// Appends what `String(value)` returns, as WTF-8. Without a value it is `undefined`.
pub(super) fn push(value: Option<Raw<'_>>, out: &mut Vec<u8>) {
    let Some(value) = value else { return out.extend_from_slice(b"undefined") };
    if let Some(text) = value.as_string() {
        out.extend_from_slice(&text);
    } else if value.is_array() {
        let mut join = Join { text: value.as_str(), out, has_elements: Vec::new(), in_object: 0 };
        // What is a value is JSON.
        let _ = grammar::walk(value.as_str(), &mut Vec::new(), &mut join);
    } else if value.is_object() {
        out.extend_from_slice(OBJECT);
    } else {
        push_scalar(value, out);
    }
}

/// The same as a value of its own.
pub(super) fn of(value: Option<Raw<'_>>) -> Vec<u8> {
    let mut out = Vec::new();
    push(value, &mut out);
    out
}

const OBJECT: &[u8] = b"[object Object]";

fn push_scalar(value: Raw<'_>, out: &mut Vec<u8>) {
    match value.as_f64() {
        Some(number) if number.is_infinite() => {
            out.extend_from_slice(if number > 0.0 { b"Infinity" } else { b"-Infinity" });
        }
        Some(_) => ecma::write_number(value.as_str(), out),
        None => out.extend_from_slice(value.as_str().as_bytes()),
    }
}

/// Joins the elements of an array with commas, and those of arrays in it.
struct Join<'a, 'o> {
    text: &'a str,
    out: &'o mut Vec<u8>,
    /// Of each open array, whether it has an element.
    has_elements: Vec<bool>,
    /// How many containers are open from an object on, which has one text whatever is in it.
    in_object: usize,
}

impl Join<'_, '_> {
    /// Begins an element. Returns whether its text counts.
    fn begins(&mut self) -> bool {
        if self.in_object > 0 {
            return false;
        }
        if let Some(has_elements) = self.has_elements.last_mut()
            && std::mem::replace(has_elements, true)
        {
            self.out.push(b',');
        }
        true
    }
}

impl Visitor for Join<'_, '_> {
    fn open(&mut self, container: Container, _: usize) {
        let counts = self.begins();
        match container {
            Container::Array if counts => self.has_elements.push(false),
            _ => {
                if counts {
                    self.out.extend_from_slice(OBJECT);
                }
                self.in_object += 1;
            }
        }
    }

    fn close(&mut self, _: Container, _: usize) {
        if self.in_object > 0 {
            self.in_object -= 1;
        } else {
            self.has_elements.pop();
        }
    }

    fn key(&mut self, _: StringToken) {}

    fn string(&mut self, token: StringToken) {
        if self.begins() {
            let text = crate::text::unescape(&self.text[token.start..token.end]);
            self.out.extend_from_slice(&text);
        }
    }

    fn scalar(&mut self, _: Scalar, start: usize, end: usize) {
        if self.begins() {
            let value = Raw::of_walked(&self.text[start..end]);
            if !value.is_null() {
                push_scalar(value, self.out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_in_javascript() {
        let of = |json: &str| String::from_utf8(of(Raw::parse(json).ok())).unwrap();
        for (json, text) in [
            (r#""a\nb""#, "a\nb"),
            ("1.50", "1.5"),
            ("-0", "0"),
            ("1e400", "Infinity"),
            ("-1e400", "-Infinity"),
            ("true", "true"),
            ("null", "null"),
            ("{\"a\":1}", "[object Object]"),
            ("[]", ""),
            ("[null]", ""),
            (r#"[1, null, "x", [2, [], {"a": [3, 4]}], true]"#, "1,,x,2,,[object Object],true"),
        ] {
            assert_eq!(of(json), text, "{json}");
        }
        assert_eq!(super::of(None), b"undefined");
    }

    #[test]
    fn deep_arrays_use_no_stack() {
        let deep = format!("{}7{}", "[".repeat(500_000), "]".repeat(500_000));
        assert_eq!(super::of(Raw::parse(&deep).ok()), b"7");
    }
}
