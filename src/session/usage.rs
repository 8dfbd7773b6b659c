//! What a session has used: the sums over its assistant messages' `usage`.

use leafline_import::scan::{Raw, Scanner};
use leafline_import::{EntryKind, MessageRole, text};
use serde::Serialize;

use super::chunk_lines::{Frames, visit_lines};
use super::reader::SessionReader;
use crate::error::Result;

/// Tokens and cost over all assistant messages of a session, those of branches that were left among them.
///
/// The members are those of a message's `usage` in omp's document of sessions, `cost` being `cost.total`. What
/// subagents used is in their own sessions, and not counted here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct UsageStatistics {
    /// Assistant messages that have a `usage` object.
    pub messages: u64,
    /// Tokens of input that no cache held.
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
    /// Adds a message's `usage`. What is no number, negative or out of range adds nothing.
    fn add(&mut self, usage: Raw<'_>) {
        if !usage.is_object() {
            return;
        }
        self.messages += 1;
        for (sum, name) in [
            (&mut self.input, "input"),
            (&mut self.output, "output"),
            (&mut self.cache_read, "cacheRead"),
            (&mut self.cache_write, "cacheWrite"),
        ] {
            let count = usage.member(name).and_then(tokens);
            *sum = sum.saturating_add(count.unwrap_or(0));
        }
        let cost = usage.member("cost").and_then(|cost| cost.member("total")).and_then(Raw::as_f64);
        self.cost += cost.filter(|cost| cost.is_finite() && *cost > 0.0).unwrap_or(0.0);
    }
}

/// A count of tokens; a fraction is cut off.
fn tokens(value: Raw<'_>) -> Option<u64> {
    // Only what is no plain integer goes through a double, which holds no more than 53 bits.
    value.as_str().parse().ok().or_else(|| {
        let count = value.as_f64()?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        (0.0..18_446_744_073_709_551_616.0).contains(&count).then_some(count as u64)
    })
}

impl SessionReader {
    /// The sums over the `usage` of all assistant messages, whatever their branch. Messages without one add
    /// nothing, nor do values that are negative or no numbers.
    ///
    /// It reads every assistant message of the session: some seconds for one of a gigabyte.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi");
    /// # store.import(&[samples], &leafline::ImportOptions::default(), &mut ())?;
    /// let usage = store.reader("019c6605")?.usage_statistics()?;
    /// println!("{} answers, {} tokens, ${:.2}", usage.messages, usage.output, usage.cost);
    /// assert!(usage.messages > 0 && usage.output > 0);
    /// # Ok::<(), leafline::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) where the store is damaged.
    pub fn usage_statistics(&self) -> Result<UsageStatistics> {
        let (message, assistant) = (EntryKind::Message.code(), MessageRole::Assistant.code());
        let mut statistics = UsageStatistics::default();
        let mut scanner = Scanner::new();
        visit_lines(self, Some(0), Frames::Forgotten, |lines, ordinal, node| {
            if (node.kind, node.role) == (message, assistant) {
                // The stored text will do: only strings were cut out of it.
                let decoded = text::decode(lines.line(ordinal)?.text);
                let scan = scanner.scan(text::trim_start_of_file(&decoded));
                if let Some(usage) = scan.members.message.and_then(|all| all.member("usage")) {
                    statistics.add(usage);
                }
            }
            Ok(ordinal.checked_add(1))
        })?;
        Ok(statistics)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(usages: &[&str]) -> UsageStatistics {
        let mut statistics = UsageStatistics::default();
        for usage in usages {
            statistics.add(Raw::parse(usage).unwrap());
        }
        statistics
    }

    #[test]
    fn sums() {
        let usage = r#"{"input":100,"output":20,"cacheRead":3,"cacheWrite":4,"cost":{"input":9,"total":0.25}}"#;
        let expected = UsageStatistics {
            messages: 2,
            input: 200,
            output: 40,
            cache_read: 6,
            cache_write: 8,
            cost: 0.5,
        };
        assert_eq!(sum(&[usage, usage]), expected);
    }

    #[test]
    fn what_is_no_count_adds_nothing() {
        let nothing = sum(&["null", "[]", "7", r#""usage""#]);
        assert_eq!(nothing, UsageStatistics::default());
        let odd = sum(&[
            r#"{"input":-5,"output":"7","cacheRead":null,"cacheWrite":[1],"cost":3}"#,
            r#"{"input":1e999,"output":{},"cacheRead":-0,"cost":{"total":-1}}"#,
            r#"{"input":18446744073709551616,"cost":{"total":"1"}}"#,
            "{}",
        ]);
        assert_eq!(odd, UsageStatistics { messages: 4, ..UsageStatistics::default() });
    }

    #[test]
    fn numbers_however_they_are_written() {
        let written = sum(&[r#"{"input":1e3,"output":2.0,"cacheRead":1.9,"input":1E2}"#]);
        assert_eq!((written.input, written.output, written.cache_read), (100, 2, 1));
        let large = sum(&[r#"{"input":18446744073709551615,"output":9007199254740993}"#; 2]);
        assert_eq!((large.input, large.output), (u64::MAX, 2 * 9_007_199_254_740_993));
    }
}
