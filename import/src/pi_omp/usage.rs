//! The usage that a message of the model reports.

use crate::scan::{Raw, Scan};
use crate::usage::Usage;

/// The `usage` of a scanned line's message; `None` if it is not an object. A value that is not a number, negative or
/// out of range counts as zero.
pub(crate) fn usage(scan: &Scan<'_>) -> Option<Usage> {
    let usage = scan.members.message?.member("usage")?;
    usage.is_object().then(|| read(usage))
}

fn read(usage: Raw<'_>) -> Usage {
    let count = |name| usage.member(name).and_then(tokens).unwrap_or(0);
    let cost = usage.member("cost").and_then(|cost| cost.member("total")).and_then(Raw::as_f64);
    Usage {
        input: count("input"),
        output: count("output"),
        cache_read: count("cacheRead"),
        cache_write: count("cacheWrite"),
        cost: cost.filter(|cost| cost.is_finite() && *cost > 0.0).unwrap_or(0.0),
    }
}

/// A count of tokens; a fraction is cut off.
fn tokens(value: Raw<'_>) -> Option<u64> {
    // Only what is not a plain integer goes through a double, which holds at most 53 bits.
    value.as_str().parse().ok().or_else(|| {
        let count = value.as_f64()?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        (0.0..18_446_744_073_709_551_616.0).contains(&count).then_some(count as u64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Scanner;

    fn of(json: &str) -> Option<Usage> {
        let line = format!(r#"{{"type":"message","message":{{"usage":{json}}}}}"#);
        usage(&Scanner::new().scan(&line))
    }

    #[test]
    fn all_members() {
        let found = of(
            r#"{"input":100,"output":20,"cacheRead":3,"cacheWrite":4,"cost":{"input":9,"total":0.25}}"#,
        );
        let expected = Usage { input: 100, output: 20, cache_read: 3, cache_write: 4, cost: 0.25 };
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn what_is_no_count_is_zero() {
        for none in ["null", "[]", "7", r#""usage""#] {
            assert_eq!(of(none), None, "{none}");
        }
        for odd in [
            r#"{"input":-5,"output":"7","cacheRead":null,"cacheWrite":[1],"cost":3}"#,
            r#"{"input":1e999,"output":{},"cacheRead":-0,"cost":{"total":-1}}"#,
            r#"{"input":18446744073709551616,"cost":{"total":"1"}}"#,
            "{}",
        ] {
            assert_eq!(of(odd), Some(Usage::default()), "{odd}");
        }
    }

    #[test]
    fn numbers_however_they_are_written() {
        let found = of(r#"{"input":1e3,"output":2.0,"cacheRead":1.9,"input":1E2}"#).unwrap();
        assert_eq!((found.input, found.output, found.cache_read), (100, 2, 1));
        let found = of(r#"{"input":18446744073709551615,"output":9007199254740993}"#).unwrap();
        assert_eq!((found.input, found.output), (u64::MAX, 9_007_199_254_740_993));
    }
}
