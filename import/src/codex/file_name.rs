//! The file names of rollouts.

/// The parts of a rollout's file name: `rollout-<time>-<id>.jsonl`, with a second id after `_` if the session was
/// reverted to an earlier turn (observed).
///
/// Codex keeps them in `sessions/<year>/<month>/<day>/`, archived ones in `archived_sessions/`.
///
/// ```
/// use leafline_import::codex::RolloutName;
///
/// let name = RolloutName::parse("rollout-2026-11-20T10-00-00-0199f2b4-5c1e-7a30-9c55-3b1f0e8d2a61.jsonl").expect("it is one");
/// assert_eq!(name.time, "2026-11-20T10-00-00");
/// assert_eq!(name.session_id, name.rollout_id);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RolloutName<'a> {
    /// When the file was begun, in the machine's time zone, with `-` for `:`.
    pub time: &'a str,
    /// The session's id.
    pub session_id: &'a str,
    /// The id by which another rollout's [`HistoryBase`](crate::codex::HistoryBase) names this one: the second id of
    /// the name, otherwise the session's.
    pub rollout_id: &'a str,
}

/// How long the time is.
const TIME: usize = "2026-11-20T10-00-00".len();
/// How long a day is, with the `-` after it.
const DAY: usize = "2026-11-20-".len();
/// How long an id is.
const ID: usize = "0199f2b4-5c1e-7a30-9c55-3b1f0e8d2a61".len();

impl<'a> RolloutName<'a> {
    /// Parses a file name; `None` if it is not a rollout's.
    #[must_use]
    pub fn parse(file_name: &'a str) -> Option<Self> {
        let rest = file_name.strip_prefix("rollout-")?.strip_suffix(".jsonl")?;
        let (time, rest) = rest.split_at_checked(TIME)?;
        let (session_id, rest) = rest.strip_prefix('-')?.split_at_checked(ID)?;
        let rollout_id = if rest.is_empty() { session_id } else { rest.strip_prefix('_')? };
        let is_name = is_time(time) && is_id(session_id) && is_id(rollout_id);
        is_name.then_some(Self { time, session_id, rollout_id })
    }
}

/// Whether a file has the name of a session of the versions 0.1: `rollout-<day>-<id>.json` (observed).
pub(super) fn is_early(file_name: &str) -> bool {
    let rest = file_name.strip_prefix("rollout-").and_then(|rest| rest.strip_suffix(".json"));
    let day = rest.and_then(|rest| rest.get(..DAY));
    day.is_some_and(|day| {
        day.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 | 10 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
    })
}

fn is_time(text: &str) -> bool {
    text.len() == TIME
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 | 13 | 16 => byte == b'-',
            10 => byte == b'T',
            _ => byte.is_ascii_digit(),
        })
}

fn is_id(text: &str) -> bool {
    text.len() == ID
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reverted_session_has_two_ids() {
        let first = "0199f2b4-5c1e-7a30-9c55-3b1f0e8d2a61";
        let second = "0199f2b5-0000-7a30-9c55-3b1f0e8d2a61";
        let name = format!("rollout-2026-11-20T10-00-00-{first}_{second}.jsonl");
        let name = RolloutName::parse(&name).unwrap();
        assert_eq!((name.session_id, name.rollout_id), (first, second));
    }

    #[test]
    fn other_names() {
        for name in [
            "",
            "rollout-.jsonl",
            "rollout-2026-11-20T10-00-00-0199f2b4.jsonl",
            "rollout-2026-11-20T10:00:00-0199f2b4-5c1e-7a30-9c55-3b1f0e8d2a61.jsonl",
            "rollout-2026-11-20T10-00-00-0199f2b4-5c1e-7a30-9c55-3b1f0e8d2a6é.jsonl",
            "rollout-2026-11-20T10-00-00-0199f2b4-5c1e-7a30-9c55-3b1f0e8d2a61_.jsonl",
            "agent-7d31c0be.jsonl",
        ] {
            assert_eq!(RolloutName::parse(name), None, "{name}");
        }
    }
}
