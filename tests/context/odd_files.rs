//! Loops, repeated ids and parents that come later.

use leafline::context::ContextLeaf;
use leafline::import::ImportOptions;
use leafline::{Family, Store};
use serde_json::json;

use super::scene::{Scene, compaction, entry, user};

#[test]
fn loops_end_the_path() {
    let scene = Scene::pi(&[
        user("a", "c"),
        user("b", "a"),
        user("c", "b"),
        user("d", "c"),
        user("e", "e"),
        user("f", "e"),
    ]);
    assert_eq!(scene.said_at("d"), "a b c d");
    assert_eq!(scene.said_at("b"), "c a b");
    assert_eq!(scene.said_at("f"), "e f");
    // The compaction itself is in the loop.
    let scene = Scene::pi(&[
        user("a", "d"),
        user("b", "a"),
        compaction("c", "b", "b"),
        user("d", "c"),
        compaction("e", "d", "a"),
    ]);
    assert_eq!(scene.said_at("d"), "[c] b d");
    assert_eq!(scene.said_at("b"), "[c] d a b");
    assert_eq!(scene.said_at("e"), "[e] a b d");
}

#[test]
fn of_an_id_met_twice_the_later_entry_is_on_the_path() {
    let scene = Scene::pi(&[
        entry("message", "a", "", json!({"message": {"role": "user", "content": "first"}})),
        user("b", "a"),
        entry("message", "a", "", json!({"message": {"role": "user", "content": "again"}})),
        compaction("c", "b", "a"),
        user("d", "c"),
    ]);
    assert_eq!(scene.said_at("d"), "[c] again b d");
    assert_eq!(scene.said_at("a"), "again");
}

#[test]
fn parents_may_come_later() {
    let scene = Scene::pi(&[
        user("e", "d"),
        compaction("d", "c", "b"),
        user("c", "b"),
        user("b", "a"),
        entry("thinking_level_change", "a", "", json!({"thinkingLevel": "low"})),
    ]);
    assert_eq!(scene.said_at("e"), "[d] b c e");
    let context = scene.context(ContextLeaf::Entry("e"));
    assert_eq!(context.settings.thinking_level.unwrap().as_str(), r#""low""#);
}

/// pi 0.73.1 and 0.87.1 and omp 18.2.3 were asked.
#[test]
fn a_leaf_whose_id_is_null_is_the_place_before_the_first_entry() {
    let folder = tempfile::tempdir().unwrap();
    for family in [Family::Pi, Family::Omp] {
        for (number, (id, said)) in [
            (r#""id":null,"#, 0),
            (r#""id":"a2","id":null,"#, 0),
            ("", 2),
            (r#""id":7,"#, 2),
            (r#""id":0,"#, 2),
            (r#""id":"","#, 2),
        ]
        .into_iter()
        .enumerate()
        {
            let text = format!(
                concat!(
                    r#"{{"type":"session","version":3,"id":"s","timestamp":"2026-02-01T00:00:00.000Z","cwd":"/w"}}"#,
                    "\n",
                    r#"{{"type":"message","id":"a","parentId":null,"message":{{"role":"user","content":"one"}}}}"#,
                    "\n",
                    r#"{{"type":"message",{}"parentId":"a","message":{{"role":"user","content":"two"}}}}"#,
                    "\n",
                ),
                id
            );
            let path = folder.path().join(format!("{number}.jsonl"));
            std::fs::write(&path, text).unwrap();
            let store = Store::in_memory().unwrap();
            let options = ImportOptions { family: Some(family), ..ImportOptions::default() };
            store.import(&[&path], &options, &mut ()).unwrap();
            let reader = store.reader("s").unwrap();
            let context = reader.build_context(ContextLeaf::Current, None).unwrap();
            assert_eq!(context.messages.len(), said, "{family:?} {id}");
            // The entry itself stays what it is.
            assert!(reader.get_leaf().unwrap().is_some());
        }
    }
}
