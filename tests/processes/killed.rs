//! Writers that are killed. Each round begins where the one before was cut off.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included};
use std::path::Path;
use std::time::{Duration, Instant};

use leafline::import::ImportOptions;
use leafline::{Store, StoreOptions};
use leafline_generate::Shape;
use redb::StorageBackend;

use super::kept::{Kept, check_chain};
use super::process::{PATIENCE, Writers};
use super::work::{Acknowledged, DEFERRED, Job, Work, carry_out};
use super::{Chance, assert_sound_and_swept, begin, body, entries, exported};

/// More than a writer does before it is killed.
const ENDLESS: u64 = 1_000_000;

/// The parent's view of the store while writers are killed.
enum Parent {
    /// It has it open.
    Looks(Store),
    /// It is not open: when the last writer is killed nobody has it open, and the next one to open it repairs it.
    IsAway,
}

impl Parent {
    fn of_round(round: u64, path: &Path) -> Self {
        if round.is_multiple_of(2) { Self::Looks(Store::open(path).unwrap()) } else { Self::IsAway }
    }

    /// The store once the writers are killed, and everything that they have committed.
    ///
    /// A writer that is killed while the engine confirms its commit has not reported it, and nobody sees it before the
    /// next writer.
    fn store(self, path: &Path) -> Store {
        let store = match self {
            Self::Looks(store) => store,
            Self::IsAway => Store::open(path).unwrap(),
        };
        let written = begin(&store, "written-after");
        store.remove(&written).unwrap();
        store
    }
}

fn work(store: &Path, writer: String, opens_each: bool, jobs: Vec<Job>) -> Work {
    Work { store: store.to_owned(), writer, opens_each, jobs }
}

fn append(session: &str, batch: u64) -> Job {
    Job::Append { session: session.to_owned(), operations: ENDLESS, batch }
}

/// Starts the writers, lets them do some operations for a moment, and kills them one by one; every other time those
/// that are left continue for a while. Returns their reports.
fn kill(works: &[Work], operations: usize, chance: &mut Chance) -> Vec<Acknowledged> {
    let mut running = Writers::start(works);
    running.wait_for(operations);
    let others_go_on = chance.below(2) == 0;
    let mut told = Vec::new();
    while let Some(writer) = running.writers.pop() {
        std::thread::sleep(Duration::from_micros(chance.below(4000)));
        told.extend(writer.kill());
        if others_go_on && !running.writers.is_empty() {
            running.wait_for(10);
        }
    }
    told
}

#[test]
fn killed_appenders_keep_what_they_were_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let mut kept: BTreeMap<String, Kept> = BTreeMap::new();
    let read_only = StoreOptions { read_only: true, ..StoreOptions::default() };
    let (rounds, mut operations, mut untold) = (30, 0, 0);
    for round in 0..rounds {
        let sessions = ["single", "mixed"].map(|name| format!("{name}-{}", round / 10));
        let [single, mixed] = &sessions;
        if round % 10 == 0 {
            let store = Store::open(&path).unwrap();
            sessions.iter().for_each(|session| drop(begin(&store, session)));
        }
        let jobs =
            || vec![append(single, 1), append(single, 1), append(mixed, 1), append(mixed, 60)];
        let works = [
            work(&path, format!("{round}-one"), false, jobs()),
            work(&path, format!("{round}-two"), true, jobs()),
        ];
        let parent = Parent::of_round(round, &path);
        let most = usize::try_from(chance.below(60)).unwrap();
        let told = kill(&works, 1 + most, &mut chance);
        operations += told.len();
        for session in &sessions {
            let kept = kept.entry(session.clone()).or_default();
            kept.take(session, &told);
            for work in &works {
                for (number, job) in work.jobs.iter().enumerate() {
                    if matches!(job, Job::Append { session: to, .. } if to == session) {
                        kept.note_killed(&format!("{}.{number}", work.writer));
                    }
                }
            }
            // What a reader sees before anyone writes is complete as well.
            kept.check(&Store::open_with(&path, &read_only).unwrap(), session);
        }
        let store = parent.store(&path);
        for session in &sessions {
            untold += kept.get_mut(session).unwrap().check(&store, session);
        }
        // Someone else goes on.
        let next = Job::Append { session: single.clone(), operations: 1, batch: 1 };
        let next = work(&path, format!("{round}-next"), true, vec![next]);
        let one = std::sync::Mutex::new(Vec::new());
        carry_out(&next, |told| one.lock().unwrap().push(told));
        kept.get_mut(single).unwrap().take(single, &one.into_inner().unwrap());
        kept.get_mut(single).unwrap().check(&store, single);
        assert_sound_and_swept(&store, folder.path());
    }
    println!(
        "{rounds} rounds: {operations} operations told of, {untold} entries stored that nobody was told of"
    );
}

#[test]
fn killed_folds_lose_nothing_and_write_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let mut chance = Chance(0x2545_f491_4f6c_dd1d);
    let (rounds, kills, mut operations, mut folds) = (6, 20, 0, 0);
    for round in 0..rounds {
        let session = format!("folded-{round}");
        begin(&Store::open(&path).unwrap(), &session);
        let jobs = vec![append(&session, 1), append(&session, 1)];
        let mut appends = Writers::start(&[work(&path, format!("{round}"), false, jobs)]);
        appends.wait_for(10);
        for _ in 0..kills {
            // It does nothing but fold, as fast as it can: whenever it is killed it is at some step of that.
            let job = Job::Fold { operations: ENDLESS };
            let mut reads = Writers::start(&[work(&path, "reads".to_owned(), false, vec![job])]);
            reads.wait_for(1 + usize::try_from(chance.below(4)).unwrap());
            std::thread::sleep(Duration::from_micros(chance.below(3000)));
            folds += reads.writers.remove(0).kill().len();
            // The appends go on.
            appends.wait_for(2);
        }
        let told = appends.writers.remove(0).kill();
        operations += told.len();
        let mut kept = Kept::default();
        kept.take(&session, &told);
        (0..2).for_each(|number| kept.note_killed(&format!("{round}.{number}")));
        let read_only = StoreOptions { read_only: true, ..StoreOptions::default() };
        kept.check(&Store::open_with(&path, &read_only).unwrap(), &session);
        let store = Store::open(&path).unwrap();
        kept.check(&store, &session);
        assert_sound_and_swept(&store, folder.path());
    }
    println!("{} folds killed, {folds} done, {operations} operations told of", rounds * kills);
}

#[test]
fn killed_rewriters_leave_all_changes_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let mut chance = Chance(0xd1b5_4a32_d192_ed03);
    let store = Store::open(&path).unwrap();
    for session in ["rewritten", "other"] {
        begin(&store, session);
    }
    let many = Job::Append { session: "rewritten".to_owned(), operations: 2, batch: 150 };
    carry_out(&work(&path, "first".to_owned(), false, vec![many]), |_| {});
    drop(store);
    let (rounds, mut version) = (15, 0);
    for round in 0..rounds {
        let rewrite = Job::Rewrite { session: "rewritten".to_owned(), operations: ENDLESS };
        let jobs = vec![rewrite, append("other", 1)];
        let works = [work(&path, format!("{round}"), false, jobs)];
        let parent = Parent::of_round(round, &path);
        let most = usize::try_from(chance.below(12)).unwrap();
        let told = kill(&works, 1 + most, &mut chance);
        let store = parent.store(&path);
        let rewritten = exported(&store.session("rewritten").unwrap());
        let entries = entries(&rewritten);
        check_chain(&entries);
        assert_eq!(entries.len(), 300);
        let known = version + told.iter().filter(|told| told.session == "rewritten").count() as u64;
        version = entries[0]["message"]["version"].as_u64().unwrap();
        assert!(version == known || version == known + 1, "{version}, {known} told of");
        assert!(entries.iter().all(|entry| entry["message"]["version"] == version));
        assert_sound_and_swept(&store, folder.path());
    }
    println!("{rounds} rounds: rewritten {version} times");
}

#[test]
fn killed_makers_leave_whole_sessions_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let mut chance = Chance(0x94d0_49bb_1331_11eb);
    let store = Store::open(&path).unwrap();
    let file = folder.path().join("irregular.jsonl");
    std::fs::write(&file, super::IRREGULAR).unwrap();
    store.import(&[&file], &ImportOptions::default(), &mut ()).unwrap();
    begin(&store, "source");
    let many = Job::Append { session: "source".to_owned(), operations: 4, batch: 50 };
    carry_out(&work(&path, "first".to_owned(), false, vec![many]), |_| {});
    let mut source = store.session("source").unwrap();
    source.append_message(&serde_json::json!({"role": "assistant", "content": []})).unwrap();
    let source = exported(&source);
    let irregular = exported(&store.session("irregular").unwrap());
    drop(store);
    let (rounds, mut made, mut untold) = (20, 0, 0);
    for round in 0..rounds {
        let of = |session: &str| (session.to_owned(), ENDLESS);
        let fork = |(session, operations)| Job::Fork { session, operations };
        let branch = |(session, operations)| Job::Branch { session, operations };
        let jobs = vec![
            fork(of("source")),
            fork(of("irregular")),
            branch(of("source")),
            Job::Begin { operations: ENDLESS },
        ];
        let workers = jobs.len();
        let works = [work(&path, format!("{round}"), round % 3 == 0, jobs)];
        let parent = Parent::of_round(round, &path);
        let most = usize::try_from(chance.below(16)).unwrap();
        let told = kill(&works, 1 + most, &mut chance);
        let store = parent.store(&path);
        let shown = ids(&store);
        assert!(told.iter().all(|told| shown.contains(&told.session)), "round {round}");
        let new: Vec<_> =
            shown.iter().filter(|id| !["source", "irregular"].contains(&id.as_str())).collect();
        let more = new.len() - told.len();
        assert!(more <= workers, "round {round}: {more} sessions nobody was told of");
        (made, untold) = (made + told.len(), untold + more);
        for id in new {
            let lines = exported(&store.session(id).unwrap());
            if id.starts_with(&format!("{round}.")) {
                let entries = entries(&lines);
                check_chain(&entries);
                assert_eq!(entries.len() as u64, DEFERRED, "{id}");
            } else {
                let is_whole = [&source, &irregular].iter().any(|of| body(of) == body(&lines));
                assert!(is_whole, "{id} is a part of its source");
            }
        }
        assert_sound_and_swept(&store, folder.path());
        for id in shown.iter().filter(|id| !["source", "irregular"].contains(&id.as_str())) {
            store.remove(id).unwrap();
        }
        assert!(exported(&store.session("source").unwrap()) == source);
        assert_sound_and_swept(&store, folder.path());
    }
    println!("{rounds} rounds: {made} sessions told of, {untold} that nobody was told of");
}

/// Waits until a writer has the lock that it takes before the first of several commits: one of 2^60 bytes from 2^61 on.
fn wait_for_owner(store: &Path) {
    let file = redb::backends::FileBackend::new(std::fs::File::open(store).unwrap()).unwrap();
    let begin = Instant::now();
    while !file.query_lock_range(Included(1 << 61), Excluded((1 << 61) + (1 << 60))).unwrap() {
        assert!(begin.elapsed() < PATIENCE, "no writer is at work");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_killed_fork_of_several_commits_is_swept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    // Its images make several slices.
    let shape = Shape { bytes: 36_000_000, images: 0.9, ..Shape::default() };
    let file = folder.path().join("large.jsonl");
    let mut bytes = Vec::new();
    let id = leafline_generate::generate(&shape, &mut bytes).unwrap().session_id;
    std::fs::write(&file, &bytes).unwrap();
    let store = Store::open(&path).unwrap();
    store.import(&[&file], &ImportOptions::default(), &mut ()).unwrap();
    let source = exported(&store.session(&id).unwrap());
    let fork = || Job::Fork { session: id.clone(), operations: 1 };
    drop(store);
    let (mut round, mut cut_off) = (0, 0);
    // A later moment each time, until one is between two of its commits.
    while round < 8 || cut_off == 0 {
        assert!(round < 200, "no fork was cut off between its first commit and its last");
        let parent = Parent::of_round(round, &path);
        let works = [work(&path, format!("{round}"), false, vec![fork()])];
        let mut running = Writers::start(&works);
        wait_for_owner(&path);
        std::thread::sleep(Duration::from_millis(20 * round));
        let told = running.writers.remove(0).kill();
        let store = parent.store(&path);
        let new = ids(&store);
        assert!(told.iter().all(|told| new.contains(&told.session)));
        assert!(new.len() <= 2);
        let verification = store.verify().unwrap();
        assert!(verification.problems.is_empty(), "round {round}: {:#?}", verification.problems);
        cut_off += verification.remarks.iter().filter(|remark| remark.kind == "unfinished").count();
        for new in new.iter().filter(|new| **new != id) {
            assert!(body(&exported(&store.session(new).unwrap())) == body(&source));
            store.remove(new).unwrap();
        }
        assert_sound_and_swept(&store, folder.path());
        round += 1;
    }
    println!("{round} rounds: {cut_off} forks were cut off between two of their commits");
}

fn ids(store: &Store) -> Vec<String> {
    store.sessions().unwrap().into_iter().map(|facts| facts.id.into()).collect()
}
