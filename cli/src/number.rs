//! Numbers for people.

/// Units of bytes, each a thousand times the previous one.
const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];

/// A count with separated thousands: `1,532`.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A count of things: `1 entry`, `1,532 entries`.
pub(super) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Non-zero counts with their words: `2 written, 10 unchanged`; `None` if all are zero.
pub(super) fn counts(counts: &[(u64, &str)]) -> Option<String> {
    let some = counts.iter().filter(|(number, _)| *number > 0);
    let said: Vec<String> =
        some.map(|(number, word)| format!("{} {word}", count(*number))).collect();
    (!said.is_empty()).then(|| said.join(", "))
}

/// Bytes in powers of 1,000: `999 B`, `12.3 MB`.
pub(super) fn bytes(number: u64) -> String {
    if number < 1000 {
        return format!("{number} B");
    }
    let mut unit_bytes = 1u128;
    for unit in UNITS {
        // In tenths of the unit, rounded; what rounds up to a thousand becomes one of the next unit.
        let tenths = (u128::from(number) * 10 + unit_bytes / 2) / unit_bytes;
        if tenths < 10_000 {
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
        unit_bytes *= 1000;
    }
    format!("{number} B")
}

/// The share of the whole, as `0.35`; `None` if the whole is zero.
pub(super) fn ratio(part: u64, whole: u64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a ratio is shown with few digits")]
    let ratio = part as f64 / whole as f64;
    (whole > 0).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1000), "1,000");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "entry", "entries"), "1 entry");
        assert_eq!(counted(2000, "entry", "entries"), "2,000 entries");
        let said = counts(&[(2, "written"), (0, "kept"), (1000, "unchanged")]);
        assert_eq!(said.as_deref(), Some("2 written, 1,000 unchanged"));
        assert_eq!(counts(&[(0, "written")]), None);
    }

    #[test]
    fn bytes_are_rounded() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1000), "1.0 kB");
        assert_eq!(bytes(12_345_678), "12.3 MB");
        assert_eq!(bytes(999_949), "999.9 kB");
        assert_eq!(bytes(999_950), "1.0 MB");
        assert_eq!(bytes(u64::MAX), "18.4 EB");
    }

    #[test]
    fn ratios_of_nothing_are_none() {
        assert_eq!(ratio(1, 0), None);
        assert_eq!(ratio(1, 4), Some(0.25));
    }
}
