//! Sessions that move to another path, and sessions that are removed.

use super::{Exports, append, message};

#[test]
fn a_project_that_has_moved_takes_its_file_along() {
    let exports = Exports::of_three();
    let old = exports.file("a");
    exports.store().relocate("/w/a", "/new/a").unwrap();
    let told = exports.gives(&[
        ("a", "removed"),
        ("a", "written"),
        ("b", "unchanged"),
        ("c", "unchanged"),
    ]);
    assert!(told[1].path.starts_with("pi/sessions/--new-a--/"), "{told:?}");
    assert_eq!(std::fs::read(exports.folder.join(&told[1].path)).unwrap(), exports.bytes("a"));
    assert!(!old.exists() && !old.parent().unwrap().exists());
    exports.gives(&[("a", "unchanged"), ("b", "unchanged"), ("c", "unchanged")]);
}

#[test]
fn a_folder_that_others_use_stays() {
    let exports = Exports::of_three();
    let old = exports.file("a");
    let other = old.with_file_name("notes.txt");
    std::fs::write(&other, "mine").unwrap();
    exports.store().relocate("/w/a", "/new/a").unwrap();
    exports.gives(&[("a", "removed"), ("a", "written"), ("b", "unchanged"), ("c", "unchanged")]);
    assert!(!old.exists() && other.exists());
}

#[test]
fn an_old_file_that_someone_added_to_is_brought_in_first() {
    let exports = Exports::of_three();
    let old = exports.file("a");
    append(&old, message("new", "\"m1\"", "by the agent"));
    exports.store().move_session("a", "/new/a").unwrap();
    for _ in 0..2 {
        let told = exports.gives(&[("a", "kept"), ("b", "unchanged"), ("c", "unchanged")]);
        assert_eq!(exports.folder.join(&told[0].path), old);
        assert!(!exports.folder.join("pi/sessions/--new-a--").exists());
    }
    assert_eq!(exports.sync().grown, 1);
    let told = exports.gives(&[
        ("a", "removed"),
        ("a", "written"),
        ("b", "unchanged"),
        ("c", "unchanged"),
    ]);
    let new = std::fs::read_to_string(exports.folder.join(&told[1].path)).unwrap();
    assert!(new.contains("by the agent") && !old.exists());
}

#[test]
fn an_old_file_that_someone_added_to_is_never_removed() {
    let mut exports = Exports::of_three();
    let old = exports.file("a");
    append(&old, message("new", "\"m1\"", "by the agent"));
    let bytes = std::fs::read(&old).unwrap();
    exports.store().move_session("a", "/new/a").unwrap();
    exports.options.replace = true;
    exports.gives(&[("a", "left"), ("a", "written"), ("b", "unchanged"), ("c", "unchanged")]);
    assert_eq!(std::fs::read(&old).unwrap(), bytes);
    exports.gives(&[("a", "unchanged"), ("b", "unchanged"), ("c", "unchanged")]);
}

#[test]
fn a_folder_that_was_moved_with_its_project_is_known() {
    let exports = Exports::of_three();
    let old = exports.file("a");
    let new = exports.folder.join("pi/sessions/--new-a--");
    std::fs::rename(old.parent().unwrap(), &new).unwrap();
    exports.store().move_session("a", "/new/a").unwrap();
    let before = exports.stamps();
    exports.gives(&[("a", "unchanged"), ("b", "unchanged"), ("c", "unchanged")]);
    let new = new.join(old.file_name().unwrap());
    assert_eq!(exports.stamps()[&new], before[&new]);
}

#[cfg(unix)]
#[test]
fn a_link_to_the_old_place_is_not_the_new_one() {
    let exports = Exports::of_three();
    let old = exports.file("a");
    let link = exports.folder.join("pi/sessions/--new-a--");
    std::os::unix::fs::symlink(old.parent().unwrap(), link).unwrap();
    exports.store().move_session("a", "/new/a").unwrap();
    let told = exports.gives(&[("a", "failed"), ("b", "unchanged"), ("c", "unchanged")]);
    assert!(told[0].reason.contains("it is a link, and none is followed"), "{}", told[0].reason);
    assert_eq!(std::fs::read(&old).unwrap(), exports.bytes("a"));
}

#[test]
fn names_that_differ_in_case_alone_are_the_same_place() {
    let exports = Exports::of_three();
    let file = exports.file("a");
    exports.store().move_session("a", "/W/A").unwrap();
    exports.gives(&[("a", "unchanged"), ("b", "unchanged"), ("c", "unchanged")]);
    assert!(file.exists());
}

#[test]
fn the_file_of_a_session_that_is_gone_stays_and_is_told_of_once() {
    let exports = Exports::of_three();
    let file = exports.file("b");
    let bytes = std::fs::read(&file).unwrap();
    exports.store().remove("b").unwrap();
    let told = exports.gives(&[("a", "unchanged"), ("b", "left"), ("c", "unchanged")]);
    assert_eq!(exports.folder.join(&told[1].path), file);
    exports.gives(&[("a", "unchanged"), ("c", "unchanged")]);
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    // If the file is gone too, there is nothing to report.
    std::fs::remove_file(exports.file("c")).unwrap();
    exports.store().remove("c").unwrap();
    exports.gives(&[("a", "unchanged")]);
}
