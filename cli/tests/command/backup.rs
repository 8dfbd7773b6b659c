//! `leafline backup`: what it says, and what is left of one that is killed or has no room.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use leafline_generate::Shape;

use crate::scene::{OMP_3, PI_3, SAMPLES, Scene, command, finished, path, run_on};

/// All that a store lists, and each session's lines.
fn said(store: &Path) -> String {
    let listed = run_on(store, ["ls", "--json"]).ok();
    let mut said = listed.text();
    for session in listed.json_lines() {
        let id = session["id"].as_str().unwrap();
        said += &run_on(store, ["export", id]).ok().text();
    }
    run_on(store, ["verify"]).ok();
    said
}

fn no_leftover(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(!name.to_string_lossy().starts_with('.'), "{name:?}");
    }
}

#[test]
fn it_says_what_was_copied() {
    let scene = Scene::of_samples();
    let file = scene.folder().join("folder").join("backup.leafline");
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    let text = scene.run(["backup", path(&file)]).ok().text();
    assert!(text.starts_with(&format!("{SAMPLES} sessions copied, ")), "{text}");
    assert_eq!(said(&file), said(&scene.store()));
    scene.run(["rm", "--yes", OMP_3]).ok();
    scene.run(["name", PI_3, "--set", "Another name"]).ok();
    let text = scene.run(["backup", path(&file)]).ok().text();
    let expected =
        format!("{} sessions, 1 new or changed, 1 removed since the last backup, ", SAMPLES - 1);
    assert!(text.starts_with(&expected), "{text}");
    assert_eq!(said(&file), said(&scene.store()));
    let backup = scene.run(["--json", "backup", "--compare-all", path(&file)]).ok().json();
    assert_eq!((&backup["is_new"], &backup["rows"]), (&false.into(), &0.into()));
    assert_eq!(backup["bytes"], std::fs::metadata(&file).unwrap().len());

    let error = scene.run(["backup", path(&scene.store())]).fails(1);
    assert!(error.contains("is the store in use"), "{error}");
    run_on(&file, ["name", PI_3, "--set", "Mine"]).ok();
    let error = scene.run(["backup", path(&file)]).fails(1);
    assert!(error.contains("written to as a store of its own; name another file"), "{error}");
    no_leftover(&scene.folder().join("folder"));
}

/// A store of 6 MB, and a change that makes half of it different.
fn large() -> Scene {
    let scene = Scene::new();
    for seed in 0..4 {
        let shape = Shape { seed, bytes: 3_000_000, ..Shape::default() };
        let mut file = Vec::new();
        leafline_generate::generate(&shape, &mut file).unwrap();
        scene.write(&format!("in/{seed}.jsonl"), &file);
    }
    import(&scene, "0");
    import(&scene, "1");
    scene
}

fn import(scene: &Scene, name: &str) {
    let file = scene.folder().join(format!("in/{name}.jsonl"));
    scene.run(["import", "--no-index", path(&file)]).ok();
}

/// The store before and after a change, and what both say.
struct Change {
    scene: Scene,
    first: PathBuf,
    before: String,
    after: String,
}

impl Change {
    fn new() -> Self {
        let scene = large();
        let first = scene.folder().join("first");
        scene.run(["backup", path(&first)]).ok();
        let before = said(&scene.store());
        import(&scene, "2");
        import(&scene, "3");
        let listed = run_on(&first, ["ls", "--json"]).ok().json_lines();
        scene.run(["rm", "--yes", listed[0]["id"].as_str().unwrap()]).ok();
        let after = said(&scene.store());
        Self { scene, first, before, after }
    }

    /// Whether the backup has the state after the change; otherwise it has that before.
    fn is_after(&self, backup: &Path) -> bool {
        let said = said(backup);
        assert!(said == self.before || said == self.after);
        said == self.after
    }
}

#[test]
fn a_killed_backup_leaves_the_one_before() {
    let change = Change::new();
    let folder = change.scene.folder().join("backups");
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join("backup");
    let (mut whole, mut made) = (Duration::ZERO, Duration::ZERO);
    let mut outcomes = [0, 0];
    for round in 0..10 {
        let begin = |file: &Path| {
            let mut command = command(&change.scene.store());
            command.args(["backup", path(file)]).stdout(Stdio::null());
            command.spawn().unwrap()
        };
        let _ = std::fs::remove_file(&file);
        // A new one, which is not there or complete.
        let started = Instant::now();
        let mut child = begin(&file);
        if round > 0 {
            std::thread::sleep(made * round / 8);
            child.kill().unwrap();
        }
        child.wait().unwrap();
        if round == 0 {
            made = started.elapsed();
        }
        if file.exists() {
            assert!(change.is_after(&file));
        }
        // One that is brought up to date.
        std::fs::copy(&change.first, &file).unwrap();
        let started = Instant::now();
        let mut child = begin(&file);
        if round > 0 {
            std::thread::sleep(whole * round / 8);
            child.kill().unwrap();
        }
        child.wait().unwrap();
        if round == 0 {
            whole = started.elapsed();
        }
        outcomes[usize::from(change.is_after(&file))] += 1;
        let run = change.scene.run(["backup", path(&file)]).ok();
        assert!(change.is_after(&file), "{}", run.text());
    }
    assert!(outcomes[1] > 0, "{outcomes:?}");
    no_leftover(&folder);
}

#[test]
fn a_backup_without_room_leaves_the_one_before() {
    let change = Change::new();
    let (mut failed, mut done) = (0, 0);
    let file = change.scene.folder().join("backup");
    let size = std::fs::metadata(&change.first).unwrap().len();
    for step in 0..10 {
        std::fs::copy(&change.first, &file).unwrap();
        let blocks = (size + size * step / 4) / 512;
        let script = format!("ulimit -f {blocks}; exec \"$0\" backup \"$1\" --store \"$2\"");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_leafline"), path(&file)]);
        shell.arg(change.scene.store()).stdin(Stdio::null());
        let run = finished(shell.output().unwrap());
        assert_eq!(run.status == 0, change.is_after(&file), "{}", run.stderr);
        if run.status == 0 {
            done += 1;
        } else {
            failed += 1;
            assert!(run.stderr.contains("too large"), "{}", run.stderr);
            change.scene.run(["backup", path(&file)]).ok();
            assert!(change.is_after(&file));
        }
    }
    assert!(failed > 0 && done > 0, "{failed} failed, {done} done");
}
