//! The commands that messages advise: each of them, run as it is written, helps.

use crate::scene::{
    PI_1, PI_3, Run, Scene, command, file, finished, header, message, path, run_on, sample,
};

/// The commands in a message.
fn advised(said: &str) -> Vec<&str> {
    said.split('`').skip(1).step_by(2).filter(|words| words.starts_with("leafline ")).collect()
}

/// Runs the first command that a message advises, in the scene's folder.
fn follow(scene: &Scene, said: &str) -> Run {
    let advised = advised(said);
    let words = advised.first().unwrap_or_else(|| panic!("{said}"));
    let script = words.replacen("leafline ", "\"$0\" ", 1);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script, env!("CARGO_BIN_EXE_leafline")]).current_dir(scene.folder());
    shell.env("LEAFLINE_STORE", scene.store()).env("HOME", scene.folder());
    finished(shell.output().unwrap())
}

#[test]
fn a_truncated_store_is_repaired_or_said_to_be_lost() {
    let scene = Scene::of_samples();
    let whole = std::fs::read(scene.store()).unwrap();
    for length in [1, 9, 319, 320, 4096, 8192, whole.len() / 2] {
        std::fs::write(scene.store(), &whole[..length]).unwrap();
        let said = scene.run(["ls"]).fails(1);
        let commands = advised(&said);
        if commands == ["leafline import"] {
            assert!(length <= 4096 && said.contains("put a backup in its place"), "{said}");
            continue;
        }
        let repaired = follow(&scene, &said);
        if repaired.text().contains("damaged") {
            scene.run(["ls"]).ok();
            scene.run(["new", "--cwd", "/work"]).ok();
            continue;
        }
        // The end of the advice, which is no command that was run before.
        assert_eq!(advised(&repaired.stderr), ["leafline import"], "{length}: {said}");
        let new = scene.folder().join("new");
        let salvaged = scene.run(["salvage", path(&scene.store()), "-o", path(&new)]).fails(1);
        assert_eq!(advised(&salvaged), ["leafline import"], "{length}: {salvaged}");
        std::fs::rename(scene.store(), scene.folder().join("away")).unwrap();
        let file = scene.write("s.jsonl", &sample(PI_1));
        scene.run(["import", path(&file)]).ok();
        scene.run(["ls"]).ok();
    }
}

/// Tools that copy files, and systems that crash, leave such bytes.
#[test]
fn bytes_behind_the_end_of_a_store_do_not_matter() {
    let scene = Scene::of_samples();
    let whole = std::fs::read(scene.store()).unwrap();
    for (bytes, byte) in [(1, 0), (100, 0), (4095, 7), (4096, 0), (5000, 0xff), (1 << 20, 0)] {
        std::fs::write(scene.store(), [&whole[..], &vec![byte; bytes]].concat()).unwrap();
        assert!(scene.run(["ls"]).ok().text().contains(PI_3), "{bytes} bytes");
        scene.run(["new", "--id", "written", "--cwd", "/work"]).ok();
        let verified = scene.run(["verify"]).ok().text();
        assert!(verified.contains("no problem"), "{bytes} bytes: {verified}");
        scene.run(["compact"]).ok();
        scene.run(["show", "written"]).ok();
    }
}

#[test]
fn an_empty_store_is_not_one_that_does_not_exist() {
    let scene = Scene::new();
    let said = scene.run(["ls"]).fails(1);
    assert!(said.contains("does not exist"), "{said}");
    scene.write("store.leafline", b"");
    for arguments in [&["ls"][..], &["repair"], &["backup", "b"], &["export", "x"]] {
        let said = scene.run(arguments.iter().copied()).fails(1);
        assert!(said.contains("is empty; if it had sessions, put a backup in its place"), "{said}");
    }
    let said = scene.run(["ls"]).fails(1);
    let new = advised(&said)[1].strip_prefix("leafline ").unwrap();
    scene.run([new]).ok();
    scene.run(["ls"]).ok();
}

#[test]
fn a_store_without_its_beginning_is_salvaged() {
    let scene = Scene::of_samples();
    let mut bytes = std::fs::read(scene.store()).unwrap();
    bytes[..9].fill(0);
    std::fs::write(scene.store(), bytes).unwrap();
    let said = scene.run(["ls"]).fails(1);
    follow(&scene, &said);
    assert!(run_on(&scene.folder().join("NEW"), ["ls"]).ok().text().contains(PI_3));
}

#[test]
fn commands_are_for_the_store_and_the_names_at_hand() {
    let scene = Scene::new();
    let store = scene.folder().join("my store");
    let odd = "a b'$(c)";
    let session = scene.write("s.jsonl", &file([header(odd), message("a1", None, "first")]));
    run_on(&store, ["import", path(&session)]).ok();
    let on_store = |arguments: &[&str]| {
        let mut command = command(&scene.store());
        finished(command.args(["--store", path(&store)]).args(arguments).output().unwrap())
    };
    let said = on_store(&["show", odd, "other"]).fails(1);
    assert!(follow(&scene, &said).ok().text().contains("first"), "{said}");
    let said = on_store(&["show", "other"]).fails(1);
    assert!(follow(&scene, &said).ok().text().contains("a b"), "{said}");
    let said = on_store(&["files", odd, "other"]).fails(1);
    assert_eq!(follow(&scene, &said).status, 0, "{said}");
    on_store(&["move", odd, path(&scene.folder().join("gone"))]).ok();
    let said = on_store(&["resume", odd]).fails(1);
    let to = said.replace("DIR", path(scene.folder()));
    follow(&scene, &to).ok();
    assert!(on_store(&["ls"]).ok().text().contains(path(scene.folder())));
}

#[test]
fn an_original_that_is_not_held_is_exported_as_it_is_now() {
    let scene = Scene::new();
    scene.run(["new", "--id", "s1", "--cwd", "/work"]).ok();
    let said = scene.run(["export", "s1", "--as", "original"]).fails(1);
    assert!(follow(&scene, &said).ok().text().contains("s1"), "{said}");
}

#[test]
fn a_damaged_search_index_is_made_again() {
    let scene = Scene::of_samples();
    scene.run(["index"]).ok();
    let search = scene.folder().join("store.leafline.search");
    let index = std::fs::read_dir(search).unwrap();
    let index = index.map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
    std::fs::write(index.join("meta.json"), "{").unwrap();
    let said = scene.run(["search", "the", "--no-wait"]).stderr;
    follow(&scene, &said).ok();
    scene.run(["search", "the", "--no-wait"]).ok();
}

#[test]
fn a_backup_and_a_salvage_make_no_folders() {
    let scene = Scene::of_samples();
    let file = scene.folder().join("typo/dir/x");
    for arguments in
        [&["backup", path(&file)][..], &["salvage", path(&scene.store()), "-o", path(&file)]]
    {
        let said = scene.run(arguments.iter().copied()).fails(1);
        assert!(said.contains("typo/dir"), "{said}");
    }
    assert!(!scene.folder().join("typo").exists());
}
