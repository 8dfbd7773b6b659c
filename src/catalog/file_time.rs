//! Files' modification times, and what can be concluded from them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A file that was modified within this time may yet be modified without another time to show for it, and a line of it
/// may be half written. The coarsest clock of a file system, FAT's, has steps of two seconds.
pub(super) const RECENT: Duration = Duration::from_secs(2);

/// Whether a time is a moment ago, or lies ahead.
pub(super) fn is_recent(time: SystemTime) -> bool {
    time.elapsed().map_or(true, |elapsed| elapsed < RECENT)
}

/// A time in nanoseconds since 1970.
pub(super) fn nanoseconds(time: SystemTime) -> i128 {
    let since = |duration: Duration| i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => since(after),
        Err(before) => -since(before.duration()),
    }
}
