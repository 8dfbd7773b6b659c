//! Numbers as Erlang writes them.

/// Where integers stop being exact as doubles; from here on Erlang writes floats only in scientific form, so that
/// nobody mistakes them for integers.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Appends a JSON number as Jason writes it after reading it. A number with a fraction or an exponent is a float; any
/// other is an integer, of any size.
///
/// A float has the shortest digits that round-trip, in the form with fewer characters, or the decimal form if both have
/// the same number (`float_to_binary(float, [short])`). A number out of a double's range, which Jason refuses, stays as
/// it is.
///
/// ```
/// let mut out = Vec::new();
/// for number in ["12345678901234567890", "1.50", "1e3", "100.0", "1e-7", "-0"] {
///     leafline_import::opal::write_number(number, &mut out);
///     out.push(b' ');
/// }
/// assert_eq!(out, b"12345678901234567890 1.5 1.0e3 100.0 1.0e-7 0 ");
/// ```
pub fn write_number(number: &str, out: &mut Vec<u8>) {
    if !number.contains(['.', 'e', 'E']) {
        let integer = if number == "-0" { "0" } else { number };
        out.extend_from_slice(integer.as_bytes());
        return;
    }
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() => out.extend_from_slice(float(value).as_bytes()),
        _ => out.extend_from_slice(number.as_bytes()),
    }
}

fn float(value: f64) -> String {
    let scientific = scientific(value);
    // Decided by size first: the decimal form of 1e-300 has 302 characters.
    if value.abs() >= EXACT || (value != 0.0 && value.abs() < 1e-20) {
        return scientific;
    }
    // Decimal, with the shortest digits, and always with a fraction.
    let decimal = format!("{value:?}");
    let decimal = if decimal.contains('e') { format!("{value}") } else { decimal };
    if decimal.len() <= scientific.len() { decimal } else { scientific }
}

/// The digits with a point after the first and at least one digit after it, and the exponent without a plus sign.
fn scientific(value: f64) -> String {
    let text = format!("{value:e}");
    if text.contains('.') { text } else { text.replacen('e', ".0e", 1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(number: &str) -> String {
        let mut out = Vec::new();
        write_number(number, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn integers_keep_their_digits() {
        let long = "9".repeat(400);
        for integer in ["0", "-1", "9007199254740993", &long] {
            assert_eq!(written(integer), integer);
        }
    }

    /// The cases named in the comments of Erlang's own code, and its edge cases.
    #[test]
    fn floats_have_the_shorter_form() {
        for (number, expected) in [
            ("0.0", "0.0"),
            ("-0.0", "-0.0"),
            ("0e5", "0.0"),
            ("0.0001", "0.0001"),
            ("0.00001", "1.0e-5"),
            ("100.0", "100.0"),
            ("1000.0", "1.0e3"),
            ("-1000.0", "-1.0e3"),
            ("12340.0", "12340.0"),
            ("123400.0", "1.234e5"),
            ("0.001234", "0.001234"),
            ("0.0001234", "1.234e-4"),
            ("1234567890.0", "1234567890.0"),
            ("12345678900.0", "12345678900.0"),
            ("123456789000.0", "1.23456789e11"),
            ("17.29", "17.29"),
            ("1E+2", "100.0"),
            ("10000000000.0", "1.0e10"),
            ("9007199254740991.0", "9007199254740991.0"),
            ("9007199254740992.0", "9.007199254740992e15"),
            ("-9007199254740992.0", "-9.007199254740992e15"),
            ("5e-324", "5.0e-324"),
            ("1.7976931348623157e308", "1.7976931348623157e308"),
            ("1e999", "1e999"),
            ("0.1000", "0.1"),
            ("1e-400", "0.0"),
        ] {
            assert_eq!(written(number), expected, "{number}");
        }
    }

    proptest! {
        #[test]
        fn floats_come_back(value in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
            let text = written(&format!("{value:e}"));
            prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits());
            prop_assert!(text.contains('.'));
            prop_assert_eq!(written(&text), text);
        }
    }
}
