//! Puts a store in the place of a damaged one.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use leafline_import::time::format_timestamp;
use serde::Serialize;

use super::path_text;
use super::salvage::Salvage;
use crate::destination::{end_of_links, folder_of, with_ending};
use crate::error::{Error, FileContext, Result, StoreError};
use crate::lasting::sync_folder;
use crate::rights::Rights;
use crate::store::clock::now;
use crate::store::engine_file::{EngineFile, Recovery};
use crate::store::journal::{DAMAGED_ENDING, JOURNAL_ENDING};
use crate::store::{Store, StoreOptions};

/// What the name of the new store has after the store's, until it gets that; a time follows.
const UNFINISHED: &str = ".repaired-";

/// The bytes of such a time, as in `2026-02-16T10-20-30.400Z`.
const TIME_BYTES: usize = 24;

/// How a store is repaired.
#[derive(Debug, Clone, Default)]
pub struct RepairOptions {
    /// Whether the store is made again from its rows even if nothing is wrong. Default: no.
    pub rebuild: bool,
    /// Whether sessions of which something is missing are imported from their files again. Default: no.
    pub from_sources: bool,
}

/// What a repair has done.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Repair {
    /// What was saved.
    pub salvage: Salvage,
    /// The damaged store's file, which is kept under this name, with its journal beside it.
    #[serde(serialize_with = "path_text")]
    pub kept: PathBuf,
}

impl Store {
    /// Makes a store again from what is whole in it, if anything is wrong with it; `None` if nothing is.
    ///
    /// The new store is made beside it, as by [`Self::salvage`], and takes its name once it is complete; the damaged one is kept
    /// under another. So it needs as much room again.
    ///
    /// # Errors
    ///
    /// [`StoreError::InUse`] if anyone has the store open; those of [`Self::salvage`]. The store is then as it was.
    pub fn repair(path: impl AsRef<Path>, options: &RepairOptions) -> Result<Option<Repair>> {
        let loops = || StoreError::NotAStore {
            path: path.as_ref().to_owned(),
            problem: "it is a link that leads to itself".into(),
        };
        let path = &end_of_links(path.as_ref(), |_| false).ok_or_else(loops)?;
        if !options.rebuild && is_whole(path)? {
            return Ok(None);
        }
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = match file {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(Error::Store(StoreError::NotFound {
                    path: path.clone(),
                    is_empty: false,
                }));
            }
            file => file.at("opening the store", path)?,
        };
        let rights = Rights::of(&file).at("looking at", path)?;
        let alone = EngineFile::new(file, Recovery::Skipped).map_err(Error::from)?;
        // On a system without such locks nobody can be asked.
        if matches!(alone.take_alone(), Ok(false)) {
            return Err(Error::Store(StoreError::InUse { path: path.clone() }));
        }
        remove_unfinished(path);
        let time = format_timestamp(now()).replace(':', "-");
        let new = with_ending(path, &format!("{UNFINISHED}{time}"));
        let mut salvage = Self::salvage(path, &new)?;
        if options.from_sources {
            salvage.import_sources(&new)?;
        }
        let made = std::fs::File::open(&new).at("opening", &new)?;
        rights.give(&made).at("setting the rights of", &new)?;
        let kept = with_ending(path, &format!("{DAMAGED_ENDING}{time}"));
        // In this order the store is never without its name, nor without its journal; of the new one, the old one's journal is
        // known by its second name if this process is killed before it loses the first.
        std::fs::hard_link(path, &kept).at("naming", &kept)?;
        let journal = with_ending(path, JOURNAL_ENDING);
        let has_journal = match std::fs::hard_link(&journal, with_ending(&kept, JOURNAL_ENDING)) {
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            linked => linked.at("naming", &journal).map(|()| true)?,
        };
        std::fs::rename(&new, path).at("naming", path)?;
        sync_folder(folder_of(path));
        if has_journal {
            std::fs::remove_file(&journal).at("naming", &journal)?;
            sync_folder(folder_of(path));
        }
        drop(alone);
        Ok(Some(Repair { salvage, kept }))
    }
}

/// Removes new stores that killed repairs have not given the store's name. Whoever repairs is alone with the store, so that none
/// is at work. What cannot be removed stays.
fn remove_unfinished(path: &Path) {
    let Some(store) = path.file_name() else { return };
    let mut beginning = store.to_owned();
    beginning.push(UNFINISHED);
    for entry in std::fs::read_dir(folder_of(path)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let rest = name.as_encoded_bytes().strip_prefix(beginning.as_encoded_bytes());
        let is_time = rest.is_some_and(|rest| rest.len() == TIME_BYTES && rest.ends_with(b"Z"));
        if is_time && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let left = entry.path();
            // The lines that it could not take belong to it.
            let _ = std::fs::remove_dir_all(with_ending(&left, ".lines"));
            let _ = std::fs::remove_file(left);
        }
    }
}

/// Whether nothing is wrong with a store.
fn is_whole(path: &Path) -> Result<bool> {
    let options = StoreOptions { read_only: true, ..StoreOptions::default() };
    let verified = Store::open_with(path, &options).and_then(|store| store.verify());
    match verified {
        Ok(verification) => Ok(verification.problems.is_empty()),
        Err(Error::Corrupted(_) | Error::Store(StoreError::NotAStore { .. })) => Ok(false),
        // The engine gives the file up. What the system does not let it read is no damage.
        Err(Error::Engine(error)) if error.io_error().is_none() => Ok(false),
        // Where the journal cannot be used, that is said, and nothing is given up unasked.
        Err(error) => Err(error),
    }
}
