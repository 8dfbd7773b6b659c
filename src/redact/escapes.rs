//! The text that a JSON string stands for, with the way back: where in the string each of its bytes comes from.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;

/// A decoded text, and the escapes that it was decoded from.
#[derive(Debug)]
pub(super) struct Decoded<'r> {
    pub(super) text: Cow<'r, [u8]>,
    /// In order.
    escapes: Vec<Escape>,
}

/// One escape, where it is in the string, and where in the text what it stands for.
#[derive(Debug, Clone, Copy)]
struct Escape {
    raw: usize,
    raw_length: u8,
    text: usize,
    text_length: u8,
}

impl<'r> Decoded<'r> {
    /// Decodes the inside of a string. A backslash that begins no escape stands for itself, since texts are decoded that
    /// only look like JSON, or that are torn.
    pub(super) fn of(raw: &'r [u8]) -> Self {
        let Some(first) = memchr(b'\\', raw) else {
            return Self { text: Cow::Borrowed(raw), escapes: Vec::new() };
        };
        let (mut text, mut escapes) = (Vec::with_capacity(raw.len()), Vec::new());
        let (mut at, mut next) = (0, Some(first));
        while let Some(place) = next {
            text.extend_from_slice(raw.get(at..place).unwrap_or_default());
            let start = text.len();
            let length = decode_one(raw.get(place..).unwrap_or_default(), &mut text);
            let wide = |length: usize| u8::try_from(length).expect("an escape is short");
            if length > 1 {
                let (raw_length, text_length) = (wide(length), wide(text.len() - start));
                escapes.push(Escape { raw: place, raw_length, text: start, text_length });
            }
            at = place + length;
            next = memchr(b'\\', raw.get(at..).unwrap_or_default()).map(|found| at + found);
        }
        text.extend_from_slice(raw.get(at..).unwrap_or_default());
        Self { text: Cow::Owned(text), escapes }
    }

    /// Whether the string is other than its text.
    pub(super) fn has_escapes(&self) -> bool {
        !self.escapes.is_empty()
    }

    /// Where a part of the text is in the string. An escape of which it has a part belongs to it as a whole.
    pub(super) fn place_of(&self, part: Range<usize>) -> Range<usize> {
        self.raw_place(part.start, false)..self.raw_place(part.end, true)
    }

    fn raw_place(&self, text: usize, is_end: bool) -> usize {
        let behind = self.escapes.partition_point(|escape| match is_end {
            // An end at an escape's beginning is before it.
            true => escape.text < text,
            false => escape.text <= text,
        });
        let Some(escape) = behind.checked_sub(1).and_then(|last| self.escapes.get(last)) else {
            return text;
        };
        let end = escape.text + usize::from(escape.text_length);
        match text.checked_sub(end) {
            Some(further) => escape.raw + usize::from(escape.raw_length) + further,
            None if is_end => escape.raw + usize::from(escape.raw_length),
            None => escape.raw,
        }
    }
}

/// Decodes what begins with a backslash; returns the bytes that it takes up.
fn decode_one(raw: &[u8], text: &mut Vec<u8>) -> usize {
    let plain = match raw.get(1) {
        Some(b'n') => b'\n',
        Some(b't') => b'\t',
        Some(b'r') => b'\r',
        Some(b'b') => 8,
        Some(b'f') => 12,
        Some(&quoted @ (b'"' | b'\\' | b'/')) => quoted,
        Some(b'u') => return decode_unicode(raw, text),
        _ => {
            text.push(b'\\');
            return 1;
        }
    };
    text.push(plain);
    2
}

/// Decodes `\uXXXX`, or two that are a pair of surrogates.
fn decode_unicode(raw: &[u8], text: &mut Vec<u8>) -> usize {
    let unit = |at: usize| {
        let escape = raw.get(at..at + 6)?.strip_prefix(b"\\u")?;
        let digits = std::str::from_utf8(escape).ok()?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hex.then(|| u32::from_str_radix(digits, 16).ok())?
    };
    let Some(first) = unit(0) else {
        text.push(b'\\');
        return 1;
    };
    let (code, length) = match (first, unit(6)) {
        (0xd800..=0xdbff, Some(second @ 0xdc00..=0xdfff)) => {
            (0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00), 12)
        }
        _ => (first, 6),
    };
    let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_text_are_found_in_its_string() {
        let raw = br#"a\n\u0073k-\ud83d\ude00\/\x"#;
        let decoded = Decoded::of(raw);
        assert_eq!(&*decoded.text, "a\nsk-😀/\\x".as_bytes());
        assert_eq!(&raw[decoded.place_of(2..5)], br"\u0073k-");
        assert_eq!(&raw[decoded.place_of(1..2)], br"\n");
        // A part of a character is all of its escape.
        assert_eq!(&raw[decoded.place_of(6..7)], br"\ud83d\ude00");
        assert_eq!(&raw[decoded.place_of(9..12)], br"\/\x");
        assert_eq!(decoded.place_of(0..decoded.text.len()), 0..raw.len());
        let plain = Decoded::of(b"nothing to decode");
        assert!(!plain.has_escapes());
        assert_eq!(plain.place_of(3..5), 3..5);
    }

    #[test]
    fn what_only_looks_like_an_escape_stays() {
        for text in [&br"C:\Users"[..], br"\", br"\u12", br"\u+123", br"\u{41}"] {
            let decoded = Decoded::of(text);
            assert_eq!(&*decoded.text, text, "{}", text.escape_ascii());
        }
    }
}
