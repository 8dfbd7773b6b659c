//! What tokens and names are made of.

/// A class of characters, all of ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Digit,
    Hex,
    /// Small letters and digits.
    Lower,
    /// Capital letters and digits.
    Upper,
    Alphanumeric,
    /// Those of base32.
    Base32,
    /// Those of base64, with its padding.
    Base64,
    /// Letters, digits and `_`.
    Word,
    /// Letters, digits, `_` and `-`.
    Hyphened,
    /// Letters, digits, `_`, `-`, `.` and `=`.
    Dotted,
    /// Letters, digits, `_`, `-`, `.` and `~`: what a URL has without escapes.
    Unreserved,
    /// Those of base64 in both of its alphabets, with the padding.
    AnyBase64,
}

impl Class {
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Self::Digit => byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Lower => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::Base32 => byte.is_ascii_uppercase() || (b'2'..=b'7').contains(&byte),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Hyphened => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'=')
            }
            Self::Unreserved => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'~')
            }
            Self::AnyBase64 => Self::Base64.has(byte) || matches!(byte, b'_' | b'-'),
        }
    }
}

/// Whether no letter or digit is before a place, or only one that ends an escape of a URL (`%3D`), or of a terminal's
/// colour.
pub(super) fn begins_a_word(text: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|place| text.get(place)).copied();
    let Some(last) = before(1) else { return true };
    if !last.is_ascii_alphanumeric() {
        return true;
    }
    let is_hex = |back| before(back).is_some_and(|byte| byte.is_ascii_hexdigit());
    if before(3) == Some(b'%') && is_hex(1) && is_hex(2) {
        return true;
    }
    let digits = (2..8).take_while(|&back| before(back).is_some_and(is_of_colour)).count();
    last == b'm' && before(digits + 2) == Some(b'[')
}

fn is_of_colour(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b';'
}

/// How many bytes at the beginning satisfy a condition, of at most so many.
pub(super) fn run(text: &[u8], most: usize, is_in: impl Fn(u8) -> bool) -> usize {
    text.iter().take(most).take_while(|byte| is_in(**byte)).count()
}

/// The entropy of a text's characters, in bits a character (Shannon).
pub(super) fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    text.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let length = text.len() as f64;
    let of = |count: u32| f64::from(count) / length;
    -counts
        .into_iter()
        .filter(|count| *count > 0)
        .map(|count| of(count) * of(count).log2())
        .sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_begin_behind_what_is_not_one() {
        for before in ["", " ", "_", "=", "url%3D", "\u{1b}[31m", "\u{1b}[1;38m", "é"] {
            let text = format!("{before}token");
            assert!(begins_a_word(text.as_bytes(), before.len()), "{before}");
        }
        for before in ["a", "3D", "31m", "ab%zz"] {
            let text = format!("{before}token");
            assert!(!begins_a_word(text.as_bytes(), before.len()), "{before}");
        }
    }

    #[test]
    fn entropy_is_that_of_the_characters() {
        assert_eq!(entropy(b"aaaa"), 0.0);
        assert_eq!(entropy(b"abcdabcd"), 2.0);
    }
}
