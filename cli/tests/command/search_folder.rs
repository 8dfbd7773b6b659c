//! What is not Leafline's in the folder of the search index, and in the place where that folder would be.

use std::path::{Path, PathBuf};

use super::scene::{Scene, command, file, finished, header, message, path};

fn search_folder(scene: &Scene) -> PathBuf {
    scene.folder().join("store.leafline.search")
}

/// A scene whose store has a session in which `needle` is said, and no index.
fn scene() -> Scene {
    let scene = Scene::new();
    store_a_session(&scene, "s1");
    scene
}

fn store_a_session(scene: &Scene, id: &str) {
    let lines = file([header(id), message("a1", None, "a needle")]);
    let file = scene.write(&format!("{id}.jsonl"), &lines);
    scene.run(["import", path(&file)]).ok();
}

/// Puts another store, with another session, in the store's place. Its index is another one.
fn replace_store(scene: &Scene) {
    std::fs::remove_file(scene.store()).unwrap();
    store_a_session(scene, "s2");
}

/// The one index in a folder of indexes.
fn index_in(folder: &Path) -> PathBuf {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_index = |path: &PathBuf| {
        !path.is_symlink()
            && std::fs::read(path.join("meta.json")).is_ok_and(|meta| meta.starts_with(b"{"))
    };
    let mut indexes: Vec<PathBuf> = entries.filter(is_index).collect();
    assert_eq!(indexes.len(), 1, "{indexes:?}");
    indexes.remove(0)
}

/// Files of a user, in several folders of names like ours and not.
fn write_users_files(folder: &Path) -> Vec<PathBuf> {
    let names = [
        "notes.txt",
        "meta.json",
        "keep/deep/er/thesis.txt",
        "7-00000000000000aa/thesis.txt",
        "1-00000000000000ff/meta.json",
        "1-00000000000000ff/0123456789abcdef0123456789abcdef.idx",
        "0123456789abcdef0123456789abcdef.idx",
    ];
    names
        .into_iter()
        .map(|name| {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, name).unwrap();
            path
        })
        .collect()
}

#[track_caller]
fn assert_all_there(files: &[PathBuf]) {
    for file in files {
        let text = std::fs::read_to_string(file).unwrap_or_else(|_| panic!("{file:?} is gone"));
        assert!(file.ends_with(text), "{file:?}");
    }
}

/// Each of the commands that need an index fails, says why and what to do, and leaves all as it is.
#[track_caller]
fn assert_refused(scene: &Scene, files: &[PathBuf]) {
    for arguments in [&["search", "needle"] as &[&str], &["index"], &["index", "--rebuild"]] {
        let told = scene.run(arguments.iter().copied()).fails(1);
        assert!(told.contains("store.leafline.search") && told.contains("move it away"), "{told}");
        assert_all_there(files);
    }
}

#[track_caller]
fn assert_found(scene: &Scene, session: &str) {
    let found = scene.run(["search", "needle"]).ok().text();
    assert!(found.starts_with(session), "{found}");
}

#[test]
fn a_folder_of_the_users_is_not_taken() {
    let scene = Scene::new();
    let files = write_users_files(&search_folder(&scene));
    // Large enough that the import would bring the index in step.
    let long = "word ".repeat(1 << 20);
    let large = file([header("s1"), message("a1", None, &long), message("a2", None, "needle")]);
    let large = scene.write("large.jsonl", &large);
    let import = scene.run(["import", path(&large)]);
    assert_eq!(import.status, 0);
    assert!(import.stderr.contains("the sessions are stored, but"), "{}", import.stderr);
    assert_all_there(&files);
    assert_refused(&scene, &files);
    // It is said what to do, and that helps.
    let away = scene.folder().join("away");
    std::fs::rename(search_folder(&scene), &away).unwrap();
    assert_found(&scene, "s1");
    let file = away.join("notes.txt");
    assert_all_there(&[file]);
}

#[test]
fn a_folder_with_a_single_file_is_not_taken() {
    for name in ["1-00000000000000ff/notes.txt", ".hidden", ".managed.json"] {
        let scene = scene();
        let file = search_folder(&scene).join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, name).unwrap();
        assert_refused(&scene, &[file]);
    }
}

#[test]
fn files_that_were_added_later_stay() {
    let scene = scene();
    assert_found(&scene, "s1");
    let folder = search_folder(&scene);
    let mut files = write_users_files(&folder);
    for name in ["notes.txt", "segment.idx", "0123456789ABCDEF0123456789abcdef.idx", ".tmpmine"] {
        let file = index_in(&folder).join(name);
        std::fs::write(&file, name).unwrap();
        files.push(file);
    }
    assert_found(&scene, "s1");
    scene.run(["index", "--rebuild"]).ok();
    assert_all_there(&files);
    assert_found(&scene, "s1");

    let old = index_in(&folder);
    replace_store(&scene);
    assert_found(&scene, "s2");
    assert_all_there(&files);
    assert!(!old.join("meta.json").exists(), "the other store's index is gone");
    scene.run(["index", "--rebuild"]).ok();
    assert_found(&scene, "s2");
    assert_all_there(&files);
}

#[test]
fn an_index_of_another_store_is_deleted() {
    let scene = scene();
    assert_found(&scene, "s1");
    let old = index_in(&search_folder(&scene));
    replace_store(&scene);
    assert_found(&scene, "s2");
    assert!(!old.exists());
}

#[test]
fn a_file_in_the_folders_place_stays() {
    let scene = scene();
    let file = search_folder(&scene);
    std::fs::write(&file, "store.leafline.search").unwrap();
    assert_refused(&scene, &[file]);
}

#[test]
fn a_list_of_files_that_was_changed_deletes_nothing_else() {
    let scene = scene();
    assert_found(&scene, "s1");
    let index = index_in(&search_folder(&scene));
    let outside = scene.write("outside.txt", b"outside.txt");
    let inside = index.join("inside.txt");
    std::fs::write(&inside, "inside.txt").unwrap();
    let list = index.join(".managed.json");
    let names = std::fs::read_to_string(&list).unwrap();
    let more = format!(r#"["../../outside.txt","inside.txt",{:?},"#, path(&outside));
    std::fs::write(&list, names.replacen('[', &more, 1)).unwrap();
    // New lines, so that something is written, and tantivy looks for what it may delete.
    store_a_session(&scene, "s2");
    let told = scene.run(["index"]).fails(1);
    assert!(told.contains("`leafline index --rebuild`"), "{told}");
    assert_all_there(&[outside.clone(), inside.clone()]);
    scene.run(["index", "--rebuild"]).ok();
    assert_all_there(&[outside, inside]);
}

#[test]
fn an_index_of_the_earlier_release_is_taken_over() {
    let scene = scene();
    assert_found(&scene, "s1");
    let folder = search_folder(&scene);
    let (mark, index_mark) =
        (folder.join(".leafline-search"), index_in(&folder).join(".leafline-search"));
    // It had no marks.
    std::fs::remove_file(&mark).unwrap();
    std::fs::remove_file(&index_mark).unwrap();
    // It holds all that the store has, so that nothing is read again.
    assert_eq!(scene.run(["index", "--json"]).ok().json()["sessions"], 0);
    assert!(mark.is_file() && index_mark.is_file());
    assert_found(&scene, "s1");

    // With a file of the user's in it, it cannot be told from a folder of the user's.
    let file = folder.join("notes.txt");
    std::fs::write(&file, "notes.txt").unwrap();
    std::fs::remove_file(&mark).unwrap();
    std::fs::remove_file(&index_mark).unwrap();
    assert_refused(&scene, &[file]);
}

#[test]
fn a_folder_that_was_made_in_part_is_gone_on_with() {
    let scene = scene();
    let folder = search_folder(&scene);
    std::fs::create_dir(&folder).unwrap();
    assert_found(&scene, "s1");
    // Killed while it wrote the mark, or before it made the index.
    for (mark, index) in [("", false), ("leafl", false), ("", true)] {
        std::fs::remove_dir_all(&folder).unwrap();
        let made = if index { folder.join("1-00000000000000ff") } else { folder.clone() };
        std::fs::create_dir_all(&made).unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .unwrap();
        std::fs::write(made.join(".leafline-search"), mark).unwrap();
        assert_found(&scene, "s1");
        scene.run(["index", "--rebuild"]).ok();
    }
}

#[test]
#[cfg(unix)]
fn links_stay_and_are_not_followed() {
    use std::os::unix::fs::symlink;

    let scene = scene();
    assert_found(&scene, "s1");
    let folder = search_folder(&scene);
    let elsewhere = scene.folder().join("elsewhere");
    let files = write_users_files(&elsewhere);
    let index = index_in(&folder);
    let links = [
        folder.join("elsewhere"),
        folder.join("1-00000000000000aa"),
        folder.join("0-00000000000000aa"),
        index.join("elsewhere"),
        index.join("ffffffffffffffffffffffffffffffff.idx"),
    ];
    let check = || {
        for link in &links {
            assert!(std::fs::read_link(link).is_ok(), "{link:?} is gone");
        }
        assert_all_there(&files);
    };
    for link in &links[..4] {
        symlink(&elsewhere, link).unwrap();
    }
    symlink(&files[0], &links[4]).unwrap();
    let told = scene.run(["search", "needle"]).fails(1);
    assert!(told.contains("ffff.idx") && told.contains("move it away"), "{told}");
    let told = scene.run(["index", "--rebuild"]).fails(1);
    assert!(told.contains("ffff.idx") && told.contains("move it away"), "{told}");
    check();
    replace_store(&scene);
    assert_found(&scene, "s2");
    check();
    scene.run(["index", "--rebuild"]).ok();
    assert_found(&scene, "s2");
    check();
}

#[test]
#[cfg(unix)]
fn an_index_that_is_a_link_is_not_followed() {
    let scene = scene();
    assert_found(&scene, "s1");
    let index = index_in(&search_folder(&scene));
    let moved = scene.folder().join("moved");
    std::fs::rename(&index, &moved).unwrap();
    let files = write_users_files(&moved.join("more"));
    std::os::unix::fs::symlink(&moved, &index).unwrap();
    let before = std::fs::read(moved.join("meta.json")).unwrap();
    assert_refused(&scene, &files);
    assert!(std::fs::read_link(&index).is_ok());
    assert_eq!(std::fs::read(moved.join("meta.json")).unwrap(), before);
}

#[test]
#[cfg(unix)]
fn a_folder_may_be_a_link_to_an_empty_one() {
    let scene = scene();
    let target = scene.folder().join("large-disk");
    std::fs::create_dir(&target).unwrap();
    std::fs::set_permissions(&target, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    std::os::unix::fs::symlink(&target, search_folder(&scene)).unwrap();
    assert_found(&scene, "s1");
    assert!(index_in(&target).is_dir());
    let files = write_users_files(&target);
    scene.run(["index", "--rebuild"]).ok();
    assert_found(&scene, "s1");
    replace_store(&scene);
    assert_found(&scene, "s2");
    assert_all_there(&files);
    assert_eq!(std::fs::read_link(search_folder(&scene)).unwrap(), target);
    assert!(index_in(&target).is_dir());
}

#[test]
#[cfg(unix)]
fn a_link_to_a_folder_of_the_users_is_not_taken() {
    let scene = scene();
    let target = scene.folder().join("documents");
    let files = write_users_files(&target);
    std::os::unix::fs::symlink(&target, search_folder(&scene)).unwrap();
    assert_refused(&scene, &files);
    assert_eq!(std::fs::read_link(search_folder(&scene)).unwrap(), target);
    let names = std::fs::read_dir(&target).unwrap().count();
    assert_eq!(names, 6, "nothing was added");

    std::fs::rename(&target, scene.folder().join("elsewhere")).unwrap();
    let told = scene.run(["search", "needle"]).fails(1);
    assert!(told.contains("move it away"), "{told}");
}

/// A terminal's breadcrumbs lie in a folder beside the store as well.
#[test]
#[cfg(unix)]
fn breadcrumbs_replace_nothing_but_breadcrumbs() {
    let scene = Scene::new();
    let folder = scene.folder().join("store.leafline.terminals");
    let run = |pane: &str| {
        let mut command = command(&scene.store());
        command.env("TMUX_PANE", pane).args(["new", "--cwd", "/work"]);
        finished(command.output().unwrap()).ok();
    };
    let notes = scene.write("store.leafline.terminals/tmux-%1", b"tmux-%1");
    let lines = scene.write("store.leafline.terminals/tmux-%2", b"one\ntwo\nthree\n");
    let outside = scene.write("outside.txt", b"outside.txt");
    std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let link = folder.join("tmux-%3");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    let nowhere = folder.join("tmux-%4");
    std::os::unix::fs::symlink(scene.folder().join("nowhere"), &nowhere).unwrap();
    for pane in ["%1", "%2", "%3", "%4", "%5", "%5"] {
        run(pane);
    }
    assert_all_there(&[notes, outside]);
    assert_eq!(std::fs::read(lines).unwrap(), b"one\ntwo\nthree\n");
    assert!(std::fs::read_link(link).is_ok() && !scene.folder().join("nowhere").exists());
    assert!(std::fs::read_to_string(folder.join("tmux-%5")).unwrap().starts_with("/work\n"));
}
