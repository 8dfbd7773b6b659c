//! The events of several processes, in the order in which they happened.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Result, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use bincode::{Decode, Encode};

use super::{Event, FileId, Identity};

/// Bytes of the number of a process.
const ENTRY: usize = 4;

/// A file to which each process adds its number when it notes an event. What one call appends is not mixed with what others do.
#[derive(Debug)]
pub(super) struct Order {
    file: File,
    process: u32,
    own: AtomicU64,
}

impl Order {
    pub(super) fn open(path: &Path, process: u32) -> Result<Self> {
        let file = File::options().append(true).create(true).open(path)?;
        Ok(Self { file, process, own: AtomicU64::new(0) })
    }

    /// Notes that this process has noted its next event.
    pub(super) fn note(&self) {
        (&self.file).write_all(&self.process.to_le_bytes()).expect("the order takes a number");
        self.own.fetch_add(1, Ordering::Relaxed);
    }

    /// How many events the other processes have noted.
    pub(super) fn others(&self) -> u64 {
        let bytes = self.file.metadata().expect("an open file has facts").len();
        (bytes / ENTRY as u64).saturating_sub(self.own.load(Ordering::Relaxed))
    }
}

/// What a process has noted: its events, and which file each of its numbers is.
#[derive(Debug, Default, Encode, Decode)]
pub(crate) struct Noted {
    pub(super) events: Vec<Event>,
    pub(super) files: Vec<Identity>,
}

/// Puts the events of processes in their order. The files are numbered as those of the first process are, and on from there.
///
/// # Panics
///
/// If they are not the processes that have noted the order.
pub(crate) fn in_order(order: &[u8], processes: Vec<Noted>) -> Vec<Event> {
    let first = processes.first().map_or(&[][..], |first| &first.files);
    let mut files = Files { current: HashMap::new(), count: 0, known: HashMap::new() };
    for (number, identity) in first.iter().enumerate() {
        files.add(0, FileId(number), *identity);
    }
    let mut events = Vec::new();
    // Of each process, behind which of all events its own come.
    let mut places: Vec<Vec<usize>> = processes.iter().map(|_| vec![0]).collect();
    let mut rest: Vec<_> =
        processes.into_iter().map(|noted| (noted.events.into_iter(), noted.files)).collect();
    for process in order.chunks_exact(ENTRY) {
        let process = u32::from_le_bytes(process.try_into().expect("a chunk of this length"));
        let process = process as usize;
        let (own, identities) = &mut rest[process];
        let mut event = own.next().expect("an event for each time that one was noted");
        let mut file = |file: &mut FileId| *file = files.of(process, *file, identities);
        match &mut event {
            Event::Created { file: made } => {
                let number = *made;
                *made = files.add(process, number, identities[number.0]);
            }
            Event::Write { file: of, .. } | Event::Length { file: of, .. } => file(of),
            Event::Named { file: of, .. } => of.iter_mut().for_each(file),
            Event::Synced { file: of, until } | Event::Forgotten { file: of, until } => {
                file(of);
                *until = places[process][*until];
            }
            Event::FolderSynced { until } => *until = places[process][*until],
            Event::SyncBegins | Event::Began(_) | Event::Returned(_) => {}
        }
        events.push(event);
        places[process].push(events.len());
    }
    assert!(rest.iter_mut().all(|(own, _)| own.next().is_none()), "an event out of the order");
    events
}

/// The numbers of files over all processes.
struct Files {
    /// Which file is the one of an identity now.
    current: HashMap<Identity, FileId>,
    count: usize,
    /// By a process and its own number.
    known: HashMap<(usize, FileId), FileId>,
}

impl Files {
    fn add(&mut self, process: usize, own: FileId, identity: Identity) -> FileId {
        let file = FileId(self.count);
        self.count += 1;
        self.current.insert(identity, file);
        self.known.insert((process, own), file);
        file
    }

    fn of(&mut self, process: usize, own: FileId, identities: &[Identity]) -> FileId {
        if let Some(file) = self.known.get(&(process, own)) {
            return *file;
        }
        let identity = identities[own.0];
        match self.current.get(&identity) {
            Some(file) => {
                self.known.insert((process, own), *file);
                *file
            }
            None => self.add(process, own, identity),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(number: u64) -> Identity {
        (1, number, None)
    }

    fn write(file: usize) -> Event {
        Event::Write { file: FileId(file), at: 0, bytes: vec![0] }
    }

    /// The files that are written, in order.
    fn written(events: &[Event]) -> Vec<FileId> {
        let file = |event: &Event| match event {
            Event::Write { file, .. } => Some(*file),
            _ => None,
        };
        events.iter().filter_map(file).collect()
    }

    #[test]
    fn a_sync_has_what_other_processes_wrote_before_it_began() {
        let script = Noted { events: vec![Event::Began(7)], files: vec![identity(10)] };
        // One makes a file, writes it, and syncs it.
        let one = Noted {
            events: vec![
                Event::Created { file: FileId(1) },
                write(1),
                Event::SyncBegins,
                Event::Synced { file: FileId(1), until: 3 },
            ],
            files: vec![identity(10), identity(11)],
        };
        // The other writes it too, before and after the sync began, and the first file.
        let other = Noted {
            events: vec![write(1), write(1), write(0)],
            files: vec![identity(10), identity(11)],
        };
        let order: Vec<u8> =
            [0_u32, 1, 1, 2, 1, 2, 1, 2].iter().flat_map(|process| process.to_le_bytes()).collect();
        let events = in_order(&order, vec![script, one, other]);
        let synced = events.iter().find_map(|event| match event {
            Event::Synced { file, until } => Some((*file, *until)),
            _ => None,
        });
        assert_eq!(synced, Some((FileId(1), 5)));
        assert_eq!(written(&events), [1, 1, 1, 0].map(FileId));
    }

    #[test]
    fn a_file_that_is_made_under_the_number_of_a_deleted_one_is_another() {
        let made = || Noted {
            events: vec![Event::Created { file: FileId(0) }, write(0)],
            files: vec![identity(5)],
        };
        let order: Vec<u8> = [1_u32, 1, 2, 2].iter().flat_map(|it| it.to_le_bytes()).collect();
        let events = in_order(&order, vec![Noted::default(), made(), made()]);
        assert_eq!(written(&events), [0, 1].map(FileId));
    }
}
