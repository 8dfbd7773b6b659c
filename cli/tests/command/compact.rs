//! `leafline compact` while others use the store.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use leafline_generate::Shape;

use crate::scene::{Scene, command, header, message, path};

/// A store with a session, and a file of 40 MB that it does not have.
fn scene() -> Scene {
    let scene = Scene::of_session(&crate::scene::file([header("s"), message("a1", None, "first")]));
    let shape = Shape { seed: 1, bytes: 80_000_000, ..Shape::default() };
    let mut file = Vec::new();
    leafline_generate::generate(&shape, &mut file).unwrap();
    scene.write("in/large.jsonl", &file);
    scene
}

/// A process that has the store open, and appends what it is sent.
fn appending(scene: &Scene) -> Child {
    appending_to(scene, "s")
}

pub(crate) fn appending_to(scene: &Scene, session: &str) -> Child {
    let mut child = command(&scene.store())
        .args(["append", session])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    append(&mut child);
    child
}

pub(crate) fn append(child: &mut Child) {
    let entry = r#"{"type":"message","message":{"role":"user","content":"next"}}"#;
    writeln!(child.stdin.as_mut().unwrap(), "{entry}").unwrap();
    let mut id = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut id).unwrap();
    assert_eq!(id.trim().len(), 8);
}

fn size(scene: &Scene) -> u64 {
    std::fs::metadata(scene.store()).unwrap().len()
}

#[test]
fn an_import_leaves_the_file_as_it_is_while_another_has_it_open() {
    let scene = scene();
    let mut child = appending(&scene);
    let file = scene.folder().join("in/large.jsonl");
    scene.run(["import", "--no-index", path(&file)]).ok();
    let loose = size(&scene);
    append(&mut child);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    scene.run(["compact"]).ok();
    let compacted = size(&scene);
    assert!(compacted < loose, "{compacted} of {loose}");

    // Alone, an import compacts.
    let alone = Scene::new();
    alone.run(["import", "--no-index", path(&file)]).ok();
    assert!(size(&alone) < loose, "{} of {loose}", size(&alone));
}

#[test]
fn it_waits_until_others_have_closed_the_store() {
    let scene = scene();
    let options = leafline::StoreOptions { read_only: true, ..leafline::StoreOptions::default() };
    let store = leafline::Store::open_with(scene.store(), &options).unwrap();
    let reader = store.reader("s").unwrap();
    let said = scene.run(["compact"]).fails(1);
    assert!(said.contains("is in use"), "{said}");
    let holder = format!("have it open: {} (", std::process::id());
    assert_eq!(said.contains(&holder), cfg!(target_os = "linux"), "{said}");
    let begun = Instant::now();
    let said = scene.run(["compact", "--wait=1"]).fails(1);
    assert!(said.contains("is in use"), "{said}");
    assert!(begun.elapsed() >= Duration::from_secs(1));
    let mut child = command(&scene.store()).args(["compact", "--wait"]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none());
    drop((reader, store));
    assert!(child.wait().unwrap().success());
}

/// The entries of the session, by `path`.
fn entries(scene: &Scene) -> usize {
    scene.run(["path", "s", "--json"]).ok().json_lines().len()
}

/// What is another number when another file has the store's name.
#[cfg(unix)]
fn file_number(scene: &Scene) -> u64 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(scene.store()).unwrap().ino()
}

/// The names in the store's folder.
fn names(scene: &Scene) -> Vec<String> {
    let files = std::fs::read_dir(scene.store().parent().unwrap()).unwrap();
    files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

/// A store with a large session, which was imported twice, so that there is something to give back.
fn loose() -> Scene {
    let scene = scene();
    let file = scene.folder().join("in/large.jsonl");
    scene.run(["import", "--no-index", "--no-compact", path(&file)]).ok();
    scene
}

#[cfg(unix)]
#[test]
fn others_append_and_read_while_the_store_is_written_anew() {
    let scene = loose();
    let before = (file_number(&scene), entries(&scene));
    let mut compacting = command(&scene.store()).args(["compact", "--wait"]).spawn().unwrap();
    let mut appended = 0;
    while compacting.try_wait().unwrap().is_none() {
        let mut child = appending(&scene);
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
        appended += 1;
        assert_eq!(entries(&scene), before.1 + appended);
        // A moment in which nobody has it open.
        std::thread::sleep(Duration::from_millis(60));
    }
    assert!(compacting.wait().unwrap().success());
    assert_eq!(entries(&scene), before.1 + appended);
    assert_ne!(file_number(&scene), before.0, "it was not written anew");
    scene.run(["verify"]).ok();
    assert!(!names(&scene).iter().any(|name| name.starts_with('.')), "{:?}", names(&scene));
}

/// A compaction may look at the store in the middle of any commit.
#[test]
fn nothing_is_lost_of_many_appends_beside_many_compactions() {
    let scene = Scene::of_session(&crate::scene::file([header("s"), message("a1", None, "first")]));
    let mut acknowledged = entries(&scene);
    for _ in 0..10 {
        let mut compacting = command(&scene.store()).args(["compact", "--wait"]).spawn().unwrap();
        while compacting.try_wait().unwrap().is_none() {
            let mut child = appending(&scene);
            drop(child.stdin.take());
            assert!(child.wait().unwrap().success());
            acknowledged += 1;
            // A moment in which nobody has it open.
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(compacting.wait().unwrap().success());
        assert_eq!(entries(&scene), acknowledged);
    }
}

#[test]
fn a_killed_compaction_leaves_the_store_as_it_was() {
    let scene = loose();
    let export = scene.run(["export", "s"]).ok().text();
    let loose = size(&scene);
    for step in 0..6 {
        let mut child = command(&scene.store()).arg("compact").spawn().unwrap();
        std::thread::sleep(Duration::from_millis(80 * step));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(scene.run(["export", "s"]).ok().text(), export);
        scene.run(["verify"]).ok();
    }
    scene.run(["compact"]).ok();
    assert!(size(&scene) < loose);
    assert!(!names(&scene).iter().any(|name| name.starts_with('.')), "{:?}", names(&scene));
    scene.run(["verify"]).ok();
}

#[cfg(unix)]
#[test]
fn a_store_with_two_names_stays_one() {
    let scene = loose();
    let other = scene.folder().join("other");
    std::fs::hard_link(scene.store(), &other).unwrap();
    let loose = size(&scene);
    scene.run(["compact"]).ok();
    assert!(size(&scene) < loose);
    append(&mut appending(&scene));
    let said = crate::scene::run_on(&other, ["path", "s", "--json"]).ok();
    assert_eq!(said.json_lines().len(), entries(&scene));
}

#[cfg(unix)]
#[test]
fn what_the_store_is_stays() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

    let scene = loose();
    let link = scene.folder().join("link");
    symlink(scene.store(), &link).unwrap();
    std::fs::set_permissions(scene.store(), std::fs::Permissions::from_mode(0o640)).unwrap();
    // Only root may give it to another; then the new file is the other's, too.
    let is_given = chown(scene.store(), Some(12_345), Some(12_345)).is_ok();
    let before = std::fs::metadata(scene.store()).unwrap();
    let run = crate::scene::run_on(&link, ["compact"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let after = std::fs::metadata(scene.store()).unwrap();
    assert!(after.len() < before.len(), "{} of {}", after.len(), before.len());
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_ne!(before.ino(), after.ino(), "it was not written anew");
    assert_eq!(
        (before.uid(), before.gid(), before.mode()),
        (after.uid(), after.gid(), after.mode())
    );
    assert_eq!(is_given, after.uid() == 12_345);
}

#[cfg(unix)]
#[test]
fn without_room_for_another_file_pages_move_within_it() {
    let scene = loose();
    let loose = size(&scene);
    // Room for what compacting within the file writes, and not for a second store.
    let script = "ulimit -f \"$0\"; exec \"$@\"";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script, &(loose / 512 / 4).to_string(), env!("CARGO_BIN_EXE_leafline")]);
    shell.args(["compact", "--json", "--store"]).arg(scene.store());
    let run = crate::scene::finished(shell.output().unwrap());
    assert_eq!(run.status, 1, "pages behind the limit cannot be moved: {}", run.stderr);
    assert!(run.stderr.contains("too large"), "{}", run.stderr);
    assert!(!names(&scene).iter().any(|name| name.starts_with('.')), "{:?}", names(&scene));
    scene.run(["verify"]).ok();
    scene.run(["compact", "--in-place"]).ok();
    assert!(size(&scene) < loose);
    scene.run(["verify"]).ok();
}

#[test]
fn pages_move_within_the_file_beside_who_has_it_open() {
    let scene = loose();
    let (loose, before) = (size(&scene), entries(&scene));
    let mut child = appending(&scene);
    scene.run(["compact", "--in-place"]).ok();
    append(&mut child);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert!(size(&scene) < loose, "{} of {loose}", size(&scene));
    assert_eq!(entries(&scene), before + 2);
    scene.run(["verify"]).ok();
}

/// It used to double the file's length and exit with 0.
#[test]
fn compact_in_place_refuses_while_the_store_is_read() {
    let scene = loose();
    let options = leafline::StoreOptions { read_only: true, ..leafline::StoreOptions::default() };
    let store = leafline::Store::open_with(scene.store(), &options).unwrap();
    let reader = store.reader("s").unwrap();
    let before = size(&scene);
    let said = scene.run(["compact", "--in-place"]).fails(1);
    assert!(
        said.contains("is being read all the time") && said.contains("nothing was changed"),
        "{said}"
    );
    assert_eq!(size(&scene), before);
    drop(reader);
    // A process that has the store open without reading it only delays the shortening of the file.
    let said = scene.run(["compact", "--in-place"]).ok().text();
    assert!(said.contains("when the last process that has it open closes it"), "{said}");
}

/// What cannot be the store's journal is in its place, and the true one is elsewhere: nothing is given up until that is clear.
#[test]
fn a_journal_is_not_given_up_for_what_is_not_one() {
    let scene = Scene::of_session(&crate::scene::file([header("s"), message("a1", None, "first")]));
    let mut child = appending(&scene);
    (0..4).for_each(|_| append(&mut child));
    child.kill().unwrap();
    child.wait().unwrap();
    let stranger = Scene::of_session(&crate::scene::file([header("t"), message("a1", None, "x")]));
    let mut child = appending_to(&stranger, "t");
    (0..4).for_each(|_| append(&mut child));
    child.kill().unwrap();
    child.wait().unwrap();
    let journal = scene.folder().join("store.leafline.journal");
    let kept = scene.folder().join("kept");
    std::fs::rename(&journal, &kept).unwrap();
    let mut put: Vec<Box<dyn Fn()>> = vec![
        Box::new(|| std::fs::write(&journal, "").unwrap()),
        Box::new(|| std::fs::write(&journal, "some text").unwrap()),
        Box::new(|| std::fs::create_dir(&journal).unwrap()),
        Box::new(|| {
            let other = stranger.folder().join("store.leafline.journal");
            std::fs::copy(other, &journal).unwrap();
        }),
    ];
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        put.push(Box::new(|| symlink("/dev/null", &journal).unwrap()));
        put.push(Box::new(|| symlink("nowhere", &journal).unwrap()));
        put.push(Box::new(|| {
            let made = std::process::Command::new("mkfifo").arg(&journal).status().unwrap();
            assert!(made.success());
        }));
    }
    for put in put {
        put();
        let said = scene.run(["compact", "--without-journal"]).fails(1);
        assert!(said.contains("cannot be the journal") && said.contains("move it away"), "{said}");
        if journal.is_dir() {
            std::fs::remove_dir(&journal).unwrap();
        } else {
            std::fs::remove_file(&journal).unwrap();
        }
    }
    // The advice is followed, and the true journal comes back.
    std::fs::rename(&kept, &journal).unwrap();
    assert_eq!(scene.run(["--json", "show", "s"]).ok().json()["entries"], 6);
    // Lost for good, it can be given up.
    std::fs::remove_file(&journal).unwrap();
    scene.run(["compact", "--without-journal"]).ok();
    scene.run(["verify"]).ok();
}
