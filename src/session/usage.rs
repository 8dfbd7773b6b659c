//! The usage of a session: the sums over what its lines report.

use std::collections::BTreeMap;

use leafline_import::{
    Answer, EntryKind, LineReader, MessageRole, Usage, UsageCounter, UsageReport, text,
};
use serde::Serialize;

use super::chunk_lines::{Frames, visit_lines};
use super::index::usage::UsageIndexer;
use super::reader::SessionReader;
use super::view::View;
#[cfg(feature = "share")]
use crate::error::Corruption;
use crate::error::Result;
use crate::store::node::Node;
use crate::store::ordinal::Ordinal;
#[cfg(feature = "share")]
use crate::store::record::Record;
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
    /// Cost as the program states it, in US dollars; 0 where it states none.
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
        self.cost += usage.cost.unwrap_or_default();
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
            if let Some(report) = reader.read(text::trim_start_of_file(&decoded)).usage() {
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
        let mut known: BTreeMap<u64, Usage> = BTreeMap::new();
        visit_usage(self.view(), |report, _| match counter.take(report) {
            Some(Answer { identity: Some(identity), usage, .. }) => {
                let counted = known.entry(identity).or_insert(usage);
                if usage.tokens() > counted.tokens() {
                    *counted = usage;
                }
            }
            Some(Answer { usage, .. }) => statistics.add(&usage),
            None => {}
        })?;
        known.values().for_each(|usage| statistics.add(usage));
        Ok(statistics)
    }
}

#[cfg(feature = "share")]
impl SessionReader {
    /// Passes on each answer once, with its time in seconds since 1970: of reports of one answer that with the most tokens.
    pub(crate) fn each_answer(&self, mut take: impl FnMut(Option<i64>, &Usage)) -> Result<()> {
        let counted = self.view().rows().usage()?;
        let rows = counted.map_or_else(|| count_usage(self.view()), Ok)?;
        let mut known: BTreeMap<u64, (Option<i64>, Usage)> = BTreeMap::new();
        for (number, row) in &rows {
            for answer in row.answers() {
                let answer = answer.ok_or_else(|| Corruption {
                    table: UsageRecord::TABLE,
                    place: format!("session {}, row {number}", self.facts().id),
                    problem: "it contradicts itself".into(),
                })?;
                if answer.identity == 0 {
                    take(answer.time, &answer.usage);
                    continue;
                }
                let counted = known.entry(answer.identity).or_insert((answer.time, answer.usage));
                if answer.usage.tokens() > counted.1.tokens() {
                    *counted = (answer.time, answer.usage);
                }
            }
        }
        known.values().for_each(|(time, usage)| take(*time, usage));
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
    }
}
