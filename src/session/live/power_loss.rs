//! What a loss of power leaves of a store and its journal: whatever of the writes that were not synced reached the disk, in
//! whatever order and with torn sectors, what was acknowledged is there, once and in its place.
//!
//! Two handles of a store, as two processes have them, play a random script in turn. All writes to both files are recorded,
//! and from the record the files are made as they may be after a loss of power at each moment.
//!
//! The whole of it: `LEAFLINE_POWER_LOSS=10000 cargo test --workspace --lib power_loss -- --nocapture`, the number of images
//! of random subsets; `LEAFLINE_POWER_LOSS_SEED=S` begins with another script.
//!
//! Bugs that were planted and that it catches: no sync before the acknowledgement; a checksum that is not compared. It does
//! not catch an append that builds on what is only visible, since here each call ends before the next begins, nor an area
//! that is used again too early, since so much is not appended.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::PoisonError;

use leafline_import::Family;

use super::{NewSession, Persistence, RepeatedIds, Session};
use crate::store::Store;
use crate::store::StoreOptions;
use crate::store::recorder::{self, Event, Place};

/// Bytes that a disk writes as one.
const SECTOR: usize = 512;

/// Numbers that follow from a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap()
    }
}

/// The entries of each session, with their parents, in their order, and the leaf.
type State = BTreeMap<String, (Vec<(Option<String>, Option<String>)>, Option<String>)>;

fn state_of(store: &Store) -> State {
    let mut state = State::new();
    for facts in store.sessions().unwrap() {
        let reader = store.reader(&facts.id).unwrap();
        let mut entries = Vec::new();
        reader
            .get_entries(|entry| {
                entries.push((entry.id(), entry.parent_id()));
                Ok(true)
            })
            .unwrap();
        state.insert(facts.id.to_string(), (entries, reader.get_leaf_id().unwrap()));
    }
    state
}

/// A script that was played: the events, what the files were before, and the state after each acknowledgement.
struct Played {
    before: Vec<u8>,
    events: Vec<Event>,
    states: Vec<State>,
}

const IDS: [&str; 3] = ["one", "two", "three"];

fn begin(store: &Store, id: &str, family: Family) -> Session {
    let mut new = NewSession::new(family, "/work");
    new.id = Some(id.to_owned());
    new.persistence = Some(Persistence::immediate());
    store.create_session(&new).unwrap()
}

/// A handle of the store, and its sessions.
struct Handle {
    store: Store,
    sessions: BTreeMap<String, Session>,
}

impl Handle {
    fn open(path: &Path) -> Self {
        Self { store: Store::open(path).unwrap(), sessions: BTreeMap::new() }
    }

    /// The session, opened once.
    fn session(&mut self, id: &str) -> &mut Session {
        let store = &self.store;
        self.sessions.entry(id.to_owned()).or_insert_with(|| {
            store.session(id).unwrap().with_persistence(Persistence::immediate())
        })
    }
}

fn play(seed: u64, steps: usize) -> Played {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    {
        let store = Store::open(&path).unwrap();
        begin(&store, IDS[0], Family::Pi);
        begin(&store, IDS[1], Family::Claude);
    }
    let before = std::fs::read(&path).unwrap();
    let record = recorder::record(&path);
    let mut random = Random(seed);
    let mut handles = [0, 1].map(|_| Handle::open(&path));
    let mut states = vec![state_of(&handles[0].store)];
    let mut made = 2;
    for step in 0..steps {
        let handle = random.below(2);
        let Handle { store, .. } = &handles[handle];
        let store = store.clone();
        let id = IDS[random.below(made)];
        let text = "x".repeat(match random.below(12) {
            0 => 60_000,
            1 => 300_000,
            _ => 10 + random.below(2000),
        });
        let user =
            |text: &str| serde_json::json!({"role": "user", "content": text, "timestamp": 1});
        match random.below(24) {
            0..=9 => {
                let message = user(&format!("{step} {text}"));
                handles[handle].session(id).append_message(&message).unwrap();
            }
            10..=12 if id != IDS[1] => {
                let session = handles[handle].session(id);
                let leaf = session.reader().unwrap().get_leaf_id().unwrap();
                let line = serde_json::json!({
                    "type": "message", "id": format!("raw{step}"), "parentId": leaf,
                    "timestamp": "2026-01-01T00:00:00.000Z", "message": user(&text),
                });
                session.append_lines(line.to_string().as_bytes(), RepeatedIds::Ignore).unwrap();
            }
            13 | 14 => {
                let session = handles[handle].session(id);
                let (entries, _) = &states[states.len() - 1][id];
                if let Some((Some(entry), _)) = entries.get(random.below(entries.len())) {
                    session.branch(&entry.clone()).unwrap();
                }
            }
            15 => handles[handle].session(id).reset_leaf().unwrap(),
            16 if id != IDS[1] => {
                drop(handles[handle].session(id).set_session_name(&format!("name {step}")));
            }
            17 if made < IDS.len() => {
                begin(&store, IDS[made], Family::Omp);
                made += 1;
            }
            18 => {
                // The other one reads, and so folds.
                handles[1 - handle].store.sessions().unwrap();
            }
            19 => {
                drop(store);
                handles[handle].sessions.clear();
                handles[handle] = Handle::open(&path);
            }
            20 => {
                drop(store);
                for handle in &mut handles {
                    handle.sessions.clear();
                }
                let [one, two] = handles;
                drop((one, two));
                handles = [0, 1].map(|_| Handle::open(&path));
            }
            _ => {
                let session = handles[handle].session(id);
                let drafts = (0..3).map(|_| user(&text)).collect::<Vec<_>>();
                for draft in drafts {
                    session.append_message(&draft).unwrap();
                    record.lock().unwrap().push(Event::Acknowledged);
                    states.push(look(&path));
                }
                continue;
            }
        }
        record.lock().unwrap_or_else(PoisonError::into_inner).push(Event::Acknowledged);
        states.push(look(&path));
    }
    for handle in handles {
        drop(handle);
    }
    record.lock().unwrap().push(Event::Acknowledged);
    states.push(look(&path));
    recorder::forget(&record);
    let events = std::mem::take(&mut *record.lock().unwrap());
    Played { before, events, states }
}

/// The state, without a write.
fn look(path: &Path) -> State {
    let options = StoreOptions { read_only: true, ..StoreOptions::default() };
    state_of(&Store::open_with(path, &options).unwrap())
}

/// A file as it is on the disk, and what was written to it since.
#[derive(Default, Clone)]
struct Disk {
    durable: Vec<u8>,
    /// The places of the events, too.
    unsynced: Vec<(usize, Change)>,
}

#[derive(Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Length(usize),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>, keeps: &mut impl FnMut() -> bool) {
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
    fn sync(&mut self, until: usize) {
        let (synced, left): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.unsynced).into_iter().partition(|(event, _)| *event < until);
        for (_, change) in synced {
            change.apply(&mut self.durable, &mut || true);
        }
        self.unsynced = left;
    }

    /// The file after a loss of power.
    fn image(&self, random: &mut Random, kind: usize) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        for (_, change) in &self.unsynced {
            let torn = random.below(4) == 0;
            let kept = random.below(2) == 0;
            change.apply(&mut bytes, &mut || match kind {
                0 => true,
                1 => false,
                _ if torn => random.below(2) == 0,
                _ => kept,
            });
        }
        bytes
    }
}

/// The files at one moment, and how many acknowledgements there were.
struct Moment {
    store: Disk,
    journal: Option<Disk>,
    acknowledged: usize,
}

impl Moment {
    fn disk(&mut self, place: Place) -> &mut Disk {
        match place {
            Place::Store => &mut self.store,
            Place::Journal => self.journal.as_mut().unwrap(),
        }
    }
}

impl Played {
    /// Passes on each moment.
    fn each(&self, mut take: impl FnMut(usize, &Moment)) {
        let store = Disk { durable: self.before.clone(), unsynced: Vec::new() };
        let mut moment = Moment { store, journal: None, acknowledged: 0 };
        for (place, event) in self.events.iter().enumerate() {
            match event {
                Event::Write { place: of, at, bytes } => {
                    let at = usize::try_from(*at).unwrap();
                    moment.disk(*of).unsynced.push((place, Change::Write(at, bytes.clone())));
                }
                Event::Length { place: of, length } => {
                    let length = usize::try_from(*length).unwrap();
                    moment.disk(*of).unsynced.push((place, Change::Length(length)));
                }
                Event::Sync { place: of, until } => moment.disk(*of).sync(*until),
                Event::Made { bytes } => {
                    moment.journal = Some(Disk { durable: bytes.clone(), unsynced: Vec::new() });
                }
                Event::Acknowledged => moment.acknowledged += 1,
            }
            take(place, &moment);
        }
    }

    /// Checks what a store is after a loss of power.
    fn check(&self, moment: &Moment, folder: &Path, random: &mut Random, kind: usize, told: &str) {
        let path = folder.join("store");
        let journal = folder.join("store.journal");
        std::fs::write(&path, moment.store.image(random, kind)).unwrap();
        match &moment.journal {
            Some(disk) => std::fs::write(&journal, disk.image(random, kind)).unwrap(),
            None => drop(std::fs::remove_file(&journal)),
        }
        let may_be =
            &self.states[moment.acknowledged..(moment.acknowledged + 2).min(self.states.len())];
        if kind == 0 {
            let options = StoreOptions { read_only: true, ..StoreOptions::default() };
            let reader = Store::open_with(&path, &options);
            let reader = reader.unwrap_or_else(|error| panic!("{told}: {error}"));
            assert!(may_be.contains(&state_of(&reader)), "{told}: to a reader");
        }
        let store = Store::open(&path).unwrap_or_else(|error| panic!("{told}: {error}"));
        let found = state_of(&store);
        assert!(may_be.contains(&found), "{told}: {found:#?} is none of {may_be:#?}");
        let problems = store.verify().unwrap().problems;
        assert!(problems.is_empty(), "{told}: {problems:#?}");
        // And it goes on.
        let mut session = store.session(IDS[0]).unwrap();
        for _ in 0..2 {
            let leaf = session.reader().unwrap().get_leaf_id().unwrap();
            let id =
                session.append_message(&serde_json::json!({"role": "user", "content": "more"}));
            let entry = session.get_entry(&id.unwrap()).unwrap();
            assert_eq!(entry.parent_id(), leaf, "{told}");
        }
        drop((session, store));
        assert_eq!(look(&path)[IDS[0]].0.len(), found[IDS[0]].0.len() + 2, "{told}");
    }
}

fn variable(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap())
}

#[test]
fn what_was_acknowledged_survives_a_power_loss() {
    let images = variable("LEAFLINE_POWER_LOSS", 400);
    let mut seed = variable("LEAFLINE_POWER_LOSS_SEED", 1);
    let folder = tempfile::Builder::new().tempdir_in(if Path::new("/dev/shm").is_dir() {
        Path::new("/dev/shm").to_owned()
    } else {
        std::env::temp_dir()
    });
    let folder = folder.unwrap();
    let (mut prefixes, mut subsets) = (0, 0);
    while subsets < images {
        let played = play(seed, 60);
        let mut random = Random(seed ^ 0xABCD);
        let events = played.events.len() as u64;
        // Of each script so many that there are several scripts in a short run.
        let share = (images / 4).clamp(1, 2000);
        let every = |wanted: u64| events.div_ceil(wanted).max(1);
        let (prefix_every, subset_every) = (every(share), every(share));
        played.each(|place, moment| {
            let told = format!("seed {seed}, event {place}");
            if place as u64 % prefix_every == seed % prefix_every {
                played.check(moment, folder.path(), &mut random, 0, &format!("{told}, prefix"));
                prefixes += 1;
            }
            if (place as u64 + 1) % subset_every == seed % subset_every {
                let kind = 1 + usize::from(!(place as u64 / subset_every).is_multiple_of(5));
                played.check(
                    moment,
                    folder.path(),
                    &mut random,
                    kind,
                    &format!("{told}, subset {kind}"),
                );
                subsets += 1;
            }
        });
        seed += 1;
    }
    println!("{prefixes} prefixes, {subsets} subsets, the last script {}", seed - 1);
}

/// Two handles and a session with so many appended messages, all of which are folded but those that follow `kept`. A copy
/// of the store is made before these, since the thread in the background may fold them.
fn filled(folder: &Path, count: usize, kept: usize) -> [Handle; 2] {
    let path = folder.join("store");
    begin(&Store::open(&path).unwrap(), IDS[0], Family::Pi);
    let mut handles = [0, 1].map(|_| Handle::open(&path));
    for number in 0..count {
        if number == kept {
            std::fs::copy(&path, folder.join("kept")).unwrap();
        }
        let text = format!("message{number:04}{}", "x".repeat(50_000));
        let message = serde_json::json!({"role": "user", "content": text, "timestamp": 1});
        handles[0].session(IDS[0]).append_message(&message).unwrap();
        if number < kept {
            handles[1].store.sessions().unwrap();
        }
    }
    handles
}

#[test]
fn a_torn_record_before_a_whole_one_in_the_other_area() {
    let second_area = |folder: &Path| {
        let journal = std::fs::read(folder.join("store.journal")).unwrap_or_default();
        let middle = journal.len() / 2;
        journal.get(middle + 4096..).is_some_and(|area| area.iter().any(|byte| *byte != 0))
    };
    // The first message that is in the other area.
    let first = (3..100).find(|count| {
        let folder = tempfile::tempdir().unwrap();
        let handles = filled(folder.path(), *count, usize::MAX);
        let is_there = second_area(folder.path());
        drop(handles);
        is_there
    });
    let first = first.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let handles = filled(folder.path(), first, first - 2);
    assert!(second_area(folder.path()));
    // Neither of the last two was synced, and of the one before the other area a part is lost.
    let left = tempfile::tempdir().unwrap();
    let mut journal = std::fs::read(folder.path().join("store.journal")).unwrap();
    let torn = format!("message{:04}", first - 2).into_bytes();
    let at = journal.windows(torn.len()).position(|bytes| bytes == torn).unwrap();
    journal[at..at + SECTOR].fill(0);
    std::fs::write(left.path().join("store.journal"), journal).unwrap();
    std::fs::copy(folder.path().join("kept"), left.path().join("store")).unwrap();
    drop(handles);
    assert_eq!(look(&left.path().join("store"))[IDS[0]].0.len(), first - 2);
    // The whole one stays there, behind the end of the journal.
    for more in 0..3 {
        let mut handle = Handle::open(&left.path().join("store"));
        assert_eq!(state_of(&handle.store)[IDS[0]].0.len(), first - 2 + 2 * more);
        for _ in 0..2 {
            let message = serde_json::json!({"role": "user", "content": "more", "timestamp": 1});
            handle.session(IDS[0]).append_message(&message).unwrap();
        }
    }
}
