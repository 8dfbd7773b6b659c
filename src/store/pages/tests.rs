//! Nothing is read unchecked, and what is whole is never called damaged.

use leafline_import::Family;

use super::{Checked, Problem, guarded};
use crate::pi::Draft;
use crate::session::Persistence;
use crate::store::engine_file::{EngineFile, Recovery};
use crate::store::opening::{builder, open_file};
use crate::store::{Store, StoreOptions};
use crate::{NewSession, Session};

fn append(session: &mut Session, text: &str) {
    let message = serde_json::json!({"role": "user", "content": text}).to_string();
    session.append(Draft::message(&message).unwrap()).unwrap();
}

fn session(store: &Store) -> Session {
    let mut new = NewSession::new(Family::Pi, "/work");
    new.persistence = Some(Persistence::keep_everything());
    store.create_session(&new).unwrap()
}

/// Writes as a process that commits often does, and reads back between commits.
#[test]
fn of_every_page_that_is_read_something_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    drop(Store::open(&path).unwrap());
    let options = StoreOptions { page_cache_bytes: 8 << 10, ..StoreOptions::default() };
    let opened = |path| {
        let file = EngineFile::new(open_file(path).unwrap(), Recovery::Needed).unwrap();
        let checked = Checked::new(file, false).unwrap();
        let pages = checked.pages();
        let database = builder(&options).create_with_backend(checked).unwrap();
        pages.be_strict();
        (database, pages)
    };
    const ROWS: redb::TableDefinition<'_, u64, &[u8]> = redb::TableDefinition::new("rows");
    let handles = [opened(&path), opened(&path)];
    for round in 0..40_u64 {
        for (place, (database, _)) in handles.iter().enumerate() {
            let transaction = database.begin_write().unwrap();
            {
                let mut rows = transaction.open_table(ROWS).unwrap();
                for row in 0..40 {
                    let key = (round * 7919 + row * 613 + place as u64) % 3001;
                    let value = vec![round.to_le_bytes()[0]; 100 + (key as usize % 37) * 200];
                    rows.insert(key, value.as_slice()).unwrap();
                    if row % 5 == 0 {
                        rows.remove(key / 2).unwrap();
                    }
                }
            }
            if round % 6 == 5 {
                transaction.abort().unwrap();
            } else {
                transaction.commit().unwrap();
            }
            let (reader, _) = &handles[1 - place];
            let reading = redb::ReadableDatabase::begin_read(reader).unwrap();
            if let Ok(rows) = reading.open_table(ROWS) {
                let read = redb::ReadableTable::iter(&rows).unwrap();
                let bytes: usize = read.map(|row| row.unwrap().1.value().len()).sum();
                assert!(bytes > 0);
            }
        }
    }
    for (_, pages) in &handles {
        assert_eq!((pages.unknown(), pages.found()), (0, 0));
    }
}

#[test]
fn a_damaged_page_costs_what_is_on_it_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = Store::open(&path).unwrap();
    let mut ids = Vec::new();
    for number in 0..40 {
        let mut session = session(&store);
        append(&mut session, &format!("{number} {}", "x".repeat(9000)));
        ids.push(session.id().to_owned());
    }
    drop(store);
    let whole = std::fs::read(&path).unwrap();
    let read = |store: &Store| -> Vec<Option<String>> {
        let export = |id: &String| {
            let mut out = Vec::new();
            let mode = crate::export::ExportMode::Current;
            let reader = store.reader(id).ok()?;
            reader.export(&mode, &mut out).ok()?;
            String::from_utf8(out).ok()
        };
        ids.iter().map(export).collect()
    };
    let store = Store::open(&path).unwrap();
    let truth = read(&store);
    assert!(truth.iter().all(Option::is_some) && store.damaged_pages().unwrap().is_empty());
    drop(store);
    let mut partial = 0;
    for page in (4096..whole.len()).step_by(4096) {
        let mut bytes = whole.clone();
        bytes[page + 1000] ^= 4;
        std::fs::write(&path, bytes).unwrap();
        let Ok(store) =
            Store::open_with(&path, &StoreOptions { read_only: true, ..StoreOptions::default() })
        else {
            continue;
        };
        let answers = read(&store);
        for (answer, truth) in answers.iter().zip(&truth) {
            assert!(answer.is_none() || answer == truth, "page {page}");
        }
        let lost = answers.iter().filter(|answer| answer.is_none()).count();
        // It is the same the next time: the page is read again.
        assert_eq!(read(&store), answers, "page {page}");
        if lost > 0 {
            assert!(!store.damaged_pages().unwrap().is_empty(), "page {page}");
            partial += usize::from(lost < ids.len());
        }
    }
    assert!(partial > 10, "{partial} pages cost a part of the sessions");
}

/// The hook is the process's, so that what it prints is looked at from outside.
#[test]
fn only_a_panic_that_becomes_an_error_is_silent() {
    const INSIDE: &str = "LEAFLINE_TEST_PANICS";
    if std::env::var_os(INSIDE).is_some() {
        let of_engine = guarded(|| panic!("of the engine"));
        let problem = Problem::of_engine("the engine gave up: of the engine");
        assert_eq!(of_engine, Err::<(), _>(problem));
        let again = guarded(|| panic!("of the engine, again"));
        assert!(again.is_err());
        assert!(std::panic::catch_unwind(|| panic!("of another")).is_err());
        return;
    }
    let name = "store::pages::tests::only_a_panic_that_becomes_an_error_is_silent";
    let mut test = std::process::Command::new(std::env::current_exe().unwrap());
    let output = test.args(["--exact", name, "--nocapture"]).env(INSIDE, "1").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("of another") && !text.contains("of the engine"), "{text}");
}

/// What redb alone does with a damaged file; docs/reliability.md has it under "The engine's own". If this fails, the engine has
/// changed.
#[test]
fn the_engine_alone_answers_wrongly_or_panics_on_damage() {
    const ROWS: redb::TableDefinition<'_, u64, &[u8]> = redb::TableDefinition::new("rows");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plain.redb");
    {
        let database = redb::Database::create(&path).unwrap();
        let transaction = database.begin_write().unwrap();
        {
            let mut rows = transaction.open_table(ROWS).unwrap();
            for row in 0..2_000_u64 {
                rows.insert(row, vec![row.to_le_bytes()[0]; 100].as_slice()).unwrap();
            }
        }
        transaction.commit().unwrap();
    }
    let read = |path: &std::path::Path| -> Result<Vec<(u64, Vec<u8>)>, redb::Error> {
        let database = redb::ReadOnlyDatabase::open(path)?;
        let reading = redb::ReadableDatabase::begin_read(&database)?;
        let rows = reading.open_table(ROWS)?;
        let mut all = Vec::new();
        // More rows than there are is wrong as well.
        for row in redb::ReadableTable::iter(&rows)?.take(3_000) {
            let (key, value) = row?;
            all.push((key.value(), value.value().to_vec()));
        }
        Ok(all)
    };
    let truth = read(&path).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let damaged = folder.path().join("damaged.redb");
    let (mut wrong, mut panics) = ([0; 2], [0; 2]);
    for page in 1..whole.len() / 4096 {
        for zeroes in [false, true] {
            let mut bytes = whole.clone();
            match zeroes {
                false => bytes[page * 4096 + 2_000] ^= 1,
                true => bytes[page * 4096..(page + 1) * 4096].fill(0),
            }
            std::fs::write(&damaged, bytes).unwrap();
            match super::checked::guarded(|| read(&damaged)) {
                Ok(Ok(answer)) => wrong[usize::from(zeroes)] += usize::from(answer != truth),
                Ok(Err(_)) => {}
                Err(_) => panics[usize::from(zeroes)] += 1,
            }
        }
    }
    println!(
        "wrong answers, panics: of a bit {}, {}; of a page of zeros {}, {}",
        wrong[0], panics[0], wrong[1], panics[1]
    );
    assert!(wrong[0] > 0 && panics[1] > 0, "{wrong:?}, {panics:?}");
}
