//! The directories that commands are given, however they are spelled.

use std::path::Path;

use crate::scene::{PI_3, Run, Scene, command, finished, header};

/// The directory of the session that [`scene`] makes, below the scene's own.
const PROJECT: &str = "work/app";

/// A store with a session for the folder of the scene's project.
fn scene() -> (Scene, String) {
    let scene = Scene::new();
    let folder = scene.folder().canonicalize().unwrap();
    let project = folder.join(PROJECT).to_str().unwrap().to_owned();
    std::fs::create_dir_all(&project).unwrap();
    let header = header("s1").replace("/work", &project);
    let file = scene.write("session.jsonl", format!("{header}\n").as_bytes());
    scene.run(["import", file.to_str().unwrap()]).ok();
    (scene, folder.to_str().unwrap().to_owned())
}

/// Runs the command in a folder below the scene's own.
fn run_in(scene: &Scene, folder: &str, arguments: &[&str]) -> Run {
    let mut command = command(&scene.store());
    command.current_dir(scene.folder().join(folder)).args(arguments);
    finished(command.output().unwrap())
}

fn cwd(scene: &Scene) -> String {
    scene.run(["--json", "show", "s1"]).ok().json()["cwd"].as_str().unwrap().to_owned()
}

#[test]
fn a_list_is_of_a_directory_by_any_spelling() {
    let (scene, folder) = scene();
    std::fs::create_dir_all(scene.folder().join("work/app/src")).unwrap();
    for (from, spelled) in [
        ("work/app/src", ".."),
        ("work/app/src", "../.."),
        ("work", "app/"),
        ("work", "./app//."),
        ("work/app", "."),
        ("work", &format!("{folder}/gone/../work")),
    ] {
        let listed = run_in(&scene, from, &["ls", "--cwd", spelled]).ok().text();
        assert!(listed.starts_with("s1\t"), "{spelled} in {from}: {listed}");
    }
    assert_eq!(run_in(&scene, "work/app", &["ls", "--cwd", "src"]).ok().text(), "");
    assert_eq!(run_in(&scene, "work", &["ls", "--cwd", "ap"]).ok().text(), "");
}

#[test]
fn a_session_moves_to_a_whole_path() {
    let (scene, folder) = scene();
    for (spelled, expected) in [
        ("../rel", "work/rel"),
        ("./a//b/", "work/app/a/b"),
        ("..", "work"),
        ("x/../y", "work/app/y"),
    ] {
        let told = run_in(&scene, PROJECT, &["move", "s1", spelled]).ok().text();
        let expected = format!("{folder}/{expected}");
        assert_eq!(told, format!("s1 is in {expected} now\n"));
        assert_eq!(cwd(&scene), expected);
    }
    let told = run_in(&scene, PROJECT, &["--json", "move", "s1", "."]).ok().json();
    assert_eq!(told["cwd"].as_str(), Some(cwd(&scene).as_str()));
    assert_eq!(cwd(&scene), format!("{folder}/{PROJECT}"));
}

#[test]
fn a_folder_is_relocated_by_whole_paths() {
    let (scene, folder) = scene();
    let told = run_in(&scene, "work", &["relocate", "../work/", "./new"]).ok().text();
    assert_eq!(told, format!("1 session is below {folder}/work/new now\n"));
    assert_eq!(cwd(&scene), format!("{folder}/work/new/app"));
}

#[test]
fn a_relocation_of_nothing_fails() {
    let (scene, folder) = scene();
    let before = cwd(&scene);
    let told = run_in(&scene, "work", &["relocate", "ap", "new"]).fails(1);
    assert!(told.contains(&format!("no session is in {folder}/work/ap ")), "{told}");
    let told = run_in(&scene, "work", &["relocate", "app", "./app/"]).fails(2);
    assert!(told.contains("the same directory"), "{told}");
    assert_eq!(cwd(&scene), before);
}

#[test]
fn no_directory_is_empty() {
    let (scene, _) = scene();
    let before = cwd(&scene);
    for arguments in [
        &["ls", "--cwd", ""][..],
        &["search", "--cwd", "", "x"],
        &["move", "s1", ""],
        &["relocate", "", "/new"],
        &["relocate", "/work", ""],
        &["new", "--cwd", ""],
        &["fork", "s1", "--cwd", ""],
        &["history", "add", "x", "--cwd", ""],
    ] {
        scene.run(arguments.iter().copied()).fails(2);
    }
    assert_eq!(cwd(&scene), before);
}

#[test]
#[cfg(unix)]
fn a_directory_of_windows_is_kept_as_it_is() {
    let scene = Scene::of_samples();
    scene.run(["move", PI_3, r"C:\work\app"]).ok();
    assert_eq!(scene.run(["ls", "--cwd", r"C:\work"]).ok().text().lines().count(), 1);
    assert!(!Path::new(r"C:\work").exists());
}

#[test]
#[cfg(unix)]
fn a_folder_is_one_under_all_its_names() {
    let (scene, folder) = scene();
    std::os::unix::fs::symlink("work", scene.folder().join("link")).unwrap();
    let list = |cwd: &str| scene.run(["ls", "--cwd", cwd]).ok().text().lines().count();
    for named in ["link", "link/app", "work/app"] {
        assert_eq!(list(&format!("{folder}/{named}")), 1, "{named}");
    }
    for (stored, asked) in [
        (format!("{folder}/link/app"), format!("{folder}/work")),
        ("/w/cafe\u{301}".to_owned(), "/w/caf\u{e9}".to_owned()),
        (r"C:\x".to_owned(), "c:/x/".to_owned()),
        ("c:/x/y".to_owned(), r"C:\x".to_owned()),
    ] {
        scene.run(["move", "s1", &stored]).ok();
        assert_eq!((list(&asked), list("/w/other")), (1, 0), "{stored} {asked}");
    }
    scene.run(["relocate", r"C:/X/", "/new"]).ok();
    assert_eq!(cwd(&scene), "/new/y");
}

#[test]
#[cfg(unix)]
fn usage_has_one_row_for_a_folder_under_all_its_names() {
    let (scene, folder) = scene();
    std::os::unix::fs::symlink("work", scene.folder().join("link")).unwrap();
    let answer = r#"{"type":"message","id":"m1","parentId":null,"timestamp":"2026-02-16T10:21:00.000Z","message":{"role":"assistant","provider":"anthropic","model":"claude-sonnet-4-5","content":[],"usage":{"input":7,"output":2,"cacheRead":0,"cacheWrite":0}}}"#;
    for (id, cwd) in [("real", "work/app"), ("linked", "link/app"), ("other", "work")] {
        let header = header(id).replace("/work", &format!("{folder}/{cwd}"));
        let answer = answer.replace("m1", id);
        let file = scene.write(&format!("{id}.jsonl"), format!("{header}\n{answer}\n").as_bytes());
        scene.run(["import", file.to_str().unwrap()]).ok();
    }
    let csv = scene.run(["usage", "--by", "project", "--csv"]).ok().text();
    let mut rows: Vec<&str> = csv.lines().skip(1).collect();
    rows.sort_unstable();
    let beginning = |cwd: &str, answers: u32| format!("{folder}/{cwd},{answers},");
    assert_eq!(rows.len(), 2, "{csv}");
    assert!(rows[0].starts_with(&beginning("work", 1)), "{csv}");
    assert!(rows[1].starts_with(&beginning("work/app", 2)), "{csv}");
}
