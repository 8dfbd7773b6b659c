//! Reads the answers of a store's sessions, each once.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use leafline_import::Usage;

use super::replays::Replays;
use crate::error::{Corruption, Error, Result};
use crate::store::record::Record;
use crate::store::session_key::SessionKey;
use crate::store::usage_record::{CountedAnswer, UsageRecord, identities};
use crate::store::usage_rows::UsageRows;

/// An answer, and which of the models and sessions that are asked about it is of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) session: usize,
    /// In the list of models; `None` if none is known.
    pub(super) model: Option<usize>,
    /// In seconds since 1970.
    pub(super) time: Option<i64>,
    /// Whether it belongs to an agent's conversation.
    pub(super) is_of_agent: bool,
    /// When the session ended.
    ended: Option<i64>,
    pub(super) usage: Usage,
}

/// A session that is asked about.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) is_agent: bool,
    /// In milliseconds since 1970.
    pub(super) created: Option<i64>,
    /// When somebody last said something in it; a copy that goes on ends later than what it is a copy of.
    pub(super) ended: Option<i64>,
}

/// Rows of usage that the store does not have.
pub(super) type Counted = BTreeMap<SessionKey, Vec<(u64, UsageRecord)>>;

/// The models that answers name, each once.
#[derive(Debug, Default)]
pub(super) struct Models {
    pub(super) names: Vec<String>,
    places: HashMap<String, usize>,
}

impl Models {
    fn place_of(&mut self, name: &str) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        self.names.push(name.to_owned());
        self.places.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }
}

/// Passes on each answer once, of those that the sessions report. Returns the sessions of which rows could not be read.
///
/// Of an answer that is repeated the report with the most tokens counts; of equal ones that of no agent, then the earliest,
/// then that of the session that ended first.
pub(super) fn read_answers(
    rows: &UsageRows,
    sessions: &BTreeMap<SessionKey, (usize, Asked)>,
    (counted, identities): (&Counted, &Identities),
    mut replays: Replays,
    models: &mut Models,
    mut take: impl FnMut(&Found, &[String]),
) -> Result<BTreeMap<SessionKey, Corruption>> {
    let mut damaged = BTreeMap::new();
    let repeated = identities.repeated();
    let mut best: BTreeMap<u64, Found> = BTreeMap::new();
    // The models of a session's last row, by their names' places in memory: rows name few.
    let mut last: Option<(String, usize)> = None;
    let mut read = |session: usize, asked: &Asked, answer: CountedAnswer<'_>| {
        let model = answer.model.map(|name| match &last {
            Some((known, place)) if known == name => *place,
            _ => last.insert((name.to_owned(), models.place_of(name))).1,
        });
        let CountedAnswer { identity, time, is_sidechain, usage, .. } = answer;
        let is_of_agent = is_sidechain || asked.is_agent;
        let found = Found { session, model, time, is_of_agent, ended: asked.ended, usage };
        if identity == 0 || !repeated.contains(&identity) {
            take(&found, &models.names);
            return;
        }
        best.entry(identity)
            .and_modify(|known| {
                if found.is_better_than(known) {
                    *known = found;
                }
            })
            .or_insert(found);
    };
    let mut read_record = |key: SessionKey, number: u64, record: &UsageRecord| -> Result<()> {
        let Some((session, asked)) = sessions.get(&key) else { return Ok(()) };
        for answer in record.answers_at(|| format!("session key {key}, row {number}")) {
            let answer = answer?;
            if !replays.takes_next(key) {
                read(*session, asked, answer);
            }
        }
        Ok(())
    };
    let mut note = |key, read: Result<()>| match read {
        Err(Error::Corrupted(corruption)) => {
            damaged.entry(key).or_insert(corruption);
            Ok(())
        }
        other => other,
    };
    let mut is_asked = Memory::default();
    let read_row = |key: SessionKey, number: u64, bytes: Option<&[u8]>| {
        let Some(bytes) = bytes else { return Ok(()) };
        let asks = || {
            sessions.contains_key(&key)
                && !counted.contains_key(&key)
                && !identities.not_counted.contains(&key)
        };
        if !is_asked.of(key, asks) {
            return Ok(());
        }
        let place = || format!("session key {key}, row {number}");
        let record = UsageRecord::from_bytes(bytes, place);
        note(key, record.and_then(|record| read_record(key, number, &record)))
    };
    rows.each(read_row)?;
    for (key, rows) in counted {
        for (number, record) in rows {
            note(*key, read_record(*key, *number, record))?;
        }
    }
    best.values().for_each(|found| take(found, &models.names));
    Ok(damaged)
}

impl Found {
    fn is_better_than(&self, other: &Self) -> bool {
        let rank = |found: &Self| {
            let time = found.time.unwrap_or(i64::MAX);
            (
                Reverse((found.usage.tokens(), found.usage.web_searches)),
                found.is_of_agent,
                time,
                found.ended,
                found.session,
            )
        };
        rank(self) < rank(other)
    }
}

/// The answers of all sessions, before they are read.
#[derive(Debug, Default)]
pub(super) struct Identities {
    sorted: Vec<u64>,
    /// The sessions whose usage is not counted.
    pub(super) not_counted: BTreeSet<SessionKey>,
}

impl Identities {
    /// Reads those of all sessions, asked about or not: an answer that only others repeat is looked at for nothing.
    pub(super) fn of(rows: &UsageRows) -> Result<Self> {
        let (mut sorted, mut not_counted) = (Vec::new(), BTreeSet::new());
        rows.each(|key, number, bytes| {
            let Some(bytes) = bytes else {
                not_counted.insert(key);
                return Ok(());
            };
            // A damaged row is reported when it is read.
            if let Ok(identities) = identities(bytes, || format!("session key {key}, row {number}"))
            {
                sorted.extend(identities);
            }
            Ok(())
        })?;
        sorted.sort_unstable();
        Ok(Self { sorted, not_counted })
    }

    /// Adds those of sessions whose rows the store does not have.
    pub(super) fn add(&mut self, counted: &Counted) {
        for (key, rows) in counted {
            self.not_counted.remove(key);
            let answers = rows.iter().flat_map(|(_, record)| record.answers().flatten());
            self.sorted.extend(answers.map(|answer| answer.identity));
        }
        self.sorted.sort_unstable();
    }

    /// Those that several reports have.
    fn repeated(&self) -> HashSet<u64> {
        let pairs = self.sorted.windows(2);
        let same = pairs.filter_map(|pair| match pair {
            &[one, other] if one == other && one != 0 => Some(one),
            _ => None,
        });
        same.collect()
    }
}

/// The answer to a question about the session that came last: rows of one session are adjacent.
#[derive(Debug, Default)]
struct Memory(Option<(SessionKey, bool)>);

impl Memory {
    fn of(&mut self, key: SessionKey, answer: impl FnOnce() -> bool) -> bool {
        match self.0 {
            Some((last, known)) if last == key => known,
            _ => self.0.insert((key, answer())).1,
        }
    }
}
