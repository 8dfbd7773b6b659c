//! The store that is damaged: small, with rows in every table.

use std::fs::{create_dir_all, write};
use std::path::Path;

use leafline::import::ImportOptions;
use leafline::live::Persistence;
use leafline::pi::Draft;
use leafline::{Family, NewSession, Result, Store};
use leafline_generate as generate;

/// The files of a sample.
#[derive(Debug)]
pub struct Files {
    /// A store that was closed.
    pub closed: Vec<u8>,
    /// What its file was before the last commits.
    pub earlier: Vec<u8>,
    /// The same store and its journal as a process leaves them that is killed while it appends.
    pub killed: (Vec<u8>, Vec<u8>),
}

/// Makes a store in a folder.
///
/// # Errors
///
/// Those of the store.
///
/// # Panics
///
/// If the folder cannot be written.
pub fn make(folder: &Path, seed: u64) -> Result<Files> {
    let store = &folder.join("sample");
    let read = |path: &Path| std::fs::read(path).expect("the file can be read");
    let files = tempfile::tempdir().expect("a temporary folder can be made");
    let first = files.path().join("first");
    let second = files.path().join("second");
    write_sessions(&first, seed);
    write_sessions(&second, seed + 100);
    let opened = Store::open(store)?;
    let import = |folder: &Path| opened.import(&[folder], &ImportOptions::default(), &mut ());
    import(&first)?;
    live(&opened, "one", 20)?;
    for number in 0..300 {
        let prompt = format!("Why is build {number} slower than build {}?", number / 2);
        opened.history().add(&prompt, Some("/work/leafline"))?;
    }
    drop(opened);
    let earlier = read(store);
    let opened = Store::open(store)?;
    opened.import(&[&second], &ImportOptions::default(), &mut ())?;
    live(&opened, "two", 20)?;
    let removed = opened.sessions()?.into_iter().find(|session| session.messages > 0);
    if let Some(removed) = removed {
        opened.remove(&removed.id)?;
    }
    let moved = opened.sessions()?.into_iter().find(|session| session.cwd.is_some());
    if let Some(moved) = moved {
        opened.move_session(&moved.id, "/work/elsewhere")?;
    }
    drop(opened);
    let closed = read(store);
    let opened = Store::open(store)?;
    live(&opened, "three", 20)?;
    let killed = (read(store), read(&folder.join("sample.journal")));
    drop(opened);
    Ok(Files { closed, earlier, killed })
}

/// A session that was made here, with a label, a branch and a name.
fn live(store: &Store, id: &str, entries: usize) -> Result<()> {
    let mut new = NewSession::new(Family::Pi, "/work/live");
    new.id = Some(id.to_owned());
    new.persistence = Some(Persistence::immediate());
    let mut session = store.create_session(&new)?;
    let mut first = None;
    for number in 0..entries {
        let message =
            serde_json::json!({"role": "user", "content": format!("message {number} of {id}")});
        let entry = session.append(Draft::message(&message.to_string())?)?;
        first.get_or_insert(entry);
    }
    session.append(Draft::session_info(&format!("The session {id}")))?;
    if let Some(first) = &first {
        session.append(Draft::label(first, Some("beginning")))?;
        session.branch(first)?;
    }
    Ok(())
}

/// Files of several families and sizes.
fn write_sessions(folder: &Path, seed: u64) {
    let path = |name: String| {
        create_dir_all(folder).expect("a folder can be made");
        folder.join(name)
    };
    for number in 0..6 {
        let family = [generate::Family::Pi, generate::Family::Omp][number % 2];
        let seed = seed * 31 + number as u64;
        let bytes = generate::random_tree_session(seed, 30 + 20 * number, family);
        write(path(format!("random-{seed}.jsonl")), bytes).expect("a file can be written");
    }
    let shapes = [
        (generate::Family::Pi, 3, 0.0, 150_000),
        (generate::Family::Pi, 1, 0.0, 60_000),
        (generate::Family::Pi, 3, 0.5, 120_000),
        (generate::Family::Omp, 3, 0.0, 90_000),
        (generate::Family::Claude, 3, 0.0, 120_000),
    ];
    for (number, (family, version, images, bytes)) in shapes.into_iter().enumerate() {
        let seed = seed * 17 + number as u64;
        let shape =
            generate::Shape { seed, bytes, version, images, family, ..generate::Shape::default() };
        let mut text = Vec::new();
        let summary = generate::generate(&shape, &mut text).expect("memory takes all bytes");
        write(path(format!("{}.jsonl", summary.session_id)), text).expect("a file can be written");
    }
}
