//! `leafline salvage` and `leafline repair`, as a person uses them.

use std::path::{Path, PathBuf};

use leafline_generate::Shape;

use crate::compact::{append, appending_to};
use crate::scene::{PI_3, SAMPLES, Scene, header, message, path, run_on};

const PAGE: usize = 4096;

/// A store of the samples and of a session of 3 MB, whose file is still there.
fn scene() -> (Scene, Vec<u8>) {
    let scene = Scene::of_samples();
    let shape = Shape { seed: 3, bytes: 3_000_000, ..Shape::default() };
    let mut file = Vec::new();
    let summary = leafline_generate::generate(&shape, &mut file).unwrap();
    let name = format!("in/{}.jsonl", summary.session_id);
    let source = scene.write(&name, &file);
    scene.run(["import", "--no-index", path(&source)]).ok();
    (scene, file)
}

/// Zeroes pages in the middle of the file, where the lines of the large session are.
fn damage(store: &Path, pages: std::ops::Range<usize>) {
    let mut bytes = std::fs::read(store).unwrap();
    bytes[pages.start * PAGE..pages.end * PAGE].fill(0);
    std::fs::write(store, bytes).unwrap();
}

/// Pages whose loss `salvage` notices.
fn harmful(scene: &Scene) -> std::ops::Range<usize> {
    let whole = std::fs::read(scene.store()).unwrap();
    let copy = scene.folder().join("copy");
    for page in (whole.len() / PAGE / 2)..(whole.len() / PAGE) {
        std::fs::write(&copy, &whole).unwrap();
        damage(&copy, page..page + 4);
        if run_on(&copy, ["verify"]).status != 0 {
            return page..page + 4;
        }
    }
    panic!("a page of the store's second half is in use");
}

fn exported(store: &Path) -> Vec<(String, Vec<u8>)> {
    let listed = run_on(store, ["ls", "--agents", "--json"]).ok().json_lines();
    let ids = listed.iter().map(|session| session["id"].as_str().unwrap().to_owned());
    ids.map(|id| (id.clone(), run_on(store, ["export", "--as", "exact", &id]).ok().stdout))
        .collect()
}

#[test]
fn what_is_missing_is_named_and_taken_from_its_file() {
    let (scene, file) = scene();
    let before = exported(&scene.store());
    let pages = harmful(&scene);
    damage(&scene.store(), pages);
    let new = scene.folder().join("new");
    let run = run_on(&new, ["salvage", path(&scene.store()), "-o", path(&new)]);
    assert_eq!(run.status, 1, "{}{}", run.text(), run.stderr);
    assert!(run.text().contains("damaged"), "{}", run.text());
    let after = exported(&new);
    let same = before.iter().filter(|session| after.contains(session)).count();
    assert!(same >= SAMPLES, "{same}: {}", run.text());
    run_on(&new, ["verify"]).ok();

    // Only once.
    let said = run_on(&new, ["salvage", path(&scene.store()), "-o", path(&new)]).fails(1);
    assert!(said.contains("is a store"), "{said}");

    let again = scene.folder().join("again");
    let run =
        run_on(&again, ["salvage", "--from-sources", path(&scene.store()), "-o", path(&again)]);
    let large: Vec<_> = exported(&again).into_iter().filter(|(_, bytes)| *bytes == file).collect();
    assert_eq!(large.len(), 1, "{}", run.text());
    assert_eq!(exported(&again).len(), before.len());
    let json = run_on(
        &again,
        ["salvage", "--json", path(&scene.store()), "-o", path(&new.with_extension("2"))],
    );
    assert!(json.json()["pages"].as_u64().unwrap() > 0);
}

#[test]
fn a_repair_keeps_the_damaged_store() {
    let (scene, _) = scene();
    let before = exported(&scene.store());
    let text = scene.run(["repair"]).ok().text();
    assert_eq!(text, "nothing is wrong; nothing was changed\n");
    damage(&scene.store(), harmful(&scene));
    let damaged = std::fs::read(scene.store()).unwrap();
    let run = scene.run(["repair", "--from-sources"]);
    let kept: Vec<PathBuf> = std::fs::read_dir(scene.folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains(".damaged-"))
        .collect();
    assert_eq!(kept.len(), 1, "{}{}", run.text(), run.stderr);
    assert!(run.text().contains(path(&kept[0])), "{}", run.text());
    assert_eq!(std::fs::read(&kept[0]).unwrap(), damaged);
    scene.run(["verify"]).ok();
    let after = exported(&scene.store());
    assert_eq!(after.len(), before.len());
    assert!(before.iter().all(|session| after.contains(session)), "{}", run.text());
    scene.run(["repair"]).ok();
    let rebuilt = scene.run(["repair", "--rebuild", "--json"]).ok().json();
    assert_eq!(rebuilt["salvage"]["whole"], before.len());
    assert_eq!(exported(&scene.store()).len(), before.len());
    // The search index goes on.
    scene.run(["search", "the"]);
}

#[test]
fn a_store_that_is_open_is_not_repaired() {
    let scene = Scene::of_session(&crate::scene::file([header("s"), message("a1", None, "first")]));
    let store = leafline::Store::open(scene.store()).unwrap();
    let said = scene.run(["repair", "--rebuild"]).fails(1);
    assert!(said.contains("in use"), "{said}");
    drop(store);
    scene.run(["repair", "--rebuild"]).ok();
    scene.run(["show", "s"]).ok();
    assert_eq!(scene.run(["show", PI_3]).status, 1);
}

/// Leaves a journal with the last two of three appends.
fn append_and_die(scene: &Scene) {
    let mut child = appending_to(scene, "s");
    (0..2).for_each(|_| append(&mut child));
    child.kill().unwrap();
    child.wait().unwrap();
}

/// What a repair leaves that is killed at its last step, or ahead of the first that gives a name.
#[test]
fn the_next_one_completes_a_killed_repair() {
    let scene = Scene::of_session(&crate::scene::file([header("s"), message("a1", None, "first")]));
    let journal = scene.folder().join("store.leafline.journal");
    let entry = r#"{"type":"message","message":{"role":"user","content":"more"}}"#;
    let append = || {
        scene.run_with_input(
            ["append", "s", "--sync", "each"],
            format!("{entry}\n").repeat(3).as_bytes(),
        )
    };
    append_and_die(&scene);
    let unnamed = scene.write("store.leafline.repaired-2026-02-16T10-20-30.400Z", b"half");
    let other = scene.write("store.leafline.repaired-by-hand", b"theirs");
    scene.run(["repair", "--rebuild"]).ok();
    assert!(!unnamed.exists() && other.exists() && !journal.exists());
    let kept = std::fs::read_dir(scene.folder()).unwrap().map(|entry| entry.unwrap().path());
    let kept = kept.filter(|path| path.to_string_lossy().ends_with("Z.journal"));
    let [kept] = kept.collect::<Vec<_>>().try_into().unwrap();
    assert!(kept.exists());
    // Another store's stands for one of which the new store knows nothing.
    let stranger = Scene::of_session(&crate::scene::file([header("s")]));
    append_and_die(&stranger);
    let mut bytes = std::fs::read(stranger.folder().join("store.leafline.journal")).unwrap();
    std::fs::write(&journal, &bytes).unwrap();
    let last = bytes.last_mut().unwrap();
    *last ^= 1;
    std::fs::write(&kept, &bytes).unwrap();
    let told = scene.run(["name", "--set", "Mine", "s"]).fails(1);
    assert!(told.contains("move it away"), "{told}");
    // Where there are no hard links, a repair copies the journal.
    std::fs::remove_file(&kept).unwrap();
    std::fs::copy(&journal, &kept).unwrap();
    assert_eq!(scene.run(["--json", "show", "s"]).ok().json()["entries"], 4);
    append().ok();
    std::fs::hard_link(&kept, &journal).unwrap();
    assert_eq!(scene.run(["--json", "show", "s"]).ok().json()["entries"], 7);
    append().ok();
    assert_eq!(scene.run(["--json", "show", "s"]).ok().json()["entries"], 10);
    assert!(kept.exists());
    scene.run(["verify"]).ok();
}
