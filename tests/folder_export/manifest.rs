//! A manifest that is damaged, old, or another store's.

use super::place::Place;
use super::{Exports, append, message, session};

const ALL_UNCHANGED: [(&str, &str); 3] =
    [("a", "unchanged"), ("b", "unchanged"), ("c", "unchanged")];

#[test]
fn without_a_sound_manifest_files_are_compared() {
    let exports = Exports::of_three();
    let file = exports.file("a");
    let manifest = exports.folder.join(".leafline-manifest");
    let sound = std::fs::read(&manifest).unwrap();
    let half = sound[..sound.len() / 2].to_vec();
    for bytes in [Vec::new(), b"{}\n".to_vec(), vec![0xff; 1000], half] {
        std::fs::write(&manifest, &bytes).unwrap();
        let before = exports.stamps();
        exports.gives(&ALL_UNCHANGED);
        let after = exports.stamps();
        assert_eq!(before[&file], after[&file]);
        // It is a sound one again.
        exports.gives(&ALL_UNCHANGED);
        assert_eq!(exports.stamps(), after);
    }
    // What can be continued is, and nothing else is overwritten.
    append(&exports.file("b"), message("new", "\"m1\"", "mine"));
    exports.append("a", "third");
    std::fs::write(&manifest, "damaged").unwrap();
    exports.gives(&[("a", "written"), ("b", "kept"), ("c", "unchanged")]);
}

#[test]
fn what_a_crash_left_unnoted_is_found_the_same() {
    let exports = Exports::of_three();
    exports.run();
    let manifest = exports.folder.join(".leafline-manifest");
    let old = std::fs::read(&manifest).unwrap();
    exports.append("a", "third");
    exports.store().move_session("b", "/new/b").unwrap();
    exports.run();
    // The files exist, and the manifest is the previous one.
    std::fs::write(&manifest, old).unwrap();
    let before = exports.stamps();
    exports.gives(&ALL_UNCHANGED);
    let mut after = exports.stamps();
    after.insert(manifest.clone(), before[&manifest]);
    assert_eq!(after, before);
}

#[test]
fn another_store_finds_the_same_files() {
    let exports = Exports::of_three();
    let file = exports.file("a");
    let other = Place::new();
    for id in ["a", "b"] {
        let bytes = session(id, &format!("/w/{id}"), &["first", "second"]);
        other.import(&other.write(&format!("{id}.jsonl"), bytes));
    }
    let before = exports.stamps()[&file];
    let (totals, told) = exports.run_of(&other.store);
    assert_eq!((totals.sessions, totals.unchanged), (2, 2), "{told:?}");
    exports.gives(&ALL_UNCHANGED);
    assert_eq!(exports.stamps()[&file], before);
}

#[test]
fn another_store_finds_files_that_it_would_name_otherwise() {
    let exports = Exports::new();
    let id = "0199f2b4-5c1e-7a30-9c55-3b1f0e8d2a61";
    // Codex names files in the machine's time zone.
    let line = format!(
        r#"{{"timestamp":"2025-11-20T19:04:07.331Z","type":"session_meta","payload":{{"id":"{id}","timestamp":"2025-11-20T19:04:07.331Z","cwd":"/w","originator":"codex_cli_rs","cli_version":"0.58.0"}}}}"#
    );
    let message = r#"{"timestamp":"2025-11-20T19:04:08.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}}"#;
    let bytes = format!("{line}\n{message}\n");
    let name = format!("codex/sessions/2025/11/21/rollout-2025-11-21T04-04-07-{id}");
    exports.import(&name, &bytes);
    let (_, first) = exports.run();
    assert!(first[0].path.ends_with(&format!("{name}.jsonl")), "{first:?}");
    let other = Place::new();
    other.import(&other.write("a.jsonl", &bytes));
    for _ in 0..2 {
        let (totals, told) = exports.run_of(&other.store);
        assert_eq!((totals.sessions, totals.unchanged), (1, 1), "{told:?}");
        assert_eq!(told[0].path, first[0].path);
    }
    assert_eq!(exports.run().1[0].status, "unchanged");
}

#[test]
fn a_store_that_was_brought_back_from_a_copy_is_not_taken_for_what_it_became() {
    let exports = Exports::of_three();
    let path = exports.store().path().to_owned();
    let copy = exports.place.path("copy");
    std::fs::copy(&path, &copy).unwrap();
    exports.append("a", "of one future");
    let file = exports.file("a");
    assert!(std::fs::read_to_string(&file).unwrap().contains("of one future"));
    // The same number of writes, with other lines.
    let other = leafline::Store::open(&copy).unwrap();
    let mut session = other.session("a").unwrap();
    session.append_message(&serde_json::json!({"role": "user", "content": "of another"})).unwrap();
    exports.run_of(&other);
    assert!(std::fs::read_to_string(&file).unwrap().contains("of another"));
}

#[test]
fn a_folder_without_sessions_gets_no_manifest() {
    let exports = Exports::new();
    exports.gives(&[]);
    assert!(!exports.folder.exists());
}

#[cfg(unix)]
#[test]
fn a_manifest_that_cannot_be_written_is_an_error_when_the_files_are() {
    let exports = Exports::of_three();
    let manifest = exports.folder.join(".leafline-manifest");
    std::fs::create_dir_all(manifest.join("full")).unwrap();
    let mut told = 0;
    let error = exports.store().export_all(&exports.folder, &exports.options, |_| told += 1);
    assert!(error.unwrap_err().to_string().contains(".leafline-manifest"));
    assert_eq!(told, 3);
    std::fs::remove_dir_all(manifest).unwrap();
    exports.gives(&ALL_UNCHANGED);
}
