//! An export of all sessions is a folder that Claude Code resumes from in place of its own.

use leafline::context::ContextLeaf;
use leafline::export::ExportOptions;
use leafline::import::ImportOptions;
use leafline_judges::{Resumed, claude, difference, with_strings};
use serde_json::json;

use crate::place::Place;

#[test]
fn the_program_resumes_from_a_folder_of_exports() {
    let Some(judge) = claude() else { return };
    let place = Place::new();
    let id = "0b5e8f9a-2f4d-4a4e-8a3c-000000000077";
    // The same conversation: sessions are found by the folder in which the program runs.
    let (mut questions, mut answers) = judge.converse();
    questions.ask(&json!({"op": "play", "seed": 4}));
    let played = answers.next();
    let file = played["file"].as_str().unwrap_or_else(|| panic!("{played}"));
    let path = place.write(&format!("{id}.jsonl"), file);
    place.store.import(&[&path], &ImportOptions::default(), &mut ()).unwrap();
    let folder = place.path("all");
    place.store.export_all(&folder, &ExportOptions::default(), |_| {}).unwrap();
    questions.ask(&json!({"op": "exported", "folder": folder.join("claude"), "id": id}));
    let answer = answers.next();
    let resumed = Resumed::of(&answer);
    let theirs = resumed.messages.unwrap_or_else(|| panic!("{answer}"));
    let context =
        place.store.reader(id).unwrap().build_context(ContextLeaf::Current, None).unwrap();
    let ours = context.messages.iter().map(|message| message.value().unwrap()).collect();
    let found = difference("Claude Code", id, &with_strings(ours), &theirs);
    assert!(found.is_none(), "{}", found.unwrap_or_default());
    drop(questions);
    // What the program has added there comes into the store.
    let totals = place.store.sync(&[&folder], &ImportOptions::default(), &mut ()).unwrap();
    assert_eq!(totals.grown, 1, "{totals:?}");
}
