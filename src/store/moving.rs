//! Moves what stands at the end of a store's file to free places ahead of it, so that the file can be shortened.
//!
//! The engine writes a page that changes to a free place, the first of the smallest that are long enough, and with it the pages
//! above it. So a row that is written again as it is moves its page. That is done in short transactions like any others: nobody
//! waits for more than one of them, and a killed process leaves a store that has all rows.

use std::sync::Arc;
use std::time::{Duration, Instant};

use redb::{Key, TableDefinition, Value, WriteTransaction};

use super::Store;
use super::any_table::{Action, act_on};
use super::engine_file::EngineFile;
use super::pages::{self, Free, Leaf, ReadableTable as _};
use super::writing::Writing;
use crate::error::{Error, Result, StoreError};

/// Bytes of pages that one transaction moves. It takes some milliseconds.
const STEP_BYTES: u64 = 2 << 20;

/// Bytes of pages behind the goal from which on a journal is kept in use meanwhile: others append to it, and wait for no
/// transaction.
const MUCH: u64 = 16 << 20;

/// How often what may stay free among the pages is doubled: up to a quarter of their bytes.
const MOST_DOUBLED: u32 = 6;

const PAGE: u64 = pages::PAGE as u64;

/// Bytes of a page that is moved in any case: if the place that it gets is not ahead, it frees a longer one by that.
const SHORT: u64 = 16 * PAGE;

/// Smallest pages that the engine writes besides in a transaction: inner ones of tables, and its own.
const BESIDES: u64 = 16;

/// Bytes of pages behind the goal of which most are the engine's own, of transactions that are kept: they get free.
const LITTLE: u64 = 4 * BESIDES * PAGE;

/// The least size in bytes of a file that is shortened when it is closed, if half of it is free.
const LARGE: u64 = 16 << 20;

/// If the file has not grown, one in this many closings looks for free space, since that reads all inner pages.
const LOOKS: u128 = 16;

/// The longest time that moving pages may delay a close.
const AT_CLOSE: Duration = Duration::from_secs(1);

/// How long to wait until no one else reads, and how often to look.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 2_000 });
const PAUSE: Duration = Duration::from_millis(1);

/// Commits after which the places that were left are free: those of one are free in the next, or in that behind it.
const UNTIL_FREE: usize = 2;

impl Store {
    /// Returns free space at the end of the file to the system, after pages that stand behind it were moved ahead: of a store that has
    /// just grown there are few. Others may have it open, and wait for one short transaction at most. The file gets shorter when the
    /// last one closes it; alone, this does it.
    ///
    /// Where many short places are free among the pages, [`Self::compact`] returns more.
    ///
    /// # Errors
    ///
    /// [`StoreError::InUse`](crate::error::StoreError::InUse) while anything else in this process holds the store: a clone, a
    /// session, a reader. Those of reading and writing the store.
    pub fn give_back(&mut self) -> Result<()> {
        match self.move_pages() {
            Err(Error::Store(StoreError::BeingRead { .. })) => Ok(()),
            moved => moved,
        }
    }

    /// Does the work of [`Self::give_back`].
    ///
    /// # Errors
    ///
    /// [`StoreError::BeingRead`] if others read all the time; nothing was changed then.
    pub(super) fn move_pages(&mut self) -> Result<()> {
        self.check_process()?;
        if self.shared.file.as_ref().is_some_and(|file| !has_unread_moment(file)) {
            return Err(StoreError::BeingRead { path: self.path().to_owned() }.into());
        }
        self.close_journal();
        if Arc::get_mut(&mut self.shared).is_none() {
            return Err(self.in_use());
        }
        match self.move_forward() {
            // What was moved until then stays where it is.
            Err(error) if error.is_for_want_of_room() => {}
            moved => moved?,
        }
        if self.tells_who_has_it() {
            self.open_again()?;
        }
        Ok(())
    }

    /// Gives space back before the last handle of this process closes the store, if half of a large file is free and nobody else has
    /// it open. It stops when another process opens the store or its time is up; a later close continues.
    ///
    /// # Errors
    ///
    /// Those of reading and writing the store. It has all rows then, too.
    pub(super) fn give_back_at_close(&self) -> Result<()> {
        let (Some(file), true) = (&self.shared.file, self.is_written()) else { return Ok(()) };
        let length = self.file_bytes()?;
        if length < LARGE || !self.tells_who_has_it() || self.is_open_elsewhere() {
            return Ok(());
        }
        let has_grown = self.shared.bytes_at_open < length - length / 4;
        // The checksum changes with each commit, and serves as a random number.
        let is_drawn = self.root(file)?.is_some_and(|(_, check)| check % LOOKS == 0);
        if !has_grown && !is_drawn {
            return Ok(());
        }
        let spare = {
            let (state, _pin) = self.state_of(file)?;
            state.survey(0)?.spare
        };
        if spare < length / 2 {
            return Ok(());
        }
        if !self.free_places(false)? {
            return Ok(());
        }
        self.move_behind(file, &|| (), Some(Instant::now() + AT_CLOSE)).map(drop)
    }

    /// Moves pages to the front, until none is behind the bytes that they all need, or there is no place ahead for those that are.
    ///
    /// # Errors
    ///
    /// Those of reading and writing the store. It has all rows then, too.
    fn move_forward(&self) -> Result<()> {
        let Some(file) = &self.shared.file else { return Ok(()) };
        self.free_places(true)?;
        let behind = {
            let (state, _pin) = self.state_of(file)?;
            state.survey(0)?.behind
        };
        let journal = match behind > MUCH || self.is_open_elsewhere() {
            // There may be no room for one.
            true => self.keep_journal().or_else(|error| match error.is_for_want_of_room() {
                true => Ok(None),
                false => Err(error),
            })?,
            false => None,
        };
        let fold = || journal.iter().for_each(|journal| journal.fold_if_long());
        let is_done = self.move_behind(file, &fold, None)?;
        // What others have appended goes into the tables now, and takes places.
        drop(journal);
        if is_done {
            self.move_behind(file, &|| (), None)?;
        }
        Ok(())
    }

    /// Moves the pages behind the goal, and moves the goal back if there is no place ahead of it. `false` if others read all the
    /// time, or, with `until`, if the time is up or another process has opened the store.
    fn move_behind(
        &self,
        file: &EngineFile,
        fold: &dyn Fn(),
        until: Option<Instant>,
    ) -> Result<bool> {
        // A close has no time to try how little may stay free.
        let mut doubled = if until.is_some() { MOST_DOUBLED } else { 0 };
        let mut behind = u64::MAX;
        loop {
            // Until it ends no place that is left here is free: so the short ones among the pages that are moved are used up, which the
            // engine takes first, and then the long ones ahead.
            let kept = self.begin_read()?;
            let ended = self.move_with_kept_places(file, doubled, fold, until)?;
            drop(kept);
            match ended {
                Ended::Done => {
                    self.free_places(until.is_none())?;
                    return Ok(true);
                }
                Ended::Grown => return Ok(false),
                Ended::Late => {
                    self.free_places(until.is_none())?;
                    return Ok(false);
                }
                Ended::Spent { before } if before < behind => behind = before,
                _ if doubled == MOST_DOUBLED => return Ok(true),
                // Where long pages have no place, those of short ones stay free.
                _ => (doubled, behind) = (doubled + 1, u64::MAX),
            }
            if !has_unread_moment(file) {
                return Ok(false);
            }
            self.free_places(until.is_none())?;
        }
    }

    /// Moves what is behind the goal, until nothing is, or half of what is free was used.
    fn move_with_kept_places(
        &self,
        file: &EngineFile,
        doubled: u32,
        fold: &dyn Fn(),
        until: Option<Instant>,
    ) -> Result<Ended> {
        let length = self.file_bytes()?;
        let mut begun: Option<(u64, u64)> = None;
        let mut last = u64::MAX;
        loop {
            let (state, _pin) = self.state_of(file)?;
            let survey = state.survey(doubled)?;
            if survey.behind == 0 {
                return Ok(Ended::Done);
            }
            if let Some((before, _)) = begun
                && survey.behind >= last
                && survey.behind < LITTLE
            {
                return Ok(Ended::Spent { before });
            }
            last = survey.behind;
            let (before, left) = *begun.get_or_insert((survey.behind, survey.spare / 2));
            let (free, step) = (survey.free(), Step::default());
            let (is_spent, has_grown, is_late) = (false, false, false);
            let mut pass = Pass {
                store: self,
                length,
                free,
                step,
                fold,
                until,
                left,
                is_spent,
                has_grown,
                is_late,
            };
            state.leaves_behind(survey.goal, |leaf| pass.take(&leaf))?;
            pass.commit()?;
            if pass.has_grown {
                return Ok(Ended::Grown);
            }
            if pass.is_late {
                return Ok(Ended::Late);
            }
            if pass.is_spent {
                return Ok(Ended::Spent { before });
            }
            if pass.left == left {
                return Ok(Ended::NoPlace);
            }
            begun = Some((before, pass.left));
        }
    }

    /// Makes the places free that the last commits have left. `false` if somebody has the write transaction, and it does not wait.
    fn free_places(&self, waits: bool) -> Result<bool> {
        for _ in 0..UNTIL_FREE {
            let Some(writing) = self.writing(waits)? else { return Ok(false) };
            writing.commit_beside_appends()?;
        }
        Ok(true)
    }

    fn writing(&self, waits: bool) -> Result<Option<Writing<'_>>> {
        if waits { self.begin_write().map(Some) } else { self.try_begin_write() }
    }
}

/// Whether there is a moment, soon, in which no one else has a read transaction: what was left before it is free after it.
fn has_unread_moment(file: &EngineFile) -> bool {
    let begun = Instant::now();
    while file.is_read_elsewhere() {
        if begun.elapsed() >= PATIENCE {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
    true
}

/// Why no more is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// Nothing is behind the goal.
    Done,
    /// As much was moved as may be. So many bytes of pages were behind the goal before.
    Spent { before: u64 },
    /// What is behind it finds no place ahead.
    NoPlace,
    /// The file has grown, since no place was free: others may have a read transaction open, which keeps those that are left.
    Grown,
    /// The time is up, or another process has opened the store.
    Late,
}

/// What is moved before it is looked again where pages are.
struct Pass<'s> {
    store: &'s Store,
    /// Bytes of the file before anything was moved.
    length: u64,
    free: Free,
    step: Step,
    /// Puts into the tables what others have appended, if that is much.
    fold: &'s dyn Fn(),
    /// The time at which it stops, unless another process opens the store before; `None` if it has no limit.
    until: Option<Instant>,
    /// Bytes of pages that may be written.
    left: u64,
    /// Whether more would be needed.
    is_spent: bool,
    has_grown: bool,
    is_late: bool,
}

/// What one transaction moves: rows by their tables, in the order of the tables.
#[derive(Default)]
struct Step {
    rows: Vec<(String, Vec<Vec<u8>>)>,
    bytes: u64,
}

impl Pass<'_> {
    /// Takes a row of a page, if there is a place for it. `false` if that was the last one.
    fn take(&mut self, leaf: &Leaf<'_>) -> Result<bool> {
        let is_first = self.step.rows.is_empty();
        let bytes = leaf.length + if is_first { BESIDES * PAGE } else { 0 };
        self.is_spent |= bytes > self.left;
        if self.is_spent {
            return Ok(false);
        }
        if !self.free.take(leaf.length) && leaf.length > SHORT {
            return Ok(true);
        }
        self.left -= bytes;
        let step = &mut self.step;
        step.bytes += leaf.length;
        match step.rows.last_mut() {
            Some((last, keys)) if last == leaf.table => keys.push(leaf.key.to_vec()),
            _ => step.rows.push((leaf.table.to_owned(), vec![leaf.key.to_vec()])),
        }
        if step.bytes >= STEP_BYTES {
            self.commit()?;
        }
        Ok(!self.has_grown && !self.is_late)
    }

    /// Writes the rows again as they are now.
    fn commit(&mut self) -> Result<()> {
        let step = std::mem::take(&mut self.step);
        if step.rows.is_empty() {
            return Ok(());
        }
        let begun = Instant::now();
        let Some(writing) = self.store.writing(self.until.is_none())? else {
            self.is_late = true;
            return Ok(());
        };
        writing.act(|transaction| {
            step.rows.iter().try_for_each(|(table, keys)| {
                act_on(table, WriteAgain { transaction, keys }).map(drop)
            })
        })?;
        let has_grown = || self.store.file_bytes().map(|bytes| bytes > self.length);
        self.has_grown = has_grown()?;
        if self.has_grown {
            return writing.abort();
        }
        writing.commit_beside_appends()?;
        // What the commit writes itself may have needed more, too.
        self.has_grown = has_grown()?;
        for _ in 0..BESIDES {
            self.free.take(PAGE);
        }
        (self.fold)();
        let is_shared = self.store.is_open_elsewhere();
        self.is_late = self.until.is_some_and(|until| is_shared || Instant::now() >= until);
        if is_shared {
            // Others have their turn.
            std::thread::sleep(begun.elapsed());
        }
        Ok(())
    }
}

/// Writes rows again as they are.
struct WriteAgain<'t> {
    transaction: &'t WriteTransaction,
    keys: &'t [Vec<u8>],
}

impl Action for WriteAgain<'_> {
    fn on<K: Key + 'static, V: Value + 'static>(
        self,
        table: TableDefinition<'static, K, V>,
    ) -> Result<()> {
        let mut table = self.transaction.open_table(table)?;
        for key in self.keys {
            let value = table
                .get(K::from_bytes(key))?
                .map(|value| V::as_bytes(&value.value()).as_ref().to_vec());
            if let Some(value) = value {
                table.insert(K::from_bytes(key), V::from_bytes(&value))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};

    use leafline_import::Family;
    use leafline_import::opal::Draft;
    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::*;
    use crate::compact::CompactOptions;
    use crate::programs::opal::OpalSession;
    use crate::store::tables;
    use crate::{NewSession, StoreOptions};

    /// A text that does not get shorter.
    fn noise(seed: u64, bytes: usize) -> String {
        let mut random = fastrand::Rng::with_seed(seed);
        std::iter::repeat_with(|| random.alphanumeric()).take(bytes).collect()
    }

    fn begin(store: &Store, seed: u64, lines: usize, bytes: usize) -> String {
        let mut session = store.create_session(&NewSession::new(Family::Opal, "/work")).unwrap();
        let drafts = (0..lines).map(|line| Draft::user(&noise(seed + line as u64, bytes)));
        session.append_many(drafts).unwrap();
        session.id().to_owned()
    }

    fn size(path: &Path) -> u64 {
        std::fs::metadata(path).unwrap().len()
    }

    /// A store of which the first sessions are gone, so that those behind them stand at the end of the file.
    fn loose(gone: usize, kept: usize, bytes: usize) -> (TempDir, Store, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("store")).unwrap();
        let sessions = (0..gone + kept).map(|number| begin(&store, 100 * number as u64, 20, bytes));
        let mut sessions: Vec<String> = sessions.collect();
        for session in sessions.drain(..gone) {
            store.remove(&session).unwrap();
        }
        store.sweep().unwrap();
        (folder, store, sessions)
    }

    /// All rows of all tables but that which says whose journal is in use.
    fn rows(store: &Store) -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
        struct Read<'r>(&'r WriteTransaction, &'r mut Vec<(&'static str, Vec<u8>, Vec<u8>)>);
        impl Action for Read<'_> {
            fn on<K: Key + 'static, V: Value + 'static>(
                self,
                definition: TableDefinition<'static, K, V>,
            ) -> Result<()> {
                let name = tables::name(redb::TableHandle::name(&definition));
                let table = self.0.open_table(definition)?;
                for row in redb::ReadableTable::iter(&table)? {
                    let (key, value) = row?;
                    let key = K::as_bytes(&key.value()).as_ref().to_vec();
                    self.1.push((name, key, V::as_bytes(&value.value()).as_ref().to_vec()));
                }
                Ok(())
            }
        }
        let mut rows = Vec::new();
        let writing = store.begin_write().unwrap();
        for table in tables::NAMES.into_iter().filter(|table| *table != "journal") {
            act_on(table, Read(&writing, &mut rows)).unwrap();
        }
        writing.abort().unwrap();
        // What is of the journal changes with each epoch.
        rows.retain(|(_, key, _)| !key.starts_with(b"journal_"));
        rows
    }

    #[test]
    fn others_read_and_append_while_pages_are_moved() {
        let (_folder, mut store, kept) = loose(300, 200, 2_000);
        let path = store.path().to_owned();
        let other = Store::open(&path).unwrap();
        let is_over = AtomicBool::new(false);
        let appended = std::thread::scope(|scope| {
            let using = scope.spawn(|| {
                let mut session = other.session(&kept[0]).unwrap();
                let mut appended = 0;
                while !is_over.load(Ordering::Relaxed) || appended < 3 {
                    session.append_many([Draft::user("next")]).unwrap();
                    appended += 1;
                    let reader = other.reader(&kept[1 + appended % 199]).unwrap();
                    assert_eq!(reader.facts().entries, 20);
                }
                appended
            });
            store.give_back().unwrap();
            is_over.store(true, Ordering::Relaxed);
            using.join().unwrap()
        });
        drop((store, other));
        let mut store = Store::open(&path).unwrap();
        let expected = rows(&store);
        store.give_back().unwrap();
        assert_eq!(rows(&store), expected);
        assert!(store.verify().unwrap().problems.is_empty());
        assert_eq!(store.reader(&kept[0]).unwrap().facts().entries, 20 + appended as u64);
    }

    #[test]
    fn what_a_read_transaction_has_stays_as_it_is() {
        let (_folder, mut store, kept) = loose(3, 2, 100_000);
        let path = store.path().to_owned();
        let before = size(&path);
        let other = Store::open(store.path()).unwrap();
        let snapshot = other.committed().unwrap();
        let reader = other.reader(&kept[1]).unwrap();
        let mut entries = Vec::new();
        let mut read = |reader: &crate::SessionReader| {
            let mut texts = Vec::new();
            let each = |entry: crate::Entry| {
                texts.push(format!("{entry:?}"));
                Ok(true)
            };
            reader.get_entries(each).unwrap();
            entries.push(texts);
        };
        read(&reader);
        let held = size(store.path());
        for _ in 0..3 {
            store.give_back().unwrap();
            read(&reader);
        }
        let options = CompactOptions { in_place: true, ..CompactOptions::default() };
        let refused = store.compact_with(&options).unwrap_err();
        assert!(matches!(refused, Error::Store(StoreError::BeingRead { .. })), "{refused}");
        read(&reader);
        assert!(entries.iter().all(|texts| texts.len() == 20 && *texts == entries[0]));
        // The old places do not become free meanwhile, so moving pages would make the file larger.
        assert_eq!(size(store.path()), held);
        drop((snapshot, reader));
        store.give_back().unwrap();
        drop((store, other));
        assert!(size(&path) < before);
    }

    #[test]
    fn the_last_one_to_close_a_large_file_gives_free_space_back() {
        let (_folder, store, kept) = loose(40, 6, 30_000);
        let path = store.path().to_owned();
        let options = StoreOptions { read_only: true, ..StoreOptions::default() };
        let other = Store::open_with(&path, &options).unwrap();
        let before = size(&path);
        assert!(before >= LARGE, "{before}");
        // Nothing is given back while another handle has the store open.
        drop(store);
        assert_eq!(size(&path), before);
        drop(other);
        let mut closed = 0;
        while size(&path) > before / 2 {
            begin(&Store::open(&path).unwrap(), 7, 1, 10);
            closed += 1;
            assert!(closed < 20 * LOOKS, "{} of {before}", size(&path));
        }
        let store = Store::open(&path).unwrap();
        assert!(store.verify().unwrap().problems.is_empty());
        assert!(kept.iter().all(|id| store.reader(id).unwrap().facts().entries == 20));
    }

    #[test]
    fn a_close_waits_for_no_transaction_of_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let [store, other] = [(); 2].map(|()| Store::open(&path).unwrap());
        let writing = other.begin_write().unwrap();
        assert!(!store.free_places(false).unwrap());
        writing.abort().unwrap();
        assert!(store.free_places(false).unwrap());
    }

    #[test]
    fn a_compaction_within_the_file_goes_on_beside_others() {
        let (_folder, mut store, kept) = loose(200, 100, 2_000);
        let path = store.path().to_owned();
        let (before, expected) = (size(&path), rows(&store));
        let other = Store::open(&path).unwrap();
        let options = CompactOptions { in_place: true, ..CompactOptions::default() };
        assert!(store.compact_with(&options).unwrap().in_place);
        assert_eq!(other.reader(&kept[0]).unwrap().facts().entries, 20);
        drop((store, other));
        let after = size(&path);
        assert!(after < before, "{after} of {before}");
        assert_eq!(rows(&Store::open(&path).unwrap()), expected);
    }

    #[test]
    fn a_file_that_has_just_grown_gets_no_longer() {
        for lines in [2_000, 100_000] {
            let (_folder, store, _) = loose(0, 400_000 / lines, lines);
            let path = store.path().to_owned();
            drop(store);
            let mut store = Store::open(&path).unwrap();
            let expected = rows(&store);
            let before = size(&path);
            store.give_back().unwrap();
            let after = size(&path);
            assert!(after <= before, "{after} of {before}");
            assert_eq!(rows(&store), expected);
            store.give_back().unwrap();
            assert!(size(store.path()) <= after);
        }
    }

    #[test]
    fn what_has_no_place_ahead_stays_where_it_is() {
        // Rows of a megabyte, between which only places of a few pages are free.
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path().join("store")).unwrap();
        let short: Vec<String> = (0..40)
            .map(|number| {
                begin(&store, 1000 + number, 1, 1_500_000);
                begin(&store, number, 1, 20_000)
            })
            .collect();
        for session in &short {
            store.remove(session).unwrap();
        }
        store.sweep().unwrap();
        store.give_back().unwrap();
        let before = size(store.path());
        let expected = rows(&store);
        for _ in 0..3 {
            store.give_back().unwrap();
            assert!(size(store.path()) <= 2 * before);
        }
        assert_eq!(rows(&store), expected);
    }

    #[test]
    fn a_damaged_page_is_an_error_and_costs_nothing_else() {
        let (_folder, store, kept) = loose(3, 2, 100_000);
        let path = store.path().to_owned();
        drop(store);
        let whole = std::fs::read(&path).unwrap();
        let mut damaged = 0;
        for at in (0..whole.len()).step_by(4096).rev() {
            // Some of the last pages, and fewer of the others.
            let part = if at < whole.len() * 9 / 10 { 97 } else { 7 };
            if !at.is_multiple_of(part * 4096) {
                continue;
            }
            let mut bytes = whole.clone();
            bytes[at + 1000] ^= 1;
            std::fs::write(&path, &bytes).unwrap();
            let Ok(mut store) = Store::open(&path) else { continue };
            match store.give_back() {
                Ok(_) => {}
                Err(crate::Error::Corrupted(_)) => damaged += 1,
                Err(error) => panic!("{error}"),
            }
            drop(store);
            let options = StoreOptions { read_only: true, ..StoreOptions::default() };
            let Ok(store) = Store::open_with(&path, &options) else { continue };
            for session in &kept {
                let Ok(reader) = store.reader(session) else { continue };
                let mut texts = 0;
                let read = reader.get_entries(|_| {
                    texts += 1;
                    Ok(true)
                });
                assert!(read.is_err() || texts == 20, "{texts} entries, byte {at}");
            }
        }
        assert!(damaged > 0);
    }

    #[test]
    fn who_reads_is_seen() {
        let (_folder, store, _) = loose(1, 1, 1_000);
        let other = Store::open(store.path()).unwrap();
        let file = store.shared.file.as_ref().unwrap();
        assert!(!file.is_read_elsewhere());
        let snapshot = other.committed().unwrap();
        assert!(file.is_read_elsewhere());
        drop(snapshot);
        assert!(!file.is_read_elsewhere());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn every_row_is_as_it_was(
            sessions in prop::collection::vec((0_usize..40, 1_usize..60_000, any::<bool>()), 1..12),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::open(folder.path().join("store")).unwrap();
            let mut gone = Vec::new();
            for (seed, (lines, bytes, is_gone)) in sessions.into_iter().enumerate() {
                let session = begin(&store, 100 * seed as u64, lines, bytes);
                gone.extend(is_gone.then_some(session));
            }
            for session in gone {
                store.remove(&session).unwrap();
            }
            // All is in the tables then.
            let path = store.path().to_owned();
            drop(store);
            let mut store = Store::open(&path).unwrap();
            store.sweep().unwrap();
            let expected = rows(&store);
            let before = size(&path);
            store.give_back().unwrap();
            // The engine doubles a file that has no place for a commit.
            prop_assert!(size(&path) <= 2 * before);
            prop_assert_eq!(rows(&store), expected);
            prop_assert!(store.verify().unwrap().problems.is_empty());
        }
    }
}
