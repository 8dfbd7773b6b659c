//! What the journal relies on: the engine shows a commit to others only once it is on the disk.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use leafline_import::Family;

use super::Random;
use super::disk::{Kept, Moment};
use super::worker::begin;
use crate::programs::opal::OpalSession;
use crate::store::{Store, recorder};

fn revision(store: &Store) -> Option<u64> {
    let snapshot = store.committed().unwrap();
    let key = snapshot.key_of(b"one").unwrap().unwrap();
    snapshot.session(key).unwrap().map(|record| record.revision)
}

#[test]
fn what_others_see_of_a_commit_is_on_the_disk() {
    let folder = tempfile::tempdir_in(super::memory()).unwrap();
    let path = folder.path().join("store");
    drop(begin(&Store::open(&path).unwrap(), "one", Family::Opal).unwrap());
    let before = std::fs::read(&path).unwrap();
    let record = recorder::record(&path);
    record.interleave(Some(Duration::from_millis(3)));
    let writer = Store::open(&path).unwrap();
    // Another process sees it, and another thread of the one that commits.
    let readers = [Store::open(&path).unwrap(), writer.clone()];
    let is_over = AtomicBool::new(false);
    let seen: usize = std::thread::scope(|scope| {
        let looks = readers.map(|reader| {
            let (is_over, record, before) = (&is_over, &record, &before);
            scope.spawn(move || {
                let left = tempfile::tempdir_in(super::memory()).unwrap();
                let mut last = revision(&reader);
                let mut seen = 0;
                while !is_over.load(Ordering::Relaxed) {
                    let now = revision(&reader);
                    if now == last {
                        continue;
                    }
                    (seen, last) = (seen + 1, now);
                    let mut moment = Moment::before(before.clone(), None);
                    let events = record.events();
                    events
                        .iter()
                        .enumerate()
                        .for_each(|(number, event)| moment.take(number, event));
                    for kept in [Kept::None, Kept::Some] {
                        moment.write(left.path(), &mut Random(seen as u64), kept);
                        let there = Store::open(left.path().join("store")).unwrap();
                        assert!(revision(&there) >= now, "{kept:?}");
                    }
                }
                seen
            })
        });
        let mut session = writer.session("one").unwrap();
        for number in 0..60 {
            session.set_metadata_value("title", &number).unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
        looks.map(|look| look.join().unwrap()).into_iter().sum()
    });
    recorder::end(&record);
    assert!(seen > 30, "{seen}");
}
