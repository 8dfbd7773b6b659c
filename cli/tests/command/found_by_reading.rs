//! Failures that cost more than they should: a retry that forgets, an error that is swallowed, damage that is not told.

use leafline::omp::OmpSession;
use redb::{ConcurrencyMode, TableDefinition};

use super::scene::{Run, Scene, file, header, message, path};

const SESSIONS: TableDefinition<u64, &[u8]> = TableDefinition::new("sessions");

/// Changes the record of the only session whose record has these bytes.
fn change_record(scene: &Scene, with: &[u8], change: impl FnOnce(&mut Vec<u8>)) {
    let mut builder = redb::Builder::new();
    builder.set_concurrency_mode(ConcurrencyMode::MultiWriter);
    let database = builder.open(scene.store()).unwrap();
    let transaction = database.begin_write().unwrap();
    {
        let mut table = transaction.open_table(SESSIONS).unwrap();
        let mut found = Vec::new();
        for row in redb::ReadableTable::iter(&table).unwrap() {
            let (key, value) = row.unwrap();
            if place_of(value.value(), with).is_some() {
                found.push((key.value(), value.value().to_vec()));
            }
        }
        assert_eq!(found.len(), 1, "records with these bytes");
        let (key, mut record) = found.remove(0);
        change(&mut record);
        table.insert(key, &*record).unwrap();
    }
    transaction.commit().unwrap();
}

fn place_of(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

/// A session with one message of the user's.
fn small(id: &str, text: &str) -> Vec<u8> {
    file([header(id), message("a1", None, text)])
}

/// A store of two sessions, `first` and `second`, from a folder.
fn two_sessions() -> (Scene, std::path::PathBuf) {
    let scene = Scene::new();
    scene.write("sessions/1.jsonl", &small("first", "an apple"));
    scene.write("sessions/2.jsonl", &small("second", "a pear"));
    let folder = scene.folder().join("sessions");
    scene.run(["import", "--no-index", path(&folder)]).ok();
    (scene, folder)
}

/// What a record begins with: its version, and the session's id.
fn beginning_of_record(id: &str) -> Vec<u8> {
    [&[1, u8::try_from(id.len()).unwrap()], id.as_bytes(), &[1]].concat()
}

/// Gives a session a family that there is not.
fn damage_family(scene: &Scene, id: &str) {
    let begins = beginning_of_record(id);
    change_record(scene, &begins, |record| record[begins.len()] = 99);
}

/// Cuts a session's record.
fn cut_record(scene: &Scene, id: &str) {
    let begins = beginning_of_record(id);
    change_record(scene, &begins, |record| record.truncate(begins.len() + 3));
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

#[test]
fn counts_by_type_that_are_not_the_lines_are_found() {
    let scene = Scene::of_session(&small("s", "Hi"));
    scene.run(["verify"]).ok();
    change_record(&scene, b"message/user", |record| {
        let place = place_of(record, b"message/user").unwrap() + "message/user".len();
        assert_eq!(record[place], 1);
        record[place] = 2;
    });
    let run = scene.run(["verify"]);
    assert_eq!(run.status, 1, "{}{}", run.text(), run.stderr);
    assert!(run.text().contains("message/user"), "{}", run.text());
}

#[test]
fn counts_by_type_that_are_nonsense_are_damage() {
    let scene = Scene::of_session(&small("s", "Hi"));
    change_record(&scene, b"message/user", |record| {
        // The length of the name.
        let place = place_of(record, b"message/user").unwrap() - 1;
        record[place] = 250;
    });
    for arguments in [&["show", "s"][..], &["stats"], &["stats", "s"], &["verify"]] {
        let run = scene.run(arguments.iter().copied());
        assert_eq!(run.status, 1, "{arguments:?}: {}{}", run.text(), run.stderr);
    }
    assert_eq!(scene.run(["ls", "--json"]).ok().json_lines().len(), 1);
}

#[test]
fn an_unknown_family_is_damage() {
    let (scene, folder) = two_sessions();
    damage_family(&scene, "first");
    for arguments in [
        &["show", "first"][..],
        &["tree", "first"],
        &["path", "first"],
        &["context", "first"],
        &["export", "first"],
        &["export", "first", "--as", "exact"],
        &["append", "first", r#"{"type":"custom","customType":"x"}"#],
        &["verify"],
    ] {
        let run = scene.run(arguments.iter().copied());
        assert_ne!(run.status, 0, "{arguments:?}: {}", run.text());
        let told = format!("{}{}", run.text(), run.stderr);
        assert!(told.contains("family 99"), "{arguments:?}: {told}");
    }
    scene.run(["show", "second"]).ok();
    // Of a folder, its file alone fails.
    std::fs::write(folder.join("3.jsonl"), small("third", "a plum")).unwrap();
    for command in ["sync", "import"] {
        let run = scene.run([command, "--no-index", path(&folder)]);
        assert_eq!(run.status, 1, "{}{}", run.text(), run.stderr);
        assert!(run.text().contains("1 failed"), "{}", run.text());
        scene.run(["show", "third"]).ok();
    }
}

#[test]
fn a_damaged_record_costs_its_own_file_alone() {
    let (scene, folder) = two_sessions();
    cut_record(&scene, "first");
    std::fs::write(folder.join("3.jsonl"), small("third", "a plum")).unwrap();
    for command in ["sync", "import"] {
        let run = scene.run([command, "--no-index", path(&folder)]);
        assert_eq!(run.status, 1, "{}{}", run.text(), run.stderr);
        assert!(run.text().contains("1 failed"), "{}", run.text());
        scene.run(["show", "third"]).ok();
    }
}

/// Runs `leafline search` for a word; the ids of the sessions that it finds.
fn found(run: &Run) -> Vec<String> {
    run.json_lines().iter().map(|hit| hit["session"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_damaged_session_is_left_out_of_the_search_index() {
    for damage in [damage_family, cut_record, lose_lines] {
        let (scene, _) = two_sessions();
        damage(&scene, "second");
        let run = scene.run(["index"]);
        assert_eq!(run.status, 1, "{}{}", run.text(), run.stderr);
        assert!(run.stderr.contains("damaged"), "{}", run.stderr);
        let run = scene.run(["search", "apple", "--json"]);
        assert_eq!(found(&run), ["first"], "{}", run.stderr);
        assert!(scene.run(["search", "pear", "--json"]).stdout.is_empty());
        let again = scene.run(["--json", "index"]);
        assert_eq!(again.status, 1, "it is still damaged: {}", again.stderr);
    }
}

/// Takes the chunks of a session away.
fn lose_lines(scene: &Scene, id: &str) {
    const LINES: TableDefinition<(u64, u64, u32), &[u8]> = TableDefinition::new("lines");
    const IDS: TableDefinition<&[u8], u64> = TableDefinition::new("session_ids");
    let mut builder = redb::Builder::new();
    builder.set_concurrency_mode(ConcurrencyMode::MultiWriter);
    let database = builder.open(scene.store()).unwrap();
    let transaction = database.begin_write().unwrap();
    let ids = transaction.open_table(IDS).unwrap();
    let key = redb::ReadableTable::get(&ids, id.as_bytes()).unwrap().unwrap().value();
    drop(ids);
    transaction.open_table(LINES).unwrap().remove((key, 0, 0)).unwrap().unwrap();
    transaction.commit().unwrap();
}

/// A file of version 1.
const VERSION_1: &str = concat!(
    r#"{"type":"session","id":"old","timestamp":"2025-03-01T08:00:00.000Z","cwd":"/work"}"#,
    "\n",
    r#"{"type":"message","timestamp":"2025-03-01T08:00:01.000Z","message":{"role":"user","content":"Hi"}}"#,
    "\n"
);

#[test]
fn the_file_as_it_came_is_given_or_said_to_be_gone() {
    // What was appended here is not in it, with a migration or without.
    for bytes in [VERSION_1.as_bytes().to_vec(), small("old", "Hi")] {
        let scene = Scene::of_session(&bytes);
        let more = br#"{"type":"custom","customType":"x","data":1}"#;
        scene.run_with_input(["append", "old"], more).ok();
        let run = scene.run(["export", "old", "--as", "original"]).ok();
        assert!(run.stdout == bytes, "{}", run.text());
        let current = scene.run(["export", "old"]).ok();
        assert!(current.text().contains("customType"));
    }
    // A line was rewritten here.
    let scene = Scene::of_session(&small("old", "Hi"));
    change_in_place(&scene);
    let told = scene.run(["export", "old", "--as", "original"]).fails(1);
    assert!(told.contains("lines were changed"), "{told}");
    // It came from no file.
    let scene = Scene::new();
    let id = scene.run(["new", "--family", "pi", "--cwd", "/work"]).ok().text();
    let told = scene.run(["export", id.trim(), "--as", "original"]).fails(1);
    assert!(told.contains("from no file"), "{told}");
    let advice = format!("; `leafline export --as current {}` gives it as it is now", id.trim());
    assert!(told.contains(&advice), "{told}");
}

/// Changes a line of the session.
fn change_in_place(scene: &Scene) {
    let store = leafline::Store::open(scene.store()).unwrap();
    let change =
        |entry: &leafline::Entry| Ok(Some(entry.json().unwrap().to_string().replace("Hi", "Ho")));
    assert_eq!(store.session("old").unwrap().rewrite_entries(change).unwrap(), 1);
}
