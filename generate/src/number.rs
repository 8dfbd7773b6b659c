//! Numbers and times as ECMAScript's `JSON.stringify` and `toISOString` write them.

use std::io::Write;

/// Appends an integer in decimal digits.
pub(crate) fn integer(out: &mut Vec<u8>, value: u64) {
    let mut digits = [0u8; 20];
    let mut place = digits.len();
    let mut left = value;
    loop {
        place -= 1;
        digits[place] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[place..]);
}

/// Appends a finite number, in the fewest digits that read back as the same number.
///
/// Both languages choose the same digits; ECMAScript uses exponents below 1e-6 and from 1e21 on, Rust never does.
pub(crate) fn number(out: &mut Vec<u8>, value: f64) {
    let size = value.abs();
    let written = if value == 0.0 {
        write!(out, "0")
    } else if size >= 1e21 {
        let text = format!("{value:e}");
        write!(out, "{}", text.replace('e', "e+"))
    } else if size < 1e-6 {
        write!(out, "{value:e}")
    } else {
        write!(out, "{value}")
    };
    written.expect("writing to memory succeeds");
}

/// Appends milliseconds since 1970 as `2026-02-16T10:20:30.000Z`.
pub(crate) fn instant(out: &mut Vec<u8>, milliseconds: u64) {
    let days = milliseconds / 86_400_000;
    let (year, month, day) = civil(days);
    let clock = milliseconds % 86_400_000;
    padded(out, year, 4);
    out.push(b'-');
    padded(out, month, 2);
    out.push(b'-');
    padded(out, day, 2);
    out.push(b'T');
    padded(out, clock / 3_600_000, 2);
    out.push(b':');
    padded(out, clock / 60_000 % 60, 2);
    out.push(b':');
    padded(out, clock / 1000 % 60, 2);
    out.push(b'.');
    padded(out, clock % 1000, 3);
    out.push(b'Z');
}

/// Appends `value` in exactly `width` digits.
pub(crate) fn padded(out: &mut Vec<u8>, value: u64, width: u32) {
    for place in (0..width).rev() {
        out.push(b'0' + (value / 10u64.pow(place) % 10) as u8);
    }
}

/// Converts days since 1970 to year, month and day, counted in eras of 400 years that begin in March.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: f64) -> String {
        let mut out = Vec::new();
        number(&mut out, value);
        String::from_utf8(out).expect("digits are text")
    }

    #[test]
    fn numbers_are_written_as_ecmascript_does() {
        let cases = [
            (1.0, "1"),
            (0.1 + 0.2, "0.30000000000000004"),
            (5e-7, "5e-7"),
            (1.5e-7, "1.5e-7"),
            (0.000005, "0.000005"),
            (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (-0.0, "0"),
        ];
        for (value, text) in cases {
            assert_eq!(written(value), text);
        }
    }

    #[test]
    fn instants_are_written_in_utc() {
        let cases = [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_771_237_230_000, "2026-02-16T10:20:30.000Z"),
            (951_782_400_123, "2000-02-29T00:00:00.123Z"),
        ];
        for (milliseconds, text) in cases {
            let mut out = Vec::new();
            instant(&mut out, milliseconds);
            assert_eq!(String::from_utf8(out).expect("digits are text"), text);
        }
    }
}
