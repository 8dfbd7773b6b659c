//! Which entries a context is made of.

use super::super::path::PathRuns;
use super::super::reader::SessionReader;
use crate::error::Result;
use crate::store::settings_record::SettingsRecord;

/// What a context is made of. The default is the empty context.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Selection {
    /// The settings in force at the leaf.
    pub(super) settings: SettingsRecord,
    /// The compaction whose summary stands for what is above it.
    pub(super) compaction: Option<u64>,
    /// What the compaction keeps: entries above it.
    pub(super) kept: PathRuns,
    /// The entries below the compaction; without one, the whole path.
    pub(super) below: PathRuns,
}

impl Selection {
    /// What the context at an entry is made of.
    pub(super) fn at(reader: &SessionReader, leaf: u64) -> Result<Self> {
        if is_indexed(reader) { Self::by_index(reader, leaf) } else { Self::by_lines(reader, leaf) }
    }

    /// The settings in force at an entry, alone.
    pub(super) fn settings_at(reader: &SessionReader, leaf: u64) -> Result<SettingsRecord> {
        if !is_indexed(reader) {
            return Ok(Self::by_lines(reader, leaf)?.settings);
        }
        reader.snapshot().settings(reader.key(), reader.entry_node(leaf)?.settings)
    }

    /// The entries that may give messages, in the order of the path; the compaction is not one of them.
    pub(super) fn entries(&self) -> impl Iterator<Item = u64> + Clone {
        self.kept.downwards().chain(self.below.downwards())
    }
}

/// Whether what the index knows of the session's paths is to be trusted.
fn is_indexed(reader: &SessionReader) -> bool {
    let record = reader.record();
    !record.irregular && record.unaddressed == 0
}

#[cfg(test)]
mod tests {
    use leafline_generate::Family;

    use super::super::super::reader::is_entry;
    use super::*;
    use crate::catalog::import::{ImportObserver, ImportOptions};
    use crate::{FileReport, Store};

    /// Notes the sessions that were imported.
    #[derive(Default)]
    struct Sessions(Vec<String>);

    impl ImportObserver for Sessions {
        fn file(&mut self, report: &FileReport) {
            self.0.extend(report.session.clone());
        }
    }

    #[test]
    fn both_ways_choose_the_same_entries_and_settings() {
        let folder = tempfile::tempdir().unwrap();
        for seed in 0..400 {
            let family = if seed % 2 == 0 { Family::Pi } else { Family::Omp };
            let entries = if seed % 8 == 0 { 400 } else { 60 };
            let bytes = leafline_generate::random_tree_session(seed, entries, family);
            std::fs::write(folder.path().join(format!("{seed}.jsonl")), bytes).unwrap();
        }
        let store = Store::open(folder.path().join("store.leafline")).unwrap();
        let mut sessions = Sessions::default();
        store.import(&[folder.path()], &ImportOptions::default(), &mut sessions).unwrap();
        let (mut compared, mut keeping) = (0, 0);
        for id in &sessions.0 {
            let reader = store.reader(id).unwrap();
            if !is_indexed(&reader) {
                continue;
            }
            for leaf in 0..reader.record().lines {
                if !is_entry(&reader.node(leaf).unwrap()) {
                    continue;
                }
                let fast = Selection::by_index(&reader, leaf).unwrap();
                assert_eq!(fast, Selection::by_lines(&reader, leaf).unwrap(), "{id}, line {leaf}");
                compared += 1;
                keeping += u32::from(fast.kept.len() > 0);
            }
        }
        assert!(
            compared > 10_000 && keeping > 1_000,
            "{compared} compared, {keeping} keep entries"
        );
    }
}
