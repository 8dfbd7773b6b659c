//! The search index, as far as a call can wait for it.

use std::time::{Duration, Instant};

use leafline::Store;
use leafline::search::SearchIndex;

use super::refusal::Refusal;
use super::server::Stop;
use crate::index::{Readiness, complete, complete_apart};
use crate::number::{bytes, counted};

/// How long a call waits for the index. Clients give up on a call after a minute; 64 MB of new lines take a second or two.
const PATIENCE: Duration = Duration::from_secs(20);

/// An index to search, and a line that says what it lacks.
pub(super) struct Ready {
    pub(super) index: SearchIndex,
    /// Empty if it lacks nothing.
    pub(super) lacking: String,
}

/// Brings the index up to date, or waits for the process that is at it. After a while goes on with what there is: what was
/// done stays, and the next call goes on with the rest.
///
/// # Errors
///
/// If the index cannot be used, or is still empty.
pub(super) fn ready(store: &Store, stop: &Stop) -> Result<Ready, Refusal> {
    let index = SearchIndex::open_or_create(store)?;
    let begun = Instant::now();
    let goes_on = || !stop.is_set() && begun.elapsed() < PATIENCE;
    complete_apart(store, &index, &goes_on)?;
    let lacking = match complete(&index, &goes_on, false)? {
        Readiness::Complete => String::new(),
        Readiness::Damaged(damaged) => format!(
            "{} damaged, and not or not wholly in the search index\n",
            counted(damaged.len() as u64, "session is", "sessions are")
        ),
        Readiness::Behind(sessions, _) => format!(
            "{} not or not wholly in the search index yet; a later call finds more\n",
            counted(sessions, "session is", "sessions are")
        ),
        Readiness::Missing(lacking) => {
            return Err(Refusal::wrong(format!(
                "the search index is being made from {} of sessions; call again to wait for it",
                bytes(lacking)
            )));
        }
    };
    Ok(Ready { index, lacking })
}
