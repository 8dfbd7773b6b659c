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
    let mut child = command(&scene.store())
        .args(["append", "s"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    append(&mut child);
    child
}

fn append(child: &mut Child) {
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
fn it_waits_until_others_have_read() {
    let scene = scene();
    let options = leafline::StoreOptions { read_only: true, ..leafline::StoreOptions::default() };
    let store = leafline::Store::open_with(scene.store(), &options).unwrap();
    let reader = store.reader("s").unwrap();
    let said = scene.run(["compact"]).fails(1);
    assert!(said.contains("is in use"), "{said}");
    let begun = Instant::now();
    let said = scene.run(["compact", "--wait=1"]).fails(1);
    assert!(said.contains("is in use"), "{said}");
    assert!(begun.elapsed() >= Duration::from_secs(1));
    let mut child = command(&scene.store()).args(["compact", "--wait"]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none());
    drop(reader);
    assert!(child.wait().unwrap().success());
}
