//! The usage of a session: the sums over what its lines report.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use leafline_import::{
    Answer, EntryKind, LineReader, MessageRole, Usage, UsageCounter, UsageReport, text,
};
use serde::Serialize;

use super::chunk_lines::{Frames, visit_lines};
use super::index::usage::UsageIndexer;
use super::reader::SessionReader;
use super::view::View;
use crate::catalog::usage::add_costs;
use crate::error::Result;
use crate::store::node::Node;
use crate::store::ordinal::Ordinal;
use crate::store::usage_record::UsageRecord;
use crate::store::usage_rows::UsageTail;

/// Tokens and cost over all answers of the model in a session, including those of abandoned branches.
///
/// The members are those of a message's `usage` in omp's document of sessions, `cost` being `cost.total`. The usage of
/// subagents that have sessions of their own is in those, and not counted here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct UsageStatistics {
    /// Answers whose usage is known, each counted once.
    pub messages: u64,
    /// Tokens of input that were not in a cache.
    pub input: u64,
    /// Tokens of output.
    pub output: u64,
    /// Tokens of input read from a cache.
    pub cache_read: u64,
    /// Tokens of input written to a cache.
    pub cache_write: u64,
    /// Cost as the program states it, in US dollars; 0 where it states none. At most [`f64::MAX`].
    pub cost: f64,
}

impl UsageStatistics {
    fn add(&mut self, usage: &Usage) {
        self.messages += 1;
        for (sum, count) in [
            (&mut self.input, usage.input),
            (&mut self.output, usage.output),
            (&mut self.cache_read, usage.cache_read),
            (&mut self.cache_write, usage.cache_write),
        ] {
            *sum = sum.saturating_add(count);
        }
        self.cost = add_costs(self.cost, usage.cost.unwrap_or_default());
    }
}

/// Reports of answers, of which several may be of one: that with the most tokens counts.
struct Reports<T> {
    /// By the answer's identity, what is known of it beside its usage.
    best: BTreeMap<u64, (T, Usage)>,
}

impl<T> Reports<T> {
    fn new() -> Self {
        Self { best: BTreeMap::new() }
    }

    /// Takes a report, and gives it back if no other can be of its answer.
    fn take(&mut self, identity: Option<u64>, (known, usage): (T, Usage)) -> Option<(T, Usage)> {
        let Some(identity) = identity else { return Some((known, usage)) };
        match self.best.entry(identity) {
            Entry::Vacant(entry) => drop(entry.insert((known, usage))),
            Entry::Occupied(mut entry) if usage.says_more_than(&entry.get().1) => {
                entry.insert((known, usage));
            }
            Entry::Occupied(_) => {}
        }
        None
    }
}

/// Passes on what each line of a session reports, with its node.
fn visit_usage(view: View<'_>, mut take: impl FnMut(UsageReport, &Node)) -> Result<()> {
    let family = view.record().known_family();
    let mut reader = LineReader::new(view.reading());
    visit_lines(view, Some(Ordinal::FIRST), Frames::Forgotten, |lines, ordinal, node| {
        let kind = EntryKind::from_code(node.kind).unwrap_or(EntryKind::Unknown);
        let role = MessageRole::from_code(node.role).unwrap_or(MessageRole::None);
        if family.may_state_usage(kind, role) {
            // The stored text will do: only strings were cut out of it.
            let decoded = text::decode(lines.line(ordinal)?.text);
            for report in reader.read(text::trim_start_of_file(&decoded)).usage() {
                take(report, node);
            }
        }
        Ok(ordinal.next())
    })
}

/// The rows of usage that a session's lines require.
pub(crate) fn count_usage(view: View<'_>) -> Result<Vec<(u64, UsageRecord)>> {
    let mut rows = Vec::new();
    let mut indexer = UsageIndexer::behind(UsageTail::Nothing);
    visit_usage(view, |report, node| {
        indexer
            .take(report, (node.time, node.is_sidechain), |number, row| rows.push((number, row)));
    })?;
    indexer.finish(|number, row| rows.push((number, row)));
    Ok(rows)
}

impl SessionReader {
    /// The sums over what all answers of the model have used, on any branch: each is counted once, also where several records
    /// repeat it; of its reports the one with the most tokens counts. Values that are negative or not numbers add nothing.
    ///
    /// It reads every line that may report usage: some seconds for a session of a gigabyte.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi");
    /// # store.import(&[samples], &leafline::import::ImportOptions::default(), &mut ())?;
    /// let usage = store.reader("019c6605")?.usage_statistics()?;
    /// println!("{} answers, {} tokens, ${:.2}", usage.messages, usage.output, usage.cost);
    /// assert!(usage.messages > 0 && usage.output > 0);
    /// # Ok::<(), leafline::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) if the store is damaged.
    pub fn usage_statistics(&self) -> Result<UsageStatistics> {
        let mut statistics = UsageStatistics::default();
        let mut counter = UsageCounter::default();
        let mut reports = Reports::new();
        visit_usage(self.view(), |report, _| {
            let Some(Answer { identity, usage, .. }) = counter.take(report) else { return };
            if let Some(((), usage)) = reports.take(identity, ((), usage)) {
                statistics.add(&usage);
            }
        })?;
        reports.best.values().for_each(|((), usage)| statistics.add(usage));
        Ok(statistics)
    }
}

/// An answer of a session, as pages show it.
#[cfg(feature = "share")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionAnswer<'a> {
    /// What distinguishes it, as [`UsageReport::Answer`] has it.
    pub(crate) identity: Option<u64>,
    /// In seconds since 1970.
    pub(crate) time: Option<i64>,
    pub(crate) model: Option<&'a str>,
    pub(crate) usage: Usage,
}

#[cfg(feature = "share")]
impl SessionReader {
    /// Passes on each answer once: of reports of one answer that with the most tokens.
    pub(crate) fn each_answer(&self, mut take: impl FnMut(SessionAnswer<'_>)) -> Result<()> {
        let counted = self.view().rows().usage()?;
        let rows = counted.map_or_else(|| count_usage(self.view()), Ok)?;
        let mut reports = Reports::new();
        for (number, row) in &rows {
            for answer in row.answers_at(|| format!("session {}, row {number}", self.id())) {
                let answer = answer?;
                let identity = Some(answer.identity).filter(|&identity| identity != 0);
                let known = (answer.time, answer.model);
                if let Some(((time, model), usage)) = reports.take(identity, (known, answer.usage))
                {
                    take(SessionAnswer { identity, time, model, usage });
                }
            }
        }
        for (&identity, &((time, model), usage)) in &reports.best {
            take(SessionAnswer { identity: Some(identity), time, model, usage });
        }
        Ok(())
    }

    /// Passes on the time, in milliseconds since 1970, and the bytes of each line as it was imported. It reads no text.
    pub(crate) fn each_line_size(&self, mut take: impl FnMut(Option<i64>, u64)) -> Result<()> {
        visit_lines(self.view(), Some(Ordinal::FIRST), Frames::Forgotten, |lines, ordinal, node| {
            take(node.time, lines.rendered_len(ordinal)?);
            Ok(ordinal.next())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums() {
        let usage = Usage {
            input: 100,
            output: 20,
            cache_read: 3,
            cache_write: 4,
            cost: Some(0.25),
            ..Usage::default()
        };
        let mut statistics = UsageStatistics::default();
        statistics.add(&usage);
        statistics.add(&usage);
        let expected = UsageStatistics {
            messages: 2,
            input: 200,
            output: 40,
            cache_read: 6,
            cache_write: 8,
            cost: 0.5,
        };
        assert_eq!(statistics, expected);
        statistics.add(&Usage { input: u64::MAX, ..Usage::default() });
        assert_eq!((statistics.messages, statistics.input), (3, u64::MAX));
        (0..2).for_each(|_| statistics.add(&Usage { cost: Some(1e308), ..Usage::default() }));
        assert_eq!(statistics.cost, f64::MAX);
    }
}
