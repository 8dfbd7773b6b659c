//! What `leafline rm` chooses and asks, and that no import brings a deleted session back unasked.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::scene::{AGENTS, CLAUDE, OMP_3, PI_1, PI_3, Scene, file, header, message, path, sample};

/// A folder with the file of a session `s1`, old enough for a sync to trust its time, and a store that has imported it.
fn scene() -> (Scene, PathBuf) {
    let scene = Scene::new();
    let session = scene.write("in/s1.jsonl", &lines(1));
    age(&session);
    scene.run(["sync", path(&scene.folder().join("in"))]).ok();
    (scene, session)
}

/// The session's file with this many messages.
fn lines(messages: u32) -> Vec<u8> {
    let message = |place: u32| {
        let parent = place.checked_sub(1).map(|parent| format!("{parent:08x}"));
        message(&format!("{place:08x}"), parent.as_deref(), &format!("pear {place}"))
    };
    file([header("s1")].into_iter().chain((0..messages).map(message)))
}

fn age(path: &Path) {
    let time = SystemTime::now() - Duration::from_secs(100);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

fn ids(scene: &Scene) -> Vec<String> {
    let listed = scene.run(["ls", "--agents", "--json"]).ok().json_lines();
    listed.iter().map(|session| session["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_deleted_session_stays_deleted_whatever_its_file_becomes() {
    let (scene, session) = scene();
    let folder = scene.folder().join("in");
    scene.run(["rm", "s1"]).ok();
    let stays = |what: &str| {
        for command in ["sync", "import"] {
            let told = scene.run([command, path(&folder)]).ok().text();
            assert!(told.contains("removed on 20"), "{what}: {told}");
            assert!(told.contains("`leafline import --restore` takes it again"), "{what}: {told}");
            assert!(told.contains("1 removed before"), "{what}: {told}");
            assert_eq!(ids(&scene), [""; 0], "{what}");
        }
    };
    stays("unchanged");
    std::fs::write(&session, lines(3)).unwrap();
    stays("grown");
    std::fs::write(&session, file([header("s1"), message("a", None, "plum")])).unwrap();
    stays("rewritten");
    let elsewhere = folder.join("deeper/copy.jsonl");
    std::fs::create_dir(folder.join("deeper")).unwrap();
    std::fs::rename(&session, &elsewhere).unwrap();
    stays("moved");
    let report = &scene.run(["sync", "--json", path(&folder)]).ok().json_lines()[0];
    assert_eq!((&report["status"], &report["session"]), (&"removed".into(), &"s1".into()));
    assert!(scene.run(["verify"]).ok().text().contains("no problems"));
}

#[test]
fn import_restores_a_deleted_session_when_it_is_told_to() {
    let (scene, session) = scene();
    scene.run(["rm", "s1"]).ok();
    std::fs::write(&session, lines(2)).unwrap();
    age(&session);
    let folder = scene.folder().join("in");
    scene.run(["sync", path(&folder)]).ok();
    let told = scene.run(["import", "--restore", path(&folder)]).ok().text();
    assert!(told.starts_with("imported "), "{told}");
    assert_eq!(scene.run(["export", "s1"]).ok().stdout, lines(2));
    // From now on it is a session like any other.
    std::fs::write(&session, lines(3)).unwrap();
    assert!(scene.run(["sync", path(&folder)]).ok().text().starts_with("grown "));
    assert!(scene.run(["verify"]).ok().text().contains("no problems"));
    scene.run(["rm", "s1"]).ok();
    assert!(scene.run(["sync", path(&folder)]).ok().text().contains("removed on 20"));
}

#[test]
fn another_session_with_the_same_id_is_not_the_deleted_one() {
    let (scene, session) = scene();
    let other = scene.write("in/t.jsonl", &file([header("s1"), message("b", None, "apple")]));
    let folder = scene.folder().join("in");
    scene.run(["import", path(&folder)]).ok();
    assert_eq!(ids(&scene).len(), 2);
    scene.run(["rm", "s1"]).ok();
    assert_eq!(ids(&scene), ["s1~2"]);
    // The deleted one's file stays out, in any state; the other's goes on.
    std::fs::write(&session, lines(4)).unwrap();
    let whole = file([header("s1"), message("b", None, "apple"), message("c", Some("b"), "plum")]);
    std::fs::write(&other, &whole).unwrap();
    let told = scene.run(["sync", path(&folder)]).ok().text();
    assert!(told.contains("removed on 20") && told.contains("grown "), "{told}");
    // Nor does a third file with that id.
    scene.write("in/u.jsonl", &file([header("s1"), message("d", None, "quince")]));
    scene.run(["sync", path(&folder)]).ok();
    assert_eq!(ids(&scene).len(), 2);
    // A file of that id alone is taken for the deleted one where the store has no other.
    for id in ids(&scene) {
        scene.run(["rm", &id]).ok();
    }
    scene.write("in/v.jsonl", &file([header("s1"), message("e", None, "fig")]));
    let told = scene.run(["sync", path(&folder)]).ok().text();
    assert!(told.contains("4 removed before"), "{told}");
    scene.run(["import", "--restore", path(&folder)]).ok();
    assert_eq!(ids(&scene).len(), 4);
    assert!(scene.run(["verify"]).ok().text().contains("no problems"));
}

#[test]
fn a_session_that_was_made_here_does_not_return_from_its_export() {
    let scene = Scene::new();
    scene.run(["new", "--id", "s1", "--cwd", "/work"]).ok();
    scene.run_with_input(["append", "s1"], &lines(1)[header("s1").len() + 1..]).ok();
    let folder = scene.folder().join("all");
    scene.run(["export", "--all", "-o", path(&folder)]).ok();
    scene.run(["rm", "s1"]).ok();
    assert!(scene.run(["sync", path(&folder)]).ok().text().contains("removed on 20"));
    // Somebody else may have the session: the id is free.
    scene.run(["new", "--id", "s1", "--cwd", "/work"]).ok();
}

#[test]
fn rm_chooses_by_time_directory_and_family() {
    let scene = Scene::of_samples();
    let all = ids(&scene);
    let told = scene.run(["rm", "--family", "claude", "--dry-run"]).ok().text();
    assert!(told.contains(&format!("would remove {CLAUDE}: 26 lines")), "{told}");
    assert!(told.ends_with("; nothing was deleted\n"), "{told}");
    assert_eq!(ids(&scene), all);
    let told = scene.run(["rm", "--family", "claude", "--dry-run", "--json"]).ok().json_lines();
    assert!(told.iter().all(|session| session["dry_run"] == true), "{told:?}");
    let of_claude: Vec<&str> = told.iter().map(|told| told["session"].as_str().unwrap()).collect();
    assert!(of_claude.contains(&AGENTS[0]) && !of_claude.contains(&PI_3), "{of_claude:?}");
    let done = scene.run(["rm", "--family", "claude", "--yes"]).ok().text();
    assert!(done.contains(&format!("removed {CLAUDE}: 26 lines")), "{done}");
    assert_eq!(ids(&scene).len(), all.len() - of_claude.len());
    // The omp sample's last message is of the 20th.
    scene.run(["rm", "--older-than", "2026-02-20", "--cwd", "/home/robin/work", "--yes"]).ok();
    let left = ids(&scene);
    assert!(left.contains(&OMP_3.to_owned()) && !left.contains(&PI_3.to_owned()), "{left:?}");
    let none = scene.run(["rm", "--older-than", "1990-01-01"]).ok().text();
    assert_eq!(none, "no session is of that kind; nothing was deleted\n");
    scene.run(["rm", OMP_3, "--family", "omp"]).fails(2);
}

#[test]
fn without_a_terminal_more_than_one_session_needs_yes() {
    let scene = Scene::of_samples();
    let all = ids(&scene);
    for arguments in [&["rm", PI_3, OMP_3][..], &["rm", "--family", "pi"]] {
        let told = scene.run(arguments.iter().copied()).fails(2);
        assert!(told.contains("--yes"), "{told}");
        assert_eq!(ids(&scene), all);
    }
    scene.run(["rm", PI_1]).ok();
    scene.run(["rm", "--yes", PI_3, OMP_3]).ok();
    assert_eq!(ids(&scene).len(), all.len() - 3);
}

/// Runs a command at a terminal, whose user types this.
#[cfg(target_os = "linux")]
fn at_a_terminal(scene: &Scene, arguments: &str, typed: &str) -> (bool, String) {
    use std::process::{Command, Stdio};

    let run = format!("{} {arguments}", env!("CARGO_BIN_EXE_leafline"));
    let typed = scene.write("typed", typed.as_bytes());
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &run, "/dev/null"]);
    script.current_dir(scene.folder()).env("LEAFLINE_STORE", scene.store());
    script.stdin(Stdio::from(File::open(typed).unwrap()));
    let output = script.output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
#[cfg(target_os = "linux")]
fn a_terminal_is_asked_before_more_than_one_session_goes() {
    let scene = Scene::of_samples();
    let all = ids(&scene).len();
    for answer in ["n\n", "\n", ""] {
        let (done, told) = at_a_terminal(&scene, &format!("rm {PI_3} {OMP_3}"), answer);
        assert!(!done && told.contains("delete 2 sessions, ") && told.contains(PI_3), "{told}");
        assert!(told.contains("nothing was deleted"), "{told}");
        assert_eq!(ids(&scene).len(), all);
    }
    let (done, told) = at_a_terminal(&scene, &format!("rm {PI_1}"), "");
    assert!(done && !told.contains("[y/N]"), "{told}");
    let (done, told) = at_a_terminal(&scene, &format!("rm {PI_3} {OMP_3}"), "y\n");
    assert!(done && told.contains(&format!("removed {PI_3}")), "{told}");
    assert_eq!(ids(&scene).len(), all - 3);
}

#[test]
fn the_words_of_a_deleted_session_leave_the_index() {
    let (scene, _) = scene();
    let kept = scene.write("kept.jsonl", &sample(PI_3));
    scene.run(["import", path(&kept)]).ok();
    assert!(!scene.run(["search", "pear"]).ok().text().is_empty());
    scene.run(["rm", "s1"]).ok();
    // Nothing is left for the next update.
    assert_eq!(scene.run(["index", "--json"]).ok().json()["removed"], 0);
    assert_eq!(scene.run(["search", "pear"]).ok().text(), "");
}
