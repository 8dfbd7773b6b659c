//! A damaged page of the store's file costs what is on it: every command goes on with the rest, and says so.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};

use crate::scene::{Scene, command, file, finished, header, message, path, run_on};

const SESSIONS: usize = 120;
const PAGE: u64 = 4096;

fn many_sessions() -> Scene {
    let scene = Scene::new();
    for number in 0..SESSIONS {
        let id = format!("session-{number:03}");
        let text = format!("{number} {}", "a pear and an apple ".repeat(10));
        let bytes = file([header(&id), message("a1", None, &text)]);
        scene.write(&format!("files/{id}.jsonl"), &bytes);
    }
    let folder = scene.folder().join("files");
    scene.run(["import", "--no-index", path(&folder)]).ok();
    scene
}

/// Flips a bit in the middle of a page.
fn flip(scene: &Scene, page: u64) {
    let store = std::fs::File::options().read(true).write(true).open(scene.store()).unwrap();
    let mut byte = [0];
    store.read_exact_at(&mut byte, page * PAGE + PAGE / 2).unwrap();
    store.write_all_at(&[byte[0] ^ 16], page * PAGE + PAGE / 2).unwrap();
}

/// The ids that a list of JSON records has.
fn listed(scene: &Scene) -> (i32, BTreeSet<String>, String) {
    let run = scene.run(["ls", "--json"]);
    let id = |record: &serde_json::Value| record["id"].as_str().unwrap().to_owned();
    (run.status, run.json_lines().iter().map(id).collect(), run.stderr)
}

#[test]
fn what_is_on_other_pages_is_listed_exported_found_and_named() {
    let scene = many_sessions();
    scene.run(["index"]).ok();
    let (status, all, _) = listed(&scene);
    assert_eq!((status, all.len()), (0, SESSIONS));
    let pages = std::fs::metadata(scene.store()).unwrap().len() / PAGE;
    let (mut partial, mut uncounted) = (0, 0);
    for page in 1..pages {
        flip(&scene, page);
        let usage = scene.run(["usage", "--by", "session"]);
        if let Some((_, names)) = usage.stderr.split_once("could not be read as a whole: ") {
            assert_eq!(usage.status, 1, "page {page}: {}", usage.stderr);
            let names: BTreeSet<String> = names.trim().split(", ").map(str::to_owned).collect();
            assert!(names.is_subset(&all), "page {page}: {names:?}");
            uncounted = uncounted.max(names.len());
        }
        let (status, some, said) = listed(&scene);
        assert!(some.is_subset(&all), "page {page}");
        if status == 0 {
            assert_eq!(some, all, "page {page}");
        } else if !some.is_empty() {
            partial += 1;
            let missing: Vec<&String> = all.difference(&some).collect();
            for id in &missing {
                assert!(said.contains(&format!("session {id} is damaged")), "page {page}: {said}");
            }
            // An export has had all, so that nothing of what it wrote is taken away for want of its session.
            let folder = scene.folder().join(format!("export-{page}"));
            flip(&scene, page);
            scene.run(["export", "--all", "-o", path(&folder)]).ok();
            flip(&scene, page);
            for folder in [folder, scene.folder().join(format!("fresh-{page}"))] {
                let run = scene.run(["export", "--all", "--json", "-o", path(&folder)]);
                assert_eq!(run.status, 1, "page {page}: {}", run.stderr);
                let reports = run.json_lines();
                let failed = reports.iter().filter(|report| report["status"] == "failed");
                let failed: BTreeSet<&str> =
                    failed.map(|report| report["session"].as_str().unwrap()).collect();
                let missing: BTreeSet<&str> = missing.iter().map(|id| id.as_str()).collect();
                assert!(
                    missing.is_subset(&failed),
                    "page {page}: {failed:?} {missing:?} {}",
                    run.text()
                );
                assert!(!reports.iter().any(|report| report["status"] == "left"), "page {page}");
            }
            let verified = scene.run(["verify"]);
            assert_eq!(verified.status, 1);
            assert!(
                verified.text().contains("is not what was written there"),
                "{}",
                verified.text()
            );
            let found = scene.run(["search", "--no-wait", "pear", "--json", "-n", "500"]);
            assert!(found.json_lines().len() >= some.len(), "page {page}: {}", found.stderr);
        }
        flip(&scene, page);
    }
    assert!(partial >= 3, "{partial} pages had some of the sessions");
    assert!(uncounted > 3, "{uncounted} sessions were not counted at most");
    assert_eq!(listed(&scene).1, all);
}

/// A store with two sessions, one of them with a damaged page of lines.
fn damaged_lines() -> Scene {
    let scene = Scene::new();
    let text = |number: u64| -> String {
        let numbers =
            (1..200).map(|step| (number * 1_000 + step).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        numbers.map(|number| format!("{number:x} ")).collect()
    };
    let messages = (0..40).map(|number| message(&format!("m{number}"), None, &text(number)));
    scene.write("large.jsonl", &file(std::iter::once(header("large")).chain(messages)));
    scene.write("small.jsonl", &file([header("small"), message("a1", None, "a pear")]));
    scene.write("new.jsonl", &file([header("new"), message("a1", None, "an apple")]));
    for name in ["large.jsonl", "small.jsonl"] {
        scene.run(["import", "--no-index", path(&scene.folder().join(name))]).ok();
    }
    for page in 1..std::fs::metadata(scene.store()).unwrap().len() / PAGE {
        flip(&scene, page);
        let large = scene.run(["export", "large"]);
        let is_of_lines = large.status == 1 && large.stderr.contains("table `lines`");
        if is_of_lines
            && [&["ls"][..], &["export", "small"]]
                .map(|other| scene.run(other.iter().copied()).status)
                == [0, 0]
        {
            return scene;
        }
        flip(&scene, page);
    }
    panic!("no page has lines of one session alone");
}

#[test]
fn others_are_imported_beside_a_damaged_page() {
    let scene = damaged_lines();
    let removed = scene.run(["rm", "large"]).ok().text();
    assert!(removed.contains("table `lines`"), "{removed}");
    let new = scene.folder().join("new.jsonl");
    scene.run(["import", "--no-index", path(&new)]).ok();
    scene.run(["export", "new"]).ok();
    scene.run(["sync", path(&new)]).ok();
    let told = scene.run(["compact"]).fails(1);
    assert!(told.contains("table `lines`") && told.contains("leafline repair"), "{told}");
    let verified = scene.run(["verify"]);
    assert!(verified.status == 1 && verified.text().contains("lines"), "{}", verified.text());
    scene.run(["repair"]);
    scene.run(["verify"]).ok();
    scene.run(["compact"]).ok();
    for id in ["small", "new"] {
        scene.run(["export", id]).ok();
    }
}

#[test]
fn a_search_names_what_cannot_be_indexed() {
    let scene = damaged_lines();
    for _ in 0..2 {
        let found = scene.run(["search", "pear"]);
        assert!(found.text().contains("a pear"), "{}", found.text());
        let told = found.fails(1);
        assert!(told.contains("session large is damaged"), "{told}");
    }
    let told = scene.run(["index"]).fails(1);
    assert!(told.contains("session large is not in the index"), "{told}");
}

#[test]
fn a_search_without_descriptors_says_so() {
    let scene = Scene::of_session(&file([header("s"), message("a1", None, "a pear")]));
    let mut refused = 0;
    for descriptors in 5..16 {
        let limited = format!("ulimit -n {descriptors}; exec \"$@\"");
        let search = command(&scene.store());
        let mut shell = Command::new("sh");
        shell.args(["-c", &limited, "sh"]).arg(search.get_program());
        shell.args(search.get_args()).args(["search", "pear"]);
        for (name, value) in search.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        let run = finished(shell.output().unwrap());
        assert!(!run.stderr.contains("--no-wait"), "{descriptors}: {}", run.stderr);
        match run.status {
            0 => assert!(run.text().contains("a pear"), "{descriptors}: {}", run.stderr),
            _ => {
                let is_named = run.stderr.contains("Too many open files")
                    || run.stderr.contains("os error 24");
                refused += u32::from(is_named);
                assert!(
                    is_named || run.stderr.contains("shared libraries"),
                    "{descriptors}: {}",
                    run.stderr
                );
            }
        }
        let folder = format!("{}.search", path(&scene.store()));
        let _ = std::fs::remove_dir_all(folder);
    }
    assert!(refused > 2, "{refused}");
}

#[test]
fn nothing_is_acknowledged_that_a_cut_off_store_cannot_keep() {
    for before in [1, 3] {
        let scene = Scene::of_session(&file([header("s"), message("a1", None, "first")]));
        let mut child = command(&scene.store())
            .args(["append", "s"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut append = || {
            let entry = r#"{"type":"message","message":{"role":"user","content":"next"}}"#;
            writeln!(child.stdin.as_mut().unwrap(), "{entry}").unwrap();
            let mut id = String::new();
            said.read_line(&mut id).unwrap();
            id
        };
        for _ in 0..before {
            assert_eq!(append().trim().len(), 8);
        }
        let store = std::fs::File::options().write(true).open(scene.store()).unwrap();
        let bytes = store.metadata().unwrap().len();
        store.set_len(bytes - PAGE).unwrap();
        assert_eq!(append(), "", "after {before}");
        drop(child.stdin.take());
        let told = finished(child.wait_with_output().unwrap()).fails(1);
        assert!(told.contains("was cut off") && told.contains(path(&scene.store())), "{told}");
        let stored = format!("{before} entr");
        assert!(told.contains(&stored), "{told}");
        assert_eq!(store.metadata().unwrap().len(), bytes - PAGE, "it is left as it is");
    }
}

#[test]
fn a_store_without_its_first_page_is_said_to_be_saved_by_salvage() {
    let scene = many_sessions();
    let store = std::fs::File::options().write(true).open(scene.store()).unwrap();
    store.write_all_at(&[0; 4096], 0).unwrap();
    for command in ["ls", "verify", "usage"] {
        let said = scene.run([command]).fails(1);
        assert!(said.contains(&format!("`leafline salvage {}", path(&scene.store()))), "{said}");
    }
    let new = scene.folder().join("new");
    run_on(&new, ["salvage", path(&scene.store()), "-o", path(&new)]);
    let listed = run_on(&new, ["ls", "--json"]).ok().json_lines();
    assert_eq!(listed.len(), SESSIONS);
}
