//! A store that is being made, and whoever may only read one: no death on the way blocks its path, no killed writer locks
//! readers out.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::scene::{Scene, command, file, finished, header, message, path, run_on};

fn small(scene: &Scene) -> PathBuf {
    scene.write("small.jsonl", &file([header("s"), message("a", None, "Hi")]))
}

/// What stands in the scene's folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn an_empty_file_becomes_a_store() {
    let scene = Scene::new();
    std::fs::write(scene.store(), "").unwrap();
    let told = scene.run(["ls"]).fails(1);
    assert!(told.contains("store.leafline is empty"), "{told}");
    assert!(std::fs::read(scene.store()).unwrap().is_empty(), "reading makes nothing");
    scene.run(["import", "--no-index", path(&small(&scene))]).ok();
    scene.run(["show", "s"]).ok();
    assert_eq!(names(scene.folder()), ["small.jsonl", "store.leafline"]);
}

#[test]
fn a_maker_that_is_killed_blocks_nothing() {
    let scene = Scene::new();
    let file = small(&scene);
    let begun = std::time::Instant::now();
    run_on(&scene.folder().join("first"), ["import", "--no-index", path(&file)]).ok();
    let whole = begun.elapsed();
    std::fs::remove_file(scene.folder().join("first")).unwrap();
    let rounds = 40;
    for round in 0..rounds {
        let mut child = command(&scene.store())
            .args(["import", "--no-index", path(&file)])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(whole.mul_f64(f64::from(round) / f64::from(rounds)));
        child.kill().unwrap();
        child.wait().unwrap();
        // A store, or nothing at all.
        let run = scene.run(["ls"]);
        let is_nothing =
            ["does not exist", "is empty"].iter().any(|said| run.stderr.contains(said));
        assert!(run.status == 0 || is_nothing, "{}", run.stderr);
        scene.run(["import", "--no-index", path(&file)]).ok();
        scene.run(["show", "s"]).ok();
        std::fs::remove_file(scene.store()).unwrap();
    }
    scene.run(["import", "--no-index", path(&file)]).ok();
    assert_eq!(names(scene.folder()), ["small.jsonl", "store.leafline"], "leftovers are removed");
}

#[test]
fn a_full_disk_leaves_nothing_in_the_way() {
    let scene = Scene::new();
    let file = small(&scene);
    // A process may write files of 16 KiB at most.
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "ulimit -f 32; exec \"$@\"", "sh"])
        .arg(env!("CARGO_BIN_EXE_leafline"))
        .args(["import", "--no-index", path(&file)])
        .env("LEAFLINE_STORE", scene.store());
    let run = finished(limited.output().unwrap());
    assert_eq!(run.status, 1, "{}{}", run.text(), run.stderr);
    assert_eq!(names(scene.folder()), ["small.jsonl"]);
    scene.run(["import", "--no-index", path(&file)]).ok();
}

/// The journal that an import keeps for others was left on the full disk, for ever.
#[test]
fn an_import_without_room_leaves_no_journal() {
    let scene = Scene::in_memory();
    scene.run(["new", "--cwd", "/work"]).ok();
    let mut bytes = Vec::new();
    let shape =
        leafline_generate::Shape { seed: 3, bytes: 24_000_000, images: 0.9, ..Default::default() };
    leafline_generate::generate(&shape, &mut bytes).unwrap();
    let file = scene.write("large.jsonl", &bytes);
    // A process may write files of 9 MB at most; a journal has 8.4.
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "ulimit -f 18000; exec \"$@\"", "sh"])
        .arg(env!("CARGO_BIN_EXE_leafline"))
        .args(["import", "--no-index", path(&file)])
        .env("LEAFLINE_STORE", scene.store());
    let run = finished(limited.output().unwrap());
    assert_eq!(run.status, 1, "{}{}", run.text(), run.stderr);
    assert_eq!(names(scene.folder()), ["large.jsonl", "store.leafline"]);
    scene.run(["verify"]).ok();
}

#[test]
fn links_lead_to_the_store_that_is_made() {
    let scene = Scene::new();
    let elsewhere = scene.folder().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    symlink("elsewhere/real", scene.folder().join("middle")).unwrap();
    symlink("middle", scene.store()).unwrap();
    scene.run(["import", "--no-index", path(&small(&scene))]).ok();
    assert!(scene.store().symlink_metadata().unwrap().is_symlink());
    run_on(&elsewhere.join("real"), ["show", "s"]).ok();
    let looped = scene.folder().join("looped");
    symlink("looped", &looped).unwrap();
    run_on(&looped, ["import", path(&small(&scene))]).fails(1);
}

#[test]
fn what_is_no_file_is_no_store() {
    let scene = Scene::new();
    let pipe = scene.folder().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for place in [pipe.as_path(), Path::new("/dev/null"), scene.folder()] {
        for arguments in [vec!["ls"], vec!["import", path(&small(&scene))]] {
            let told = run_on(place, arguments).fails(1);
            assert!(told.contains("not an ordinary file"), "{told}");
        }
    }
}

/// Runs the command as somebody who may read the store and not write it.
fn as_reader(scene: &Scene, arguments: &[&str]) -> super::scene::Run {
    // The folders of tests and of builds may be closed to others.
    let program = scene.folder().join("leafline");
    if !program.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_leafline"), &program).unwrap();
    }
    let mut reader = Command::new(&program);
    reader.args(arguments).env("LEAFLINE_STORE", scene.store()).stdin(Stdio::null());
    let set_mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set_mode(scene.folder(), 0o755);
    // A store that is given to others to read is given with its journal.
    let journal = scene.folder().join("store.leafline.journal");
    let set_modes = |mode| {
        set_mode(&scene.store(), mode);
        if journal.exists() {
            set_mode(&journal, mode);
        }
    };
    // With its search index, too.
    let indexed = files_below(&scene.folder().join("store.leafline.search"));
    let set_indexed = |folders, files| {
        for path in &indexed {
            set_mode(path, if path.is_dir() { folders } else { files });
        }
    };
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    set_indexed(0o555, 0o444);
    if is_root {
        set_modes(0o644);
        reader.uid(65_534).gid(65_534);
    } else {
        set_modes(0o444);
    }
    let output = loop {
        match reader.output() {
            // A process that another test starts has the program open for writing for a moment.
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(1));
            }
            output => break output.unwrap(),
        }
    };
    set_modes(0o600);
    set_indexed(0o700, 0o600);
    finished(output)
}

/// A folder and everything below it; nothing if it is not there.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::from_iter(folder.exists().then(|| folder.to_owned()));
    let mut next = 0;
    while let Some(path) = found.get(next) {
        if path.is_dir() {
            let inner = std::fs::read_dir(path).unwrap();
            found.extend(inner.map(|entry| entry.unwrap().path()).collect::<Vec<_>>());
        }
        next += 1;
    }
    found
}

#[test]
fn those_who_may_only_read_search_what_is_indexed() {
    let scene = Scene::of_session(&file([header("s"), message("a", None, "a needle")]));
    scene.run(["search", "needle"]).ok();
    let found = as_reader(&scene, &["search", "needle"]).ok().text();
    assert!(found.contains("a needle"), "{found}");
    scene.run(["append", "s", &message("b", Some("a"), "another needle")]).ok();
    for arguments in [&["search", "needle"][..], &["search", "--no-wait", "needle"]] {
        let run = as_reader(&scene, arguments);
        assert!(run.stderr.contains("1 session is not in the search index yet"), "{}", run.stderr);
        assert_eq!((run.status, run.text()), (0, found.clone()));
    }
    let told = as_reader(&scene, &["index"]).fails(1);
    assert!(told.contains("locking the search index"), "{told}");
    assert!(scene.run(["search", "needle"]).ok().text().contains("another needle"));
}

#[test]
fn after_a_killed_writer_those_who_may_only_read_read_what_was_committed() {
    let scene = Scene::of_session(&file([header("s"), message("a", None, "Hi")]));
    let mut entries = 1;
    for round in 0..6 {
        let mut writer = command(&scene.store())
            .args(["append", "s"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = writer.stdin.take().unwrap();
        let mut told = BufReader::new(writer.stdout.take().unwrap());
        for index in 0..3 {
            let entry = format!(
                "{{\"type\":\"message\",\"message\":{{\"role\":\"user\",\"content\":\"{round} {index}\"}}}}\n"
            );
            input.write_all(entry.as_bytes()).unwrap();
            let mut id = String::new();
            told.read_line(&mut id).unwrap();
            assert!(!id.is_empty());
            entries += 1;
        }
        std::thread::sleep(Duration::from_millis(round));
        writer.kill().unwrap();
        writer.wait().unwrap();
        // What was acknowledged is there for each of them, and again.
        for _ in 0..2 {
            let shown = as_reader(&scene, &["--json", "show", "s"]).ok().json();
            assert_eq!(shown["entries"], entries, "{shown}");
        }
        let text = as_reader(&scene, &["path", "s", "--text"]).ok().text();
        assert!(text.contains(&format!("{round} 2")), "{text}");
        let verified = as_reader(&scene, &["verify"]).ok().text();
        assert!(verified.contains("no problems"), "{verified}");
        let told = as_reader(&scene, &["name", "--set", "Mine", "s"]).fails(1);
        assert!(told.contains("read-only"), "{told}");
    }
    scene.run(["verify"]).ok();
}
