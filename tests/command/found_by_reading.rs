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

#[test]
#[cfg(unix)]
fn what_cannot_be_looked_at_in_a_folder_is_told_and_costs_the_others_nothing() {
    let scene = Scene::new();
    scene.write("sessions/1.jsonl", &small("first", "an apple"));
    scene.write("sessions/3.jsonl", &small("third", "a plum"));
    let folder = scene.folder().join("sessions");
    std::os::unix::fs::symlink("nowhere.jsonl", folder.join("2.jsonl")).unwrap();
    std::os::unix::fs::symlink("round.jsonl", folder.join("round.jsonl")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.join("other.txt")).unwrap();
    for command in ["import", "sync"] {
        let run = scene.run([command, "--no-index", "--json", path(&folder)]);
        assert_eq!(run.status, 1, "{}{}", run.text(), run.stderr);
        let told = run.json_lines();
        let failed: Vec<&str> = told
            .iter()
            .filter(|line| line["status"] == "failed")
            .map(|line| line["path"].as_str().unwrap().rsplit('/').next().unwrap())
            .collect();
        assert_eq!(failed, ["2.jsonl", "round.jsonl"], "{}", run.text());
        let reasons = run.text();
        assert!(reasons.contains("looking at it: "), "{reasons}");
    }
    let listed = scene.run(["ls", "--json"]).ok().json_lines();
    assert_eq!(listed.len(), 2);
}

#[test]
#[cfg(unix)]
fn a_closed_folder_in_a_folder_is_told() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    let scene = Scene::new();
    scene.write("sessions/1.jsonl", &small("first", "an apple"));
    scene.write("sessions/closed/2.jsonl", &small("second", "a pear"));
    scene.write("sessions/3.jsonl", &small("third", "a plum"));
    let folder = scene.folder().join("sessions");
    // It can be listed, and nothing in it looked at.
    let set_mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set_mode(scene.folder(), 0o777);
    set_mode(&folder.join("closed"), 0o444);
    let program = scene.folder().join("leafline");
    std::fs::copy(env!("CARGO_BIN_EXE_leafline"), &program).unwrap();
    let mut reader = std::process::Command::new(&program);
    reader.args(["import", "--no-index", "--json", path(&folder)]);
    reader.env("LEAFLINE_STORE", scene.store()).env("HOME", scene.folder());
    if std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0) {
        reader.uid(65_534).gid(65_534);
    }
    let output = loop {
        match reader.output() {
            // A process that another test starts has the program open for writing for a moment.
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            output => break output.unwrap(),
        }
    };
    set_mode(&folder.join("closed"), 0o755);
    let run = super::scene::finished(output);
    assert_eq!(run.status, 1, "{}{}", run.text(), run.stderr);
    let told = run.json_lines();
    let has = |status: &str, end: &str| {
        told.iter().any(|line| {
            line["status"] == status
                && line["path"].as_str().is_some_and(|path| path.ends_with(end))
        })
    };
    assert!(has("failed", "closed/2.jsonl"), "{}", run.text());
    assert!(has("imported", "1.jsonl") && has("imported", "3.jsonl"), "{}", run.text());
}

/// Runs `leafline search` for a word; the ids of the sessions that it finds.
fn found(run: &Run) -> Vec<String> {
    run.json_lines().iter().map(|hit| hit["session"].as_str().unwrap().to_owned()).collect()
}
