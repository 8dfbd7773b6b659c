//! JavaScript's `===` between members of parsed records.

use crate::scan::Raw;

/// Whether two members, given as JSON text or absent, are the same to JavaScript: strings and numbers by value, two
/// absent ones as well, objects and arrays never.
pub(super) fn is_same(left: Option<&str>, right: Option<&str>) -> bool {
    let (Some(left), Some(right)) = (left, right) else {
        return left.is_none() && right.is_none();
    };
    let (Ok(left), Ok(right)) = (Raw::parse(left), Raw::parse(right)) else {
        return false;
    };
    if left.is_string() || right.is_string() {
        return left.is_string() && left.as_string() == right.as_string();
    }
    if left.is_number() || right.is_number() {
        return left.is_number() && left.as_f64() == right.as_f64();
    }
    let is_literal = !left.is_object() && !left.is_array();
    is_literal && left.as_str() == right.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_the_same_as_in_javascript() {
        for (left, right) in [
            (None, None),
            (Some("\"a\""), Some("\"\\u0061\"")),
            (Some("1"), Some("1.0")),
            (Some("0"), Some("-0")),
            (Some("1e999"), Some("2e999")),
            (Some("null"), Some("null")),
            (Some("true"), Some("true")),
        ] {
            assert!(is_same(left, right) && is_same(right, left), "{left:?} {right:?}");
        }
        for (left, right) in [
            (None, Some("null")),
            (Some("\"1\""), Some("1")),
            (Some("1"), Some("null")),
            (Some("\"a\""), Some("\"b\"")),
            (Some("{}"), Some("{}")),
            (Some("[]"), Some("[]")),
            (Some("true"), Some("false")),
        ] {
            assert!(!is_same(left, right) && !is_same(right, left), "{left:?} {right:?}");
        }
    }
}
