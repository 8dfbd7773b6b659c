//! The files of a store as they may be after a loss of power.

use std::path::Path;

use super::Random;
use crate::store::recorder::{Event, FileId, STORE};

/// Bytes that a disk writes as one.
pub(super) const SECTOR: usize = 512;

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
    base: Vec<u8>,
    changes: Vec<(usize, Change, Fate)>,
}

/// The files at one moment.
#[derive(Debug)]
pub(super) struct Moment {
    files: Vec<Disk>,
    /// The files that had the journal's name, with the events since which they have it.
    names: Vec<(usize, Option<FileId>)>,
    /// Which of these names is certainly on the disk.
    lasting_name: usize,
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
        for (_, change, _) in self.changes.drain(..synced) {
            change.apply(&mut self.base, || true);
        }
    }

    fn image(&self, random: &mut Random, kept: Kept) -> Vec<u8> {
        let mut bytes = self.base.clone();
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
        bytes
    }
}

impl Moment {
    /// The files before the first event.
    pub(super) fn before(store: Vec<u8>, journal: Option<Vec<u8>>) -> Self {
        let name = journal.is_some().then_some(FileId(1));
        let disk = |base| Disk { base, changes: Vec::new() };
        let files = std::iter::once(store).chain(journal).map(disk).collect();
        Self { files, names: vec![(0, name)], lasting_name: 0 }
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
            Event::Named(file) => self.names.push((number, *file)),
            Event::FolderSynced { until } => {
                let lasting = self.names.iter().filter(|(event, _)| event < until).count();
                self.lasting_name = lasting.max(1) - 1;
            }
            Event::Began(_) | Event::Returned(_) => {}
        }
    }

    /// Records of the journal that are not synced.
    pub(super) fn unsynced_records(&self) -> usize {
        let is_unsynced = |(_, _, fate): &&(usize, Change, Fate)| *fate == Fate::Unsynced;
        let journals = self.files.iter().skip(1);
        journals.map(|disk| disk.changes.iter().filter(is_unsynced).count()).sum()
    }

    /// Writes the files as they may be after a loss of power.
    pub(super) fn write(&self, folder: &Path, random: &mut Random, kept: Kept) {
        let last = self.names.len() - 1;
        let name = match kept {
            Kept::All => last,
            Kept::None => self.lasting_name,
            Kept::Some => self.lasting_name + random.below(last - self.lasting_name + 1),
        };
        let image = |file: FileId, random: &mut Random| self.files[file.0].image(random, kept);
        std::fs::write(folder.join("store"), image(STORE, random)).unwrap();
        let journal = folder.join("store.journal");
        match self.names[name].1 {
            Some(file) => std::fs::write(&journal, image(file, random)).unwrap(),
            None => drop(std::fs::remove_file(&journal)),
        }
    }
}
