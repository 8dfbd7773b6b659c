//! A file imported in steps as it grows gives the same session as one import.

use leafline::import::{ImportStatus, Refusal};
use serde_json::{Value, json};

use crate::place::Place;
use crate::records::{
    assistant, boundary, compact_summary, file, history, last_prompt, path, place_of, record, side,
    summary, user, with,
};

/// The facts that must not depend on how a session was imported.
pub(crate) fn state(place: &Place) -> Value {
    let reader = place.store.reader("s").unwrap();
    let facts = reader.facts();
    let tree = reader.get_tree().unwrap();
    let mut drawn = Vec::new();
    tree.write_json(&mut drawn).unwrap();
    let at = leafline::context::ContextLeaf::Current;
    json!({
        "leaf": reader.get_leaf().unwrap().map(|leaf| leaf.ordinal()),
        "title": facts.title,
        "prompt": facts.first_prompt,
        "agent": facts.agent,
        "orphans": facts.orphans,
        "recovered": facts.recovered,
        "entries": facts.entries,
        "path": path(&reader, None),
        "full": history(&reader, at, leafline::context::HistoryScope::Full),
        "tree": String::from_utf8(drawn).unwrap(),
    })
}

/// Imports the pieces one after the other, and compares each state with that of a new import.
pub(crate) fn grows(pieces: &[Vec<u8>]) -> Vec<Value> {
    let place = Place::new();
    let mut bytes = Vec::new();
    let mut states = Vec::new();
    for piece in pieces {
        bytes.extend_from_slice(piece);
        let report = place.import(&place.write("s.jsonl", &bytes));
        if report.refusal == Some(Refusal::NotASession) {
            continue;
        }
        assert_ne!(report.status, ImportStatus::Failed, "{report:?}");
        let fresh = Place::new();
        fresh.import(&fresh.write("s.jsonl", &bytes));
        assert_eq!(state(&place), state(&fresh), "after {}", String::from_utf8_lossy(&bytes));
        assert!(place.exact("s") == bytes);
        place.assert_sound();
        states.push(state(&place));
    }
    states
}

fn grow(steps: &[&[Value]]) -> Vec<Value> {
    grows(&steps.iter().map(|records| file(records)).collect::<Vec<_>>())
}

#[test]
fn records_that_move_the_leaf_and_the_title() {
    let states = grow(&[
        &[user("a", ""), assistant("b", "a", "m1")],
        &[user("c", "a")],
        &[last_prompt("b")],
        &[summary("c", "What it is about")],
        &[assistant("d", "b", "m2")],
        &[json!({"type": "ai-title", "aiTitle": "By the model", "sessionId": "s"})],
        &[json!({"type": "custom-title", "customTitle": "By the user", "sessionId": "s"})],
        &[summary("d", "What it is about now"), last_prompt("d")],
        &[boundary("k", "d"), compact_summary("l", "k")],
        &[user("e", "l")],
    ]);
    let leaves: Vec<_> = states.iter().map(|state| state["leaf"].as_u64().unwrap()).collect();
    assert_eq!(leaves, [1, 2, 1, 2, 5, 5, 5, 5, 11, 12]);
    let titles: Vec<_> = states.iter().map(|state| state["title"].as_str()).collect();
    let (about, model, user) = ("What it is about", "By the model", "By the user");
    assert_eq!(titles[..4], [None, None, None, Some(about)]);
    assert_eq!(
        titles[4..],
        [Some(about), Some(model), Some(user), Some(user), Some(user), Some(user)]
    );
    assert_eq!(states[9]["full"], json!(["a", "b", "d", "k", "l", "e"]));
}

#[test]
fn explicit_last_prompts_hold_until_an_entry_follows() {
    let explicit = |leaf: Value| json!({"type": "last-prompt", "leafUuid": leaf, "explicit": true, "sessionId": "s"});
    let states = grow(&[
        &[user("a", ""), assistant("b", "a", "m1"), user("c", "b")],
        &[explicit(json!("b"))],
        &[record("progress", "p", "a")],
        &[user("d", "b")],
        &[explicit(Value::Null)],
        &[record("progress", "q", "a")],
        &[user("e", "")],
    ]);
    let leaves: Vec<_> = states.iter().map(|state| state["leaf"].as_u64()).collect();
    assert_eq!(leaves, [Some(2), Some(1), Some(1), Some(5), None, None, Some(8)]);
}

/// As the program does, where a record stands ahead of the one that it hangs on.
#[test]
fn the_newest_below_the_last_is_the_leaf() {
    let at = |second: u8, record: Value| {
        with(record, json!({"timestamp": format!("2026-01-05T10:00:{second:02}Z")}))
    };
    let (first, below) = (at(1, user("a", "")), at(9, user("c", "b")));
    let states = grow(&[
        &[first, below],
        &[at(2, assistant("b", "a", "m1"))],
        &[json!({"type": "ai-title", "aiTitle": "x", "sessionId": "s"})],
        &[last_prompt("lost")],
    ]);
    let leaves: Vec<_> = states.iter().map(|state| state["leaf"].as_u64().unwrap()).collect();
    assert_eq!(leaves, [1, 1, 1, 2]);
}

#[test]
fn a_parent_that_comes_with_the_new_records() {
    let states = grow(&[
        &[user("a", ""), user("c", "b")],
        &[user("x", "a")],
        &[assistant("b", "a", "m1")],
        &[user("d", "c")],
    ]);
    assert_eq!(states[1]["orphans"], 1);
    assert_eq!(
        (&states[3]["orphans"], &states[3]["path"]),
        (&json!(0), &json!(["a", "b", "c", "d"]))
    );
}

#[test]
fn a_uuid_that_is_met_again() {
    grow(&[
        &[user("a", ""), user("b", "a")],
        &[user("c", "b")],
        &[user("a", "c")],
        &[user("d", "a")],
    ]);
}

#[test]
fn an_agents_file_that_turns_out_to_be_none() {
    let states = grow(&[
        &[side(user("a", "")), summary("a", "Of the sidechain")],
        &[side(assistant("b", "a", "m1"))],
        &[user("c", "")],
        &[with(user("d", "c"), json!({"isMeta": true}))],
    ]);
    assert!(states[1]["agent"].is_string() && states[2]["agent"].is_null());
    assert_eq!(states[1]["title"], "Of the sidechain");
    assert_eq!(states[2]["title"], Value::Null);
}

#[test]
fn a_line_that_is_completed_later() {
    let line = file(&[assistant("b", "a", "m1")]);
    let (first, rest) = line.split_at(line.len() / 2);
    grows(&[file(&[user("a", "")]), first.to_vec(), rest.to_vec(), file(&[user("c", "b")])]);
}

#[test]
fn a_summary_that_is_written_again_is_whole() {
    // Far longer than the part of it that the index keeps.
    let text = "What it is about. ".repeat(4000);
    let mut of_file = summary("c", &text);
    of_file["version"] = json!("1.0");
    let records = [of_file.clone(), user("a", ""), assistant("b", "a", "m"), user("c", "b")];
    let place = place_of(&file(&records));
    let mut session = place.store.session("s").unwrap();
    session.branch("a").unwrap();
    let new = session.append_message(&json!({"role": "user", "content": "Otherwise"})).unwrap();
    let exported = String::from_utf8(place.exact("s")).unwrap();
    let again: Value = serde_json::from_str(exported.lines().next_back().unwrap()).unwrap();
    of_file["leafUuid"] = json!(new);
    assert_eq!(again, of_file);

    // A reader of the file comes to the same leaf.
    let other = place_of(exported.as_bytes());
    assert_eq!(path(&other.store.reader("s").unwrap(), None), ["a", &*new]);
}
