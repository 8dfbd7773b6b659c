//! Finds the end of a string, which takes nearly all the time of reading JSON.

use super::Malformed;

/// A string of the text: the byte range between its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StringToken {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whether it contains a backslash.
    pub(crate) escaped: bool,
}

/// Reads a string whose opening quote is just before `start`.
///
/// Program text has an escape every dozen bytes, so stopping at each would cost more than everything else. Words of
/// eight bytes are checked as a whole: which of their bytes are escaped, whether those may be, and whether an unescaped
/// byte ends the string. Only an escape that is still open carries over to the next word.
#[inline]
pub(crate) fn read_string(bytes: &[u8], start: usize) -> Result<StringToken, Malformed> {
    let mut at = start;
    let mut escaped = false;
    // The lowest marker if the first byte of the word is escaped by the byte before it.
    let mut open_escape = 0;
    let mut plain_words = 0;
    while let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*word);
        let quotes = equal_to(word, b'"');
        let backslashes = equal_to(word, b'\\');
        let ends = quotes | below_space(word);
        if backslashes | open_escape == 0 {
            if ends != 0 {
                return end_string(bytes, start, at + first_byte(ends), escaped);
            }
            at += 8;
            plain_words += 1;
            if plain_words == PLAIN_WORDS {
                at = skip_plain_chunks(bytes, at);
                plain_words = 0;
            }
            continue;
        }
        let (in_escape, still_open) = escaped_bytes(backslashes, open_escape);
        let ends = ends & !in_escape;
        // All bytes before the first end, or all bytes if there is no end.
        let before_end = (ends & ends.wrapping_neg()).wrapping_sub(1);
        escaped |= backslashes & before_end != 0;
        let common = quotes | backslashes | equal_to(word, b'n') | equal_to(word, b't');
        let uncommon = in_escape & before_end & !common;
        if uncommon != 0 {
            check_escapes(bytes, at, uncommon)?;
        }
        if ends != 0 {
            return end_string(bytes, start, at + first_byte(ends), escaped);
        }
        open_escape = still_open;
        plain_words = 0;
        at += 8;
    }
    read_string_end(bytes, start, at, escaped, open_escape != 0)
}

/// Reads the rest of a string, shorter than a word.
fn read_string_end(
    bytes: &[u8],
    start: usize,
    mut at: usize,
    mut escaped: bool,
    mut open_escape: bool,
) -> Result<StringToken, Malformed> {
    while let Some(&byte) = bytes.get(at) {
        if open_escape {
            check_escape(bytes, at)?;
            open_escape = false;
        } else if byte == b'\\' {
            open_escape = true;
            escaped = true;
        } else if byte == b'"' || byte < 0x20 {
            return end_string(bytes, start, at, escaped);
        }
        at += 1;
    }
    Err(Malformed { at })
}

/// Ends a string at an unescaped quote or control character.
#[inline]
fn end_string(
    bytes: &[u8],
    start: usize,
    end: usize,
    escaped: bool,
) -> Result<StringToken, Malformed> {
    if bytes[end] == b'"' {
        Ok(StringToken { start, end, escaped })
    } else {
        Err(Malformed { at: end })
    }
}

/// Marks the bytes that follow an unescaped backslash, and returns whether the next word's first byte is one of them.
#[inline]
fn escaped_bytes(backslashes: u64, open_escape: u64) -> (u64, u64) {
    let after = backslashes << 8 | open_escape;
    if backslashes & after == 0 {
        return (after, backslashes >> 56);
    }
    // In a row of backslashes every second one is itself escaped.
    let mut in_escape = open_escape;
    let mut left = backslashes & !open_escape;
    while left != 0 {
        let backslash = left & left.wrapping_neg();
        in_escape |= backslash << 8;
        left &= !(backslash | backslash << 8);
        if backslash >> 56 != 0 {
            return (in_escape, backslash >> 56);
        }
    }
    (in_escape, 0)
}

/// Checks the escapes of a word whose letters are marked.
#[cold]
fn check_escapes(bytes: &[u8], at: usize, mut letters: u64) -> Result<(), Malformed> {
    while letters != 0 {
        check_escape(bytes, at + first_byte(letters))?;
        letters &= letters - 1;
    }
    Ok(())
}

/// Checks an escape by the letter after its backslash, which is at `at`.
fn check_escape(bytes: &[u8], at: usize) -> Result<(), Malformed> {
    match bytes.get(at) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(()),
        Some(b'u') => match bytes.get(at + 1..at + 5) {
            Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => Ok(()),
            _ => Err(Malformed { at }),
        },
        _ => Err(Malformed { at }),
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const LOW_BITS: u64 = 0x7f * ONES;
const HIGH_BITS: u64 = 0x80 * ONES;

/// Marks, by its high bit, each byte of a word that equals a value.
#[inline]
fn equal_to(word: u64, value: u8) -> u64 {
    let difference = word ^ (ONES * value as u64);
    !(((difference & LOW_BITS) + LOW_BITS) | difference) & HIGH_BITS
}

/// Marks, by its high bit, each byte of a word that is a control character.
#[inline]
fn below_space(word: u64) -> u64 {
    !(((word & LOW_BITS) + ONES * 0x60) | word) & HIGH_BITS
}

/// The index in its word of the first marked byte.
#[inline]
fn first_byte(marks: u64) -> usize {
    (marks.trailing_zeros() / 8) as usize
}

/// Whether a chunk has a byte that ends a plain run; written so that the compiler vectorises it.
#[inline]
fn has_special(chunk: &[u8; 64]) -> bool {
    chunk.iter().fold(0, |found, &byte| {
        found | u8::from(byte == b'"') | u8::from(byte == b'\\') | u8::from(byte < 0x20)
    }) != 0
}

/// After this many words without a special byte the run is probably very long (an image), and searching for its end in
/// wide chunks pays off.
const PLAIN_WORDS: u32 = 16;

/// Skips chunks of 64 bytes without a quote, a backslash or a control character.
#[inline(never)]
fn skip_plain_chunks(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes[at..].first_chunk::<64>() {
        if has_special(chunk) {
            break;
        }
        at += 64;
    }
    at
}

/// The first byte at or after `at` that is a quote, a backslash or a control character, or the end.
pub(crate) fn skip_plain(bytes: &[u8], at: usize) -> usize {
    let mut at = skip_plain_chunks(bytes, at);
    while let Some(word) = bytes[at..].first_chunk::<8>() {
        let word = u64::from_le_bytes(*word);
        let found = equal_to(word, b'"') | equal_to(word, b'\\') | below_space(word);
        if found != 0 {
            return at + first_byte(found);
        }
        at += 8;
    }
    while let Some(&byte) = bytes.get(at) {
        if byte == b'"' || byte == b'\\' || byte < 0x20 {
            break;
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reading by words and by bytes gives the same string or error, wherever escapes and ends fall in a word.
    #[test]
    fn strings_by_words_are_strings_by_bytes() {
        let pieces = b"\\\\\\\\\"\"nu0/aaaaaaaaaa\x01\xc3\xff";
        let mut state = 1_u64;
        for _ in 0..200_000 {
            let mut bytes = Vec::new();
            for _ in 0..40 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let piece = (state >> 33) as usize % pieces.len();
                bytes.push(pieces[piece]);
                if pieces[piece] == b'u' {
                    bytes.extend_from_slice(b"00e9");
                }
            }
            assert_eq!(
                read_string(&bytes, 0),
                read_string_end(&bytes, 0, 0, false, false),
                "{}",
                bytes.escape_ascii()
            );
        }
    }

    #[test]
    fn specials_are_found_at_every_offset() {
        for length in 0..200 {
            for special in [b'"', b'\\', 0, 0x1f, b'\n'] {
                let mut bytes = vec![b'a'; length];
                bytes.push(special);
                bytes.extend_from_slice(&[0xff, b'"', b'x', 0x80, b'\\', b'!', b'#', b' ']);
                assert_eq!(skip_plain(&bytes, 0), length);
            }
            let bytes = vec![0xc3; length];
            assert_eq!(skip_plain(&bytes, 0), length);
        }
    }
}
