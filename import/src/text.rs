//! Text as the programs that own the formats read it: UTF-8 decoding, JavaScript's white space, string escapes.
//!
//! Ids and other strings may hold lone surrogates (observed behaviour), which UTF-8 cannot carry. They are kept as
//! WTF-8: UTF-8 in which a lone surrogate is its three-byte form, and a pair is always the four-byte form.

use std::borrow::Cow;

use memchr::memchr;

/// Decodes a line as `readFileSync(path, "utf8")` does: each maximal part of an invalid sequence becomes U+FFFD, and a
/// BOM stays. Borrows if the line is valid UTF-8.
///
/// Decoding line by line gives the same text as decoding the whole file, as `
/// ` is not part of a longer sequence.
///
/// ```
/// assert_eq!(leafline_import::text::decode(b"a\xe2\x82z"), "a\u{fffd}z");
/// ```
#[must_use]
pub fn decode(line: &[u8]) -> Cow<'_, str> {
    // The lossy decoder goes through valid text in small steps; only checking it is several times as fast.
    std::str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed)
}

/// Whether JavaScript's `trim` treats the character as white space.
#[must_use]
pub fn is_white_space(character: char) -> bool {
    matches!(
        character,
        '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}'
                | '\u{2028}'
                | '\u{2029}'
                | '\u{202f}'
                | '\u{205f}'
                | '\u{3000}'
                | '\u{feff}'
    )
}

/// Removes the white space before the first record of a file.
///
/// pi trims the whole file before it splits it into lines, so a BOM or other JavaScript white space before the first
/// record does no harm, while on any later line it makes the line malformed. Apply this to the lines of a file up to
/// and including the first that is not blank.
#[must_use]
pub fn trim_start_of_file(text: &str) -> &str {
    text.trim_start_matches(is_white_space)
}

/// Removes the white space after the last record of a file; the counterpart of [`trim_start_of_file`] for the last line
/// that is not blank.
#[must_use]
pub fn trim_end_of_file(text: &str) -> &str {
    text.trim_end_matches(is_white_space)
}

/// Marks omitted text.
const ELLIPSIS: char = '…';

/// The beginning of a text on one line: at most `most` characters, the last one `…` if the text goes on. Runs of white
/// space become one space. It reads no more of the text than it shows.
///
/// ```
/// use leafline_import::text::one_line;
///
/// assert_eq!(one_line("  fix\n\n the bug", 80), "fix the bug");
/// assert_eq!(one_line("  fix\n\n the bug", 7), "fix th…");
/// ```
#[must_use]
pub fn one_line(text: &str, most: usize) -> String {
    words_on_one_line(text.split_whitespace(), most)
}

/// [`one_line`] of the words.
pub(crate) fn words_on_one_line<'a>(words: impl Iterator<Item = &'a str>, most: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    // The end of the last character that leaves room for the ellipsis.
    let mut cut = 0;
    for word in words {
        let space = (length > 0).then_some(' ');
        for character in space.into_iter().chain(word.chars()) {
            if length + 1 < most {
                cut = line.len() + character.len_utf8();
            }
            if length == most {
                line.truncate(line[..cut].trim_end().len());
                line.extend((most > 0).then_some(ELLIPSIS));
                return line;
            }
            line.push(character);
            length += 1;
        }
    }
    line
}

/// JavaScript's `String.prototype.trim`.
#[must_use]
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_white_space)
}

/// The same for WTF-8 text, which `str` cannot hold. A lone surrogate is not white space.
pub(crate) fn trim_wtf8(text: &[u8]) -> &[u8] {
    let first = text.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let text = &text[first.len() - trim_start_of_file(first).len()..];
    let last = text.utf8_chunks().last();
    // If something invalid follows the valid part, the text does not end in white space.
    let last = last.filter(|chunk| chunk.invalid().is_empty()).map_or("", |chunk| chunk.valid());
    &text[..text.len() - (last.len() - trim_end_of_file(last).len())]
}

/// Whether a line has nothing but JavaScript white space.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    // Nearly every line starts with `{`; checking that first keeps the character loop off the hot path.
    !text.starts_with('{') && text.chars().all(is_white_space)
}

/// The value of a JSON string, given the text between its quotes, as WTF-8. Borrows if there is no escape.
///
/// Two escapes that make a surrogate pair become one four-byte character; a lone surrogate becomes its three-byte form.
/// The text must be valid inside a JSON string; otherwise broken escapes are passed through unchanged.
///
/// ```
/// use leafline_import::text::unescape;
///
/// assert_eq!(&*unescape("a\\u0062"), b"ab");
/// assert_eq!(&*unescape("\\ud83c\\udf43"), "🍃".as_bytes());
/// assert_eq!(&*unescape("\\ud83c"), b"\xed\xa0\xbc");
/// ```
#[must_use]
pub fn unescape(raw_inside_quotes: &str) -> Cow<'_, [u8]> {
    let bytes = raw_inside_quotes.as_bytes();
    let Some(first) = memchr(b'\\', bytes) else {
        return Cow::Borrowed(bytes);
    };
    let mut value = Vec::with_capacity(bytes.len());
    value.extend_from_slice(&bytes[..first]);
    let mut at = first;
    while at < bytes.len() {
        let (escape, next) = read_escape(bytes, at);
        match escape {
            Escape::Byte(byte) => value.push(byte),
            Escape::Scalar(scalar) => push_scalar(scalar, &mut value),
            Escape::Broken => value.extend_from_slice(&bytes[at..next]),
        }
        let plain = memchr(b'\\', &bytes[next..]).map_or(bytes.len(), |offset| next + offset);
        value.extend_from_slice(&bytes[next..plain]);
        at = plain;
    }
    Cow::Owned(value)
}

/// The meaning of one escape sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    /// One of the two-character escapes.
    Byte(u8),
    /// A `\u` escape or a pair of them: a scalar value, or a lone surrogate.
    Scalar(u32),
    /// Not a JSON escape.
    Broken,
}

/// Reads the escape whose backslash is at `at`; returns its meaning and where the text goes on.
pub(crate) fn read_escape(bytes: &[u8], at: usize) -> (Escape, usize) {
    let byte = match bytes.get(at + 1) {
        Some(b'"') => b'"',
        Some(b'\\') => b'\\',
        Some(b'/') => b'/',
        Some(b'b') => 8,
        Some(b'f') => 12,
        Some(b'n') => b'\n',
        Some(b'r') => b'\r',
        Some(b't') => b'\t',
        Some(b'u') => return read_unicode_escape(bytes, at),
        // Never steps into the middle of a character: a continuation byte cannot start an escape.
        _ => return (Escape::Broken, at + 1),
    };
    (Escape::Byte(byte), at + 2)
}

fn read_unicode_escape(bytes: &[u8], at: usize) -> (Escape, usize) {
    let Some(first) = unicode_escape_at(bytes, at) else {
        return (Escape::Broken, at + 2);
    };
    let next = at + 6;
    if (0xd800..0xdc00).contains(&first)
        && let Some(second) = unicode_escape_at(bytes, next)
        && (0xdc00..0xe000).contains(&second)
    {
        let scalar = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (Escape::Scalar(scalar), next + 6);
    }
    (Escape::Scalar(first), next)
}

fn unicode_escape_at(bytes: &[u8], at: usize) -> Option<u32> {
    let escape = bytes.get(at..at + 6)?;
    if escape[0] != b'\\' || escape[1] != b'u' {
        return None;
    }
    escape[2..].iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?))
}

/// Appends a scalar value, or a lone surrogate in its three-byte form.
pub(crate) fn push_scalar(scalar: u32, target: &mut Vec<u8>) {
    match char::from_u32(scalar) {
        Some(character) => target.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        None => {
            let low_bits = |shift: u32| u8::try_from(scalar >> shift & 0x3f).unwrap_or(0);
            target.extend_from_slice(&[0xed, 0x80 | low_bits(6), 0x80 | low_bits(0)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_simple_escape() {
        assert_eq!(&*unescape(r#"\"\\\/\b\f\n\r\t"#), b"\"\\/\x08\x0c\n\r\t");
        assert_eq!(&*unescape(r"\u00E9\u0000"), "é\0".as_bytes());
    }

    #[test]
    fn surrogates_join_only_high_before_low() {
        assert_eq!(&*unescape(r"\udf43\ud83c"), b"\xed\xbd\x83\xed\xa0\xbc");
        assert_eq!(&*unescape(r"\ud83c\ud83c\udf43"), b"\xed\xa0\xbc\xf0\x9f\x8d\x83");
        assert_eq!(&*unescape(r"\ud83cx\udf43"), b"\xed\xa0\xbcx\xed\xbd\x83");
    }

    #[test]
    fn broken_escapes_do_not_panic() {
        for text in ["\\", "\\u", "\\u12", "\\x", "\\é", "\\u12é4", "a\\"] {
            assert_eq!(&*unescape(text), text.as_bytes());
        }
    }

    #[test]
    fn white_space_is_javascript_s() {
        assert_eq!(trim("\u{feff}\u{a0}\u{3000} a\u{2029}\r\n"), "a");
        assert_eq!(trim("\u{85}a"), "\u{85}a");
        assert_eq!(trim_wtf8(b" \xed\xa0\xbc \xc2\xa0"), b"\xed\xa0\xbc");
        assert_eq!(trim_wtf8(b"\t\xed\xa0\xbc"), b"\xed\xa0\xbc");
        assert_eq!(trim_wtf8(b" \n "), b"");
        assert_eq!(trim_wtf8(b"\xef\xbb\xbfa b\n"), b"a b");
        assert!(is_blank("\u{feff} \r\n") && is_blank("") && !is_blank("\0"));
    }
}
