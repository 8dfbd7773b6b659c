//! Completion in shells, and the manual pages.

use crate::scene::{PI_3, Scene, command, finished, path};

/// What a shell that completes the last of these words is told: candidates, each with its help behind a tab.
fn completed(scene: &Scene, words: &[&str]) -> Vec<String> {
    let mut command = command(&scene.store());
    command.env("COMPLETE", "fish").args(["--", "leafline"]).args(words);
    finished(command.output().unwrap()).ok().text().lines().map(str::to_owned).collect()
}

#[test]
fn sessions_are_completed_with_their_titles() {
    let scene = Scene::of_samples();
    for words in [
        &["show", "019c6605"][..],
        &["path", "019c6605"],
        &["rm", "019c6605"],
        &["export", "019c6605"],
        &["search", "x", "--session", "019c6605"],
    ] {
        let candidates = completed(&scene, words);
        assert_eq!(candidates, [format!("{PI_3}\tFlaky scheduler test")], "{words:?}");
    }
    assert!(completed(&scene, &["show", ""]).len() >= 18);
    // Of the store that the line names.
    let other = Scene::new();
    let store = scene.store();
    assert_eq!(completed(&other, &["--store", path(&store), "show", "019c6605"]).len(), 1);
    // Nothing is said about a store that is not there.
    assert_eq!(completed(&other, &["show", "019c6605"]), [""; 0]);
    assert!(!other.store().exists());
}

#[test]
fn commands_and_options_are_completed() {
    let scene = Scene::new();
    let begins = |words: &[&str], with: &str| {
        completed(&scene, words).iter().any(|candidate| candidate.starts_with(with))
    };
    assert!(begins(&["rel"], "relocate"));
    assert!(begins(&["import", "--fam"], "--family"));
    assert!(begins(&["ls", "--family", "o"], "opal"));
    for shell in ["bash", "zsh", "fish"] {
        let mut command = command(&scene.store());
        let script = finished(command.env("COMPLETE", shell).output().unwrap()).ok().text();
        assert!(script.contains("leafline"), "{shell}: {script}");
    }
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    let scene = Scene::new();
    let folder = scene.folder().join("man/man1");
    scene.run(["man", path(&folder)]).ok();
    for name in ["leafline", "leafline-import", "leafline-search", "leafline-man"] {
        let page = std::fs::read_to_string(folder.join(format!("{name}.1"))).unwrap();
        assert!(page.contains(".SH NAME") && page.contains("leafline"), "{page}");
    }
    let file = scene.write("file", b"");
    let told = scene.run(["man", path(&file)]).fails(1);
    assert!(told.contains("writing the manual pages to"), "{told}");
}
