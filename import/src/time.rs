//! Times: ISO text to milliseconds since 1970 and back, as JavaScript's `Date` has them.

use std::fmt::Write;

/// The greatest distance of a JavaScript date from 1970, in milliseconds.
const FURTHEST: i64 = 8_640_000_000_000_000;

const DAY: i64 = 86_400_000;
const HOUR: i64 = 3_600_000;
const MINUTE: i64 = 60_000;

/// Milliseconds since 1970 of an ISO date or date-time, as `new Date(text).getTime()` returns them.
///
/// A date without a time is UTC. So is a time without an offset: JavaScript would take the machine's zone, so that the
/// same file meant different times on different machines. Digits past the millisecond are dropped; a year may have six
/// digits and a sign; `24:00` is midnight at the end of the day. `None` for any other text.
///
/// ```
/// use leafline_import::time::parse_timestamp;
///
/// assert_eq!(parse_timestamp("2024-12-03T14:00:01.500Z"), Some(1_733_234_401_500));
/// assert_eq!(parse_timestamp("2024-12-03T15:00:01.5+01:00"), Some(1_733_234_401_500));
/// assert_eq!(parse_timestamp("yesterday"), None);
/// ```
#[must_use]
pub fn parse_timestamp(text: &str) -> Option<i64> {
    let mut cursor = Cursor(text.as_bytes());
    let days = cursor.date()?;
    let within_day = if cursor.0.is_empty() {
        0
    } else {
        cursor.one_of(b"Tt ")?;
        let time = cursor.time()?;
        time - cursor.offset()?
    };
    let milliseconds = days * DAY + within_day;
    (cursor.0.is_empty() && milliseconds.abs() <= FURTHEST).then_some(milliseconds)
}

/// What is left of the text.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn one_of(&mut self, accepted: &[u8]) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        if !accepted.contains(&first) {
            return None;
        }
        self.0 = rest;
        Some(first)
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let number = digits.iter().try_fold(0, |number, digit| {
            digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0'))
        })?;
        self.0 = rest;
        Some(number)
    }

    /// Days since 1970.
    fn date(&mut self) -> Option<i64> {
        let year = match self.one_of(b"+-") {
            None => self.digits(4)?,
            Some(b'+') => self.digits(6)?,
            // There is no year -0.
            Some(_) => -self.digits(6).filter(|&year| year != 0)?,
        };
        let (mut month, mut day) = (1, 1);
        if self.one_of(b"-").is_some() {
            month = self.digits(2)?;
            if self.one_of(b"-").is_some() {
                day = self.digits(2)?;
            }
        }
        // A day past the end of its month runs into the next one, as in JavaScript engines.
        ((1..=12).contains(&month) && (1..=31).contains(&day))
            .then(|| days_before(year, month) + day - 1)
    }

    /// Milliseconds since midnight.
    fn time(&mut self) -> Option<i64> {
        let hour = self.digits(2)?;
        self.one_of(b":")?;
        let minute = self.digits(2)?;
        let (mut second, mut millisecond) = (0, 0);
        if self.one_of(b":").is_some() {
            second = self.digits(2)?;
            if self.one_of(b".").is_some() {
                millisecond = self.fraction()?;
            }
        }
        let time = hour * HOUR + minute * MINUTE + second * 1000 + millisecond;
        (hour <= 24 && minute < 60 && second < 60 && time <= DAY).then_some(time)
    }

    fn fraction(&mut self) -> Option<i64> {
        let count = self.0.iter().take_while(|digit| digit.is_ascii_digit()).count();
        let milliseconds = match count {
            0 => return None,
            1 => self.digits(1)? * 100,
            2 => self.digits(2)? * 10,
            _ => self.digits(3)?,
        };
        self.0 = &self.0[count.saturating_sub(3)..];
        Some(milliseconds)
    }

    /// How far local time is ahead of UTC, in milliseconds.
    fn offset(&mut self) -> Option<i64> {
        if self.0.is_empty() || self.one_of(b"Zz").is_some() {
            return Some(0);
        }
        let sign = if self.one_of(b"+-")? == b'-' { -1 } else { 1 };
        let hour = self.digits(2)?;
        self.one_of(b":");
        let minute = self.digits(2)?;
        (hour < 24 && minute < 60).then_some(sign * (hour * HOUR + minute * MINUTE))
    }
}

/// Days from 1970-01-01 to the first of a month of the proleptic Gregorian calendar.
fn days_before(year: i64, month: i64) -> i64 {
    // Counted from March, the leap day is the last of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let months_since_march = (month + 9) % 12;
    let cycle = year.div_euclid(400);
    let year_of_cycle = year.rem_euclid(400);
    let day_of_year = (153 * months_since_march + 2) / 5;
    let day_of_cycle = year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year;
    cycle * 146_097 + day_of_cycle - 719_468
}

/// The text of a time as `toISOString` returns it: UTC, milliseconds, six digits and a sign for years outside 0 to
/// 9999.
///
/// ```
/// use leafline_import::time::format_timestamp;
///
/// assert_eq!(format_timestamp(1_733_234_401_500), "2024-12-03T14:00:01.500Z");
/// ```
#[must_use]
pub fn format_timestamp(milliseconds: i64) -> String {
    let days = milliseconds.div_euclid(DAY);
    let within_day = milliseconds.rem_euclid(DAY);
    let since_march_of_0 = days + 719_468;
    let cycle = since_march_of_0.div_euclid(146_097);
    let day_of_cycle = since_march_of_0.rem_euclid(146_097);
    let year_of_cycle =
        (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36_524 - day_of_cycle / 146_096) / 365;
    let day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let months_since_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * months_since_march + 2) / 5 + 1;
    let month = (months_since_march + 2) % 12 + 1;
    let year = year_of_cycle + cycle * 400 + i64::from(month <= 2);
    let mut text = String::with_capacity(27);
    let written = if (0..=9999).contains(&year) {
        write!(text, "{year:04}")
    } else {
        write!(text, "{year:+07}")
    };
    let written = written.and_then(|()| {
        write!(
            text,
            "-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
            within_day / HOUR,
            within_day % HOUR / MINUTE,
            within_day % MINUTE / 1000,
            within_day % 1000
        )
    });
    debug_assert!(written.is_ok(), "writing to a String cannot fail");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back() {
        for milliseconds in [
            0,
            -1,
            1,
            951_782_399_999,
            951_782_400_000,
            1_733_234_401_500,
            -62_167_219_200_000,
            -62_167_219_200_001,
            253_402_300_799_999,
            253_402_300_800_000,
            FURTHEST,
            -FURTHEST,
        ] {
            let text = format_timestamp(milliseconds);
            assert_eq!(parse_timestamp(&text), Some(milliseconds), "{text}");
        }
        assert_eq!(format_timestamp(FURTHEST), "+275760-09-13T00:00:00.000Z");
        assert_eq!(format_timestamp(-FURTHEST), "-271821-04-20T00:00:00.000Z");
    }

    #[test]
    fn every_day_of_eight_centuries_comes_back() {
        for day in -146_097..146_097 {
            let text = format_timestamp(day * DAY + 1);
            assert_eq!(parse_timestamp(&text), Some(day * DAY + 1), "{text}");
        }
    }

    #[test]
    fn forms_that_are_no_times() {
        for text in [
            "",
            "2024-",
            "2024-13-01",
            "2024-00-01",
            "2024-01-32",
            "2024-01-01T",
            "2024-01-01T10",
            "2024-01-01T25:00Z",
            "2024-01-01T24:00:01Z",
            "2024-01-01T10:60Z",
            "2024-01-01T10:00:00.Z",
            "2024-01-01T10:00:00Zx",
            "-000000-01-01",
            "+275760-09-13T00:00:00.001Z",
            "2024-01-01T10:00é",
            "2024-01-01T10:00+24:00",
        ] {
            assert_eq!(parse_timestamp(text), None, "{text}");
        }
    }

    #[test]
    fn forms_that_are() {
        let expected = parse_timestamp("2024-03-01T00:00:00.000Z");
        for text in [
            "2024-03",
            "2024-03-01",
            "2024-02-29T24:00Z",
            "2024-03-01T00:00",
            "2024-02-30",
            "+002024-03-01T00:00Z",
            "2024-03-01T05:30+05:30",
            "2024-02-29T23:00:00.0000-01:00",
            "2024-03-01T00:00:00.000999Z",
        ] {
            assert_eq!(parse_timestamp(text), expected, "{text}");
        }
    }
}
