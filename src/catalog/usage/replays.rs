//! Finds the answers that a Codex session repeats of the session that it was forked from.
//!
//! A fork of the older kind begins with a copy of its base's lines. The copies count to the base. They are the answers with
//! the base's running totals, in its order; what the base answered after the fork was made is not among them.

use std::collections::{BTreeMap, HashMap};

use leafline_import::UsageCounter;

use super::answers::{Asked, Counted};
use crate::error::{Error, Result};
use crate::store::session_key::SessionKey;
use crate::store::snapshot::Snapshot;
use crate::store::usage_rows::UsageTail;

/// How many answers at the beginning of a session are repeated.
#[derive(Debug, Default)]
pub(super) struct Replays(BTreeMap<SessionKey, u64>);

/// A running total, as a number, and the time of its answer in seconds since 1970.
type Total = (u64, Option<i64>);

/// A fork, and when it was made in seconds since 1970.
struct Fork {
    made: Option<i64>,
    key: SessionKey,
    counter: UsageCounter,
}

impl Replays {
    /// Looks at these sessions.
    pub(super) fn find<'s>(
        snapshot: &Snapshot,
        counted: &Counted,
        sessions: impl Iterator<Item = (SessionKey, &'s Asked)>,
    ) -> Result<Self> {
        let mut headers: HashMap<u64, SessionKey> = HashMap::new();
        let mut forks = Vec::new();
        for (key, asked) in sessions {
            let Some(counter) = state(snapshot, counted, key)? else { continue };
            headers.entry(counter.header).or_insert(key);
            if counter.repeated > 0 {
                let made = asked.created.map(|time| time.div_euclid(1000));
                forks.push(Fork { made, key, counter });
            }
        }
        forks.sort_by_key(|fork| (fork.made, fork.key));
        let mut replays = Self::default();
        // What forks have repeated of a base that is not in the store: it counts to the first of them.
        let mut missing: HashMap<u64, Vec<u64>> = HashMap::new();
        for Fork { made, key, counter } in forks {
            let mut own = totals(snapshot, counted, key, counter.header)?;
            own.truncate(usize::try_from(counter.repeated).unwrap_or(usize::MAX));
            let (bases, gone): (Vec<_>, Vec<_>) =
                counter.bases.iter().partition(|base| headers.contains_key(base));
            let mut repeated = 0;
            for header in &bases {
                let Some(&base) = headers.get(header).filter(|&&base| base != key) else {
                    continue;
                };
                let mut totals = totals(snapshot, counted, base, *header)?;
                let is_later =
                    |time: Option<i64>| time.zip(made).is_some_and(|(at, made)| at > made);
                let end = totals.iter().position(|(_, time)| is_later(*time));
                totals.truncate(end.unwrap_or(totals.len()));
                repeated = repeated.max(common(&own, totals.iter().map(|(total, _)| *total)));
            }
            if bases.is_empty() {
                own.truncate(written_at_once(&own, made));
            }
            for base in &gone {
                let known = missing.entry(*base).or_default();
                let same = common(&own, known.iter().copied());
                repeated = repeated.max(same);
                if same == known.len() && bases.is_empty() {
                    known.extend(own.iter().skip(same).map(|(total, _)| *total));
                }
            }
            if repeated > 0 {
                replays.0.insert(key, repeated as u64);
            }
        }
        Ok(replays)
    }

    /// Whether the next answer of a session is a repetition.
    pub(super) fn takes_next(&mut self, key: SessionKey) -> bool {
        let left = self.0.get_mut(&key).filter(|left| **left > 0);
        left.map(|left| *left -= 1).is_some()
    }
}

/// How many totals two sessions have in common at their beginning.
fn common(own: &[Total], other: impl Iterator<Item = u64>) -> usize {
    own.iter().zip(other).take_while(|((total, _), other)| total == other).count()
}

/// How many answers at a fork's beginning are older than it, or follow each other within a second: a copy is written at once.
fn written_at_once(totals: &[Total], made: Option<i64>) -> usize {
    let mut before: Option<i64> = None;
    let ends = totals.iter().position(|&(_, time)| {
        let last = before.max(made);
        let is_later =
            before.is_some() && time.zip(last).is_some_and(|(time, last)| time > last + 1);
        before = time.or(before);
        is_later
    });
    ends.unwrap_or(totals.len())
}

/// How far a session's usage is counted; `None` if its rows cannot be read, which is reported when they are.
fn state(snapshot: &Snapshot, counted: &Counted, key: SessionKey) -> Result<Option<UsageCounter>> {
    if let Some(rows) = counted.get(&key) {
        return Ok(rows.last().map(|(_, row)| row.clone().take_state()));
    }
    match snapshot.rows(key).usage_tail() {
        Ok(UsageTail::Row(_, mut row)) => Ok(Some(row.take_state())),
        Ok(UsageTail::Nothing | UsageTail::NotCounted) | Err(Error::Corrupted(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The totals of a session's answers, in their order, as far as they can be read.
fn totals(
    snapshot: &Snapshot,
    counted: &Counted,
    key: SessionKey,
    header: u64,
) -> Result<Vec<Total>> {
    let stored;
    let rows = match counted.get(&key) {
        Some(rows) => rows,
        None => {
            stored = match snapshot.rows(key).usage() {
                Err(Error::Corrupted(_)) => None,
                rows => rows?,
            };
            stored.as_deref().unwrap_or_default()
        }
    };
    let answers = rows.iter().flat_map(|(_, row)| row.answers()).map_while(|answer| answer);
    Ok(answers.map(|answer| (answer.identity.wrapping_sub(header), answer.time)).collect())
}
