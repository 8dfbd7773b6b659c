//! Rows of sessions that are not there.

use std::collections::BTreeSet;

use redb::TableHandle as _;

use super::session_key::SessionKey;
use super::snapshot::Snapshot;
use super::tables;
use crate::error::Result;

impl Snapshot {
    /// The sessions that have rows in a table of sessions' rows and are not among these, each with such a table. As keys are
    /// dense, only the gaps between the known ones are looked into.
    pub(crate) fn stray_sessions(
        &self,
        known: &BTreeSet<SessionKey>,
    ) -> Result<Vec<(SessionKey, &'static str)>> {
        let mut stray = Vec::new();
        let mut from = Some(0);
        let ends = known.iter().map(|session| Some(session.raw())).chain([None]);
        for end in ends {
            // The gap is from `from` up to `end`, without it.
            while let Some(first) = from.filter(|first| end.is_none_or(|end| *first < end))
                && let Some((session, table)) = self.first_with_rows(first, end)?
            {
                stray.push((SessionKey::new(session), table));
                from = session.checked_add(1);
            }
            from = end.and_then(|end| end.checked_add(1));
        }
        Ok(stray)
    }

    /// The first session in a range of keys that has rows, and a table that has them.
    fn first_with_rows(&self, from: u64, end: Option<u64>) -> Result<Option<(u64, &'static str)>> {
        let mut first: Option<(u64, &'static str)> = None;
        macro_rules! look {
            ($definition:expr, $from:expr, |$key:ident| $session:expr) => {
                if let Some((key, _)) =
                    self.table($definition)?.range($from..)?.next().transpose()?
                {
                    let $key = key.value();
                    let session: u64 = $session;
                    let is_within = end.is_none_or(|end| session < end);
                    if is_within && first.is_none_or(|(known, _)| session < known) {
                        first = Some((session, tables::name($definition.name())));
                    }
                }
            };
        }
        look!(tables::LINES, (from, 0, 0), |key| key.0);
        look!(tables::ENTRIES, (from, &b""[..]), |key| key.0);
        look!(tables::CHILDREN, (from, 0, 0), |key| key.0);
        look!(tables::LEAVES, from, |key| key);
        look!(tables::LABELS, (from, &b""[..]), |key| key.0);
        look!(tables::SETTINGS, (from, 0), |key| key.0);
        look!(tables::POINTERS, (from, 0), |key| key.0);
        look!(tables::USAGE, (from, 0), |key| key.0);
        look!(tables::ORIGINALS, (from, 0), |key| key.0);
        look!(tables::SUMMARIES, (from, &b""[..]), |key| key.0);
        look!(tables::UNFOLDED, (from, 0), |key| key.0);
        Ok(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    #[test]
    fn rows_of_sessions_that_are_not_there_are_found_in_every_table() {
        let store = Store::in_memory().unwrap();
        let transaction = store.begin_write().unwrap();
        {
            let row = &b"row"[..];
            let mut table = transaction.open_table(tables::LINES).unwrap();
            for session in [0, 3, u64::MAX] {
                table.insert((session, 0, 0), row).unwrap();
            }
            let mut table = transaction.open_table(tables::ENTRIES).unwrap();
            table.insert((4, row), row).unwrap();
            let mut table = transaction.open_table(tables::CHILDREN).unwrap();
            table.insert((5, 1, 2), ()).unwrap();
            transaction.open_table(tables::LEAVES).unwrap().insert(6, 0).unwrap();
            let mut table = transaction.open_table(tables::LABELS).unwrap();
            table.insert((7, row), row).unwrap();
            let pairs = [
                tables::SETTINGS,
                tables::POINTERS,
                tables::USAGE,
                tables::ORIGINALS,
                tables::UNFOLDED,
            ];
            for (session, definition) in (8..).zip(pairs) {
                transaction.open_table(definition).unwrap().insert((session, 1), row).unwrap();
            }
            let mut table = transaction.open_table(tables::SUMMARIES).unwrap();
            table.insert((13, row), row).unwrap();
        }
        transaction.commit().unwrap();
        let snapshot = store.snapshot().unwrap();
        let stray = |known: &[u64]| {
            let known = known.iter().map(|key| SessionKey::new(*key)).collect();
            let stray = snapshot.stray_sessions(&known).unwrap();
            stray.into_iter().map(|(session, table)| (session.raw(), table)).collect::<Vec<_>>()
        };
        let all = [
            (0, "lines"),
            (3, "lines"),
            (4, "entries"),
            (5, "children"),
            (6, "leaves"),
            (7, "labels"),
            (8, "settings"),
            (9, "pointers"),
            (10, "usage"),
            (11, "originals"),
            (12, "unfolded"),
            (13, "summaries"),
            (u64::MAX, "lines"),
        ];
        assert_eq!(stray(&[]), all);
        assert_eq!(stray(&[0, 1, 5, 6, 20, u64::MAX]), [&all[1..3], &all[5..12]].concat());
        assert_eq!(stray(&(0..14).collect::<Vec<_>>()), [(u64::MAX, "lines")]);
    }
}
