//! Commands that ctrl-c ends: they say what is stored, and leave nothing else.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use leafline_generate::{Shape, generate};

use crate::scene::{Run, Scene, command, file, finished, header, message, path};

/// Longer than anything here takes, on a machine that is busy with something else.
const PATIENCE: Duration = Duration::from_secs(600);

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

/// The files below a folder, in order; none if it is not there.
fn files_in(folder: &Path) -> Vec<String> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let place = entry.unwrap().path();
            if place.is_dir() { folders.push(place) } else { files.push(path(&place).to_owned()) }
        }
    }
    files.sort();
    files
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
    let scene = Scene::new();
    many_files(&scene, 120);
    let sessions = scene.folder().join("sessions");
    let store = scene.store();
    for (command, signal) in [("import", "-INT"), ("sync", "-TERM")] {
        let holds = || std::fs::metadata(&store).is_ok_and(|file| file.len() > 1 << 20);
        let run = interrupted(&scene, &[command, "--no-index", path(&sessions)], signal, holds);
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
        let rest = scene.run([command, "--no-index", path(&sessions)]).ok().text();
        let expected = format!("120 files: {} imported, {stored} unchanged", 120 - stored);
        assert!(rest.contains(&expected), "{expected}: {rest}");
        std::fs::remove_file(&store).unwrap();
    }
}

#[test]
fn an_export_that_is_interrupted_says_what_is_written_and_is_gone_on_with() {
    let scene = Scene::new();
    many_files(&scene, 60);
    scene.run(["import", "--no-index", path(&scene.folder().join("sessions"))]).ok();
    let folder = scene.folder().join("exported");
    let export = ["export", "--all", "-o", path(&folder)];
    for signal in ["-INT", "-TERM"] {
        let _ = std::fs::remove_dir_all(&folder);
        let run = interrupted(&scene, &export, signal, || !files_in(&folder).is_empty());
        let text = run.text();
        let written = text.lines().filter(|line| line.starts_with("written ")).count();
        let told = run.fails(130);
        assert!(0 < written && written < 60, "{written}");
        assert!(told.contains(&format!("stopped after {written} of 60 sessions")), "{told}");
        // Each file that was reported is there, and no other but the manifest.
        let mut reported: Vec<String> = text
            .lines()
            .filter(|line| line.starts_with("written "))
            .map(|line| line.split_whitespace().last().unwrap().to_owned())
            .collect();
        reported.push(path(&folder.join(".leafline-manifest")).to_owned());
        reported.sort();
        assert_eq!(files_in(&folder), reported);
        let rest = scene.run(export).ok().text();
        let expected = format!("60 sessions: {} written, {written} unchanged", 60 - written);
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
fn an_import_of_standard_input_that_never_ends_is_left() {
    for signal in ["-INT", "-TERM"] {
        let scene = Scene::new();
        let mut command = command(&scene.store());
        command.args(["import", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(&file([header("s1"), message("a", None, "x")])).unwrap();
        let begun = Instant::now();
        while !scene.store().exists() {
            assert!(begun.elapsed() < PATIENCE, "waited in vain");
            std::thread::sleep(Duration::from_millis(1));
        }
        interrupt(&child, signal);
        let run = finished(child.wait_with_output().unwrap());
        assert_eq!(run.text(), "0 files\n");
        assert_eq!(
            run.fails(130),
            "leafline: stopped before the end of standard input; nothing of it is stored\n"
        );
        drop(input);
        assert_eq!(names(scene.folder()), ["store.leafline"]);
        assert_eq!(scene.run(["ls"]).ok().text(), "");
    }
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
