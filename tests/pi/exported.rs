//! An export of all sessions is a folder that pi goes on with in place of its own.

use std::path::Path;

use leafline::export::ExportOptions;
use leafline::import::ImportOptions;
use serde_json::json;

use crate::oracle::Oracle;
use crate::place::Place;

#[test]
fn pi_continues_a_session_in_a_folder_of_exports() {
    let Some(oracle) = Oracle::find() else { return };
    let place = Place::new();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("import/samples");
    place.store.import(&[samples], &ImportOptions::default(), &mut ()).unwrap();
    let id = "019c6605-4c90-7d2a-9b41-5f0e3c77a1d2";
    // pi takes the newest file of the project.
    place.store.remove("019c6aac").unwrap();
    let folder = place.path("all");
    place.store.export_all(&folder, &ExportOptions::default(), |_| {}).unwrap();
    let reader = place.store.reader(id).unwrap();
    let cwd = reader.facts().cwd.unwrap().to_string();
    let job = json!({"op": "exported", "folder": folder.join("pi"), "cwd": cwd}).to_string();
    let answer = &oracle.ask(&job)[0];
    assert_eq!(answer["id"], id, "{answer}");
    assert_eq!(answer["leaf"].as_str(), reader.get_leaf_id().unwrap().as_deref(), "{answer}");
}
