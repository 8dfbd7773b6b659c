//! What killed exports leave behind.

use std::path::{Path, PathBuf};

use crate::scene::{OMP_3, PI_3, Scene, path};

/// A name such as an export gives the file that it is writing.
const NAME: &str = ".leafline-tmp-0123456789abcdef";

fn names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A project's folder of an exported one.
fn project(all: &Path) -> PathBuf {
    let sessions = all.join("pi/sessions");
    let name = names(&sessions).into_iter().find(|name| name.starts_with("--")).unwrap();
    sessions.join(name)
}

#[test]
fn the_next_export_removes_what_a_killed_one_left() {
    let scene = Scene::of_samples();
    let (all, blobs) = (scene.folder().join("all"), scene.folder().join("blobs"));
    let refs = ["export", "--all", "-o", path(&all), "--as", "refs", "--blobs", path(&blobs)];
    scene.run(refs).ok();
    let project = project(&all);
    let folders = [&all, &project, &blobs];
    let before = folders.map(|folder| names(folder));
    for folder in folders {
        std::fs::write(folder.join(NAME), "half").unwrap();
        std::fs::write(folder.join(NAME.replace("0123", "aZ09")), "").unwrap();
    }
    scene.run(refs).ok();
    assert_eq!(folders.map(|folder| names(folder)), before);

    let out = project.join("out.jsonl");
    for folder in folders {
        std::fs::write(folder.join(NAME), "half").unwrap();
    }
    let one = ["export", OMP_3, "-o", path(&out), "--as", "refs", "--blobs", path(&blobs)];
    scene.run(one).ok();
    assert!(!project.join(NAME).exists() && !blobs.join(NAME).exists());
    assert!(all.join(NAME).exists(), "nothing was exported into that folder");
}

#[test]
fn a_folder_without_sessions_any_longer_is_tidied_too() {
    let scene = Scene::of_samples();
    let all = scene.folder().join("all");
    scene.run(["export", "--all", "-o", path(&all)]).ok();
    // The last one is as exports put them before.
    let folders = ["pi/sessions/--gone--", "codex/sessions/2020/01/02", "--gone--"];
    let left = folders.map(|folder| all.join(folder).join(NAME));
    for left in &left {
        std::fs::create_dir_all(left.parent().unwrap()).unwrap();
        std::fs::write(left, "half").unwrap();
    }
    scene.run(["export", "--all", "-o", path(&all)]).ok();
    assert!(left.iter().all(|left| !left.exists()));
}

#[test]
fn what_is_not_ours_stays() {
    let scene = Scene::of_samples();
    let all = scene.folder().join("all");
    std::fs::create_dir(&all).unwrap();
    let mut others = Vec::new();
    for name in [
        ".leafline-tmp-",
        ".leafline-tmp-0123456789abcde",
        ".leafline-tmp-0123456789abcdef0",
        ".leafline-tmp-0123456789abcde.",
        ".leafline-tmp-0123456789abcdef.txt",
        ".leafline-0123456789abcdef",
        "leafline-tmp-0123456789abcdef",
        "x.leafline-tmp-0123456789abcdef",
        "notes.txt",
    ] {
        others.push(scene.write(&format!("all/{name}"), b"theirs"));
    }
    let folder = all.join(NAME);
    others.push(scene.write(&format!("all/{NAME}/kept"), b"theirs"));
    scene.run(["export", "--all", "-o", path(&all)]).ok();
    for other in &others {
        assert_eq!(std::fs::read(other).unwrap(), b"theirs", "{}", other.display());
    }
    assert!(folder.is_dir());
}

#[test]
fn what_someone_is_writing_stays() {
    let scene = Scene::of_samples();
    let all = scene.folder().join("all");
    let living = scene.write(&format!("all/{NAME}"), b"half");
    let file = std::fs::File::options().write(true).open(&living).unwrap();
    file.lock().unwrap();
    scene.run(["export", "--all", "-o", path(&all)]).ok();
    assert_eq!(std::fs::read(&living).unwrap(), b"half");
    drop(file);
    scene.run(["export", "--all", "-o", path(&all)]).ok();
    assert!(!living.exists());
}

#[test]
fn a_half_made_history_is_removed_with_its_journal() {
    let scene = Scene::of_samples();
    let made = [NAME.to_owned(), format!("{NAME}.db"), format!("{NAME}.db-journal")];
    let left: Vec<_> =
        made.iter().map(|name| scene.write(&format!("new/{name}"), b"half")).collect();
    let alone = scene.write("new/.leafline-tmp-fedcba9876543210.db", b"half");
    let history = scene.folder().join("new/history.db");
    scene.run(["history", "export", path(&history)]).ok();
    assert!(left.iter().all(|left| !left.exists()) && !alone.exists());
    assert_eq!(names(&scene.folder().join("new")), ["history.db"]);

    std::fs::remove_file(&history).unwrap();
    left.iter().for_each(|left| std::fs::write(left, "half").unwrap());
    let file = std::fs::File::options().write(true).open(&left[0]).unwrap();
    file.lock().unwrap();
    scene.run(["history", "export", path(&history)]).ok();
    assert!(left.iter().all(|left| left.exists()), "its maker is at work");
}

/// How many sessions are listed.
fn sessions(scene: &Scene, more: &[&str]) -> usize {
    scene.run(["ls", "--json"].into_iter().chain(more.iter().copied())).ok().json_lines().len()
}

#[test]
fn leftovers_are_no_sessions() {
    let scene = Scene::of_samples();
    let all = scene.folder().join("all");
    scene.run(["export", "--all", "-o", path(&all)]).ok();
    let files = sessions(&scene, &["--files", path(&all)]);
    let session = crate::scene::sample(PI_3);
    std::fs::write(all.join(NAME), &session).unwrap();
    std::fs::write(project(&all).join(NAME), &session).unwrap();
    let other = Scene::new();
    for command in ["import", "sync"] {
        other.run([command, path(&all)]).ok();
        assert_eq!(sessions(&other, &[]), sessions(&scene, &[]));
    }
    assert_eq!(sessions(&other, &["--files", path(&all)]), files);
}

#[cfg(unix)]
mod unix {
    use std::process::{Child, Stdio};
    use std::time::{Duration, Instant};

    use super::*;
    use crate::scene::{command, file, header, message};
    use crate::signals::{go_on, stop};

    /// The file that a process is writing below a folder, once there is one.
    fn being_written(folder: &Path, child: &mut Child) -> Option<PathBuf> {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(600) && child.try_wait().unwrap().is_none() {
            let sessions = folder.join("pi/sessions");
            let folders = std::fs::read_dir(sessions).into_iter().flatten().flatten();
            for project in folders.filter(|entry| entry.path().is_dir()) {
                for name in names(&project.path()) {
                    if name.starts_with(".leafline-") {
                        return Some(project.path().join(name));
                    }
                }
            }
        }
        None
    }

    /// An export that was stopped while it wrote a file, and that file.
    fn stopped(scene: &Scene, all: &Path) -> (Child, PathBuf) {
        for _ in 0..20 {
            let _ = std::fs::remove_dir_all(all);
            let mut export = command(&scene.store());
            export.args(["export", "--all", "-o", path(all)]).stdout(Stdio::null());
            let mut child = export.spawn().unwrap();
            if let Some(written) = being_written(all, &mut child) {
                stop(&child);
                // Between the file's making and its lock, it counts as abandoned; its process then makes another.
                let is_held =
                    std::fs::File::open(&written).is_ok_and(|file| file.try_lock().is_err());
                if is_held {
                    return (child, written);
                }
                go_on(&child);
            }
            child.wait().unwrap();
        }
        panic!("each export was done before it could be stopped");
    }

    #[test]
    fn a_living_export_keeps_its_file_and_a_killed_one_does_not() {
        let text =
            "a line of some length, so that there is something to be written ".repeat(1 << 10);
        let lines = (0..200).map(|number| message(&format!("m{number}"), None, &text));
        let scene = Scene::of_session(&file([header("long")].into_iter().chain(lines)));
        let all = scene.folder().join("all");
        let (mut child, written) = stopped(&scene, &all);
        scene.run(["export", "--all", "-o", path(&all)]).ok();
        assert!(written.exists(), "its process is alive");
        let whole = scene.run(["export", "long"]).ok().stdout;
        let project = written.parent().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(written.exists(), "nobody has tidied up after it");
        scene.run(["export", "--all", "-o", path(&all)]).ok();
        assert_eq!(names(project).len(), 1, "{:?}", names(project));
        assert!(std::fs::read(project.join(&names(project)[0])).unwrap() == whole);
    }

    #[test]
    fn an_export_that_was_only_stopped_ends_well() {
        let text =
            "a line of some length, so that there is something to be written ".repeat(1 << 10);
        let lines = (0..200).map(|number| message(&format!("m{number}"), None, &text));
        let scene = Scene::of_session(&file([header("long")].into_iter().chain(lines)));
        let all = scene.folder().join("all");
        let (mut child, written) = stopped(&scene, &all);
        // Another one takes the place of the file meanwhile, and nothing that is in use.
        let out = written.with_file_name("other.jsonl");
        scene.run(["export", "long", "-o", path(&out)]).ok();
        go_on(&child);
        assert!(child.wait().unwrap().success());
        assert_eq!(names(written.parent().unwrap()).len(), 2);
    }
}
