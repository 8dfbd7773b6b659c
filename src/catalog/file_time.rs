//! Files' modification times, and what can be inferred from them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A file that was modified within this time may be modified again without its time changing, and its last line may be
/// half written. The coarsest clock of a file system, FAT's, has steps of two seconds.
pub(super) const RECENT: Duration = Duration::from_secs(2);

/// Whether a time is about now. A file from a machine with another clock may be dated far ahead.
pub(super) fn is_recent(time: SystemTime) -> bool {
    time.elapsed().unwrap_or_else(|ahead| ahead.duration()) < RECENT
}

/// A time in nanoseconds since 1970.
pub(crate) fn nanoseconds(time: SystemTime) -> i128 {
    let since = |duration: Duration| i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => since(after),
        Err(before) => -since(before.duration()),
    }
}
