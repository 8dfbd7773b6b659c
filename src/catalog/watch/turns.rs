//! Looks by turns at what the system reports nothing of: folders that have no watch, folders of file systems without events, and
//! links to files elsewhere.

use std::collections::{BTreeSet, HashMap};
use std::fs::Metadata;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// How often the files that were written lately are looked at, and how many of them at most.
const LATELY: Duration = Duration::from_secs(2);
const MOST_LATELY: usize = 256;

/// How long a file counts as written lately.
const HOUR: Duration = Duration::from_secs(3_600);

/// Seconds that a round over everything takes if there are many files: 100,000 are then 333 in a second.
const ROUND: usize = 300;

/// Files that a round looks at in a second, at least.
const LEAST: usize = 300;

/// The time between two rounds.
const PAUSE: Duration = Duration::from_secs(10);

/// The length and the modification time of a file, which tell a change. A folder has none.
type Stamp = Option<(u64, SystemTime)>;

/// What is looked at by turns.
#[derive(Debug)]
pub(super) struct Turns {
    /// Folders, without those in them, and links to files.
    places: BTreeSet<PathBuf>,
    /// What was seen, by the hash of its path, and in which round. For 100,000 files some 5 MB.
    seen: HashMap<u64, (Stamp, u32)>,
    hash: RandomState,
    /// The files that were written last.
    lately: Vec<(SystemTime, PathBuf)>,
    /// What this round has still to look at, and whether it is a place of its own.
    rest: Vec<(PathBuf, bool)>,
    round: u32,
    next_lately: Instant,
    next_round: Instant,
}

impl Default for Turns {
    fn default() -> Self {
        let now = Instant::now();
        Self {
            places: BTreeSet::new(),
            seen: HashMap::new(),
            hash: RandomState::new(),
            lately: Vec::new(),
            rest: Vec::new(),
            round: 0,
            next_lately: now,
            next_round: now,
        }
    }
}

impl Turns {
    pub(super) fn add(&mut self, place: PathBuf) {
        self.places.insert(place);
    }

    pub(super) fn remove(&mut self, place: &Path) {
        self.places.remove(place);
    }

    /// The folders among the places.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        self.places.iter().filter(|place| place.is_dir()).cloned().collect()
    }

    /// Whether a round is to begin.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        !self.places.is_empty() && self.rest.is_empty() && now >= self.next_round
    }

    /// Begins to look at everything.
    pub(super) fn begin_round(&mut self) {
        let gone: Vec<PathBuf> =
            self.places.iter().filter(|place| is_gone(place)).cloned().collect();
        for place in gone {
            // It may come back.
            self.seen.remove(&self.hash.hash_one(&place));
            self.places.remove(&place);
        }
        self.rest = self.places.iter().map(|place| (place.clone(), true)).collect();
        self.round = self.round.saturating_add(1);
    }

    /// Looks at some: is called about once in a second. Returns the files that were changed, and the folders that are new.
    pub(super) fn look(&mut self, now: Instant) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        if now >= self.next_lately {
            self.next_lately = now + LATELY;
            for (_, path) in std::mem::take(&mut self.lately) {
                self.look_at(path, false, &mut changed);
            }
        }
        if self.rest.is_empty() {
            return changed;
        }
        for _ in 0..LEAST.max(self.seen.len() / ROUND) {
            let Some((path, is_place)) = self.rest.pop() else { break };
            self.look_at(path, is_place, &mut changed);
        }
        if self.rest.is_empty() {
            self.next_round = now + PAUSE;
            let round = self.round;
            self.seen.retain(|_, (_, seen)| *seen == round);
        }
        changed
    }

    fn look_at(&mut self, path: PathBuf, is_place: bool, changed: &mut Vec<PathBuf>) {
        // One that is gone, or that the system does not let be looked at now.
        let Ok(metadata) = std::fs::metadata(&path) else { return };
        if is_place && metadata.is_dir() {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            self.rest.extend(entries.map(|entry| (entry.path(), false)));
        }
        let stamp = stamp(&metadata);
        let before = self.seen.insert(self.hash.hash_one(&path), (stamp, self.round));
        // One of the future is of now.
        let modified = stamp.map(|(_, modified)| modified.min(SystemTime::now()));
        let is_changed = match before {
            Some((before, _)) => before != stamp,
            // The sync at the beginning may have missed it, whatever its time is.
            None => self.round > 1 || !(is_place && metadata.is_dir()),
        };
        if is_changed {
            changed.push(path.clone());
        }
        let is_late = |at: SystemTime| at.elapsed().is_ok_and(|age| age > HOUR);
        if let Some(modified) = modified.filter(|at| is_changed || !is_late(*at)) {
            self.note_lately(modified, path);
        }
    }

    fn note_lately(&mut self, modified: SystemTime, path: PathBuf) {
        self.lately.retain(|(_, known)| *known != path);
        self.lately.push((modified, path));
        if self.lately.len() > MOST_LATELY {
            let oldest = self.lately.iter().enumerate().min_by_key(|(_, (at, _))| *at);
            if let Some(at) = oldest.map(|(at, _)| at) {
                self.lately.swap_remove(at);
            }
        }
    }
}

fn stamp(metadata: &Metadata) -> Stamp {
    let modified = metadata.modified().ok().filter(|_| !metadata.is_dir())?;
    Some((metadata.len(), modified))
}

fn is_gone(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What two looks find, a round apart.
    fn found(turns: &mut Turns) -> Vec<PathBuf> {
        turns.begin_round();
        turns.next_lately += HOUR;
        let mut found = turns.look(Instant::now());
        found.sort();
        found
    }

    #[test]
    fn changes_are_found_without_events() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("old"), "1").unwrap();
        let long_ago = SystemTime::now() - 2 * HOUR;
        let file = std::fs::File::options().write(true).open(at("old")).unwrap();
        file.set_modified(long_ago).unwrap();
        std::fs::write(at("new"), "1").unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        let mut turns = Turns::default();
        turns.add(folder.path().to_owned());
        // What the sync at the beginning may have missed.
        assert_eq!(found(&mut turns), [at("folder"), at("new"), at("old")]);
        assert!(found(&mut turns).is_empty());
        std::fs::write(at("old"), "12").unwrap();
        file.set_modified(long_ago).unwrap();
        std::fs::create_dir(at("other")).unwrap();
        assert_eq!(found(&mut turns), [at("old"), at("other")]);
        // One that was written lately does not wait for a round.
        std::fs::write(at("new"), "12").unwrap();
        turns.next_lately = Instant::now();
        assert_eq!(turns.look(Instant::now()), [at("new")]);
        std::fs::remove_dir_all(folder.path()).unwrap();
        assert!(found(&mut turns).is_empty() && turns.places.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let [target, link] = ["target", "link"].map(|name| folder.path().join(name));
        std::fs::write(&target, "1").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let mut turns = Turns::default();
        turns.add(link.clone());
        assert_eq!(found(&mut turns), std::slice::from_ref(&link));
        std::fs::write(&target, "12").unwrap();
        assert_eq!(found(&mut turns), [link]);
    }

    #[test]
    fn many_files_are_spread_over_a_round() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..LEAST + 10 {
            std::fs::write(folder.path().join(number.to_string()), "").unwrap();
        }
        let mut turns = Turns::default();
        turns.add(folder.path().to_owned());
        assert!(found(&mut turns).len() < LEAST);
        assert!(!turns.rest.is_empty() && turns.lately.len() == MOST_LATELY);
        turns.next_lately += HOUR;
        assert_eq!(turns.look(Instant::now()).len(), 11);
        assert!(turns.rest.is_empty() && !turns.is_due(Instant::now()));
    }
}
