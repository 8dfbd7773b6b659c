//! Loops, repeated ids and parents that come later.

use leafline::context::ContextLeaf;
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
