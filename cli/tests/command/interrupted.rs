//! Commands that ctrl-c ends: they say what is stored, and leave nothing else.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use leafline_generate::{Shape, generate};

use crate::scene::{Run, Scene, command, file, finished, header, message, path};

/// Longer than anything here takes, on a machine that is busy with something else.
const PATIENCE: Duration = Duration::from_secs(60);

/// What ctrl-c does.
fn interrupt(child: &Child, signal: &str) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Starts the command, and interrupts it as soon as something holds.
fn interrupted(
    scene: &Scene,
    arguments: &[&str],
    signal: &str,
    mut holds: impl FnMut() -> bool,
) -> Run {
    let mut command = command(&scene.store());
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let begun = Instant::now();
    while !holds() && child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain");
        std::thread::sleep(Duration::from_millis(1));
    }
    if child.try_wait().unwrap().is_none() {
        interrupt(&child, signal);
    }
    finished(child.wait_with_output().unwrap())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Files that take a few commits together.
fn many_files(scene: &Scene, count: u64) {
    for seed in 0..count {
        let mut bytes = Vec::new();
        generate(&Shape { seed, bytes: 1_000_000, ..Shape::default() }, &mut bytes).unwrap();
        scene.write(&format!("sessions/{seed:04}.jsonl"), &bytes);
    }
}

#[test]
fn an_import_that_is_interrupted_says_what_is_stored_and_is_gone_on_with() {
    for (command, signal) in [("import", "-INT"), ("sync", "-TERM")] {
        let scene = Scene::new();
        many_files(&scene, 120);
        let sessions = scene.folder().join("sessions");
        let store = scene.store();
        let holds = || std::fs::metadata(&store).is_ok_and(|file| file.len() > 1 << 20);
        let run = interrupted(&scene, &[command, path(&sessions)], signal, holds);
        let text = run.text();
        let totals = text.lines().last().unwrap().to_owned();
        let stored = text.lines().filter(|line| line.starts_with("imported ")).count();
        let told = run.fails(130);
        assert!(0 < stored && stored < 120, "{stored}");
        assert!(told.contains(&format!("stopped after {stored} of 120 files")), "{told}");
        assert!(totals.starts_with(&format!("{stored} file")), "{totals}");
        assert_eq!(names(scene.folder()), ["sessions", "store.leafline"]);
        // All that is stored has been reported, and nothing else is left in the store.
        assert_eq!(scene.run(["ls"]).ok().text().lines().count(), stored);
        let checked = scene.run(["verify"]).ok().text();
        assert!(checked.contains("no problems"), "{checked}");
        let rest = scene.run([command, path(&sessions)]).ok().text();
        let expected = format!("120 files: {} imported, {stored} unchanged", 120 - stored);
        assert!(rest.contains(&expected), "{expected}: {rest}");
    }
}

#[test]
fn a_large_file_is_left_in_the_middle() {
    let scene = Scene::new();
    let mut bytes = Vec::new();
    generate(&Shape { seed: 3, bytes: 200_000_000, ..Shape::default() }, &mut bytes).unwrap();
    let large = scene.write("large.jsonl", &bytes);
    drop(bytes);
    let store = scene.store();
    let holds = || std::fs::metadata(&store).is_ok_and(|file| file.len() > 1 << 20);
    let run = interrupted(&scene, &["import", path(&large)], "-INT", holds);
    assert_eq!(run.text().lines().collect::<Vec<_>>(), ["0 files"]);
    let told = run.fails(130);
    assert!(told.contains("stopped after 0 of 1 file"), "{told}");
    assert_eq!(names(scene.folder()), ["large.jsonl", "store.leafline"]);
    assert_eq!(scene.run(["ls"]).ok().text(), "");
    let stats = scene.run(["--json", "stats"]).ok().json();
    assert_eq!(stats["lines"], 0, "{stats}");
}

#[test]
fn a_store_that_is_being_created_leaves_no_stray_file() {
    let scene = Scene::new();
    let session = scene.write("session.jsonl", &file([header("s1"), message("a", None, "x")]));
    for _ in 0..10 {
        let _ = std::fs::remove_file(scene.store());
        let folder = scene.folder().to_owned();
        let holds = || names(&folder).iter().any(|name| name != "session.jsonl");
        interrupted(&scene, &["import", path(&session)], "-INT", holds);
        assert_eq!(names(scene.folder()), ["session.jsonl", "store.leafline"]);
    }
}
