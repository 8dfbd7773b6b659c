//! An import that goes on for a while, and other processes that open its store under other names: an acknowledged import
//! must never have lost a row.

use std::ops::Bound::Included;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use leafline_generate::Shape;
use redb::{
    Builder, ConcurrencyMode, ReadableDatabase, ReadableTable, StorageBackend, TableDefinition,
};

use super::scene::{Scene, command, finished, path, run_on};
use super::signals::{go_on, stop};

const UNFINISHED: TableDefinition<u64, u64> = TableDefinition::new("unfinished");

/// An import is waited for this long.
const PATIENCE: Duration = Duration::from_secs(600);

/// A session whose import takes several commits, and its id.
fn long_session() -> (Vec<u8>, String) {
    let shape = Shape { seed: 7, bytes: 80_000_000, images: 0.9, ..Shape::default() };
    let mut bytes = Vec::new();
    let id = leafline_generate::generate(&shape, &mut bytes).unwrap().session_id;
    (bytes, id)
}

/// The keys of the sessions that are marked as unfinished.
fn unfinished(store: &Path) -> Vec<(u64, u64)> {
    let mut builder = Builder::new();
    builder.set_concurrency_mode(ConcurrencyMode::MultiWriter);
    let Ok(database) = builder.open_read_only(store) else { return Vec::new() };
    let transaction = database.begin_read().unwrap();
    let Ok(table) = transaction.open_table(UNFINISHED) else { return Vec::new() };
    let rows = table.iter().unwrap().map(|row| row.unwrap());
    rows.map(|(session, token)| (session.value(), token.value())).collect()
}

/// The bytes of the store's file that stand for what others wait for: the engine's header, those who read, who appends to the
/// journal, and who asks others not to, or syncs it.
const WAITED_FOR: [(u64, u64); 5] = [
    (0, 319),
    ((1 << 62) + 1024, i64::MAX as u64),
    ((3 << 60) + 3, (3 << 60) + 3),
    ((3 << 60) + (1 << 32), (3 << 60) + (1 << 32)),
    ((3 << 60) + (2 << 32), (3 << 60) + (2 << 32)),
];

/// Whether somebody holds what others wait for: they would wait for the stopped one, or be told that it reads.
fn is_waited_for(store: &Path) -> bool {
    let file = redb::backends::FileBackend::new(std::fs::File::open(store).unwrap()).unwrap();
    let is_held = |(first, last)| file.query_lock_range(Included(first), Included(last)).unwrap();
    WAITED_FOR.into_iter().any(is_held)
}

/// Begins an import, and stops it when some of its rows are committed and some are not. Who gets the engine's lock is the
/// system's choice, so an import may be done before this process had it once; then it is begun again.
fn stopped_import(store: &Path, file: &Path) -> Child {
    let before = store.exists().then(|| std::fs::read(store).unwrap());
    for _ in 0..20 {
        let mut child = command(store)
            .args(["import", "--no-index", "--no-compact", path(file)])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        if is_stopped_halfway(store, &mut child) {
            return child;
        }
        match &before {
            Some(bytes) => std::fs::write(store, bytes).unwrap(),
            None => std::fs::remove_file(store).unwrap(),
        }
    }
    panic!("each import was done before it could be stopped");
}

/// Stops an import between two of its commits; not if it has ended before.
fn is_stopped_halfway(store: &Path, import: &mut Child) -> bool {
    let begun = Instant::now();
    while !store.exists() {
        assert!(begun.elapsed() < PATIENCE, "the import makes no store");
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut builder = Builder::new();
    builder.set_concurrency_mode(ConcurrencyMode::MultiWriter);
    let database = builder.open(store).unwrap();
    loop {
        // While this transaction is open the import is in none.
        let transaction = database.begin_write().unwrap();
        let is_begun = transaction.open_table(UNFINISHED).unwrap().iter().unwrap().next().is_some();
        if is_begun {
            stop(import);
        }
        transaction.abort().unwrap();
        if is_begun && !is_waited_for(store) {
            return true;
        }
        go_on(import);
        if import.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_micros(50));
    }
}

/// A store under other names, and what an importer did with its locks in other versions.
fn other_names(scene: &Scene) -> Vec<PathBuf> {
    let store = scene.store();
    let folder = scene.folder().join("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    let link_beside = scene.folder().join("link");
    let link_elsewhere = folder.join("link");
    let hard_link = folder.join("hard-link");
    for link in [&link_beside, &link_elsewhere] {
        std::os::unix::fs::symlink(&store, link).unwrap();
    }
    std::fs::hard_link(&store, &hard_link).unwrap();
    vec![link_beside, link_elsewhere, hard_link]
}

fn remove_lock_files(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name();
        if name.to_string_lossy().contains(".writing-") {
            std::fs::remove_file(folder.join(name)).unwrap();
        }
    }
}

/// What other processes do to the store while the import stands still.
fn interfere(store: &Path, small: &Path) {
    run_on(store, ["import", "--no-index", path(small)]).ok();
    run_on(store, ["sync", "--no-index", path(small)]).ok();
    run_on(store, ["compact"]).ok();
}

#[test]
fn an_import_survives_whoever_opens_its_store_by_another_name() {
    let (bytes, id) = long_session();
    let scene = Scene::new();
    // The store is there, and so are its names.
    let small = scene.write("small.jsonl", &super::scene::file([super::scene::header("small")]));
    scene.run(["import", "--no-index", path(&small)]).ok();
    let file = scene.write("long.jsonl", &bytes);
    let names = other_names(&scene);
    let child = stopped_import(&scene.store(), &file);
    let marks = unfinished(&scene.store());
    for name in &names {
        interfere(name, &small);
        assert_eq!(unfinished(&scene.store()), marks, "{}", name.display());
    }
    remove_lock_files(scene.folder());
    interfere(&scene.store(), &small);
    assert_eq!(unfinished(&scene.store()), marks, "without lock files");
    let moved = scene.folder().join("moved");
    std::fs::rename(scene.store(), &moved).unwrap();
    interfere(&moved, &small);
    assert_eq!(unfinished(&moved), marks, "moved");
    go_on(&child);
    finished(child.wait_with_output().unwrap()).ok();
    let exported = run_on(&moved, ["export", &id, "--as", "exact"]).ok().stdout;
    assert!(
        exported == bytes,
        "the import was acknowledged, and {} bytes are there",
        exported.len()
    );
    let verified = run_on(&moved, ["verify"]).ok().text();
    assert!(verified.contains("no problems"), "{verified}");
}

#[test]
fn a_killed_import_is_swept_by_whoever_opens_its_store_by_another_name() {
    let (bytes, id) = long_session();
    let scene = Scene::new();
    let small = scene.write("small.jsonl", &super::scene::file([super::scene::header("small")]));
    scene.run(["import", "--no-index", path(&small)]).ok();
    let file = scene.write("long.jsonl", &bytes);
    let names = other_names(&scene);
    let mut child = stopped_import(&scene.store(), &file);
    child.kill().unwrap();
    child.wait().unwrap();
    run_on(&names[2], ["import", "--no-index", path(&small)]).ok();
    assert_eq!(unfinished(&scene.store()), []);
    scene.run(["import", "--no-index", path(&file)]).ok();
    assert!(scene.run(["export", &id, "--as", "exact"]).ok().stdout == bytes);
}

/// Whatever takes an import's rows away: the import does not say that they are there.
#[test]
fn an_import_whose_rows_were_taken_fails_loudly() {
    let (bytes, id) = long_session();
    let lines = TableDefinition::<(u64, u64, u32), &[u8]>::new("lines");
    for victim in ["mark", "lines"] {
        let scene = Scene::new();
        let file = scene.write("long.jsonl", &bytes);
        let other =
            scene.write("small.jsonl", &super::scene::file([super::scene::header("small")]));
        let folder = scene.folder().join("both");
        std::fs::create_dir(&folder).unwrap();
        std::fs::rename(&file, folder.join("a.jsonl")).unwrap();
        std::fs::rename(&other, folder.join("b.jsonl")).unwrap();
        let child = stopped_import(&scene.store(), &folder);
        {
            let mut builder = Builder::new();
            builder.set_concurrency_mode(ConcurrencyMode::MultiWriter);
            let database = builder.open(scene.store()).unwrap();
            let session = unfinished(&scene.store())[0].0;
            let transaction = database.begin_write().unwrap();
            match victim {
                "mark" => {
                    let mut table = transaction.open_table(UNFINISHED).unwrap();
                    table.remove(session).unwrap();
                }
                _ => {
                    let mut table = transaction.open_table(lines).unwrap();
                    table.remove((session, 0, 0)).unwrap().expect("the first chunk is there");
                }
            }
            transaction.commit().unwrap();
        }
        go_on(&child);
        let run = finished(child.wait_with_output().unwrap());
        assert_eq!(run.status, 1, "{victim}: {}{}", run.text(), run.stderr);
        assert!(run.text().contains("was removed before it was complete"), "{}", run.text());
        // The other file is there, and the next import brings the rest.
        scene.run(["show", "small"]).ok();
        scene.run(["show", &id]).fails(1);
        scene.run(["import", "--no-index", path(&folder)]).ok();
        assert!(scene.run(["export", &id, "--as", "exact"]).ok().stdout == bytes, "{victim}");
    }
}

#[test]
fn an_import_into_a_file_that_is_gone_fails_loudly() {
    let (bytes, id) = long_session();
    let small = super::scene::file([super::scene::header("small")]);
    for replacement in [None, Some(Scene::of_session(&small))] {
        let scene = Scene::new();
        let file = scene.write("long.jsonl", &bytes);
        let child = stopped_import(&scene.store(), &file);
        match &replacement {
            None => std::fs::remove_file(scene.store()).unwrap(),
            Some(other) => {
                std::fs::copy(other.store(), scene.folder().join("other")).unwrap();
                std::fs::rename(scene.folder().join("other"), scene.store()).unwrap();
            }
        }
        go_on(&child);
        let told = finished(child.wait_with_output().unwrap()).fails(1);
        assert!(told.contains("deleted or replaced"), "{told}");
        scene.run(["import", "--no-index", path(&file)]).ok();
        assert!(scene.run(["export", &id, "--as", "exact"]).ok().stdout == bytes);
    }
}

/// A session whose record is there and whose rows are not.
#[test]
fn a_session_that_lost_its_rows_is_not_called_unchanged() {
    let lines_table = TableDefinition::<(u64, u64, u32), &[u8]>::new("lines");
    let header = super::scene::header("s");
    let message = |index: u32| {
        let text = format!("{index} {}", "word ".repeat(200 + index as usize % 7));
        super::scene::message(&format!("m{index}"), None, &text)
    };
    let bytes = super::scene::file(std::iter::once(header).chain((0..2_000).map(message)));
    for (command, removed) in [
        ("import", "all"),
        ("sync", "all"),
        ("import", "middle"),
        ("sync", "first"),
        ("sync", "last"),
    ] {
        let scene = Scene::of_session(&bytes);
        let file = scene.folder().join("session.jsonl");
        {
            let database = redb::Database::open(scene.store()).unwrap();
            let transaction = database.begin_write().unwrap();
            {
                let mut table = transaction.open_table(lines_table).unwrap();
                let keys: Vec<_> =
                    table.iter().unwrap().map(|row| row.unwrap().0.value()).collect();
                assert!(keys.len() > 8);
                let chosen = match removed {
                    "all" => &keys[..],
                    "first" => &keys[..1],
                    "middle" => &keys[keys.len() / 2..keys.len() / 2 + 1],
                    _ => &keys[keys.len() - 1..],
                };
                for key in chosen {
                    table.remove(*key).unwrap();
                }
            }
            transaction.commit().unwrap();
        }
        let told = scene.run([command, "--no-index", path(&file)]).ok().text();
        assert!(told.starts_with("replaced"), "{command}, {removed}: {told}");
        assert!(told.contains("had lost a part"), "{told}");
        assert!(scene.run(["export", "s", "--as", "exact"]).ok().stdout == bytes, "{removed}");
        let verified = scene.run(["verify"]).ok().text();
        assert!(verified.contains("no problems"), "{verified}");
        let told = scene.run([command, "--no-index", path(&file)]).ok().text();
        assert!(told.contains("1 unchanged"), "{told}");
    }
}
