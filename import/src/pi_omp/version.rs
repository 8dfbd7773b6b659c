//! The header's version, compared as the programs compare it.

use crate::scan::Raw;
use crate::text::trim;

/// The version of a session file: the header's `version`, or 1 if it is absent or null, as the number that JavaScript
/// converts it to in a comparison. A value that converts to no number (`"abc"`, `{}`) is not a number here either.
#[derive(Debug, Clone, Copy)]
pub struct HeaderVersion {
    number: f64,
}

impl HeaderVersion {
    /// The version that pi and omp write.
    pub const CURRENT: Self = Self { number: 3.0 };

    /// The version in a header's `version` member.
    ///
    /// ```
    /// use leafline_import::pi_omp::HeaderVersion;
    /// use leafline_import::scan::Raw;
    ///
    /// assert_eq!(HeaderVersion::of(None).number(), 1.0);
    /// assert_eq!(HeaderVersion::of(Some(Raw::parse("\"2\"")?)).number(), 2.0);
    /// assert!(HeaderVersion::of(Some(Raw::parse("{}")?)).number().is_nan());
    /// # Ok::<(), leafline_import::Malformed>(())
    /// ```
    #[must_use]
    pub fn of(member: Option<Raw<'_>>) -> Self {
        let number = match member {
            None => 1.0,
            Some(raw) if raw.is_null() => 1.0,
            Some(raw) => number_of(raw),
        };
        Self { number }
    }

    /// The number; NaN if the header's value converts to none.
    #[must_use]
    pub fn number(self) -> f64 {
        self.number
    }

    /// The version as a whole number, if it is one.
    #[must_use]
    pub fn whole(self) -> Option<u32> {
        (0..=9).find(|&version| f64::from(version) == self.number)
    }

    /// Whether the programs rewrite a file of this version when they open it: true unless it is at least 3.
    #[must_use]
    pub fn needs_migration(self) -> bool {
        self.number.is_nan() || self.number < 3.0
    }

    /// Whether entries get ids and parents (version 1 to 2).
    #[must_use]
    pub fn needs_tree(self) -> bool {
        self.number < 2.0
    }

    /// Whether roles are renamed and the version is set (version 2 to 3). False for a version that is not a number:
    /// such a file is rewritten but otherwise unchanged.
    #[must_use]
    pub fn needs_roles(self) -> bool {
        self.number < 3.0
    }
}

impl PartialEq for HeaderVersion {
    /// Two versions that are not numbers are equal here.
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number || (self.number.is_nan() && other.number.is_nan())
    }
}

/// JavaScript's conversion of a JSON value to a number.
fn number_of(mut value: Raw<'_>) -> f64 {
    /// Each level reads the rest again, so the number of levels is bounded; JavaScript engines run out of stack.
    const MOST_LEVELS: usize = 64;
    let mut in_array = false;
    for _ in 0..MOST_LEVELS {
        if !value.is_array() {
            break;
        }
        // An array is converted through its text, and the text of an array of one element is that of the element.
        let mut elements = value.elements();
        match (elements.next(), elements.next()) {
            (None, _) => return 0.0,
            (Some(only), None) => value = only,
            _ => return f64::NAN,
        }
        in_array = true;
    }
    if let Some(text) = value.to_string_lossy() {
        return number_of_text(&text);
    }
    match value.as_str() {
        "null" => 0.0,
        "false" if !in_array => 0.0,
        "true" if !in_array => 1.0,
        _ => value.as_f64().unwrap_or(f64::NAN),
    }
}

/// JavaScript's `Number(text)`.
fn number_of_text(text: &str) -> f64 {
    let text = trim(text);
    let radix = match text.as_bytes() {
        [] => return 0.0,
        [b'0', b'x' | b'X', ..] => 16,
        [b'0', b'o' | b'O', ..] => 8,
        [b'0', b'b' | b'B', ..] => 2,
        _ => return decimal(text),
    };
    let digits = &text[2..];
    if digits.is_empty() {
        return f64::NAN;
    }
    let value = digits.chars().try_fold(0.0, |value, digit| {
        Some(value * f64::from(radix) + f64::from(digit.to_digit(radix)?))
    });
    value.unwrap_or(f64::NAN)
}

fn decimal(text: &str) -> f64 {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    // Rust's parser also accepts "inf" and "nan" in any case; JavaScript accepts one word.
    let is_number = unsigned == "Infinity"
        || unsigned
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    if is_number { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_javascript_s() {
        for (text, number) in [
            ("null", 1.0),
            ("3", 3.0),
            ("2.5", 2.5),
            ("true", 1.0),
            ("false", 0.0),
            ("\"\"", 0.0),
            ("\" 3 \"", 3.0),
            ("\"0x3\"", 3.0),
            ("\"1e0\"", 1.0),
            ("\"-Infinity\"", f64::NEG_INFINITY),
            ("[]", 0.0),
            ("[[3]]", 3.0),
            ("[null]", 0.0),
            ("[\"2\"]", 2.0),
            ("\".5\"", 0.5),
            ("\"5.\"", 5.0),
            ("\"0b11\"", 3.0),
            ("\"0o7\"", 7.0),
        ] {
            assert_eq!(
                HeaderVersion::of(Some(Raw::parse(text).unwrap())).number(),
                number,
                "{text}"
            );
        }
        for text in [
            "{}", "\"abc\"", "[1,2]", "[true]", "\"3a\"", "\"inf\"", "\"nan\"", "\"0x\"",
            "\"-0x3\"", "[{}]", "\"1 2\"",
        ] {
            let version = HeaderVersion::of(Some(Raw::parse(text).unwrap()));
            assert!(version.number().is_nan(), "{text}");
            assert!(version.needs_migration() && !version.needs_roles() && !version.needs_tree());
        }
    }

    #[test]
    fn nesting_costs_no_time() {
        let deep = format!("{}3{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        let version = HeaderVersion::of(Some(Raw::parse(&deep).unwrap()));
        assert!(version.number().is_nan());
    }
}
