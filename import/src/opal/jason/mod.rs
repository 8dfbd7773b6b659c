//! JSON text as Opal's encoder, Jason, writes what its decoder has read.
//!
//! No white space. Strings escape what `JSON.stringify` escapes, with upper-case digits. An integer keeps all its
//! digits; a float has the shortest digits that round-trip, in Erlang's form. The last of repeated members counts.
//!
//! The members of an object are those of a map. Erlang keeps maps of up to 32 keys sorted; larger ones are in the order
//! of a hash that no file shows, so here they keep the given order. (Since Erlang 26, keys that are atoms, such as
//! those of a message, are sorted by their number in the running system instead of their name: Opal may write them in
//! any order.)

mod number;

pub use number::write_number;

use crate::ecma::{Dialect, Document, Order, write_string_with};
use crate::grammar::Malformed;

/// The number of keys up to which Erlang keeps a map sorted (`MAP_SMALL_MAP_LIMIT`).
const SORTED_KEYS: usize = 32;

pub(super) static JASON: Dialect =
    Dialect { order: Order::ByNameUpTo(SORTED_KEYS), write_number, write_string };

/// As [`JASON`], with the members of all objects sorted.
static SORTED: Dialect =
    Dialect { order: Order::ByNameUpTo(usize::MAX), write_number, write_string };

/// Appends the result of `Jason.encode!(Jason.decode!(text))`. Nothing is appended on an error.
///
/// What Jason refuses is kept: lone surrogates as escapes, numbers out of a double's range as they were written.
///
/// ```
/// let mut out = Vec::new();
/// leafline_import::opal::encode(r#" {"b": 1.50, "a": "\/\u00e9\u001f", "b": 1e3} "#, &mut out)?;
/// assert_eq!(out, r#"{"a":"/é\u001F","b":1.0e3}"#.as_bytes());
/// # Ok::<(), leafline_import::Malformed>(())
/// ```
///
/// # Errors
///
/// [`Malformed`] if the text is not JSON.
pub fn encode(text: &str, out: &mut Vec<u8>) -> Result<(), Malformed> {
    Document::parse_as(text, &JASON)?.write(out);
    Ok(())
}

/// The same with the members of all objects sorted, however many there are: one text for all orders in which Opal may
/// write a value, for comparisons.
///
/// # Errors
///
/// [`Malformed`] if the text is not JSON.
pub fn encode_sorted(text: &str, out: &mut Vec<u8>) -> Result<(), Malformed> {
    Document::parse_as(text, &SORTED)?.write(out);
    Ok(())
}

/// Appends a string, given as WTF-8 (see [`crate::text`]), with its quotes, as Jason writes it.
///
/// ```
/// let mut out = Vec::new();
/// leafline_import::opal::write_string("a\"\n\u{1b}\u{7f}é/".as_bytes(), &mut out);
/// assert_eq!(out, "\"a\\\"\\n\\u001B\u{7f}é/\"".as_bytes());
/// ```
pub fn write_string(value: &[u8], out: &mut Vec<u8>) {
    write_string_with(b"0123456789ABCDEF", value, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(text: &str) -> String {
        let mut out = Vec::new();
        encode(text, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn small_objects_are_sorted_by_the_bytes_of_their_names() {
        assert_eq!(
            encoded(r#"{"b":1,"é":2,"B":3,"10":4,"9":5,"b":{"y":1,"x":[{"d":1,"c":2}]}}"#),
            r#"{"10":4,"9":5,"B":3,"b":{"x":[{"c":2,"d":1}],"y":1},"é":2}"#
        );
        assert_eq!(encoded(r#"{"\u0062":1,"a":2,"b":3}"#), r#"{"a":2,"b":3}"#);
    }

    #[test]
    fn large_objects_keep_their_order() {
        let of = |keys: u32| {
            let members: Vec<String> =
                (0..keys).map(|key| format!("\"{:02}\":0", keys - key)).collect();
            format!("{{{}}}", members.join(","))
        };
        assert_eq!(encoded(&of(33)), of(33));
        assert!(encoded(&of(32)).starts_with(r#"{"01":0,"02":0,"#));
        let mut sorted = Vec::new();
        encode_sorted(&of(33), &mut sorted).unwrap();
        assert!(sorted.starts_with(br#"{"01":0,"02":0,"#) && sorted.len() == of(33).len());
    }

    #[test]
    fn strings() {
        assert_eq!(
            encoded(r#""\/\u0041\u000A\u001f\u007f\u2028\ud83c\udf43\ud800x\udbff""#),
            "\"/A\\n\\u001F\u{7f}\u{2028}🍃\\uD800x\\uDBFF\""
        );
    }

    #[test]
    fn a_million_levels() {
        let deep = format!("{}1{}", r#"{"b":0,"a":"#.repeat(1_000_000), "}".repeat(1_000_000));
        let written = encoded(&deep);
        assert_eq!(written.len(), deep.len());
        assert!(written.starts_with(r#"{"a":{"a":"#) && written.ends_with(r#","b":0},"b":0}"#));
    }
}
