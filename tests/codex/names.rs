//! Names in the index beside the sessions, and ids in the names of files.

use leafline::export::ExportOptions;
use leafline::files::SessionFiles;
use leafline::import::{FileReport, ImportOptions, ImportStatus};
use serde_json::json;

use crate::place::{Place, Reports};
use crate::{ID, assert_told, cases, file_name, imported};

const INDEX: &str = "codex/session_index.jsonl";

fn name_line(id: &str, name: &str) -> String {
    json!({"id": id, "thread_name": name, "updated_at": "2026-11-20T10:00:00Z"}).to_string() + "\n"
}

fn title(place: &Place, id: &str) -> Option<String> {
    place.store.reader(id).unwrap().facts().title.map(String::from)
}

fn synced(place: &Place) -> FileReport {
    let mut reports = Reports::default();
    let folder = place.path("codex/sessions");
    place.store.sync(&[folder], &ImportOptions::default(), &mut reports).unwrap();
    assert_eq!(reports.0.len(), 1, "{:?}", reports.0);
    reports.0.remove(0)
}

#[test]
fn a_name_that_was_given_meanwhile_is_seen() {
    let place = Place::new();
    let file = cases::Case::new("", cases::talk(1)).file(ID);
    imported(&place, ID, &file);
    assert_eq!(title(&place, ID), None);

    place.write(INDEX, name_line(ID, "One") + &name_line("other", "Other"));
    assert_eq!(imported(&place, ID, &file).status, ImportStatus::Unchanged);
    assert_eq!(title(&place, ID).as_deref(), Some("One"));
    place.assert_sound();

    // A sync does not open an unchanged file; a file that has grown gets the new name.
    let names = name_line(ID, "One") + &name_line(ID, "Two");
    place.write(INDEX, &names);
    let longer = file.clone() + &cases::user("And now?") + "\n";
    place.write(&file_name(ID), &longer);
    assert_eq!(synced(&place).status, ImportStatus::Grown);
    assert_eq!(title(&place, ID).as_deref(), Some("Two"));

    // A file elsewhere has no index, and takes no name away.
    let copy = place.write("elsewhere/copy.jsonl", &longer);
    assert_eq!(place.import(&copy).status, ImportStatus::Unchanged);
    assert_eq!(title(&place, ID).as_deref(), Some("Two"));
    place.assert_sound();
}

#[test]
fn files_that_are_not_imported_have_their_names() {
    let place = Place::new();
    place.write(&file_name(ID), cases::Case::new("", cases::talk(1)).file(ID));
    place.write(INDEX, name_line(ID, "Tide clock"));
    let list = SessionFiles::new([place.path("codex")]).list_all();
    assert_eq!(list.sessions.len(), 1);
    assert_eq!(list.sessions[0].title.as_deref(), Some("Tide clock"));
    assert_eq!(list.sessions[0].first_prompt.as_deref(), Some("u1"));
    let recent = SessionFiles::new([place.path("codex")]).get_recent_sessions(1);
    assert_eq!(recent.sessions[0].name(), "Tide clock");
}

/// A session that was reverted continues in another file with the same id in its header.
#[test]
fn a_reverted_session_has_two_addresses() {
    let place = Place::new();
    place.write(INDEX, name_line(ID, "Tide clock"));
    let first = cases::Case::new("", cases::talk(1)).paginated().file(ID);
    imported(&place, ID, &first);
    let base = json!({"thread_id": ID, "end_ordinal_exclusive": 3, "end_byte_offset": 700});
    let mut header: serde_json::Value =
        serde_json::from_str(first.lines().next().unwrap()).unwrap();
    header["payload"]["history_base"] = base;
    let second = format!("{header}\n{}\n", cases::user("Again"));
    let rollout = "0199f2b5-0000-7000-8000-000000000002";
    let report = imported(&place, &format!("{ID}_{rollout}"), &second);
    assert_eq!((report.session.as_deref(), report.status), (Some(rollout), ImportStatus::Imported));
    let facts = place.store.reader(rollout).unwrap().facts();
    assert_eq!(facts.parent_session.as_deref(), Some(ID));
    assert_eq!(facts.title.as_deref(), Some("Tide clock"));
    assert_eq!(place.store.sessions().unwrap().len(), 2);

    let folder = place.path("out");
    place
        .store
        .export_all(
            &folder,
            &ExportOptions::default(),
            &mut |_: &leafline::export::ExportReport| {},
        )
        .unwrap();
    let exported = |id: &str| {
        std::fs::read_to_string(
            folder
                .join(format!("codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-{id}.jsonl")),
        )
    };
    assert_eq!(exported(ID).unwrap(), first);
    assert_eq!(exported(&format!("{ID}_{rollout}")).unwrap(), second);
}

#[test]
fn an_archived_session_is_the_same() {
    let place = Place::new();
    let file = cases::Case::new("", cases::talk(1)).file(ID);
    imported(&place, ID, &file);
    place.write(INDEX, name_line(ID, "Put away"));
    let from = place.path(&file_name(ID));
    let archived =
        place.write("codex/archived_sessions/none", "").with_file_name(from.file_name().unwrap());
    std::fs::rename(&from, &archived).unwrap();
    let report = place.import(&archived);
    assert_eq!((report.status, report.session.as_deref()), (ImportStatus::Unchanged, Some(ID)));
    assert_eq!(title(&place, ID).as_deref(), Some("Put away"));
}

/// A line in another place is another entry, so a rewritten file is another session unless it is to replace the first.
#[test]
fn a_file_that_was_rewritten_is_another_session() {
    let place = Place::new();
    let lines = vec![cases::user("One"), cases::assistant("Two"), cases::user("Three")];
    let file = cases::Case::new("", lines).file(ID);
    imported(&place, ID, &file);
    let second = file.lines().nth(2).unwrap();
    let rewritten = file.replace(&format!("{second}\n"), "");
    let report = imported(&place, ID, &rewritten);
    assert_eq!(report.status, ImportStatus::Imported, "{report:?}");
    assert!(place.exact(ID) == file.as_bytes());
    assert!(place.exact(&format!("{ID}~2")) == rewritten.as_bytes());
    let place = Place::new();
    imported(&place, ID, &file);
    place.write(&file_name(ID), &rewritten);
    let options = ImportOptions { replace: true, ..ImportOptions::default() };
    let report = place.import_with(&place.path(&file_name(ID)), &options);
    assert_eq!(report.status, ImportStatus::Replaced, "{report:?}");
    assert_told(&place, ID, rewritten.as_bytes());
}
