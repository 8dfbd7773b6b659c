//! Several handles import and delete at the same time. The tests of the command do so in several processes.
//!
//! Guards against rows that one of them loses, or takes from another.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use leafline::Store;
use leafline::import::{FileReport, ImportObserver, ImportOptions, ImportStatus};
use place::Place;

fn header(id: &str, cwd: &str) -> String {
    format!("{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"cwd\":\"{cwd}\"}}\n")
}

fn message(id: &str) -> String {
    format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":null,\"message\":{{\"role\":\"user\",\"content\":\"{id}\"}}}}\n"
    )
}

/// Lets another handle act in the middle of an import: after the file was compared and read.
struct Meanwhile<'m> {
    action: Option<Box<dyn FnOnce() + 'm>>,
    reports: Vec<FileReport>,
}

impl ImportObserver for Meanwhile<'_> {
    fn read(&mut self, _: u64) {
        if let Some(action) = self.action.take() {
            action();
        }
    }

    fn file(&mut self, report: &FileReport) {
        self.reports.push(report.clone());
    }
}

fn import_while(place: &Place, file: &std::path::Path, action: impl FnOnce()) -> Vec<FileReport> {
    let mut observer = Meanwhile { action: Some(Box::new(action)), reports: Vec::new() };
    place.store.import(&[file], &ImportOptions::default(), &mut observer).unwrap();
    observer.reports
}

#[test]
fn the_same_file_imported_twice_at_once_is_one_session() {
    let place = Place::new();
    let other = Store::open(place.store.path()).unwrap();
    let text = header("s", "/w") + &message("a");
    let file = place.write("a.jsonl", &text);
    let reports = import_while(&place, &file, || {
        other.import(&[&file], &ImportOptions::default(), &mut ()).unwrap();
    });
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert_eq!(reports[0].status, ImportStatus::Unchanged);
    assert_eq!(place.store.sessions().unwrap().len(), 1);
    assert_eq!(place.exact("s"), text.as_bytes());
    place.assert_sound();
}

#[test]
fn a_session_deleted_while_its_file_is_replaced_or_grown_stays_deleted() {
    let place = Place::new();
    let other = Store::open(place.store.path()).unwrap();
    let text = header("s", "/w") + &message("a");
    let file = place.write("a.jsonl", &text);
    for (name, rewritten) in [
        ("grown", text.clone() + &message("b")),
        ("replaced", header("s", "/elsewhere") + &message("a")),
    ] {
        let restore = ImportOptions { restore: true, ..ImportOptions::default() };
        place.write("a.jsonl", &text);
        assert_eq!(place.import_with(&file, &restore).status, ImportStatus::Imported, "{name}");
        place.write("a.jsonl", &rewritten);
        let reports = import_while(&place, &file, || {
            let _ = other.remove("s");
        });
        assert_eq!(reports.len(), 1, "{name}: {reports:?}");
        place.assert_sound();
        assert_eq!(place.import(&file).status, ImportStatus::Removed, "{name}");
        assert_eq!(place.store.sessions().unwrap().len(), 0, "{name}");
        place.import_with(&file, &restore);
        assert_eq!(place.exact("s"), rewritten.as_bytes(), "{name}");
        place.store.remove("s").unwrap();
    }
}

#[test]
fn two_growths_at_once_leave_one_state() {
    let place = Place::new();
    let other = Store::open(place.store.path()).unwrap();
    let text = header("s", "/w") + &message("a");
    let file = place.write("a.jsonl", &text);
    place.import(&file);
    let grown = text.clone() + &message("b");
    let further = grown.clone() + &message("c");
    place.write("a.jsonl", &grown);
    let copy = place.write("b.jsonl", &further);
    import_while(&place, &file, || {
        other.import(&[&copy], &ImportOptions::default(), &mut ()).unwrap();
    });
    assert_eq!(place.exact("s"), further.as_bytes());
    place.assert_sound();
}

#[test]
fn an_address_that_is_taken_is_not_given_twice() {
    let place = Place::new();
    // A session whose own id looks like the address of a second one.
    let literal = header("s~2", "/literal") + &message("x");
    let first = header("s", "/one") + &message("a") + &message("b");
    let less = header("s", "/two") + &message("a");
    let file = place.write("a.jsonl", &first);
    place.import(&file);
    place.import(&place.write("literal.jsonl", &literal));
    std::fs::remove_file(&file).unwrap();
    let report = place.import(&place.write("b.jsonl", &less));
    assert_eq!(report.session.as_deref(), Some("s~3"), "{report:?}");
    assert_eq!(place.exact("s"), first.as_bytes());
    assert_eq!(place.exact("s~2"), literal.as_bytes());
    assert_eq!(place.exact("s~3"), less.as_bytes());
    place.assert_sound();
    // All in one import.
    let place = Place::new();
    place.write("in/1.jsonl", &literal);
    place.write("in/2.jsonl", &first);
    place.write("in/3.jsonl", &less);
    place.import_all(&[place.path("in")]);
    assert_eq!(place.store.sessions().unwrap().len(), 3);
    assert_eq!(place.exact("s~3"), less.as_bytes());
    place.assert_sound();
}
