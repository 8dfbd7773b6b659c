//! What is written when the store, or a file, has changed.

use std::time::{Duration, SystemTime};

use leafline::export::{ExportMode, ExportOptions, KeptReason};
use leafline::import::ImportStatus;
use leafline::live::Persistence;
use leafline::{Family, NewSession, opal};

use super::{Exports, append, message, session, set_modified, spoil};

const ALL_UNCHANGED: [(&str, &str); 3] =
    [("a", "unchanged"), ("b", "unchanged"), ("c", "unchanged")];

#[test]
fn a_second_export_touches_nothing() {
    let exports = Exports::of_three();
    exports.gives(&[("a", "written"), ("b", "written"), ("c", "written")]);
    let before = exports.stamps();
    assert_eq!(before.len(), 4, "three files and the manifest: {before:?}");
    exports.gives(&ALL_UNCHANGED);
    assert_eq!(exports.stamps(), before);
}

#[test]
fn an_unchanged_file_is_not_opened() {
    let exports = Exports::of_three();
    let file = exports.file("b");
    let time = std::fs::metadata(&file).unwrap().modified().unwrap();
    // The test sees that the file was not opened.
    spoil(&file);
    set_modified(&file, time);
    exports.gives(&ALL_UNCHANGED);
    // But any change that happens now alters the time at once.
    assert!(time.elapsed().unwrap() >= Duration::from_secs(2));
}

#[test]
fn only_a_session_that_has_grown_is_written() {
    let exports = Exports::of_three();
    let file = exports.file("b");
    let before = exports.stamps();
    exports.append("b", "third");
    exports.gives(&[("a", "unchanged"), ("b", "written"), ("c", "unchanged")]);
    assert_eq!(std::fs::read(&file).unwrap(), exports.bytes("b"));
    let after = exports.stamps();
    for (path, stamp) in before {
        let is_same = after[&path] == stamp;
        assert_eq!(is_same, path != file && !path.ends_with(".leafline-manifest"), "{path:?}");
    }
    exports.gives(&ALL_UNCHANGED);
}

#[test]
fn a_change_that_changes_no_byte_writes_no_file() {
    let exports = Exports::of_three();
    exports.file("a");
    let before = exports.stamps();
    exports.store().session("a").unwrap().branch("m0").unwrap();
    exports.gives(&ALL_UNCHANGED);
    let after = exports.stamps();
    let files = |path: &std::path::Path| path.extension().is_some();
    assert!(
        before.iter().filter(|(path, _)| files(path)).all(|(path, stamp)| after[path] == *stamp)
    );
    // It was recorded: the next export does not even compare.
    exports.gives(&ALL_UNCHANGED);
    assert_eq!(exports.stamps(), after);
}

#[test]
fn what_someone_adds_to_a_file_is_kept_until_it_is_in_the_store() {
    let exports = Exports::of_three();
    let file = exports.file("b");
    append(&file, message("new", "\"m1\"", "by the agent"));
    let bytes = std::fs::read(&file).unwrap();
    for _ in 0..2 {
        let told = exports.gives(&[("a", "unchanged"), ("b", "kept"), ("c", "unchanged")]);
        assert_eq!(told[1].reason, KeptReason::HoldsMore.to_string());
        assert_eq!(std::fs::read(&file).unwrap(), bytes);
    }
    // What the store imports meanwhile does not replace it.
    exports.append("b", "by someone else");
    exports.gives(&[("a", "unchanged"), ("b", "kept"), ("c", "unchanged")]);
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    let replacing = ExportOptions { replace: true, ..ExportOptions::default() };
    let exports = Exports { options: replacing, ..exports };
    exports.gives(&[("a", "unchanged"), ("b", "written"), ("c", "unchanged")]);
    assert_eq!(std::fs::read(&file).unwrap(), exports.bytes("b"));
}

#[test]
fn agents_write_to_the_files_and_syncs_bring_it_in() {
    let exports = Exports::of_three();
    let files: Vec<_> = ["a", "b", "c"].iter().map(|id| exports.file(id)).collect();
    for round in 0..4 {
        let (file, parent) = (&files[round % 3], if round < 3 { "m1" } else { "r0" });
        append(file, message(&format!("r{round}"), &format!("\"{parent}\""), "by the agent"));
        // A line that was just written, and is whole.
        let totals = exports.sync();
        assert_eq!((totals.grown, totals.failed), (1, 0), "{totals:?}");
        let before = exports.stamps();
        exports.gives(&ALL_UNCHANGED);
        let after = exports.stamps();
        assert!(files.iter().all(|file| before[file] == after[file]));
    }
    // Then the session continues, and the file follows, which the next sync recognises.
    exports.append("a", "by someone else");
    exports.gives(&[("a", "written"), ("b", "unchanged"), ("c", "unchanged")]);
    assert_eq!(exports.sync().unchanged, 3);
    exports.gives(&ALL_UNCHANGED);
    for (id, file) in ["a", "b", "c"].iter().zip(&files) {
        assert_eq!(std::fs::read(file).unwrap(), exports.bytes(id));
    }
    exports.place.assert_sound();
}

#[test]
fn a_file_that_has_less_is_completed() {
    let exports = Exports::of_three();
    let file = exports.file("a");
    let whole = std::fs::read(&file).unwrap();
    for length in [0, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&file, &whole[..length]).unwrap();
        exports.gives(&[("a", "written"), ("b", "unchanged"), ("c", "unchanged")]);
        assert_eq!(std::fs::read(&file).unwrap(), whole);
    }
    std::fs::remove_file(&file).unwrap();
    exports.gives(&[("a", "written"), ("b", "unchanged"), ("c", "unchanged")]);
    assert_eq!(std::fs::read(&file).unwrap(), whole);
}

#[test]
fn a_file_that_was_only_touched_is_as_it_was_left() {
    let exports = Exports::of_three();
    let file = exports.file("a");
    set_modified(&file, SystemTime::now() - Duration::from_secs(100));
    let before = exports.stamps()[&file];
    exports.gives(&ALL_UNCHANGED);
    assert_eq!(exports.stamps()[&file], before);
    // Its new time was recorded: it is not opened again.
    spoil(&file);
    set_modified(&file, before.1);
    exports.gives(&ALL_UNCHANGED);
    spoil(&file);
    // Leafline may write it, even if the bytes do not continue its contents.
    set_modified(&file, SystemTime::now() - Duration::from_secs(50));
    exports.import("a", &session("a", "/w/a", &["first", "second", "third"]));
    exports.append("a", "fourth");
    exports.gives(&[("a", "written"), ("b", "unchanged"), ("c", "unchanged")]);
}

#[test]
fn a_changed_byte_is_kept() {
    let exports = Exports::of_three();
    let file = exports.file("a");
    spoil(&file);
    exports.gives(&[("a", "kept"), ("b", "unchanged"), ("c", "unchanged")]);
    // Back as it was.
    spoil(&file);
    exports.gives(&ALL_UNCHANGED);
}

#[test]
fn another_form_is_written_over_the_old_one() {
    let exports = Exports::new();
    let sample = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/import/samples/pi/sessions/--home-robin-work-recipe-box--"
    );
    exports
        .store()
        .import(&[sample], &leafline::import::ImportOptions::default(), &mut ())
        .unwrap();
    let (first, _) = exports.run();
    assert_eq!(first.written, first.sessions);
    let exports = Exports { options: super::exact(), ..exports };
    let (totals, told) = exports.run();
    assert!(totals.written > 0 && totals.written + totals.unchanged == first.sessions, "{told:?}");
    for told in &told {
        let file = std::fs::read(exports.folder.join(&told.path)).unwrap();
        assert_eq!(file, exports.place.export(&told.session, &ExportMode::Exact));
    }
    assert_eq!(exports.run().0.unchanged, first.sessions);
}

#[test]
fn a_session_whose_program_writes_its_file_anew_is_written_anew() {
    let exports = Exports::new();
    let mut new = NewSession::new(Family::Opal, "/work");
    new.persistence = Some(Persistence::keep_everything());
    let mut opal = exports.store().create_session(&new).unwrap();
    let id = opal.id().to_owned();
    for text in ["one", "two"] {
        opal.append(opal::Draft::user(text)).unwrap();
        // The header names the leaf: the old file is not the beginning of the new one.
        exports.gives(&[(id.as_str(), "written")]);
        exports.gives(&[(id.as_str(), "unchanged")]);
    }
    let file = exports.file(&id);
    let bytes = std::fs::read(&file).unwrap();
    assert_eq!(bytes, exports.bytes(&id));
    append(&file, "{\"id\":\"x\"}\n");
    opal.append(opal::Draft::user("three")).unwrap();
    exports.gives(&[(id.as_str(), "kept")]);
}

#[test]
fn something_that_is_no_file_is_left_alone() {
    let exports = Exports::of_three();
    let file = exports.file("a");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    exports.gives(&[("a", "kept"), ("b", "unchanged"), ("c", "unchanged")]);
    assert!(file.is_dir());
}

#[test]
fn a_new_session_in_the_place_of_a_strange_file_waits() {
    let exports = Exports::of_three();
    let file = exports.file("a");
    exports.store().remove("a").unwrap();
    exports.gives(&[("a", "left"), ("b", "unchanged"), ("c", "unchanged")]);
    // The file belongs to the same session; a session that only has its id does not count.
    exports.import("a", &session("a", "/w/a", &["first", "second"]));
    exports.gives(&ALL_UNCHANGED);
    exports.store().remove("a").unwrap();
    exports.gives(&[("a", "left"), ("b", "unchanged"), ("c", "unchanged")]);
    let another = exports.import_as("other", &session("a", "/w/a", &["another"]));
    assert_eq!(another, ImportStatus::Imported);
    let bytes = std::fs::read(&file).unwrap();
    exports.gives(&[("a", "kept"), ("b", "unchanged"), ("c", "unchanged")]);
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
}
