//! An export of all sessions is a folder that omp goes on with in place of its own.

use std::path::Path;

use leafline::context::ContextLeaf;
use leafline::export::ExportOptions;
use leafline::import::ImportOptions;
use serde_json::json;

use super::judge::omp_in;
use super::place::Place;

#[test]
fn omp_continues_a_session_in_a_folder_of_exports() {
    let place = Place::new();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("import/samples/omp");
    place.store.import(&[samples], &ImportOptions::default(), &mut ()).unwrap();
    let id = "019bbbf6-7d17-7c02-a6e4-91b05d3c48fe";
    // omp takes the newest file of the project.
    place.store.remove("0f6f2f6a").unwrap();
    let folder = place.path("all");
    let Some(judge) = omp_in(&folder.join("omp")) else { return };
    // omp keeps it as a blob, which it looks for in that folder.
    let picture = "QUJD".repeat(400);
    let image = json!({"type": "image", "mimeType": "image/png", "data": picture});
    let message = json!({"role": "user", "content": [image], "timestamp": 1_767_225_600_000u64});
    place.store.session(id).unwrap().append_message(&message).unwrap();
    place.store.export_all(&folder, &ExportOptions::default(), |_| {}).unwrap();
    let reader = place.store.reader(id).unwrap();
    let cwd = reader.facts().cwd.unwrap().to_string();
    let answer = judge.ask(&[json!({"op": "exported", "cwd": cwd})]).remove(0);
    assert_eq!(answer["header"]["id"], id, "{answer}");
    assert!(Path::new(answer["file"].as_str().unwrap()).starts_with(&folder), "{answer}");
    assert_eq!(answer["leafId"].as_str(), reader.get_leaf_id().unwrap().as_deref(), "{answer}");
    let context = reader.build_context(ContextLeaf::Current, None).unwrap();
    assert_eq!(answer["context"].as_str(), Some(&*context.to_json()));
    assert!(context.to_json().contains(&picture));
    // What omp has added there comes into the store.
    let totals = place.store.sync(&[&folder], &ImportOptions::default(), &mut ()).unwrap();
    assert_eq!(totals.grown, 1, "{totals:?}");
}
