//! Ids of new sessions and entries, as the programs make them.

use std::time::Duration;

use uuid::{NoContext, Timestamp, Uuid};

/// Attempts at a short id before a whole UUID is used.
const ATTEMPTS: u32 = 100;

/// The first 8 hex digits of a random UUID, tried again on a collision (observed behaviour, writing).
pub(crate) fn short<E>(mut is_taken: impl FnMut(&str) -> Result<bool, E>) -> Result<String, E> {
    for _ in 0..ATTEMPTS {
        let mut id = Uuid::new_v4().simple().to_string();
        id.truncate(8);
        if !is_taken(&id)? {
            return Ok(id);
        }
    }
    Ok(random_uuid())
}

/// Random bytes in hex, tried again on a collision.
pub(crate) fn hex<E>(
    bytes: usize,
    is_taken: impl FnMut(&str) -> Result<bool, E>,
) -> Result<String, E> {
    untaken(|| random_hex(bytes), is_taken)
}

/// A random UUID, tried again on a collision.
pub(crate) fn uuid<E>(is_taken: impl FnMut(&str) -> Result<bool, E>) -> Result<String, E> {
    untaken(random_uuid, is_taken)
}

/// A random UUID (version 4).
pub(crate) fn random_uuid() -> String {
    Uuid::new_v4().to_string()
}

fn untaken<E>(
    make: impl Fn() -> String,
    mut is_taken: impl FnMut(&str) -> Result<bool, E>,
) -> Result<String, E> {
    loop {
        let id = make();
        if !is_taken(&id)? {
            return Ok(id);
        }
    }
}

/// A UUID of version 7 with a time in milliseconds since 1970, so that ids sort by time. A time before 1970 counts as 1970.
pub(crate) fn by_time(time_ms: i64) -> String {
    let time = Duration::from_millis(u64::try_from(time_ms).unwrap_or_default());
    let time = Timestamp::from_unix(NoContext, time.as_secs(), time.subsec_nanos());
    Uuid::new_v7(time).to_string()
}

/// 16 hex digits: 42 bits of a time in milliseconds and 22 random ones, so that ids sort by time.
pub(crate) fn of_time(time_ms: i64) -> String {
    let random = Uuid::new_v4().as_u64_pair().1 & 0x3f_ffff;
    format!("{:016x}", time_ms.cast_unsigned() << 22 | random)
}

/// Random bytes as hex digits.
pub(crate) fn random_hex(bytes: usize) -> String {
    let mut digits = String::with_capacity(2 * bytes);
    while digits.len() < 2 * bytes {
        // Only the first 48 bits of a UUID are all random.
        digits.extend(Uuid::new_v4().simple().to_string().chars().take(8));
    }
    digits.truncate(2 * bytes);
    digits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;

    #[test]
    fn a_taken_id_is_not_given_again() {
        let mut refused = Vec::new();
        let id = short(|id| {
            refused.push(id.to_owned());
            Ok::<_, ()>(refused.len() < 4)
        })
        .unwrap();
        assert_eq!((refused.len(), refused.last()), (4, Some(&id)));
        assert_eq!(id.len(), 8);
        let whole = short(|_| Ok::<_, ()>(true)).unwrap();
        assert_eq!(whole.len(), 36);
    }

    #[test]
    fn messages_of_opal_have_ids_of_eight_bytes() {
        let mut refused = Vec::new();
        let id = Family::Opal
            .fresh_entry_id(|id| {
                refused.push(id.to_owned());
                Ok::<_, ()>(refused.len() < 3)
            })
            .unwrap();
        assert_eq!((refused.len(), refused.last()), (3, Some(&id)));
        assert!(id.len() == 16 && id.bytes().all(|digit| digit.is_ascii_hexdigit()));
        assert!(refused[0] != refused[1] && refused[1] != refused[2]);
    }

    #[test]
    fn session_ids_are_the_families_and_sort_by_time() {
        let [first, second, before] = [1, 2, -1].map(|time| Family::Pi.fresh_session_id(time));
        assert!(first.starts_with("00000000-0001-7") && first < second, "{first} {second}");
        assert!(before.starts_with("00000000-0000-7") && before.len() == 36, "{before}");
        let first = Family::Omp.fresh_session_id(1_733_234_400_000);
        let second = Family::Omp.fresh_session_id(1_733_234_400_001);
        assert_eq!(first.len(), 16);
        assert!(first < second);
        let opal = Family::Opal.fresh_session_id(0);
        assert!(opal.len() == 32 && opal != Family::Opal.fresh_session_id(0));
    }
}
