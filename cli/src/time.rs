//! Points in time, for people and for JSON.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::OnceLock;
use std::time::SystemTime;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::failure::complain;
use super::text;

/// The characters of a time zone's name that are shown.
const LONGEST_ZONE: usize = 60;

/// Bytes of a time zone's file, at most: those of the system have 4 KB.
const LONGEST_ZONE_FILE: u64 = 1 << 20;

/// The system's time zone. If `TZ` names none that is known here it is UTC, which standard error is told once.
pub(super) fn zone() -> TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    let find = || {
        let named = std::env::var_os("TZ").filter(|named| !named.is_empty());
        let is_readable = named.as_deref().is_none_or(|named| !names_another_thing(named));
        if is_readable && let Ok(zone) = TimeZone::try_system() {
            return zone;
        }
        if let Some(named) = named {
            complain(&format!(
                "days and times are those of UTC, since the time zone in TZ, {}, is not known here",
                text::one_line(&named.to_string_lossy(), LONGEST_ZONE)
            ));
        }
        TimeZone::UTC
    };
    ZONE.get_or_init(find).clone()
}

/// Returns true for the path of a device or the like, which would be read without an end, and of a file too long for a zone.
fn names_another_thing(named: &OsStr) -> bool {
    let bytes = named.as_encoded_bytes();
    let is_marked = bytes.first() == Some(&b':');
    let text = named.to_string_lossy();
    let path = Path::new(text.strip_prefix(':').filter(|_| is_marked).unwrap_or(&text));
    path.metadata()
        .is_ok_and(|found| !found.is_dir() && (!found.is_file() || found.len() > LONGEST_ZONE_FILE))
}

/// Milliseconds since 1970 as local time, to the minute: `2026-02-16 10:20`.
pub(super) fn local(milliseconds: i64) -> Option<String> {
    let time = Timestamp::from_millisecond(milliseconds).ok()?;
    let zoned = time.to_zoned(zone());
    Some(zoned.strftime("%Y-%m-%d %H:%M").to_string())
}

/// Milliseconds since 1970 as the session formats write them: `2026-02-16T10:20:30.112Z`.
pub(super) fn iso(milliseconds: i64) -> Option<String> {
    let time = Timestamp::from_millisecond(milliseconds).ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string())
}

/// A point in time from an option, in milliseconds since 1970: a date, or a date and time, local or with an offset; or
/// how long ago, as `30m` (minutes), `12h`, `7d` or `2w`.
pub(super) fn moment(text: &str) -> Result<i64, String> {
    let wrong = || {
        let months =
            if may_mean_months(text) { "; m is minutes, and months have no letter" } else { "" };
        format!(
            "{text:?} is not a time: give a date as 2026-02-16, a time as 2026-02-16T10:20, or 30m (minutes), 12h, 7d, 2w for how long ago{months}"
        )
    };
    if let Some((at, unit)) = text.char_indices().next_back()
        && let Ok(count) = text.get(..at).unwrap_or_default().parse::<u32>()
    {
        let minutes = match unit {
            'm' => 1,
            'h' => 60,
            'd' => 60 * 24,
            'w' => 60 * 24 * 7,
            _ => return Err(wrong()),
        };
        let ago = SignedDuration::from_mins(i64::from(count) * minutes);
        // A clock may be set to a year that is not known.
        let now = Timestamp::try_from(SystemTime::now());
        let now = now.map_err(|error| format!("the system's clock is not usable: {error}"))?;
        return Ok(now.saturating_sub(ago).map_err(|_| wrong())?.as_millisecond());
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time.as_millisecond());
    }
    // A date alone means the beginning of that day.
    let time: DateTime = text.parse().map_err(|_| wrong())?;
    let zoned = time.to_zoned(zone()).map_err(|_| wrong())?;
    Ok(zoned.timestamp().as_millisecond())
}

/// Whether it is a number of what may be months: `3M`, `3mo`, `2 months`.
fn may_mean_months(text: &str) -> bool {
    let unit = text.trim_start_matches(|character: char| character.is_ascii_digit());
    unit != text && unit.trim_start().to_lowercase().starts_with('m')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        assert_eq!(moment("2026-02-16T10:20:30.112Z"), Ok(1_771_237_230_112));
        let day = moment("2026-02-16").unwrap();
        assert_eq!(local(day).as_deref(), Some("2026-02-16 00:00"));
        assert_eq!(local(moment("2026-02-16T10:20").unwrap()).as_deref(), Some("2026-02-16 10:20"));
        let ago = Timestamp::now().as_millisecond() - moment("2d").unwrap();
        assert!((172_800_000..172_860_000).contains(&ago), "{ago}");
        for wrong in ["", "d", "7y", "yesterday", "4294967296d", "2026-13-01"] {
            let error = moment(wrong).unwrap_err();
            assert!(error.contains("30m (minutes)") && !error.contains("months"), "{error}");
        }
        for wrong in ["3M", "3mo", "2 months", "3min"] {
            assert!(moment(wrong).unwrap_err().contains("months have no letter"), "{wrong}");
        }
    }

    #[test]
    fn iso_has_milliseconds() {
        assert_eq!(iso(1_771_237_230_112).as_deref(), Some("2026-02-16T10:20:30.112Z"));
        assert_eq!(iso(-1).as_deref(), Some("1969-12-31T23:59:59.999Z"));
        assert_eq!(iso(i64::MAX), None);
        assert_eq!(local(i64::MIN), None);
    }
}
