//! Numbers for people.

/// Units of bytes, each a thousand times the one before.
const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];

/// A count of things: `1 entry`, `1,532 entries`.
pub(super) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A number with separated thousands: `1,532`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A number of bytes: `999 B`, `12.3 MB`.
pub(super) fn bytes(number: u64) -> String {
    if number < 1000 {
        return format!("{number} B");
    }
    // In tenths of the unit, rounded; what rounds up to a thousand becomes one of the next unit.
    let in_tenths = |unit: u128| (u128::from(number) * 10 + unit / 2) / unit;
    let mut unit_bytes = 1000;
    for unit in UNITS {
        let tenths = in_tenths(unit_bytes);
        if tenths < 10_000 {
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
        unit_bytes *= 1000;
    }
    format!("{number} B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_short() {
        assert_eq!([0, 999, 1000, 12_345_678].map(bytes), ["0 B", "999 B", "1.0 kB", "12.3 MB"]);
        assert_eq!([999_949, 999_950, u64::MAX].map(bytes), ["999.9 kB", "1.0 MB", "18.4 EB"]);
    }
}
