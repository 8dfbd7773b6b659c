//! What a loss of power leaves of a store and its journal: whatever of the writes that were not synced reached the disk, in
//! whatever order and with torn sectors, what was acknowledged is there, once and in its place.
//!
//! Two or three threads over two open stores, as two processes have them, play a random script at once: while one waits for
//! a sync, others write. All that happens to the files and to the journal's name is recorded, and from the record the files
//! are made as they may be after a loss of power at each moment. What has to be there follows from what the calls returned.
//!
//! The whole of it: `LEAFLINE_POWER_LOSS=10000 cargo test --workspace --lib power_loss -- --nocapture`, the number of images
//! of random subsets, and the prefix at each event; `LEAFLINE_POWER_LOSS_SEED=S` begins with another script.
//!
//! It fails if one of these is planted:
//!
//! - what is written is not on the disk when it is acknowledged: no sync of the journal, or none of the store at a commit; a
//!   thread, or a process, that shares another one's sync although it wrote after that began; a failed sync that a later one
//!   makes good;
//! - the order is wrong: an area is used again before what it has is folded; how far a fold came is in another commit than
//!   what it folded; a journal gets its name before its bytes are on the disk, or an epoch begins before the name is;
//! - what is read back is not checked: no checksum; of the numbers and the checksums by which records are a chain, neither;
//! - an appender does not see what others have appended; it builds on what another could not write.
//!
//! Each of the number, the epoch and the repeated checksum of a record says nearly what the others say, so that it takes the
//! tests of the journal's file to miss one of them.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod calls;
mod disk;
mod expected;
mod failing;
mod script;
mod torn;
mod visible;

use std::path::{Path, PathBuf};

use self::disk::{Kept, Moment};
use self::expected::{found, problem};
use self::script::{Played, Script};
use super::Persistence;
use crate::store::recorder::{Event, STORE};
use crate::store::{Store, StoreOptions};

/// Numbers that follow from a seed.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A place among so many that follows from a seed.
    fn place(seed: u64, count: u64) -> usize {
        usize::try_from(seed % count).unwrap()
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap()
    }
}

/// A folder in memory, if there is one.
fn memory() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() }
}

/// A store that is only read.
fn reading(path: &Path) -> Store {
    let options = StoreOptions { read_only: true, ..StoreOptions::default() };
    Store::open_with(path, &options).unwrap()
}

impl Played {
    /// Checks what a store is after a loss of power.
    fn check(
        &self,
        event: usize,
        moment: &Moment,
        folder: &Path,
        (random, kept): (&mut Random, Kept),
        told: &str,
    ) {
        let path = folder.join("store");
        moment.write(folder, random, kept);
        let check = |store: &Store| {
            let found = found(store);
            if let Some(problem) = problem(&self.threads, &self.times, event, &found) {
                panic!("{told}: {problem}");
            }
            found
        };
        if kept == Kept::All && event.is_multiple_of(3) {
            let options = StoreOptions { read_only: true, ..StoreOptions::default() };
            check(
                &Store::open_with(&path, &options)
                    .unwrap_or_else(|error| panic!("{told}: {error}")),
            );
        }
        let store = Store::open(&path).unwrap_or_else(|error| panic!("{told}: {error}"));
        let there = check(&store);
        let problems = store.verify().unwrap().problems;
        assert!(problems.is_empty(), "{told}: {problems:#?}");
        // And it goes on.
        let (id, before) = there.iter().find(|(id, _)| id.ends_with("pi")).unwrap();
        let mut after = before.clone();
        let mut session = store.session(id).unwrap().with_persistence(Persistence::immediate());
        for _ in 0..3 {
            let message = serde_json::json!({"role": "user", "content": "more", "timestamp": 1});
            after.add(session.append_message(&message).unwrap());
        }
        drop((session, store));
        assert_eq!(found(&reading(&path))[id], after, "{told}");
    }
}

/// How many images were looked at.
#[derive(Debug, Default)]
struct Counts {
    prefixes: u64,
    subsets: u64,
    /// Moments at which several records were not synced.
    together: u64,
    /// How often the second area of a journal was begun.
    areas: u64,
}

/// Plays a script, and checks images of it: the prefixes that end with each so many-th event, and subsets likewise.
fn check_script(script: &Script, (prefixes, subsets): (u64, u64), counts: &mut Counts) {
    let folder = tempfile::tempdir_in(memory()).unwrap();
    let played = script.play();
    let mut random = Random(script.seed ^ 0xABCD);
    let every = |wanted: u64| (played.events.len() as u64).div_ceil(wanted.max(1)).max(1);
    let (prefix_every, subset_every) = (every(prefixes), every(subsets));
    let mut moment = played.before();
    for (event, happened) in played.events.iter().enumerate() {
        moment.take(event, happened);
        counts.together += u64::from(moment.unsynced_records() > 1);
        // The second area begins behind the first page, the first area, and a page.
        let second = script.area.map(|area| area + 2 * 4096);
        let is_second = |at: u64| Some(at) == second;
        counts.areas += u64::from(matches!(
            happened,
            Event::Write { file, at, .. } if *file != STORE && is_second(*at)
        ));
        let told = format!("{script:?}, event {event}");
        // Others leave what is there, and what has to be.
        let matters = !matches!(
            happened,
            Event::Synced { .. } | Event::FolderSynced { .. } | Event::Began(_)
        );
        if event as u64 % prefix_every == script.seed % prefix_every
            && (matters || prefix_every > 1)
        {
            let how = (&mut random, Kept::All);
            played.check(event, &moment, folder.path(), how, &format!("{told}, prefix"));
            counts.prefixes += 1;
        }
        if (event as u64 + 1) % subset_every == script.seed % subset_every {
            let kept = if random.below(5) == 0 { Kept::None } else { Kept::Some };
            let how = (&mut random, kept);
            played.check(event, &moment, folder.path(), how, &format!("{told}, {kept:?}"));
            counts.subsets += 1;
        }
    }
}

fn variable(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap())
}

#[test]
fn what_was_acknowledged_survives_a_power_loss() {
    let images = variable("LEAFLINE_POWER_LOSS", 280);
    let mut seed = variable("LEAFLINE_POWER_LOSS_SEED", 1);
    let is_full = images >= 10_000;
    let mut counts = Counts::default();
    while counts.subsets < images {
        let area = [Some(8 << 10), Some(16 << 10), None, Some(64 << 10)][Random::place(seed, 4)];
        let script = Script { seed, steps: 30, parts: 2, area, text: 2000, fails: false };
        let (prefixes, subsets) = if is_full { (u64::MAX, 2500) } else { (20, 40) };
        check_script(&script, (prefixes, subsets), &mut counts);
        seed += 1;
        println!("{counts:?}");
    }
    println!("{counts:?}, the last script {}", seed - 1);
    assert!(counts.together > 20 && counts.areas > 4, "{counts:?}");
}

#[test]
fn what_was_acknowledged_survives_failures_of_the_system() {
    let images = variable("LEAFLINE_POWER_LOSS", 120);
    let mut seed = variable("LEAFLINE_POWER_LOSS_SEED", 1);
    let mut counts = Counts::default();
    while counts.subsets < images {
        let area = Some([8 << 10, 32 << 10][Random::place(seed, 2)]);
        let script = Script { seed, steps: 40, parts: 1, area, text: 2000, fails: true };
        check_script(&script, (10, if images >= 10_000 { 200 } else { 15 }), &mut counts);
        seed += 1;
    }
    println!("{counts:?}, the last script {}", seed - 1);
}

#[test]
fn areas_of_the_usual_size_are_used_again() {
    let script =
        Script { seed: 1, steps: 110, parts: 1, area: Some(4 << 20), text: 200_000, fails: false };
    let mut counts = Counts::default();
    let images = variable("LEAFLINE_POWER_LOSS", 20) / 50;
    check_script(&script, (images.max(5), images.max(20)), &mut counts);
    println!("{counts:?}");
    assert!(counts.areas > 1, "{counts:?}");
}
