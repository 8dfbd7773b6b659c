//! Two exports into one folder while sessions grow and agents write.

use std::sync::atomic::{AtomicBool, Ordering};

use leafline::export::ExportOptions;
use leafline::{Store, StoreOptions};

use super::{Exports, append, message};

#[test]
fn two_exports_at_once_lose_nothing() {
    let exports = Exports::of_three();
    let file = exports.file("c");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let options = StoreOptions { read_only: true, ..StoreOptions::default() };
            let store = Store::open_with(exports.store().path(), &options).unwrap();
            let (folder, done) = (&exports.folder, &done);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    store.export_all(folder, &ExportOptions::default(), |_| {}).unwrap();
                }
            });
        }
        append(&file, message("new", "\"m1\"", "by the agent"));
        for number in 0..30 {
            exports.append("a", &format!("more {number}"));
            exports.append("b", &format!("more {number}"));
        }
        done.store(true, Ordering::Relaxed);
    });
    let (totals, told) = exports.run();
    assert_eq!((totals.kept, totals.failed), (1, 0), "{told:?}");
    assert!(std::fs::read_to_string(&file).unwrap().contains("by the agent"));
    for id in ["a", "b"] {
        assert_eq!(std::fs::read(exports.file(id)).unwrap(), exports.bytes(id));
    }
    assert!(exports.stamps().keys().all(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.ends_with(".jsonl") || name == ".leafline-manifest"
    }));
}
