//! Ids and the clock, as in the programs.

use leafline_import::Family;
use uuid::Uuid;

use crate::store::clock::now;

/// Attempts at a short id before a whole UUID is used.
const ATTEMPTS: u32 = 100;

/// A new entry id: the first 8 hex digits of a random UUID, tried again on a collision (observed behaviour, writing).
pub(super) fn fresh_entry_id<E>(
    mut is_taken: impl FnMut(&str) -> Result<bool, E>,
) -> Result<String, E> {
    for _ in 0..ATTEMPTS {
        let mut id = Uuid::new_v4().simple().to_string();
        id.truncate(8);
        if !is_taken(&id)? {
            return Ok(id);
        }
    }
    Ok(Uuid::new_v4().to_string())
}

/// A new Opal message id: 8 random bytes in hex (observed behaviour, Opal).
pub(super) fn fresh_message_id<E>(
    mut is_taken: impl FnMut(&str) -> Result<bool, E>,
) -> Result<String, E> {
    loop {
        // With 2^64 ids a second attempt is practically never needed.
        let id = random_hex(8);
        if !is_taken(&id)? {
            return Ok(id);
        }
    }
}

/// A new session id. pi's are UUIDs of version 7; omp's are 16 hex digits, here 42 bits of time and 22 random ones, so
/// that both sort by creation time. Opal's are 16 random bytes in hex.
pub(super) fn fresh_session_id(family: Family) -> String {
    match family {
        Family::Omp => {
            let random = Uuid::new_v4().as_u64_pair().1 & 0x3f_ffff;
            format!("{:016x}", now().cast_unsigned() << 22 | random)
        }
        Family::Opal => random_hex(16),
        _ => Uuid::now_v7().to_string(),
    }
}

/// Random bytes as hex digits.
fn random_hex(bytes: usize) -> String {
    let mut digits = String::with_capacity(2 * bytes);
    while digits.len() < 2 * bytes {
        // Only its first 48 bits are all random.
        digits.push_str(Uuid::new_v4().simple().to_string().get(..8).unwrap_or_default());
    }
    digits.truncate(2 * bytes);
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_id_is_not_given_again() {
        let mut refused = Vec::new();
        let id = fresh_entry_id(|id| {
            refused.push(id.to_owned());
            Ok::<_, ()>(refused.len() < 4)
        })
        .unwrap();
        assert_eq!((refused.len(), refused.last()), (4, Some(&id)));
        assert_eq!(id.len(), 8);
        let whole = fresh_entry_id(|_| Ok::<_, ()>(true)).unwrap();
        assert_eq!(whole.len(), 36);
    }

    #[test]
    fn messages_of_opal_have_ids_of_eight_bytes() {
        let mut refused = Vec::new();
        let id = fresh_message_id(|id| {
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
        assert_eq!(fresh_session_id(Family::Pi).len(), 36);
        let first = fresh_session_id(Family::Omp);
        std::thread::sleep(std::time::Duration::from_millis(2));
        let second = fresh_session_id(Family::Omp);
        assert_eq!(first.len(), 16);
        assert!(first < second);
        let opal = fresh_session_id(Family::Opal);
        assert!(opal.len() == 32 && opal != fresh_session_id(Family::Opal));
    }
}
