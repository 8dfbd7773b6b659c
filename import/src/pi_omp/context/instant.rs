//! `new Date(value).getTime()` of a parsed value.

use crate::scan::Raw;
use crate::time::parse_timestamp;

/// The furthest a JavaScript date can be from 1970, in milliseconds.
const FURTHEST: f64 = 8.64e15;

/// The milliseconds since 1970 that a value stands for; `None` if JavaScript has no number for it.
///
/// Text is read as ISO only, since engines differ in other forms. Other values count as the number that they convert to,
/// without its fraction.
pub(super) fn milliseconds(value: Option<Raw<'_>>) -> Option<i64> {
    let value = value?;
    match value.as_str() {
        "null" | "false" => return Some(0),
        "true" => return Some(1),
        _ => {}
    }
    if let Some(text) = value.to_string_lossy() {
        return parse_timestamp(&text);
    }
    let number = value.as_f64()?;
    #[expect(clippy::cast_possible_truncation, reason = "checked to be in range")]
    let whole = number as i64;
    (number.abs() <= FURTHEST).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_times_as_in_javascript() {
        let of = |text| milliseconds(Raw::parse(text).ok());
        assert_eq!(of("\"2024-12-03T14:00:01.500Z\""), Some(1_733_234_401_500));
        assert_eq!(of("1733234401500.9"), Some(1_733_234_401_500));
        assert_eq!(of("-1.5"), Some(-1));
        assert_eq!((of("null"), of("false"), of("true")), (Some(0), Some(0), Some(1)));
        assert_eq!((of("8.64e15"), of("8640000000000001")), (Some(8_640_000_000_000_000), None));
        for text in ["\"\"", "\"yesterday\"", "{}", "[]", "1e999"] {
            assert_eq!(of(text), None, "{text}");
        }
        assert_eq!(milliseconds(None), None);
    }
}
