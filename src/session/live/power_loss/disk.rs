//! The files of a store as they may be after a loss of power.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Random;
use crate::store::recorder::{Event, FileId, STORE};

/// Bytes that a disk writes as one.
pub(super) const SECTOR: usize = 512;

/// The names of the store and its journal.
pub(super) const STORE_NAME: &str = "store";
pub(super) const JOURNAL_NAME: &str = "store.journal";

/// What of the writes that are not certainly on the disk is there after a loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// All, as after `kill -9`.
    All,
    /// Nothing.
    None,
    /// Some, whatever their order, and of some only some sectors.
    Some,
}

#[derive(Debug, Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Length(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Synced,
    /// The next sync puts it on the disk.
    Unsynced,
    /// No sync does: the system failed to write it.
    Forgotten,
}

/// A file: bytes that are on the disk, and what happened to them since, in order.
#[derive(Debug, Default)]
struct Disk {
    base: Arc<Vec<u8>>,
    changes: Vec<(usize, Change, Fate)>,
}

/// A name in the folder: what it stood for, with the events since which it did, and which of these is certainly on the disk.
#[derive(Debug)]
struct Name {
    files: Vec<(usize, Option<FileId>)>,
    lasting: usize,
}

/// The files of a folder by their names.
pub(super) type Image = BTreeMap<String, Arc<Vec<u8>>>;

/// The files at one moment.
#[derive(Debug)]
pub(super) struct Moment {
    files: Vec<Disk>,
    names: BTreeMap<String, Name>,
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>, mut keeps: impl FnMut() -> bool) {
        match self {
            Self::Write(at, written) => {
                for (index, sector) in written.chunks(SECTOR).enumerate() {
                    if keeps() {
                        let at = at + index * SECTOR;
                        if bytes.len() < at + sector.len() {
                            bytes.resize(at + sector.len(), 0);
                        }
                        bytes[at..at + sector.len()].copy_from_slice(sector);
                    }
                }
            }
            Self::Length(length) => {
                if keeps() {
                    bytes.resize(*length, 0);
                }
            }
        }
    }
}

impl Disk {
    fn settle(&mut self, until: usize, fate: Fate) {
        for (event, _, now) in &mut self.changes {
            if *event < until && *now == Fate::Unsynced {
                *now = fate;
            }
        }
        let synced = self.changes.iter().take_while(|(_, _, fate)| *fate == Fate::Synced).count();
        if synced > 0 {
            let base = Arc::make_mut(&mut self.base);
            for (_, change, _) in self.changes.drain(..synced) {
                change.apply(base, || true);
            }
        }
    }

    fn image(&self, random: &mut Random, kept: Kept) -> Arc<Vec<u8>> {
        let is_synced = |(_, _, fate): &(usize, Change, Fate)| *fate == Fate::Synced;
        if self.changes.is_empty() || (kept == Kept::None && !self.changes.iter().any(is_synced)) {
            return Arc::clone(&self.base);
        }
        let mut bytes = Vec::clone(&self.base);
        for (_, change, fate) in &self.changes {
            let is_torn = random.below(4) == 0;
            let is_kept = random.below(2) == 0;
            change.apply(&mut bytes, || match (fate, kept) {
                (Fate::Synced, _) | (_, Kept::All) => true,
                (_, Kept::None) => false,
                _ if is_torn => random.below(2) == 0,
                _ => is_kept,
            });
        }
        Arc::new(bytes)
    }
}

impl Moment {
    /// The files before the first event.
    pub(super) fn before(store: Vec<u8>, journal: Option<Vec<u8>>) -> Self {
        let name = |file| Name { files: vec![(0, Some(file))], lasting: 0 };
        let mut names = BTreeMap::from([(STORE_NAME.to_owned(), name(STORE))]);
        if journal.is_some() {
            names.insert(JOURNAL_NAME.to_owned(), name(FileId(1)));
        }
        let disk = |base| Disk { base: Arc::new(base), changes: Vec::new() };
        let files = std::iter::once(store).chain(journal).map(disk).collect();
        Self { files, names }
    }

    fn disk(&mut self, file: FileId) -> &mut Disk {
        if self.files.len() <= file.0 {
            self.files.resize_with(file.0 + 1, Disk::default);
        }
        &mut self.files[file.0]
    }

    /// Goes on by an event.
    pub(super) fn take(&mut self, number: usize, event: &Event) {
        let byte = |at: &u64| usize::try_from(*at).unwrap();
        let mut change = |file: &FileId, change| {
            self.disk(*file).changes.push((number, change, Fate::Unsynced));
        };
        match event {
            Event::Write { file, at, bytes } => {
                change(file, Change::Write(byte(at), bytes.clone()))
            }
            Event::Length { file, length } => change(file, Change::Length(byte(length))),
            Event::Synced { file, until } => self.disk(*file).settle(*until, Fate::Synced),
            Event::Forgotten { file, until } => self.disk(*file).settle(*until, Fate::Forgotten),
            Event::Named { name, file } => {
                let none = || Name { files: vec![(0, None)], lasting: 0 };
                self.names.entry(name.clone()).or_insert_with(none).files.push((number, *file));
            }
            Event::FolderSynced { until } => {
                for name in self.names.values_mut() {
                    let lasting = name.files.iter().filter(|(event, _)| event < until).count();
                    name.lasting = lasting.max(1) - 1;
                }
            }
            Event::Created { .. } | Event::SyncBegins | Event::Began(_) | Event::Returned(_) => {}
        }
    }

    /// Records of the journal that are not synced.
    pub(super) fn unsynced_records(&self) -> usize {
        let is_unsynced = |(_, _, fate): &&(usize, Change, Fate)| *fate == Fate::Unsynced;
        let name = self.names.get(JOURNAL_NAME);
        let journals = name.into_iter().flat_map(|name| &name.files).filter_map(|(_, file)| *file);
        let disks = journals.filter_map(|file| self.files.get(file.0));
        disks.map(|disk| disk.changes.iter().filter(is_unsynced).count()).sum()
    }

    /// The files as they may be after a loss of power.
    pub(super) fn image(&self, random: &mut Random, kept: Kept) -> Image {
        let mut image = Image::new();
        for (name, stood) in &self.names {
            let last = stood.files.len() - 1;
            let place = match kept {
                Kept::All => last,
                Kept::None => stood.lasting,
                Kept::Some => stood.lasting + random.below(last - stood.lasting + 1),
            };
            if let Some(file) = stood.files[place].1 {
                let bytes = self.files.get(file.0).map(|disk| disk.image(random, kept));
                image.insert(name.clone(), bytes.unwrap_or_default());
            }
        }
        image
    }

    /// Writes the store and its journal as they may be after a loss of power.
    #[cfg(test)]
    pub(super) fn write(&self, folder: &std::path::Path, random: &mut Random, kept: Kept) {
        let image = self.image(random, kept);
        std::fs::write(folder.join(STORE_NAME), &*image[STORE_NAME]).unwrap();
        let journal = folder.join(JOURNAL_NAME);
        match image.get(JOURNAL_NAME) {
            Some(bytes) => std::fs::write(&journal, &**bytes).unwrap(),
            None => drop(std::fs::remove_file(&journal)),
        }
    }
}
