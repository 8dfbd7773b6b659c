//! Days, and the weeks and months that they are in.

/// Days of 400 years, after which the calendar repeats itself.
const ERA: i64 = 146_097;

/// From 0000-03-01 to 1970-01-01.
const TO_1970: i64 = 719_468;

/// Year, month and day of a number of days since 1970, in the Gregorian calendar.
pub(super) fn civil(day: i64) -> (i64, i64, i64) {
    // Years that begin in March have their leap day at the end.
    let day = day.saturating_add(TO_1970);
    let (era, of_era) = (day.div_euclid(ERA), day.rem_euclid(ERA));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / (ERA - 1)) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + 400 * era + i64::from(month <= 2), month, day)
}

/// The Monday at or before a day.
pub(super) fn monday(day: i64) -> i64 {
    // 1970-01-01 was a Thursday.
    day - (day + 3).rem_euclid(7)
}

/// A day as text: `2026-02-16`.
pub(crate) fn date(day: i64) -> String {
    let (year, month, day) = civil(day);
    format!("{year:04}-{month:02}-{day:02}")
}

/// A day's month as text: `2026-02`.
pub(super) fn month(day: i64) -> String {
    let (year, month, _) = civil(day);
    format!("{year:04}-{month:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        for (day, text) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (20_500, "2026-02-16"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(date(day), text);
        }
        let mut last = civil(-200_000);
        for day in -199_999..200_000 {
            let (year, month, of_month) = civil(day);
            let follows = (year, month, of_month) == (last.0, last.1, last.2 + 1)
                || (year, month, of_month) == (last.0, last.1 + 1, 1)
                || (year, month, of_month) == (last.0 + 1, 1, 1);
            assert!(follows, "{day}");
            last = (year, month, of_month);
        }
    }

    #[test]
    fn weeks_begin_on_monday() {
        assert_eq!(date(monday(20_500)), "2026-02-16");
        assert_eq!(date(monday(20_506)), "2026-02-16");
        assert_eq!(date(monday(20_507)), "2026-02-23");
        assert_eq!(monday(-3), -3);
        assert_eq!(monday(-4), -10);
    }
}
