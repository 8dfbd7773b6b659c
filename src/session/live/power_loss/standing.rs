//! A process that stands still in the middle of a commit holds up no one who appends.

use std::fs::File;
use std::sync::mpsc;
use std::time::Duration;

use leafline_generate::{Shape, generate};
use leafline_import::Family;

use super::worker::{begin, goes_on};
use crate::catalog::import::ImportOptions;
use crate::store::Store;
use crate::store::recorder::{self, STORE};

#[test]
fn appends_wait_at_no_moment_of_an_import() {
    let folder = tempfile::tempdir_in(super::memory()).unwrap();
    let path = folder.path().join("store");
    let store = Store::open(&path).unwrap();
    let mut session = begin(&store, "one", Family::Pi).unwrap().with_persistence(goes_on());
    let message = serde_json::json!({"role": "user", "content": "more", "timestamp": 1});
    let mut count = 0;
    let mut append = move || {
        session.append_message(&message).unwrap();
        count += 1;
        count
    };
    // The journal is in use from the second on.
    for _ in 0..3 {
        append();
    }
    // The last one takes more than one commit.
    let files = [(1, 5_000), (2, 10_000), (3, 50_000_000)].map(|(seed, bytes)| {
        let path = folder.path().join(format!("{seed}.jsonl"));
        let shape = Shape { seed, bytes, ..Shape::default() };
        generate(&shape, &mut File::create(&path).unwrap()).unwrap();
        path
    });
    let record = recorder::record(&path);
    // While the engine opens a file it holds its lock of the header, for which all wait.
    let importer = Store::open(&path).unwrap();
    record.stop_syncs(STORE);
    let (ask, asked) = mpsc::channel();
    let (answer, answered) = mpsc::channel();
    let (stops, unconfirmed) = std::thread::scope(|scope| {
        let import = scope.spawn(move || {
            // Closed here, too.
            let totals = importer.import(&files, &ImportOptions::default(), &mut ()).unwrap();
            assert_eq!(totals.imported, 3);
        });
        scope.spawn(move || {
            while let Ok(()) = asked.recv() {
                answer.send(append()).unwrap();
            }
        });
        let (mut stops, mut unconfirmed) = (0, 0);
        while !import.is_finished() {
            if record.stood() == stops {
                std::thread::sleep(Duration::from_micros(200));
                continue;
            }
            stops += 1;
            let is_unconfirmed = store.has_unconfirmed_commit();
            unconfirmed += usize::from(is_unconfirmed);
            ask.send(()).unwrap();
            if answered.recv_timeout(Duration::from_secs(10)).is_err() {
                record.go_on(true);
                panic!("an append waits at stop {stops}, unconfirmed: {is_unconfirmed}");
            }
            record.go_on(false);
        }
        drop(ask);
        record.go_on(true);
        (stops, unconfirmed)
    });
    recorder::end(&record);
    assert!(stops > 8 && unconfirmed > 3, "{stops} stops, {unconfirmed} unconfirmed");
    let entries = store.reader("one").unwrap().facts().entries;
    assert_eq!(entries, 3 + stops as u64);
    assert!(store.verify().unwrap().problems.is_empty());
}
