//! The usage of a session: the sums over its assistant messages' `usage`.

use leafline_import::{EntryKind, LineReader, MessageRole, Usage, text};
use serde::Serialize;

use super::chunk_lines::{Frames, visit_lines};
use super::reader::SessionReader;
use crate::error::Result;
use crate::store::ordinal::Ordinal;

/// Tokens and cost over all assistant messages of a session, including those of abandoned branches.
///
/// The members are those of a message's `usage` in omp's document of sessions, `cost` being `cost.total`. The usage of
/// subagents is in their own sessions, and not counted here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct UsageStatistics {
    /// Assistant messages that have a `usage` object.
    pub messages: u64,
    /// Tokens of input that were not in a cache.
    pub input: u64,
    /// Tokens of output.
    pub output: u64,
    /// Tokens of input read from a cache.
    pub cache_read: u64,
    /// Tokens of input written to a cache.
    pub cache_write: u64,
    /// Cost as the messages state it: US dollars, in pi and omp.
    pub cost: f64,
}

impl UsageStatistics {
    fn add(&mut self, usage: Usage) {
        self.messages += 1;
        for (sum, count) in [
            (&mut self.input, usage.input),
            (&mut self.output, usage.output),
            (&mut self.cache_read, usage.cache_read),
            (&mut self.cache_write, usage.cache_write),
        ] {
            *sum = sum.saturating_add(count);
        }
        self.cost += usage.cost;
    }
}

impl SessionReader {
    /// The sums over the `usage` of all assistant messages, on any branch. Messages without one add nothing, nor do
    /// values that are negative or not numbers.
    ///
    /// It reads every line that may state a usage: some seconds for a session of a gigabyte.
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
        let family = self.family();
        let mut statistics = UsageStatistics::default();
        let mut reader = LineReader::new(self.reading());
        visit_lines(
            self.view(),
            Some(Ordinal::FIRST),
            Frames::Forgotten,
            |lines, ordinal, node| {
                let kind = EntryKind::from_code(node.kind).unwrap_or(EntryKind::Unknown);
                let role = MessageRole::from_code(node.role).unwrap_or(MessageRole::None);
                if family.may_state_usage(kind, role) {
                    // The stored text will do: only strings were cut out of it.
                    let decoded = text::decode(lines.line(ordinal)?.text);
                    if let Some(usage) = reader.read(text::trim_start_of_file(&decoded)).usage() {
                        statistics.add(usage);
                    }
                }
                Ok(ordinal.next())
            },
        )?;
        Ok(statistics)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums() {
        let usage = Usage { input: 100, output: 20, cache_read: 3, cache_write: 4, cost: 0.25 };
        let mut statistics = UsageStatistics::default();
        statistics.add(usage);
        statistics.add(usage);
        let expected = UsageStatistics {
            messages: 2,
            input: 200,
            output: 40,
            cache_read: 6,
            cache_write: 8,
            cost: 0.5,
        };
        assert_eq!(statistics, expected);
        statistics.add(Usage { input: u64::MAX, ..Usage::default() });
        assert_eq!((statistics.messages, statistics.input), (3, u64::MAX));
    }
}
