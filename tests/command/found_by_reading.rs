//! Failures that cost more than they should: a retry that forgets, an error that is swallowed, damage that is not told.

use super::scene::{Run, Scene, file, header, message, path};

/// A session with one message of the user's.
fn small(id: &str, text: &str) -> Vec<u8> {
    file([header(id), message("a1", None, text)])
}

#[test]
fn blobs_come_with_the_attempt_that_is_committed() {
    let (hash, bytes) = (super::scene::BLOB, {
        let name = super::scene::sample_blobs().join(super::scene::BLOB);
        std::fs::read(name).unwrap()
    });
    let scene = Scene::new();
    scene.write(&format!("blobs/{hash}"), &bytes);
    let blobs = scene.folder().join("blobs");
    let mut lines = small("s", "Hi");
    let session = scene.write("s.jsonl", &lines);
    scene.run(["sync", "--no-index", "--blobs", path(&blobs), path(&session)]).ok();
    // An id that is there already: the growth is given up, and the file imported as a whole.
    let image = format!(
        r#"{{"type":"message","id":"a1","parentId":null,"timestamp":"2026-03-01T08:00:01.000Z","message":{{"role":"user","content":[{{"type":"image","data":"blob:sha256:{hash}","mimeType":"image/png"}}]}}}}"#
    );
    lines.extend_from_slice(&file([image]));
    std::fs::write(&session, &lines).unwrap();
    scene.run(["sync", "--no-index", "--blobs", path(&blobs), path(&session)]).ok();
    let found = scene.run(["export", "s", "--as", "portable"]).ok().text();
    assert!(!found.contains("blob:sha256:"), "{found}");
    // What no session refers to is not left behind either.
    scene.run(["verify"]).ok();
}

/// Runs `leafline search` for a word; the ids of the sessions that it finds.
fn found(run: &Run) -> Vec<String> {
    run.json_lines().iter().map(|hit| hit["session"].as_str().unwrap().to_owned()).collect()
}
