//! What a compaction keeps of the path above it.

use leafline::context::ContextLeaf;
use serde_json::json;

use super::scene::{MILLISECONDS, Scene, compaction, entry, user};

#[test]
fn a_compaction_stands_for_what_it_does_not_keep() {
    let scene = Scene::pi(&[
        user("a", ""),
        user("b", "a"),
        user("c", "b"),
        compaction("d", "c", "b"),
        user("e", "d"),
        user("f", "e"),
    ]);
    assert_eq!(scene.said_at("c"), "a b c");
    assert_eq!(scene.said_at("d"), "[d] b c");
    assert_eq!(scene.said(ContextLeaf::Current).join(" "), "[d] b c e f");
    let context = scene.context(ContextLeaf::Current);
    let ordinals: Vec<u64> = context.messages.iter().map(|message| message.ordinal).collect();
    assert_eq!(ordinals, [4, 2, 3, 5, 6]);
    assert_eq!(
        context.messages[0].json.as_str(),
        format!(
            r#"{{"role":"compactionSummary","summary":"[d]","tokensBefore":5,"timestamp":{MILLISECONDS}}}"#
        )
    );
}

#[test]
fn of_several_compactions_the_last_on_the_path_counts() {
    let scene = Scene::pi(&[
        user("a", ""),
        user("b", "a"),
        compaction("c", "b", "b"),
        user("d", "c"),
        compaction("e", "d", "a"),
        user("f", "e"),
        // Another branch from between the two.
        user("g", "d"),
        compaction("h", "f", "d"),
    ]);
    assert_eq!(scene.said_at("d"), "[c] b d");
    assert_eq!(scene.said_at("f"), "[e] a b d f");
    assert_eq!(scene.said_at("g"), "[c] b d g");
    assert_eq!(scene.said_at("h"), "[h] d f");
}

#[test]
fn a_compaction_keeps_nothing_where_its_first_kept_entry_is_not_above_it() {
    let missing = entry("compaction", "m", "b", json!({"summary": "[m]", "tokensBefore": 5}));
    let scene = Scene::pi(&[
        user("a", ""),
        user("b", "a"),
        user("x", "a"),
        compaction("elsewhere", "b", "x"),
        compaction("itself", "b", "itself"),
        compaction("gone", "b", "nobody"),
        compaction("below", "b", "later"),
        user("later", "below"),
        missing,
        compaction("empty", "b", ""),
        compaction("root", "", "a"),
    ]);
    for id in ["elsewhere", "itself", "gone", "below", "m", "empty", "root"] {
        assert_eq!(scene.said_at(id), format!("[{id}]"));
    }
    assert_eq!(scene.said_at("later"), "[below] later");
}
