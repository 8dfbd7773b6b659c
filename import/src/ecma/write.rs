//! Writing values as `JSON.stringify` does.

use memchr::memchr;

use crate::ecma::document::{Document, Name, NodeKind};
use crate::grammar::{StringToken, skip_plain};
use crate::text::unescape;

/// A container being written: the range of children left.
struct Cursor {
    next: usize,
    end: usize,
    closes_with: u8,
}

/// Writes the value of a node, with everything in it.
pub(super) fn write(document: &Document<'_>, node: usize, out: &mut Vec<u8>) {
    let mut open = Vec::new();
    write_node(document, node, &mut open, out);
    while let Some(cursor) = open.last_mut() {
        if cursor.next == cursor.end {
            out.push(cursor.closes_with);
            open.pop();
            continue;
        }
        let child = document.children[cursor.next];
        cursor.next += 1;
        if !matches!(out.last(), Some(b'{' | b'[')) {
            out.push(b',');
        }
        if !matches!(child.name, Name::Absent) {
            write_name(document, child.name, out);
            out.push(b':');
        }
        write_node(document, child.node, &mut open, out);
    }
}

/// Writes the name of a member with its quotes; nothing for an element of an array.
pub(super) fn write_name(document: &Document<'_>, name: Name, out: &mut Vec<u8>) {
    match name {
        Name::Absent => {}
        Name::Written(token) => write_token(document, token, out),
        Name::Given(name) => (document.dialect.write_string)(name.as_bytes(), out),
    }
}

/// Writes a value, or the start of a container.
fn write_node(document: &Document<'_>, node: usize, open: &mut Vec<Cursor>, out: &mut Vec<u8>) {
    let node = &document.nodes[node];
    let raw = &document.text[node.start..node.end];
    match &node.kind {
        NodeKind::String(token) => write_token(document, *token, out),
        NodeKind::Number => (document.dialect.write_number)(raw, out),
        NodeKind::Literal => out.extend_from_slice(raw.as_bytes()),
        NodeKind::Given(json) => out.extend_from_slice(json.as_bytes()),
        &(NodeKind::Array(next, end) | NodeKind::Object(next, end)) => {
            let is_array = matches!(node.kind, NodeKind::Array(..));
            out.push(if is_array { b'[' } else { b'{' });
            open.push(Cursor { next, end, closes_with: if is_array { b']' } else { b'}' } });
        }
    }
}

fn write_token(document: &Document<'_>, token: StringToken, out: &mut Vec<u8>) {
    let text = document.text;
    // Both dialects have the same short escapes.
    if token.escaped && !has_only_short_escapes(&text.as_bytes()[token.start..token.end]) {
        (document.dialect.write_string)(&unescape(&text[token.start..token.end]), out);
    } else {
        // An accepted string is copied unchanged if its escapes are those that would be written.
        out.extend_from_slice(&text.as_bytes()[token.start - 1..=token.end]);
    }
}

/// Whether each escape of an accepted string is one that every dialect writes for its character, `\u` escapes aside.
/// That holds in real files, and saves decoding and encoding the string.
fn has_only_short_escapes(inside_quotes: &[u8]) -> bool {
    let mut rest = inside_quotes;
    while let Some(at) = memchr(b'\\', rest) {
        match rest.get(at + 1) {
            Some(b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't') => rest = &rest[at + 2..],
            _ => return false,
        }
    }
    true
}

/// Appends a string's value, given as WTF-8, with its quotes, as `JSON.stringify` does: escapes only for quotes,
/// backslashes, control characters and lone surrogates.
///
/// ```
/// let mut out = Vec::new();
/// leafline_import::ecma::write_string("a\"\n\u{1}é/".as_bytes(), &mut out);
/// assert_eq!(out, r#""a\"\n\u0001é/""#.as_bytes());
/// ```
pub fn write_string(value: &[u8], out: &mut Vec<u8>) {
    write_string_with(b"0123456789abcdef", value, out);
}

/// The same, with the given hex digits in `\u` escapes.
pub(crate) fn write_string_with(digits: &[u8; 16], value: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut at = 0;
    while at < value.len() {
        let end = skip_plain(value, at);
        write_plain(digits, &value[at..end], out);
        let Some(&special) = value.get(end) else {
            break;
        };
        let short = match special {
            b'"' => b'"',
            b'\\' => b'\\',
            8 => b'b',
            9 => b't',
            10 => b'n',
            12 => b'f',
            13 => b'r',
            _ => 0,
        };
        if short == 0 {
            write_unit(digits, u16::from(special), out);
        } else {
            out.extend_from_slice(&[b'\\', short]);
        }
        at = end + 1;
    }
    out.push(b'"');
}

/// Writes a run in which at most lone surrogates need escapes.
fn write_plain(digits: &[u8; 16], mut run: &[u8], out: &mut Vec<u8>) {
    let mut from = 0;
    while let Some(offset) = memchr(0xed, &run[from..]) {
        let at = from + offset;
        if let [0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf, ..] = run[at..] {
            out.extend_from_slice(&run[..at]);
            let unit = 0xd000 | u16::from(second & 0x3f) << 6 | u16::from(third & 0x3f);
            write_unit(digits, unit, out);
            run = &run[at + 3..];
            from = 0;
        } else {
            from = at + 1;
        }
    }
    out.extend_from_slice(run);
}

fn write_unit(digits: &[u8; 16], unit: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\\u");
    for shift in [12, 8, 4, 0] {
        out.push(digits[usize::from(unit >> shift & 15)]);
    }
}

/// Appends a JSON number as ECMAScript writes its value: the shortest digits that round-trip, `0` for minus zero,
/// `null` if it is out of a double's range.
///
/// ```
/// let mut out = Vec::new();
/// for number in ["1.0", "1e21", "-0", "12345678901234567890", "1e-7", "1e999"] {
///     leafline_import::ecma::write_number(number, &mut out);
///     out.push(b' ');
/// }
/// assert_eq!(out, b"1 1e+21 0 12345678901234567000 1e-7 null ");
/// ```
pub fn write_number(number: &str, out: &mut Vec<u8>) {
    if is_canonical_integer(number.as_bytes()) {
        out.extend_from_slice(number.as_bytes());
        return;
    }
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() => {
            out.extend_from_slice(ryu_js::Buffer::new().format_finite(value).as_bytes());
        }
        _ => out.extend_from_slice(b"null"),
    }
}

/// Whether it is an integer of at most 15 digits, which a double holds exactly.
fn is_canonical_integer(number: &[u8]) -> bool {
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    match digits {
        [b'0'] => number.len() == 1,
        [b'1'..=b'9', rest @ ..] => rest.len() < 15 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::ecma::restringify;

    fn again(text: &str) -> String {
        let mut out = Vec::new();
        restringify(text, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers() {
        let written = again(
            "[1.0,1e21,1E20,-0,-0.0,1e999,-1e999,0.1,9007199254740993,1e-7,0.000001,5e-324,123e-20,-12]",
        );
        assert_eq!(
            written,
            "[1,1e+21,100000000000000000000,0,0,null,null,0.1,9007199254740992,1e-7,0.000001,5e-324,1.23e-18,-12]"
        );
    }

    #[test]
    fn strings() {
        assert_eq!(
            again(r#""\/\u0041\u000A\u001F\u007f\u2028\ud83c\udf43\ud83c\uDF43\uD800x\udc00""#),
            "\"/A\\n\\u001f\u{7f}\u{2028}🍃🍃\\ud800x\\udc00\""
        );
        // Escapes that are all as they would be written, and some that are not.
        assert_eq!(again(r#""\"\\\b\f\n\r\té\\n""#), r#""\"\\\b\f\n\r\té\\n""#);
        assert_eq!(again(r#""\n\/\n\u0001\u000A""#), r#""\n/\n\u0001\n""#);
        // U+D7FF is the last scalar before the surrogates and begins with the same byte.
        assert_eq!(again("\"\u{d7ff}\\\"\u{d000}\""), "\"\u{d7ff}\\\"\u{d000}\"");
    }

    #[test]
    fn members() {
        assert_eq!(
            again(
                r#"{ "b" : 1 , "10":0,"a":{},"9":[ ],"b":{"x":1,"x":2},"01":1,"4294967295":2,"4294967294":3,"__proto__":4}"#
            ),
            r#"{"9":[],"10":0,"4294967294":3,"b":{"x":2},"a":{},"01":1,"4294967295":2,"__proto__":4}"#
        );
        assert_eq!(again(r#"{"a":1,"\u0061":2}"#), r#"{"a":2}"#);
        assert_eq!(again("[[],{},\"[\",\"{\",1]"), "[[],{},\"[\",\"{\",1]");
    }

    #[test]
    fn a_million_levels() {
        let deep =
            format!("{}1{}", r#"{"b":0,"a":0,"a":"#.repeat(1_000_000), "}".repeat(1_000_000));
        let written = again(&deep);
        assert!(written.starts_with(r#"{"b":0,"a":{"b":0,"a":{"#));
        assert_eq!(written.len(), 13 * 1_000_000 - 1_000_000 + 1);
    }
}
