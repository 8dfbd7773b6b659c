//! The stores that are damaged: small, with rows in every table.

use std::fs::{create_dir_all, write};
use std::path::Path;

use leafline::import::ImportOptions;
use leafline::live::Persistence;
use leafline::pi::Draft;
use leafline::{Family, NewSession, Result, Session, Store};
use leafline_generate as generate;

use crate::damage::Image;

/// How much a sample has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    /// Some 20 sessions, of up to hundreds of lines.
    Usual,
    /// Fewer and shorter ones, so that a copy is damaged and asked sooner.
    Small,
}

/// The files of a sample.
#[derive(Debug)]
pub struct Files {
    /// A store that was closed.
    pub closed: Vec<u8>,
    /// What its file was before the last commits.
    pub earlier: Vec<u8>,
    /// The store and its journal as a process leaves them that is killed while it appends.
    pub killed: Vec<u8>,
    /// The journal beside it, as each append left it: the first has none that the tables lack.
    pub journals: Vec<Image>,
    /// Of each append the session, and the record's bytes in the journal.
    pub records: Vec<Appended>,
    /// What the journal was earlier: before the tables were what they are, and after each append but the last.
    pub earlier_journals: Vec<Image>,
    /// The same store once that process has closed it, with its journal left beside it.
    pub ended: (Vec<u8>, Image),
    /// The journal of another store.
    pub foreign: Image,
    /// The journal of a copy of the store, to which other entries were appended.
    pub copy: Image,
}

/// A record of the journal.
#[derive(Debug, Clone)]
pub struct Appended {
    /// The session that it was appended to.
    pub session: String,
    /// Where it begins and ends.
    pub range: (usize, usize),
}

/// Makes a store in a folder.
///
/// # Errors
///
/// Those of the store.
///
/// # Panics
///
/// If the folder cannot be written, or if the journal is not as it is documented.
pub fn make(folder: &Path, seed: u64, size: Size) -> Result<Files> {
    let store = &folder.join("sample");
    let files = tempfile::tempdir().expect("a temporary folder can be made");
    let first = files.path().join("first");
    let second = files.path().join("second");
    write_sessions(&first, seed, size);
    write_sessions(&second, seed + 100, size);
    let (prompts, entries) = if size == Size::Usual { (300, 20) } else { (40, 6) };
    let opened = Store::open(store)?;
    let import = |folder: &Path| opened.import(&[folder], &ImportOptions::default(), &mut ());
    import(&first)?;
    live(&opened, "one", entries)?;
    for number in 0..prompts {
        let prompt = format!("Why is build {number} slower than build {}?", number / 2);
        opened.history().add(&prompt, Some("/work/leafline"))?;
    }
    drop(opened);
    let earlier = read(store);
    let opened = Store::open(store)?;
    opened.import(&[&second], &ImportOptions::default(), &mut ())?;
    live(&opened, "two", entries)?;
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
    let other = &folder.join("other");
    let opened = Store::open(other)?;
    live(&opened, "another", 20)?;
    let foreign = journal_of(other);
    drop(opened);
    let copied = &folder.join("copied");
    std::fs::write(copied, &closed).expect("a copy can be written");
    let opened = Store::open(copied)?;
    live(&opened, "copied", 20)?;
    let copy = journal_of(copied);
    drop(opened);
    let appended = append(store)?;
    // A process that is killed between closing and deleting it leaves a closed one.
    let last = appended.journals.last().expect("the appends have left journals");
    let mut closed_journal = last.clone();
    closed_journal.bytes[32..40].fill(0);
    let ended = (read(store), closed_journal);
    // A store looks for its journal where that was made, too.
    for path in [store, other, copied] {
        std::fs::remove_file(path).expect("a store can be removed");
    }
    let Moments { killed, journals, sessions, mut earlier_journals } = appended;
    let records = records(&journals, sessions);
    earlier_journals.extend_from_slice(&journals[..journals.len() - 1]);
    Ok(Files { closed, earlier, killed, journals, records, earlier_journals, ended, foreign, copy })
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("the file can be read")
}

fn journal_of(store: &Path) -> Image {
    Image::of(read(Path::new(&format!("{}.journal", store.display()))))
}

/// A session that was made here, with a label, a branch and a name.
fn live(store: &Store, id: &str, entries: usize) -> Result<()> {
    let mut session = new_session(store, id, Family::Pi)?;
    let mut first = None;
    for number in 0..entries {
        let entry = say(&mut session, &format!("message {number} of {id}"))?;
        first.get_or_insert(entry);
    }
    session.append(Draft::session_info(&format!("The session {id}")))?;
    if let Some(first) = &first {
        session.append(Draft::label(first, Some("beginning")))?;
        session.branch(first)?;
    }
    Ok(())
}

fn new_session(store: &Store, id: &str, family: Family) -> Result<Session> {
    let mut new = NewSession::new(family, "/work/live");
    new.id = Some(id.to_owned());
    new.persistence = Some(Persistence::keep_everything());
    store.create_session(&new)
}

fn say(session: &mut Session, text: &str) -> Result<String> {
    let message = serde_json::json!({"role": "user", "content": text, "timestamp": 1});
    session.append(Draft::message(&message.to_string())?)
}

/// A store and its journal, moment by moment.
#[derive(Default)]
struct Moments {
    killed: Vec<u8>,
    journals: Vec<Image>,
    /// Of each journal but the first, the session that the append before it was made to.
    sessions: Vec<String>,
    earlier_journals: Vec<Image>,
}

impl Moments {
    /// Notes what an append has left.
    fn note(&mut self, store: &Path, session: &str) {
        let (killed, journal) = (read(store), journal_of(store));
        if killed == self.killed {
            self.sessions.push(session.to_owned());
        } else {
            // It went into the tables, or the journal did.
            self.earlier_journals.append(&mut self.journals);
            self.sessions.clear();
            self.killed = killed;
        }
        self.journals.push(journal);
    }
}

/// Appends to several sessions in turns, as a process does that is killed then.
fn append(store: &Path) -> Result<Moments> {
    let opened = Store::open(store)?;
    let mut moments = Moments::default();
    let families = [("three", Family::Pi), ("four", Family::Omp), ("five", Family::Pi)];
    let sessions = families.map(|(id, family)| new_session(&opened, id, family));
    let [pi, omp, other] = sessions;
    let (mut pi, mut omp, mut other) = (pi?, omp?, other?);
    for number in 0..3 {
        say(&mut pi, &format!("beginning {number}"))?;
    }
    moments.note(store, "three");
    say(&mut omp, "beginning")?;
    moments.note(store, "four");
    // A read takes the journal into the tables.
    opened.sessions()?;
    moments.note(store, "none");
    say(&mut other, "beginning")?;
    moments.note(store, "five");
    let mut first = None;
    for number in 0..4 {
        let entry = say(&mut pi, &format!("message {number}"))?;
        moments.note(store, "three");
        first.get_or_insert(entry);
        say(&mut omp, &format!("message {number} {}", "long ".repeat(number * 500)))?;
        moments.note(store, "four");
        if number % 2 == 0 {
            say(&mut other, &format!("message {number}"))?;
            moments.note(store, "five");
        }
    }
    omp.set_session_name("A name")?;
    moments.note(store, "four");
    if let Some(first) = first {
        pi.append(Draft::label(&first, Some("beginning")))?;
        moments.note(store, "three");
        pi.branch(&first)?;
        moments.note(store, "three");
    }
    say(&mut other, "the end")?;
    moments.note(store, "five");
    Ok(moments)
}

/// Finds the records by what each append has changed.
fn records(journals: &[Image], sessions: Vec<String>) -> Vec<Appended> {
    let pairs = journals.iter().zip(journals.iter().skip(1)).zip(sessions);
    let records = pairs.map(|((before, after), session)| {
        let byte = |image: &Image, at: usize| image.bytes.get(at).copied().unwrap_or(0);
        let changed = (0..after.bytes.len()).find(|at| byte(before, *at) != byte(after, *at));
        // It begins at a multiple of 8 bytes, with its length, of a head of 56 bytes.
        let start = changed.expect("an append writes a record") / 8 * 8;
        let length = after.bytes[start..start + 4].try_into().expect("four bytes are");
        let length = u32::from_le_bytes(length) as usize;
        Appended { session, range: (start, start + 56 + length) }
    });
    let records: Vec<Appended> = records.collect();
    assert!(records.len() >= 12, "the journal has {} records", records.len());
    assert!(records.windows(2).all(|two| two[0].range.1 <= two[1].range.0), "{records:?}");
    records
}

/// Files of several families and sizes.
fn write_sessions(folder: &Path, seed: u64, size: Size) {
    let path = |name: String| {
        create_dir_all(folder).expect("a folder can be made");
        folder.join(name)
    };
    let trees = if size == Size::Usual { 6 } else { 2 };
    for number in 0..trees {
        let family = [generate::Family::Pi, generate::Family::Omp][number % 2];
        let seed = seed * 31 + number as u64;
        let bytes = generate::random_tree_session(seed, 30 + 20 * number, family);
        write(path(format!("random-{seed}.jsonl")), bytes).expect("a file can be written");
    }
    let usual = [
        (generate::Family::Pi, 3, 0.0, 150_000),
        (generate::Family::Pi, 1, 0.0, 60_000),
        (generate::Family::Pi, 3, 0.5, 120_000),
        (generate::Family::Omp, 3, 0.0, 90_000),
        (generate::Family::Claude, 3, 0.0, 120_000),
    ];
    let small = [
        (generate::Family::Pi, 1, 0.0, 12_000),
        (generate::Family::Pi, 3, 0.5, 30_000),
        (generate::Family::Claude, 3, 0.0, 16_000),
    ];
    let shapes = if size == Size::Usual { &usual[..] } else { &small };
    for (number, &(family, version, images, bytes)) in shapes.iter().enumerate() {
        let seed = seed * 17 + number as u64;
        let shape =
            generate::Shape { seed, bytes, version, images, family, ..generate::Shape::default() };
        let mut text = Vec::new();
        let summary = generate::generate(&shape, &mut text).expect("memory takes all bytes");
        write(path(format!("{}.jsonl", summary.session_id)), text).expect("a file can be written");
    }
}
