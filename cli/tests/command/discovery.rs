//! `leafline import` without a path.

use std::path::Path;

use crate::scene::{CLAUDE, OMP_3, SAMPLES, Scene, at_home, path, samples};
use serde_json::Value;

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A home folder with what all programs keep there.
fn home_of_samples() -> Scene {
    let scene = Scene::new();
    for (from, to) in [
        ("pi/sessions", ".pi/agent/sessions"),
        ("omp/sessions", ".omp/agent/sessions"),
        ("blobs", ".omp/agent/blobs"),
        ("claude/projects", ".claude/projects"),
        ("opal/sessions", ".opal/sessions"),
        ("codex", ".codex"),
    ] {
        copy(&samples().join(from), &scene.folder().join(to));
    }
    scene
}

#[test]
fn what_the_programs_keep_is_found_and_imported() {
    let scene = home_of_samples();
    let text = at_home(&scene, ["import"]).ok().text();
    let lines: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().collect()).collect();
    for (line, (family, files)) in lines.iter().zip([
        ("pi", "4"),
        ("omp", "3"),
        ("claude", "4"),
        ("opal", "2"),
        ("codex", "5"),
    ]) {
        assert_eq!((line[..3].to_vec(), line.len()), (vec!["found", family, files], 7), "{text}");
    }
    assert!(lines[3][6].ends_with("sessions") && lines[3][6].contains(".opal"), "{text}");
    assert_eq!(lines.len(), 5 + SAMPLES + 1);
    assert!(text.lines().last().unwrap().starts_with("18 files: 18 imported; "), "{text}");
    // Nothing in that file tells it from one of pi's but the folder.
    let omp = scene.run(["show", "0f6f2f6a", "--json"]).ok().json();
    assert_eq!(omp["family"], "omp");
}

#[test]
fn omps_blobs_are_those_beside_its_sessions() {
    let scene = home_of_samples();
    at_home(&scene, ["import"]).ok();
    let json = scene.run(["stats", OMP_3, "--json"]).ok().json();
    assert_eq!((&json["blobs"]["missing"], &json["blobs"]["count"]), (&0.into(), &1.into()));

    // Also where the folder is named, and not where the blobs are said to be elsewhere.
    for (named, missing) in [(true, 0), (false, 1)] {
        let other = Scene::new();
        let sessions = scene.folder().join(".omp/agent/sessions");
        let empty = other.folder().join("empty");
        std::fs::create_dir(&empty).unwrap();
        let mut arguments = vec!["import", path(&sessions)];
        if !named {
            arguments.extend(["--blobs", path(&empty)]);
        }
        other.run(arguments).ok();
        let json = other.run(["stats", OMP_3, "--json"]).ok().json();
        assert_eq!(json["blobs"]["missing"], missing);
    }
}

#[test]
fn what_is_not_there_is_said() {
    let scene = Scene::new();
    copy(&samples().join("opal/sessions"), &scene.folder().join(".opal/sessions"));
    let text = at_home(&scene, ["import"]).ok().text();
    let missing: Vec<&str> = text.lines().filter(|line| line.starts_with("not there  ")).collect();
    assert_eq!(missing.len(), 4, "{text}");
    for (line, folder) in missing.iter().zip([".pi", ".omp", ".claude", ".codex"]) {
        assert!(line.contains(path(&scene.folder().join(folder))), "{line}");
    }
    assert!(text.lines().last().unwrap().starts_with("2 files: 2 imported; "), "{text}");
}

#[test]
fn json_has_the_folders_with_the_totals() {
    let scene = home_of_samples();
    std::fs::remove_dir_all(scene.folder().join(".pi")).unwrap();
    let mut lines = at_home(&scene, ["--json", "import"]).ok().json_lines();
    let totals = lines.pop().unwrap();
    assert_eq!(totals["imported"], SAMPLES - 4);
    assert!(lines.iter().all(|line| line["status"] == "imported"), "{lines:?}");
    let folders = totals["folders"].as_array().unwrap();
    let told: Vec<(&Value, &Value, &Value)> = folders
        .iter()
        .map(|folder| (&folder["family"], &folder["exists"], &folder["files"]))
        .collect();
    let expected = [
        ("pi", false, 0),
        ("omp", true, 3),
        ("claude", true, 4),
        ("opal", true, 2),
        ("codex", true, 5),
    ];
    let expected = expected.map(|(family, exists, files)| {
        (Value::from(family), Value::from(exists), Value::from(files))
    });
    let expected: Vec<_> = expected.iter().map(|(a, b, c)| (a, b, c)).collect();
    assert_eq!(told, expected);
    let bytes: u64 = folders.iter().map(|folder| folder["bytes"].as_u64().unwrap()).sum();
    assert_eq!(totals["bytes"], bytes);
}

#[test]
fn a_family_restricts_it_to_its_folder() {
    let scene = home_of_samples();
    let text = at_home(&scene, ["import", "--family", "claude"]).ok().text();
    assert!(text.starts_with("found ") && !text.contains(".opal"), "{text}");
    assert!(text.lines().last().unwrap().starts_with("4 files: 4 imported; "), "{text}");
    assert_eq!(scene.run(["ls", "--json"]).ok().json_lines()[0]["id"], CLAUDE);
}

#[test]
fn nothing_found_is_a_failure() {
    let scene = Scene::new();
    let complaint = at_home(&scene, ["import"]).fails(1);
    assert!(complaint.starts_with("leafline: nothing to import"), "{complaint}");
    for folder in [".pi", ".omp", ".claude", ".opal", ".codex"] {
        assert!(complaint.contains(path(&scene.folder().join(folder))), "{complaint}");
    }
    // Nor does a folder without a file count.
    std::fs::create_dir_all(scene.folder().join(".opal/sessions")).unwrap();
    let complaint = at_home(&scene, ["import", "--family", "opal"]).fails(1);
    assert!(complaint.contains(".opal") && !complaint.contains(".omp"), "{complaint}");
    assert!(!scene.store().exists());
}

/// A folder into which a program moves sessions is named where it is there.
#[test]
fn a_sync_succeeds_after_the_program_deleted_all_files() {
    let scene = Scene::new();
    let id = "5b0c7a52-9d1e-4c3f-8a64-0f2e6d7b1c90";
    copy(&samples().join("claude/projects"), &scene.folder().join(".claude/projects"));
    at_home(&scene, ["sync"]).ok();
    let projects = scene.folder().join(".claude/projects");
    for folder in std::fs::read_dir(&projects).unwrap() {
        std::fs::remove_dir_all(folder.unwrap().path()).unwrap();
    }
    let told = at_home(&scene, ["sync"]).ok().text();
    assert!(told.starts_with("0 files"), "{told}");
    scene.run(["show", id]).ok();
    std::fs::remove_dir(projects).unwrap();
    let complaint = at_home(&scene, ["sync"]).fails(1);
    assert!(complaint.starts_with("leafline: nothing to import"), "{complaint}");
}

#[test]
fn archived_sessions_are_found() {
    let scene = Scene::new();
    let day = samples().join("codex/sessions/2025/11/20");
    copy(&day, &scene.folder().join(".codex/archived_sessions"));
    let text = at_home(&scene, ["import", "--family", "codex"]).ok().text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("not there  codex"), "{text}");
    assert!(lines[1].starts_with("found      codex") && lines[1].contains("archived_sessions"));
    assert!(lines.last().unwrap().starts_with("1 file: 1 imported; "), "{text}");
}
