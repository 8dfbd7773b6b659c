//! Sessions that would have the same name.

use super::{Exports, session};

/// Ids that are the same as parts of a file's name.
const ALIKE: [&str; 3] = ["x/y", "x:y", "x-y"];

fn alike() -> Exports {
    let exports = Exports::new();
    for (number, id) in ALIKE.iter().enumerate() {
        exports.import(&number.to_string(), &session(id, "/w", &["only", id]));
    }
    exports
}

/// The path of each.
fn paths(exports: &Exports) -> Vec<String> {
    let (_, told) = exports.run();
    let path = |id: &&str| told.iter().find(|told| told.session == **id).unwrap().path.clone();
    ALIKE.iter().map(path).collect()
}

#[test]
fn sessions_of_one_name_keep_their_numbers() {
    let exports = alike();
    let first = paths(&exports);
    let name = "pi/sessions/--w--/2026-03-01T08-00-00-000Z_x-y";
    let expected = [format!("{name}.jsonl"), format!("{name}-2.jsonl"), format!("{name}-3.jsonl")];
    assert_eq!(first, expected);
    // The order of the list changes, and the numbers stay.
    for id in ["x-y", "x:y", "x/y"] {
        exports.append(id, "later");
        assert_eq!(paths(&exports), first);
    }
    // Also if another session is removed, whose file stays.
    exports.store().remove("x/y").unwrap();
    let (_, told) = exports.run();
    assert_eq!(told.iter().filter(|told| told.status == "unchanged").count(), 2, "{told:?}");
    for (id, path) in ALIKE.iter().zip(&first) {
        let held = std::fs::read_to_string(exports.folder.join(path)).unwrap();
        assert!(held.contains(&format!("\"id\":\"{id}\"")), "{path}");
    }
    // One that comes back finds its own file unchanged, or another path.
    exports.import("0", &session("x/y", "/w", &["only", "x/y", "and more"]));
    let (totals, told) = exports.run();
    assert_eq!((totals.written, totals.unchanged, totals.kept), (0, 2, 1), "{told:?}");
}

#[test]
fn numbers_do_not_need_the_manifest() {
    let exports = alike();
    let first = paths(&exports);
    exports.append("x-y", "later");
    exports.run();
    std::fs::remove_file(exports.folder.join(".leafline-manifest")).unwrap();
    assert_eq!(paths(&exports), first);
}

#[test]
fn ids_that_differ_in_case_alone_get_two_files() {
    let exports = Exports::new();
    exports.import("1", &session("abc", "/w", &["lower"]));
    exports.import("2", &session("ABC", "/w", &["upper"]));
    let (totals, told) = exports.run();
    assert_eq!(totals.written, 2);
    assert_ne!(told[0].path.to_lowercase(), told[1].path.to_lowercase());
}

#[test]
fn two_files_of_one_id_are_two_sessions_with_two_files() {
    let exports = Exports::new();
    exports.import("1", &session("s", "/w", &["one"]));
    exports.import("2", &session("s", "/w", &["another"]));
    exports.gives(&[("s", "written"), ("s~2", "written")]);
    exports.append("s", "later");
    exports.gives(&[("s", "written"), ("s~2", "unchanged")]);
    exports.gives(&[("s", "unchanged"), ("s~2", "unchanged")]);
}
