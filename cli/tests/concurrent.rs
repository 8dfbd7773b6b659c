//! Several processes import at the same time.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::process::{Command, Stdio};

use leafline::Store;
use leafline::export::ExportMode;
use leafline_generate::Shape;

fn exact(store: &Store, session: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    store.reader(session).unwrap().export(&ExportMode::Exact, &mut bytes).unwrap();
    bytes
}

#[test]
fn processes_import_the_same_folder_and_readers_see_whole_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let files_folder = folder.path().join("in");
    std::fs::create_dir(&files_folder).unwrap();
    let store = Store::open(folder.path().join("store.leafline")).unwrap();
    let mut files = Vec::new();
    for seed in 0..6 {
        let mut bytes = Vec::new();
        let shape = Shape { seed, bytes: 400_000, ..Shape::default() };
        let id = leafline_generate::generate(&shape, &mut bytes).unwrap().session_id;
        std::fs::write(files_folder.join(format!("{seed}.jsonl")), &bytes).unwrap();
        files.push((id, bytes));
    }
    let mut children: Vec<_> = (0..3)
        .map(|_| {
            Command::new(env!("CARGO_BIN_EXE_leafline"))
                .arg("--store")
                .arg(store.path())
                .arg("import")
                .arg(&files_folder)
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    while children.iter_mut().any(|child| child.try_wait().unwrap().is_none()) {
        for facts in store.sessions().unwrap() {
            let (_, bytes) = files.iter().find(|(id, _)| *id == facts.id).unwrap();
            assert!(exact(&store, &facts.id) == *bytes, "{}", facts.id);
        }
    }
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(store.sessions().unwrap().len(), files.len());
    let verification = store.verify().unwrap();
    assert!(verification.problems.is_empty(), "{:#?}", verification.problems);
}
