//! Writers at work at the same time, and readers beside them.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use leafline::storage::{SessionStorage, StoreSessionStorage};
use leafline::{SessionReader, Store};

use super::kept::{Kept, check_chain};
use super::place::Place;
use super::process::Writers;
use super::work::{Acknowledged, Job, Work, carry_out};
use super::{assert_sound_and_swept, begin, body, entries, exported, text};

/// Eight threads: most of them meet in two sessions, two have one of their own.
fn eight_jobs(own: [&str; 2]) -> Vec<Job> {
    let append = |session: &str, operations, batch| Job::Append {
        session: session.to_owned(),
        operations,
        batch,
    };
    vec![
        append("single", 25, 1),
        append("single", 25, 1),
        append("single", 25, 1),
        append("mixed", 20, 1),
        append("mixed", 8, 5),
        append("mixed", 4, 40),
        append(own[0], 25, 1),
        append(own[1], 6, 20),
    ]
}

const SESSIONS: [&str; 6] = ["single", "mixed", "own-0", "own-1", "own-2", "own-3"];

fn work(place: &Place, writer: &str, opens_each: bool, jobs: Vec<Job>) -> Work {
    Work { store: place.store.path().to_owned(), writer: writer.to_owned(), opens_each, jobs }
}

fn begin_all(place: &Place) {
    for session in SESSIONS {
        begin(&place.store, session);
    }
}

fn check_all(place: &Place, told: &[Acknowledged]) {
    for session in SESSIONS {
        let mut kept = Kept::default();
        kept.take(session, told);
        assert_eq!(kept.check(&place.store, session), 0);
    }
    assert_sound_and_swept(&place.store, place.folder.path());
}

#[test]
fn processes_of_many_threads_append_and_readers_see_prefixes() {
    let place = Place::new();
    begin_all(&place);
    let works = [
        work(&place, "one", false, eight_jobs(["own-0", "own-1"])),
        work(&place, "two", true, eight_jobs(["own-2", "own-3"])),
    ];
    let mut writers = Writers::start(&works);
    let are_done = AtomicBool::new(false);
    let path = place.store.path();
    let told: Vec<Acknowledged> = std::thread::scope(|scope| {
        let watchers: Vec<_> =
            (0..2).map(|_| scope.spawn(|| watch(path, &SESSIONS, &are_done))).collect();
        let end = EndsWatch(&are_done);
        while writers.are_running() {
            let verification = place.store.verify().unwrap();
            assert!(verification.problems.is_empty(), "{:#?}", verification.problems);
        }
        let told = writers.writers.into_iter().flat_map(|writer| writer.finish()).collect();
        drop(end);
        for watcher in watchers {
            println!("{} looks while they were at work", watcher.join().unwrap());
        }
        told
    });
    check_all(&place, &told);
}

#[test]
fn threads_of_one_process_append_together() {
    for opens_each in [false, true] {
        let place = Place::new();
        begin_all(&place);
        let works = [
            work(&place, "one", opens_each, eight_jobs(["own-0", "own-1"])),
            work(&place, "two", opens_each, eight_jobs(["own-2", "own-3"])),
        ];
        let told = Mutex::new(Vec::new());
        let are_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let watcher = scope.spawn(|| watch(place.store.path(), &SESSIONS, &are_done));
            let at_work = works.each_ref().map(|work| {
                let told = &told;
                scope.spawn(move || carry_out(work, |one| told.lock().unwrap().push(one)))
            });
            let end = EndsWatch(&are_done);
            for worker in at_work {
                worker.join().unwrap();
            }
            drop(end);
            watcher.join().unwrap();
        });
        check_all(&place, &told.into_inner().unwrap());
    }
}

/// Ends the observer, even if the work beside it fails.
struct EndsWatch<'w>(&'w AtomicBool);

impl Drop for EndsWatch<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Observes the sessions until all is done. Returns how often it did.
fn watch(path: &Path, sessions: &[&str], are_done: &AtomicBool) -> usize {
    let store = Store::open(path).unwrap();
    let mut seen = vec![Vec::new(); sessions.len()];
    let mut looks = 0;
    while !are_done.load(Ordering::Relaxed) {
        for (session, before) in sessions.iter().zip(&mut seen) {
            let reader = store.reader(session).unwrap();
            *before = look(&reader, before, looks);
            looks += 1;
        }
    }
    // An observed path is a beginning of the final one, since each was a beginning of the next.
    for (session, before) in sessions.iter().zip(&seen) {
        assert!(exported(&store.session(session).unwrap()).starts_with(before));
    }
    looks
}

/// Reads one session in every way, and returns its lines.
fn look(reader: &SessionReader, before: &[u8], number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    reader.export(&leafline::export::ExportMode::Current, &mut bytes).unwrap();
    assert!(bytes.starts_with(before), "what was seen is there");
    let entries = entries(&bytes);
    check_chain(&entries);
    assert_eq!(reader.facts().entries, entries.len() as u64);
    let mut path = Vec::new();
    reader
        .get_path(None, |entry| {
            path.extend_from_slice(entry.line());
            Ok(())
        })
        .unwrap();
    assert!(path == body(&bytes), "the path is every line but the header");
    let mut lines = Vec::new();
    reader
        .lines(0, |line| {
            lines.extend_from_slice(line.line());
            Ok(true)
        })
        .unwrap();
    assert!(lines == bytes);
    if !entries.is_empty() {
        let some = &entries[number * 31 % entries.len()];
        let found = reader.get_entry(&text(&some["id"])).unwrap();
        assert_eq!(found.json().unwrap(), *some);
    }
    bytes
}

#[test]
fn a_session_is_rewritten_while_others_append_to_it() {
    let place = Place::new();
    let session = begin(&place.store, "s");
    let append = |operations, batch| Job::Append { session: session.clone(), operations, batch };
    let rewrite = Job::Rewrite { session: session.clone(), operations: 10 };
    carry_out(&work(&place, "first", false, vec![append(3, 10)]), |_| {});
    let works = [
        work(&place, "one", false, vec![append(30, 1), append(30, 1), append(10, 8)]),
        work(&place, "two", true, vec![rewrite.clone(), append(30, 1), rewrite]),
    ];
    let writers = Writers::start(&works).writers;
    let told: Vec<Acknowledged> =
        writers.into_iter().flat_map(super::process::Writer::finish).collect();
    let entries = entries(&exported(&place.store.session(&session).unwrap()));
    check_chain(&entries);
    let ids: Vec<String> = entries.iter().map(|entry| text(&entry["id"])).collect();
    assert_eq!(entries.len(), 30 + 30 + 30 + 80 + 30);
    assert!(told.iter().flat_map(|told| &told.ids).all(|id| ids.contains(id)));
    // Later entries were rewritten less often.
    let versions: Vec<u64> =
        entries.iter().map(|entry| entry["message"]["version"].as_u64().unwrap()).collect();
    assert_eq!(versions.first(), Some(&20));
    assert!(versions.is_sorted_by(|before, after| before >= after), "{versions:?}");
    assert_sound_and_swept(&place.store, place.folder.path());
}

#[test]
fn sweeps_leave_alone_what_others_are_at() {
    let place = Place::new();
    // A parent that comes later: a fork of it takes several commits, and is marked as unfinished between them.
    let source = place.write("irregular.jsonl", super::IRREGULAR);
    place.import(&source);
    let fork = Job::Fork { session: "irregular".to_owned(), operations: 25 };
    let sweep = Job::Sweep { operations: 150 };
    let works = [
        work(&place, "one", false, vec![fork.clone(), sweep.clone()]),
        work(&place, "two", true, vec![fork, sweep]),
    ];
    let writers = Writers::start(&works).writers;
    let told: Vec<Acknowledged> =
        writers.into_iter().flat_map(super::process::Writer::finish).collect();
    let source = exported(&place.store.session("irregular").unwrap());
    for fork in told.iter().filter(|told| !told.session.is_empty()) {
        let fork = exported(&place.store.session(&fork.session).unwrap());
        assert!(body(&fork) == body(&source));
    }
    assert_eq!(place.store.sessions().unwrap().len(), 1 + 50);
    assert_sound_and_swept(&place.store, place.folder.path());
}

/// Processes that see the store as a folder of files, as omp does: lines of each, and rewrites between them that expect a size.
#[test]
fn no_line_of_a_path_is_lost_that_several_processes_write_to() {
    let place = Place::new();
    let path = Path::new("/sessions/s.jsonl");
    let storage = StoreSessionStorage::new(place.store.clone());
    storage.write(path, super::IRREGULAR.as_bytes()).unwrap();
    let lines = Job::WriteLines { path: path.to_owned(), operations: 40 };
    let again = Job::WriteAgain { path: path.to_owned(), operations: 20 };
    let works = [
        work(&place, "one", false, vec![lines.clone(), lines.clone()]),
        work(&place, "two", true, vec![lines.clone(), again]),
        work(&place, "three", false, vec![lines]),
    ];
    let writers = Writers::start(&works).writers;
    let told: Vec<Acknowledged> =
        writers.into_iter().flat_map(super::process::Writer::finish).collect();
    assert!(told.iter().any(|told| told.session == "rewritten"));
    let text = storage.read(path).unwrap();
    assert!(text.starts_with(super::IRREGULAR.as_bytes()));
    let ids: Vec<String> = entries(&text).iter().map(|entry| super::text(&entry["id"])).collect();
    let mut written: Vec<&String> = told.iter().flat_map(|told| &told.ids).collect();
    assert_eq!(written.len(), 4 * 40);
    let mut found: Vec<&String> = ids.iter().filter(|id| id.contains('-')).collect();
    written.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, written, "each line is there once");
    assert_sound_and_swept(&place.store, place.folder.path());
}
