//! Opens images of what a loss of power leaves, and compares what is in them with what was told.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_128;

use super::Random;
use super::disk::{Image, JOURNAL_NAME, STORE_NAME};
use super::expected::{Sessions, found_in, is_beside, problem};
use super::run::words;
use super::script::Played;
use super::shared::SHARED;
use super::stores::BACKUP_NAME;
use crate::error::Result;
use crate::session::live::Persistence;
use crate::store::{Store, StoreOptions};

/// What distinguishes a store and its journal from others.
type Hash = (u128, Option<u128>);

/// A place where images are opened, one after another.
#[derive(Debug)]
pub(super) struct Desk {
    folder: TempDir,
    /// What was found in the stores of the script at hand.
    known: HashMap<Hash, Arc<Sessions>>,
    images: HashSet<u128>,
    /// Stores that were opened.
    pub(super) opened: u64,
}

/// How thoroughly a store is looked at beyond what is always done.
#[derive(Debug, Clone, Copy)]
struct Thoroughness {
    /// Whether it is first read by who may not write it.
    reads_first: bool,
    /// Whether more is appended, and the store is opened again.
    goes_on: bool,
}

impl Desk {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir_in(super::memory()).unwrap();
        Self { folder, known: HashMap::new(), images: HashSet::new(), opened: 0 }
    }

    /// Forgets the images of the script before.
    pub(super) fn clear(&mut self) {
        self.known.clear();
        self.images.clear();
    }

    /// Whether an image is not one of those before.
    pub(super) fn is_new(&mut self, image: &Image) -> bool {
        let mut hashes = Vec::new();
        for (name, bytes) in image {
            hashes.extend(name.as_bytes());
            hashes.extend(xxh3_128(bytes).to_le_bytes());
        }
        self.images.insert(xxh3_128(&hashes))
    }

    /// What is in the store of an image.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words.
    pub(super) fn look(
        &mut self,
        image: &Image,
        name: &str,
        random: &mut Random,
    ) -> std::result::Result<Arc<Sessions>, String> {
        let store = &image[name];
        let journal = image.get(&format!("{name}{}", &JOURNAL_NAME[STORE_NAME.len()..]));
        let hash = (xxh3_128(store), journal.map(|bytes| xxh3_128(bytes)));
        let how = Thoroughness { reads_first: random.below(8) == 0, goes_on: random.below(8) == 0 };
        if let Some(known) = self.known.get(&hash) {
            return Ok(Arc::clone(known));
        }
        self.put(STORE_NAME, Some(store));
        self.put(JOURNAL_NAME, journal);
        self.opened += 1;
        let path = self.folder.path().join(STORE_NAME);
        let examined = catch_unwind(AssertUnwindSafe(|| examine(&path, how)));
        let found = match examined {
            Ok(Ok(examined)) => examined?,
            Ok(Err(error)) => return Err(format!("{error}")),
            Err(panic) => return Err(words(&*panic)),
        };
        let found = Arc::new(found);
        self.known.insert(hash, Arc::clone(&found));
        Ok(found)
    }

    /// Writes a file, in place if it is there.
    fn put(&self, name: &str, bytes: Option<&Arc<Vec<u8>>>) {
        let path = self.folder.path().join(name);
        let Some(bytes) = bytes else {
            drop(std::fs::remove_file(&path));
            return;
        };
        let file = File::options().write(true).create(true).truncate(false).open(&path).unwrap();
        file.write_all_at(bytes, 0).unwrap();
        file.set_len(bytes.len() as u64).unwrap();
    }
}

/// Opens a store as the next process does after a loss of power. In the answer an error is of the system, or of a store that
/// cannot be opened or read; what is wrong with one that can is in words.
fn examine(path: &PathBuf, how: Thoroughness) -> Result<std::result::Result<Sessions, String>> {
    let options = StoreOptions { create: false, ..StoreOptions::default() };
    let reading = StoreOptions { read_only: true, ..options.clone() };
    let read = match how.reads_first {
        true => Some(found_in(&Store::open_with(path, &reading)?)?),
        false => None,
    };
    let store = Store::open_with(path, &options)?;
    let found = found_in(&store)?;
    if read.is_some_and(|read| read != found) {
        return Ok(Err("who reads it finds something else than who writes it".to_owned()));
    }
    let problems = store.verify()?.problems;
    if !problems.is_empty() {
        return Ok(Err(format!("{problems:#?}")));
    }
    let takes_more = |id: &&String| id.ends_with("pi") || *id == SHARED;
    if let Some(id) = found.keys().find(takes_more).filter(|_| how.goes_on) {
        let mut after = found.clone();
        let mut session = store.session(id)?.with_persistence(Persistence::keep_everything());
        for _ in 0..3 {
            let message = serde_json::json!({"role": "user", "content": "more", "timestamp": 1});
            after.get_mut(id).unwrap().add(session.append_message(&message)?);
        }
        drop((session, store));
        let store = Store::open_with(path, &reading)?;
        if found_in(&store)? != after || !store.verify()?.problems.is_empty() {
            return Ok(Err(format!("what was then appended to {id} is not there")));
        }
    }
    Ok(Ok(found))
}

impl Played {
    /// Checks an image of what a loss of power at an event leaves. Returns what is in the store.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words.
    pub(super) fn check(
        &self,
        desk: &mut Desk,
        event: usize,
        image: &Image,
        random: &mut Random,
    ) -> std::result::Result<Arc<Sessions>, String> {
        let found = desk.look(image, STORE_NAME, random)?;
        let threads = &self.threads;
        let wrong = problem(threads, &self.shared, &self.times, (event, event), &found);
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        self.check_backup(desk, event, image, random)?;
        for thread in threads {
            let name = format!("{}beside", thread.prefix);
            let is_there = image.contains_key(&name);
            let there = match is_there {
                true => desk.look(image, &name, random)?,
                false => Arc::default(),
            };
            let of_thread = |id: &str| is_beside(id);
            if let Some(wrong) = thread.problem(&self.times, (event, event), &there, of_thread) {
                return Err(format!("the store {name}: {wrong}"));
            }
        }
        Ok(found)
    }

    /// A backup is one moment of the store during the call that made it; during the next call also the one before.
    fn check_backup(
        &self,
        desk: &mut Desk,
        event: usize,
        image: &Image,
        random: &mut Random,
    ) -> std::result::Result<(), String> {
        let spans = self.threads.iter().flat_map(|thread| &thread.backups);
        let spans = spans.map(|call| self.times[call]).filter(|(began, _)| *began <= event);
        let spans: Vec<_> = spans.collect();
        let last = spans.iter().rposition(|(_, returned)| *returned <= event);
        if !image.contains_key(BACKUP_NAME) {
            return last.map_or(Ok(()), |_| Err("the backup is not there".to_owned()));
        }
        let found = desk.look(image, BACKUP_NAME, random).map_err(|it| format!("backup: {it}"))?;
        let mut wrong = None;
        for (began, returned) in &spans[last.unwrap_or(0)..] {
            let span = (*began, (*returned).min(event));
            match problem(&self.threads, &self.shared, &self.times, span, &found) {
                None => return Ok(()),
                problem => wrong = problem,
            }
        }
        Err(format!("backup: {wrong:?}"))
    }
}
