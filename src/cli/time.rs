//! Points in time, for people and for JSON.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Milliseconds since 1970 as local time, to the minute: `2026-02-16 10:20`.
pub(super) fn local(milliseconds: i64) -> Option<String> {
    let time = Timestamp::from_millisecond(milliseconds).ok()?;
    let zoned = time.to_zoned(TimeZone::system());
    Some(zoned.strftime("%Y-%m-%d %H:%M").to_string())
}

/// Milliseconds since 1970 as the session formats write them: `2026-02-16T10:20:30.112Z`.
pub(super) fn iso(milliseconds: i64) -> Option<String> {
    let time = Timestamp::from_millisecond(milliseconds).ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iso_has_milliseconds() {
        assert_eq!(iso(1_771_237_230_112).as_deref(), Some("2026-02-16T10:20:30.112Z"));
        assert_eq!(iso(-1).as_deref(), Some("1969-12-31T23:59:59.999Z"));
        assert_eq!(iso(i64::MAX), None);
        assert_eq!(local(i64::MIN), None);
    }
}
