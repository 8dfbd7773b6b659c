//! Turns what lines report of usage into the rows of the table `usage`.

use leafline_import::{UsageCounter, UsageReport};

use crate::store::usage_record::UsageRecord;
use crate::store::usage_rows::UsageTail;

/// Counts the usage that the lines of a session report, one after the other. The same lines give the same rows, however often
/// the counting stopped and went on.
#[derive(Debug)]
pub(crate) struct UsageIndexer {
    /// The number of the row that the next answers go into.
    number: u64,
    row: UsageRecord,
    counter: UsageCounter,
    /// Whether the row is another than the one that is stored.
    is_changed: bool,
    /// Whether the lines before are counted: if not, neither are these.
    counts: bool,
}

impl UsageIndexer {
    /// For the lines behind those that the stored rows have counted.
    pub(crate) fn behind(tail: UsageTail) -> Self {
        let (number, mut row, counts) = match tail {
            UsageTail::Nothing => (0, UsageRecord::default(), true),
            UsageTail::Row(number, row) => (number, *row, true),
            UsageTail::NotCounted => (0, UsageRecord::default(), false),
        };
        let counter = row.take_state();
        Self { number, row, counter, is_changed: false, counts }
    }

    /// Takes what the next line reports, and when, in milliseconds since 1970. `put` gets a row once it is full.
    pub(crate) fn take(
        &mut self,
        report: UsageReport,
        (time, is_sidechain): (Option<i64>, bool),
        mut put: impl FnMut(u64, UsageRecord),
    ) {
        if !self.counts {
            return;
        }
        self.is_changed = true;
        let Some(answer) = self.counter.take(report) else { return };
        if self.row.push(&answer, time, is_sidechain) {
            put(self.number, std::mem::take(&mut self.row));
            self.number += 1;
            self.row.push(&answer, time, is_sidechain);
        }
    }

    /// Passes on the last row, if the lines have changed it.
    pub(crate) fn finish(mut self, put: impl FnOnce(u64, UsageRecord)) {
        if self.is_changed {
            self.row.set_state(&self.counter);
            put(self.number, self.row);
        }
    }
}

#[cfg(test)]
mod tests {
    use leafline_import::Usage;

    use super::*;

    fn report(number: u64) -> UsageReport {
        let usage = Usage { output: number, ..Usage::default() };
        match number % 7 {
            0 => UsageReport::Model(format!("model-{}", number % 3)),
            1 => UsageReport::Total { total: usage, last: None },
            _ => UsageReport::Answer { identity: Some(number / 2 + 1), model: None, usage },
        }
    }

    #[test]
    fn the_rows_do_not_depend_on_where_the_counting_stopped() {
        let count = |every: u64| {
            let mut rows = std::collections::BTreeMap::new();
            let mut indexer = UsageIndexer::behind(UsageTail::Nothing);
            for number in 0..1000_u64 {
                let place = (Some(number.cast_signed() * 1500), number % 5 == 0);
                indexer.take(report(number), place, |number, row| drop(rows.insert(number, row)));
                if number % every == 0 {
                    indexer.finish(|number, row| drop(rows.insert(number, row)));
                    let (number, row) = rows.last_key_value().unwrap();
                    indexer = UsageIndexer::behind(UsageTail::Row(*number, Box::new(row.clone())));
                }
            }
            indexer.finish(|number, row| drop(rows.insert(number, row)));
            rows
        };
        let once = count(5000);
        assert!(once.len() > 3);
        for every in [1, 2, 127, 128, 300] {
            assert_eq!(count(every), once, "every {every} lines");
        }
    }
}
