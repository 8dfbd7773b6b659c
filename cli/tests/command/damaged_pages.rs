//! A damaged page of the store's file costs what is on it: every command goes on with the rest, and says so.

use std::collections::BTreeSet;
use std::os::unix::fs::FileExt;

use crate::scene::{Scene, file, header, message, path};

const SESSIONS: usize = 120;
const PAGE: u64 = 4096;

fn many_sessions() -> Scene {
    let scene = Scene::new();
    for number in 0..SESSIONS {
        let id = format!("session-{number:03}");
        let text = format!("{number} {}", "a pear and an apple ".repeat(10));
        let bytes = file([header(&id), message("a1", None, &text)]);
        scene.write(&format!("files/{id}.jsonl"), &bytes);
    }
    let folder = scene.folder().join("files");
    scene.run(["import", "--no-index", path(&folder)]).ok();
    scene
}

/// Flips a bit in the middle of a page.
fn flip(scene: &Scene, page: u64) {
    let store = std::fs::File::options().read(true).write(true).open(scene.store()).unwrap();
    let mut byte = [0];
    store.read_exact_at(&mut byte, page * PAGE + PAGE / 2).unwrap();
    store.write_all_at(&[byte[0] ^ 16], page * PAGE + PAGE / 2).unwrap();
}

/// The ids that a list of JSON records has.
fn listed(scene: &Scene) -> (i32, BTreeSet<String>, String) {
    let run = scene.run(["ls", "--json"]);
    let id = |record: &serde_json::Value| record["id"].as_str().unwrap().to_owned();
    (run.status, run.json_lines().iter().map(id).collect(), run.stderr)
}

#[test]
fn what_is_on_other_pages_is_listed_exported_found_and_named() {
    let scene = many_sessions();
    scene.run(["index"]).ok();
    let (status, all, _) = listed(&scene);
    assert_eq!((status, all.len()), (0, SESSIONS));
    let pages = std::fs::metadata(scene.store()).unwrap().len() / PAGE;
    let mut partial = 0;
    for page in 1..pages {
        flip(&scene, page);
        let (status, some, said) = listed(&scene);
        assert!(some.is_subset(&all), "page {page}");
        if status == 0 {
            assert_eq!(some, all, "page {page}");
        } else if !some.is_empty() {
            partial += 1;
            let missing: Vec<&String> = all.difference(&some).collect();
            for id in &missing {
                assert!(said.contains(&format!("session {id} is damaged")), "page {page}: {said}");
            }
            // An export has had all, so that nothing of what it wrote is taken away for want of its session.
            let folder = scene.folder().join(format!("export-{page}"));
            flip(&scene, page);
            scene.run(["export", "--all", "-o", path(&folder)]).ok();
            flip(&scene, page);
            for folder in [folder, scene.folder().join(format!("fresh-{page}"))] {
                let run = scene.run(["export", "--all", "--json", "-o", path(&folder)]);
                assert_eq!(run.status, 1, "page {page}: {}", run.stderr);
                let reports = run.json_lines();
                let failed = reports.iter().filter(|report| report["status"] == "failed");
                let failed: BTreeSet<&str> =
                    failed.map(|report| report["session"].as_str().unwrap()).collect();
                let missing: BTreeSet<&str> = missing.iter().map(|id| id.as_str()).collect();
                assert!(
                    missing.is_subset(&failed),
                    "page {page}: {failed:?} {missing:?} {}",
                    run.text()
                );
                assert!(!reports.iter().any(|report| report["status"] == "left"), "page {page}");
            }
            let verified = scene.run(["verify"]);
            assert_eq!(verified.status, 1);
            assert!(
                verified.text().contains("is not what was written there"),
                "{}",
                verified.text()
            );
            let found = scene.run(["search", "--no-wait", "pear", "--json", "-n", "500"]);
            assert!(found.json_lines().len() >= some.len(), "page {page}: {}", found.stderr);
        }
        flip(&scene, page);
    }
    assert!(partial >= 3, "{partial} pages had some of the sessions");
    assert_eq!(listed(&scene).1, all);
}
