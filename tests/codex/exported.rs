//! An export of all sessions is a folder that Codex resumes from in place of its own.

use leafline::export::ExportOptions;
use leafline::import::ImportOptions;
use leafline_judges::codex;
use serde_json::{Value, json};

use crate::contexts::sent;
use crate::place::Place;
use crate::program::difference;
use crate::{ID, cases, file_name};

/// The context of an answer.
fn context(answer: &Value) -> Vec<String> {
    serde_json::from_value(answer["context"].clone()).unwrap_or_else(|_| panic!("{answer}"))
}

#[test]
fn codex_resumes_from_a_folder_of_exports() {
    let Some(judge) = codex() else { return };
    let place = Place::new();
    let file = cases::Case::new("", cases::talk(3)).file(ID);
    place.write(&file_name(ID), &file);
    place.store.import(&[place.path("codex")], &ImportOptions::default(), &mut ()).unwrap();
    let folder = place.path("all");
    place.store.export_all(&folder, &ExportOptions::default(), |_| {}).unwrap();
    let job =
        json!({"op": "exported", "folder": folder.join("codex"), "id": ID, "model": "gpt-5.5"});
    let answer = judge.ask(&[job]).remove(0);
    let found = difference(ID, &Value::from(sent(&place, ID)), &context(&answer));
    assert!(found.is_none(), "{}", found.unwrap_or_default());
    // What Codex has added there comes into the store.
    let totals = place.store.sync(&[&folder], &ImportOptions::default(), &mut ()).unwrap();
    assert_eq!(totals.grown, 1, "{totals:?}");
}
