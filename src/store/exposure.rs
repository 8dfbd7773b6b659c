//! A store whose permissions let other users open it.

use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use super::{Store, tables};
use crate::destination::with_ending;
use crate::error::Result;
use crate::private::is_open_to_others;

/// The name in `meta` of what was told: a bit for each of [`Store::places`], in their order.
const TOLD: &str = "told_open";

/// What is appended to the store's path to name the folder of its search index, that of its terminals, and the file with the key
/// of its placeholders.
pub(crate) const SEARCH_ENDING: &str = ".search";
pub(crate) const TERMINALS_ENDING: &str = ".terminals";
pub(crate) const REDACTION_KEY_ENDING: &str = ".redaction-key";

/// The file that marks a folder as one of search indexes.
pub(crate) const SEARCH_MARK: &str = ".leafline-search";

/// The same for its journal; it stands beside the store itself, whatever link the store was opened by.
pub(crate) const JOURNAL_ENDING: &str = ".journal";

impl Store {
    /// The folder of the search index beside the store: its path with `.search` after it.
    pub fn search_folder(&self) -> PathBuf {
        self.beside(SEARCH_ENDING)
    }

    /// The folder beside the store in which the command keeps each terminal's last session: its path with `.terminals`
    /// after it. [`omp::Breadcrumbs`](crate::omp::Breadcrumbs) reads and writes it.
    pub fn terminals_folder(&self) -> PathBuf {
        self.beside(TERMINALS_ENDING)
    }

    /// The file beside the store with the key of the placeholders: its path with `.redaction-key` after it.
    #[cfg(feature = "redact")]
    pub(crate) fn redaction_key_path(&self) -> PathBuf {
        self.beside(REDACTION_KEY_ENDING)
    }

    fn beside(&self, ending: &str) -> PathBuf {
        with_ending(self.path(), ending)
    }

    /// The store's file, the folders beside it, and its journal.
    fn places(&self) -> [PathBuf; 4] {
        let journal = self.journal_path().unwrap_or_else(|_| self.beside(JOURNAL_ENDING));
        [self.path().to_owned(), self.search_folder(), self.terminals_folder(), journal]
    }

    /// Those of the store's file, its search index, its terminals' folder and its journal to which users other than their own have
    /// some right; of a folder, if they have some to an index or a terminal's file in it. `chmod -R go-rwx` closes them. Empty for a store in memory, and where files
    /// have no modes.
    ///
    /// ```
    /// # fn main() -> leafline::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// assert!(store.open_to_others().is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn open_to_others(&self) -> Vec<PathBuf> {
        if self.is_in_memory() {
            return Vec::new();
        }
        let [store, search, terminals, journal] = self.places();
        let is_open = [
            is_open_to_others(&store),
            is_folder_open(&search, is_index),
            is_folder_open(&terminals, |entry| entry.file_type().is_ok_and(|kind| kind.is_file())),
            is_open_to_others(&journal),
        ];
        let places = is_open.into_iter().zip([store, search, terminals, journal]);
        places.filter_map(|(is_open, place)| is_open.then_some(place)).collect()
    }

    /// The same, if one of them was not yet returned by an earlier call: the store remembers them, so that a program can
    /// tell its user once. One that was closed meanwhile is returned when it is open again. Of a store that is
    /// only read nothing is returned, since it would be returned each time; [`Self::verify`] has a remark on it.
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub fn newly_open_to_others(&self) -> Result<Vec<PathBuf>> {
        if self.is_read_only() {
            return Ok(Vec::new());
        }
        let open = self.open_to_others();
        let places = self.places();
        let now = (0..).zip(&places).filter(|(_, place)| open.contains(place));
        let now = now.fold(0_u64, |bits, (bit, _)| bits | 1 << bit);
        let told = self.told()?;
        let is_new = now & !told != 0;
        if now == told {
            return Ok(Vec::new());
        }
        self.note_told(now)?;
        Ok(if is_new { open } else { Vec::new() })
    }

    fn told(&self) -> Result<u64> {
        let meta = self.begin_read()?.open_table(tables::META)?;
        Ok(meta.get(TOLD)?.map_or(0, |told| told.value()))
    }

    fn note_told(&self, told: u64) -> Result<()> {
        let transaction = self.begin_write()?;
        transaction.act(|transaction| {
            transaction.open_table(tables::META)?.insert(TOLD, told)?;
            Ok(())
        })?;
        transaction.commit_beside_appends()
    }
}

/// Whether others have some right to a folder, and to something in it that is ours.
fn is_folder_open(folder: &Path, is_ours: impl Fn(&DirEntry) -> bool) -> bool {
    let is_open_inside = |entry: DirEntry| is_ours(&entry) && is_open_to_others(&entry.path());
    is_open_to_others(folder)
        && std::fs::read_dir(folder).into_iter().flatten().flatten().any(is_open_inside)
}

/// Whether an entry of the search folder has the name of an index, `<version>-<store number>`.
fn is_index(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let parts = name.to_str().and_then(|name| name.split_once('-'));
    parts.is_some_and(|(version, number)| {
        version.parse::<u32>().is_ok() && u64::from_str_radix(number, 16).is_ok()
    })
}
