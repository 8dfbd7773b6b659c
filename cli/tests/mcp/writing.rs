//! What `--write` lets an agent change.

use serde_json::json;

use super::client::Client;
use super::scene::{CLAUDE, PI_3, Scene};

#[test]
fn a_session_is_named_and_an_entry_labelled() {
    let scene = Scene::of_samples();
    let mut client = Client::greeted(&scene.store(), &["--write"]);
    let told = client
        .told("name_session", json!({ "session": "019c6605", "name": "Scheduler by due time" }));
    assert_eq!(told, "named session 019c6605");
    assert_eq!(scene.run(["name", PI_3]).ok().text(), "Scheduler by due time\n");
    let label =
        |entry: &str, label: &str| json!({ "session": PI_3, "entry": entry, "label": label });
    let told = client.told("label_entry", label("588262d5", "first idea"));
    assert_eq!(told, "labelled entry 588262d5 of session 019c6605");
    let tree = scene.run(["tree", PI_3]).ok().text();
    assert!(tree.contains("[first idea]"), "{tree}");
    client.told("label_entry", label("588262d5", ""));
    assert!(!scene.run(["tree", PI_3]).ok().text().contains("[first idea]"));
    let told =
        client.refused("label_entry", json!({ "session": CLAUDE, "entry": "@last", "label": "x" }));
    assert!(told.contains("claude"), "{told}");
    let told = client.refused("name_session", json!({ "session": PI_3, "name": "a\nb" }));
    assert!(told.contains("one line"), "{told}");
    let told = client.refused("label_entry", label("nowhere", "x"));
    assert!(told.contains("no entry"), "{told}");
    scene.run(["verify"]);
}
