//! Puts a store in the place of a damaged one.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use leafline_import::time::format_timestamp;
use serde::Serialize;

use super::path_text;
use super::salvage::Salvage;
use crate::destination::{end_of_links, folder_of, with_ending};
use crate::error::{Error, FileContext, Result, StoreError};
use crate::in_place::{is_refused_for_mount, write_over};
use crate::lasting::sync_folder;
use crate::private::new_file;
use crate::rights::Rights;
use crate::store::clock::now;
use crate::store::engine_file::{EngineFile, Recovery};
use crate::store::journal::{DAMAGED_ENDING, JOURNAL_ENDING};
use crate::store::{Store, StoreOptions, refine};

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
        let alone =
            EngineFile::new(file, Recovery::Skipped).map_err(|error| refine(error, path))?;
        // On a system without such locks nobody can be asked.
        if matches!(alone.take_alone(), Ok(false)) {
            return Err(Error::Store(StoreError::InUse { path: path.clone() }));
        }
        remove_unfinished(path);
        let time = format_timestamp(now()).replace(':', "-");
        let new = with_ending(path, &format!("{UNFINISHED}{time}"));
        let mut salvage = Self::salvage(path, &new)?;
        let mut made = Made { paths: vec![with_ending(&new, ".lines"), new.clone()] };
        if options.from_sources {
            salvage.import_sources(&new)?;
        }
        let file = File::open(&new).at("opening", &new)?;
        rights.give(&file).at("setting the rights of", &new)?;
        let kept = with_ending(path, &format!("{DAMAGED_ENDING}{time}"));
        // In this order the store is never without its name, nor without its journal; of the new one, the old one's journal is
        // known by its second name if this process is killed before it loses the first.
        keep(path, &kept).at("naming", &kept)?;
        made.paths.push(kept.clone());
        let (journal, beside) =
            (with_ending(path, JOURNAL_ENDING), with_ending(&kept, JOURNAL_ENDING));
        let has_journal = match keep(&journal, &beside) {
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            linked => linked.at("naming", &journal).map(|()| true)?,
        };
        made.paths.push(beside);
        match std::fs::rename(&new, path) {
            Err(error) if is_refused_for_mount(&error, path) => {
                let place = OpenOptions::new().write(true).open(path).at("opening", path)?;
                // From here on the store may have some of both, so that both stay until it has one, also for the next repair.
                made.paths.clear();
                let whole = with_ending(&new, "-whole");
                std::fs::rename(&new, &whole).at("naming", &whole)?;
                sync_folder(folder_of(path));
                write_over(&place, &file).at("writing", path)?;
                let _ = std::fs::remove_file(&whole);
            }
            // Some file systems of Windows name nothing over a file that is open.
            Err(error) if cfg!(windows) && error.kind() == ErrorKind::PermissionDenied => {
                drop(alone);
                std::fs::rename(&new, path).at("naming", path)?;
            }
            renamed => renamed.at("naming", path)?,
        }
        made.paths.clear();
        sync_folder(folder_of(path));
        if has_journal {
            std::fs::remove_file(&journal).at("naming", &journal)?;
            sync_folder(folder_of(path));
        }
        Ok(Some(Repair { salvage, kept }))
    }
}

/// Files that a repair has made next to the store. Removes them when it is dropped, unless they were taken out.
struct Made {
    paths: Vec<PathBuf>,
}

impl Drop for Made {
    fn drop(&mut self) {
        for path in &self.paths {
            let _ = std::fs::remove_file(path).or_else(|_| std::fs::remove_dir_all(path));
        }
    }
}

/// Gives a file a second name, or where the file system has no hard links, a copy of the file.
fn keep(path: &Path, kept: &Path) -> std::io::Result<()> {
    match std::fs::hard_link(path, kept) {
        Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) => {}
        linked => return linked,
    }
    let file = File::open(path)?;
    let copy = new_file().write(true).create_new(true).open(kept)?;
    let copied = write_over(&copy, &file);
    // Where it cannot have them, only this user can open it.
    let _ = Rights::of(&file).and_then(|rights| rights.lend(&copy));
    if copied.is_err() {
        let _ = std::fs::remove_file(kept);
    }
    copied
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
        Err(Error::Engine(error)) if !error.is_refusal() => Ok(false),
        // Where the journal cannot be used, that is said, and nothing is given up unasked.
        Err(error) => Err(error),
    }
}
