//! Cutting a string to a number of UTF-16 units.

/// The notice that omp puts at the end of a string that it cuts (omp session storage document, persistence; observed
/// behaviour).
pub const TRUNCATION_NOTICE: &str = "\n\n[Session persistence truncated large content]";

/// A string, given as WTF-8, cut to `limit` UTF-16 units including the notice; `None` if it is not longer.
///
/// The notice never follows half a surrogate pair. A limit without room for the notice cuts without it.
pub(super) fn truncated(value: &[u8], limit: usize) -> Option<Vec<u8>> {
    // A unit takes at least one byte.
    if value.len() <= limit || beginning(value, limit).len() == value.len() {
        return None;
    }
    let (room, notice) = match limit.checked_sub(TRUNCATION_NOTICE.len()) {
        Some(room) => (room, TRUNCATION_NOTICE),
        None => (limit, ""),
    };
    let mut kept = beginning(value, room);
    if let [before @ .., 0xed, 0xa0..=0xaf, _] = kept {
        kept = before;
    }
    Some([kept, notice.as_bytes()].concat())
}

/// The longest beginning of at most `units` units that does not split a character.
fn beginning(value: &[u8], units: usize) -> &[u8] {
    let mut left = units;
    let mut at = 0;
    while let Some(&byte) = value.get(at) {
        let (bytes, units) = match byte {
            0xf0.. => (4, 2),
            0xe0.. => (3, 1),
            0xc0.. => (2, 1),
            _ => (1, 1),
        };
        if units > left {
            return &value[..at];
        }
        left -= units;
        at += bytes;
    }
    value
}

/// The number of lines in a string: one more than it has `
/// `.
pub(super) fn lines_of(value: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', value).count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(value: &str, limit: usize) -> Option<String> {
        Some(String::from_utf8(truncated(value.as_bytes(), limit)?).unwrap())
    }

    #[test]
    fn units_are_counted_as_javascript_counts() {
        for (character, units) in [("a", 1), ("é", 1), ("語", 1), ("🍃", 2)] {
            let value = character.repeat(100);
            assert_eq!(cut(&value, 100 * units), None);
            let kept = character.repeat((100 * units - 1 - 47) / units);
            assert_eq!(cut(&value, 100 * units - 1), Some(format!("{kept}{TRUNCATION_NOTICE}")));
        }
        assert_eq!(TRUNCATION_NOTICE.len(), 47);
    }

    #[test]
    fn a_limit_without_room_for_the_notice_cuts_without_it() {
        let value = "x".repeat(60);
        assert_eq!(cut(&value, 46).as_deref(), Some(&value[..46]));
        assert_eq!(cut(&value, 47).as_deref(), Some(TRUNCATION_NOTICE));
        assert_eq!(cut("🍃", 1).as_deref(), Some(""));
        assert_eq!(cut("a", 0).as_deref(), Some(""));
        assert_eq!(cut("", 0), None);
    }

    #[test]
    fn a_lone_half_is_one_unit_and_never_the_last() {
        let half = b"\xed\xa0\xbc";
        assert_eq!(truncated(half, 1), None);
        assert_eq!(truncated(&half.repeat(3), 2).unwrap(), half);
        assert_eq!(truncated(b"\xed\xbd\x83ab", 1).unwrap(), b"\xed\xbd\x83");
    }
}
