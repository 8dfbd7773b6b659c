//! omp's `history.db` in and out.

use leafline::error::PromptError;
use leafline::prompts::HistoryEntry;
use leafline::{Error, Store};
use rusqlite::Connection;

use super::omp_files::{Numbers, Row, assert_usable, history_db, insert, rows, search};
use super::place::Place;
use super::texts;

const WORDS: [&str; 37] = [
    "the",
    "a",
    "fix",
    "fixed",
    "fixing",
    "test",
    "tests",
    "testing",
    "Build",
    "build-script",
    "slow",
    "why",
    "is",
    "git-commit",
    "src/main.rs",
    "café",
    "CAFÉ",
    "über",
    "Zoë's",
    "naïve",
    "Ångström",
    "привет",
    "Привет-мир",
    "ΣΊΣΥΦΟΣ",
    "日本語",
    "日本",
    "한국어",
    "x86_64",
    "2²",
    "½",
    "\"quoted\"",
    "don't",
    "🍂leaf",
    "a1b2c3d4e5f6",
    "foo_bar",
    "foo bar",
    "commit git commits",
];

const QUERIES: [&str; 30] = [
    "t",
    "te",
    "fix",
    "FIX te",
    "bui-scr",
    "caf",
    "cafe",
    "UBER",
    "zoe",
    "при",
    "прив МИР",
    "σισ",
    "日",
    "한국",
    "x86",
    "quo \"",
    "don t",
    "le",
    "a",
    "git commit main",
    "git-commit",
    "git-com",
    "gi-commit",
    "commit-git",
    "x86_64",
    "foo_b",
    "src/main.r fix",
    "main src/main",
    "--",
    "-- \" fix-",
];

/// Prompts of several blocks, in no order of time and with many in one second.
fn many(numbers: &mut Numbers, count: usize) -> Vec<Row> {
    let prompts = (0..count).map(|number| {
        let words: Vec<&str> = (0..1 + numbers.below(9)).map(|_| numbers.one_of(&WORDS)).collect();
        let separator = numbers.one_of(&[" ", ", ", "\n", " -- "]);
        let prompt = format!("{}{separator}n{number}", words.join(separator));
        let second = 1_700_000_000 + i64::try_from(number / 3 + numbers.below(900)).unwrap();
        let cwd = [Some("/work"), Some("/home/zoë"), None][numbers.below(3)];
        (prompt, second, cwd.map(str::to_owned))
    });
    prompts.collect()
}

fn as_rows(prompts: Vec<HistoryEntry>) -> Vec<Row> {
    let row =
        |prompt: HistoryEntry| (prompt.prompt, prompt.created_at.div_euclid(1000), prompt.cwd);
    prompts.into_iter().map(row).collect()
}

#[track_caller]
fn assert_same_answers(store: &Store, connection: &Connection, numbers: &mut Numbers) {
    let history = store.history();
    let compare = |query: &str, limit: i64| {
        let ours = as_rows(history.search(query, usize::try_from(limit).unwrap()).unwrap());
        assert_eq!(ours, search(connection, query, limit), "{query:?}, {limit}");
    };
    for query in QUERIES {
        [1, 7, 1000].into_iter().for_each(|limit| compare(query, limit));
    }
    for _ in 0..300 {
        let words: Vec<String> = (0..1 + numbers.below(3))
            .map(|_| {
                let word = numbers.one_of(&WORDS);
                let length = 1 + numbers.below(word.chars().count());
                word.chars().take(length).collect()
            })
            .collect();
        let separator = numbers.one_of(&[" ", "-", " \" ", "... "]);
        let limit = [1, 10, 100, 1000][numbers.below(4)];
        compare(&words.join(separator), limit);
    }
    for number in [0, 1, 4095, 4096, 8999, 123_456] {
        compare(&format!("n{number}"), 1000);
    }
}

#[test]
fn an_imported_history_answers_as_fts5_does() {
    let place = Place::new();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let prompts = many(&mut numbers, 9000);
    let file = history_db(&place, "history.db", &prompts);
    let history = place.store.history();
    let transfer = history.import_omp(&file).unwrap();
    assert_eq!((transfer.copied, transfer.present, transfer.left_out), (9000, 0, 0));
    let transfer = history.import_omp(&file).unwrap();
    assert_eq!((transfer.copied, transfer.present), (0, 9000));
    assert_eq!(as_rows(history.recent(1000).unwrap()), rows(&file)[..1000]);
    let mut connection = Connection::open(&file).unwrap();
    assert_same_answers(&place.store, &connection, &mut numbers);

    // More of it, older and newer, so that blocks are in no order of time.
    let mut more = many(&mut numbers, 3000);
    more.iter_mut().for_each(|(prompt, second, _)| {
        prompt.push_str(" more");
        *second += 300;
    });
    insert(&mut connection, &more);
    let transfer = history.import_omp(&file).unwrap();
    assert_eq!((transfer.copied, transfer.present), (3000, 9000));
    place.assert_sound();
    let expected = rows(&file);
    let recent = as_rows(history.recent(1000).unwrap());
    // Prompts of one second are in the order in which each of the two got them: here the same.
    assert_eq!(recent, expected[..1000]);
    assert_same_answers(&place.store, &connection, &mut numbers);
}

#[test]
fn words_that_punctuation_joins_are_a_phrase() {
    let place = Place::new();
    let history = place.store.history();
    let long = "l".repeat(300);
    let prompts = [
        "git commit",
        "git-commits today",
        "commit what git shows",
        "foo bar",
        "foo_baz",
        "bar foo",
        &format!("a {long}x y"),
    ];
    for prompt in prompts {
        history.add(prompt, None).unwrap();
    }
    let file = place.path("new.db");
    history.export_omp(&file).unwrap();
    let connection = Connection::open(&file).unwrap();
    for (query, found) in [
        ("git-commit", 2),
        ("git commit", 3),
        ("foo_b", 2),
        ("foo b", 3),
        ("fo_b", 0),
        (&*format!("{long}x-y"), 1),
        (&format!("{long}-y"), 0),
        (&format!("a-{long}"), 1),
        ("...", 0),
        ("... git-commit", 2),
    ] {
        let mut ours = as_rows(history.search(query, 10).unwrap());
        assert_eq!(ours.len(), found, "{query:?}: {ours:?}");
        // They were given in one second or in two.
        let mut theirs = search(&connection, query, 10);
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs, "{query:?}");
    }
}

#[test]
fn an_exported_history_is_one_of_omps() {
    let place = Place::new();
    let history = place.store.history();
    for prompt in ["first café", "second\nline", "first café", "日本語 test"] {
        history.add(prompt, Some("/work")).unwrap();
    }
    history.add("nowhere", None).unwrap();
    let file = place.path("new.db");
    let transfer = history.export_omp(&file).unwrap();
    assert_eq!((transfer.copied, transfer.present), (5, 0));
    let texts: Vec<String> = rows(&file).into_iter().map(|row| row.0).collect();
    assert_eq!(texts, ["nowhere", "日本語 test", "first café", "second\nline", "first café"]);
    assert_eq!(rows(&file)[0].2, None);
    let connection = Connection::open(&file).unwrap();
    assert_eq!(search(&connection, "CAFE", 10).len(), 2);
    drop(connection);
    assert_eq!(history.export_omp(&file).unwrap().present, 5);
    assert_usable(&file);
    // omp's own prompt is added by the next import, and nothing else.
    assert_eq!(history.import_omp(&file).unwrap().copied, 1);
    assert_eq!(history.recent(1).unwrap()[0].prompt, "zyxw from omp");
    let left: Vec<_> = std::fs::read_dir(place.folder.path()).unwrap().collect();
    assert!(left.len() <= 4, "{left:?}");
}

#[test]
fn an_export_adds_to_what_omp_has() {
    let place = Place::new();
    let known = ("shared".to_owned(), 1_700_000_000, Some("/work".to_owned()));
    let theirs = [("theirs".to_owned(), 1_700_000_001, None), known.clone(), known.clone()];
    let other = history_db(&place, "other.db", &[known.clone(), ("ours".to_owned(), -5, None)]);
    let file = history_db(&place, "history.db", &theirs);
    let history = place.store.history();
    history.import_omp(&other).unwrap();
    let transfer = history.export_omp(&file).unwrap();
    assert_eq!((transfer.copied, transfer.present), (1, 1));
    let all = rows(&file);
    assert_eq!(all.len(), 4);
    assert_eq!(all[3], ("ours".to_owned(), -5, None));
    assert_eq!(all.iter().filter(|row| **row == known).count(), 2);
    assert_usable(&file);
    // A prompt that is in the file twice is exported twice.
    assert_eq!(history.import_omp(&file).unwrap().copied, 3);
    assert_eq!(history.search("shared", 10).unwrap().len(), 2);
}

#[test]
fn a_later_omps_file_keeps_each_text_once() {
    let place = Place::new();
    let file = place.path("history.db");
    let connection = Connection::open(&file).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL UNIQUE,
               created_at INTEGER NOT NULL, cwd TEXT, session_id TEXT);
             INSERT INTO history (prompt, created_at, session_id) VALUES ('both', 5, 's');",
        )
        .unwrap();
    let history = place.store.history();
    history.add("both", None).unwrap();
    history.add("ours", None).unwrap();
    history.add("both", None).unwrap();
    let transfer = history.export_omp(&file).unwrap();
    assert_eq!((transfer.copied, transfer.present), (1, 2));
    let session: String = connection
        .query_row("SELECT session_id FROM history WHERE prompt = 'both'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(session, "s");
    // It had no index of words.
    assert_eq!(search(&connection, "bo", 10).len(), 1);
    assert_eq!(search(&connection, "our", 10).len(), 1);
    assert_usable(&file);
}

#[test]
fn odd_rows_are_left_out_or_made_text() {
    let place = Place::new();
    let file = history_db(&place, "history.db", &[("  padded  ".to_owned(), 1, None)]);
    let connection = Connection::open(&file).unwrap();
    connection
        .execute_batch(
            "INSERT INTO history (prompt, created_at) VALUES ('', 2), (' ', 3);
             INSERT INTO history (prompt, created_at) VALUES ('no time', 'then');
             INSERT INTO history (prompt, created_at) VALUES ('too late', 9223372036854775807);
             INSERT INTO history (prompt, created_at) VALUES (CAST(x'6f64ff' AS TEXT), 4);
             INSERT INTO history (prompt, created_at, cwd) VALUES (x'626c6f62', 5, 7);",
        )
        .unwrap();
    let history = place.store.history();
    let transfer = history.import_omp(&file).unwrap();
    assert_eq!((transfer.copied, transfer.left_out), (3, 4));
    assert_eq!(texts(&history.recent(10).unwrap()), ["blob", "od\u{fffd}", "padded"]);
    let transfer = history.import_omp(&file).unwrap();
    assert_eq!((transfer.copied, transfer.present), (0, 3));
    assert_eq!(history.export_omp(&file).unwrap().copied, 0);
}

#[test]
fn other_files_are_refused_and_stay_as_they_are() {
    let place = Place::new();
    let history = place.store.history();
    history.add("prompt", None).unwrap();
    let absent = place.path("absent.db");
    assert!(matches!(history.import_omp(&absent), Err(Error::File { .. })));
    assert!(!absent.exists());
    let text = place.write("text.db", "this is no database, and long enough to see".repeat(99));
    let foreign = place.path("foreign.db");
    Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE other (x)").unwrap();
    for file in [&text, &foreign] {
        let before = std::fs::read(file).ok();
        let problem = history.import_omp(file).unwrap_err();
        assert!(matches!(problem, Error::Prompt(PromptError::OmpFile { .. })), "{problem}");
        let problem = history.export_omp(file).unwrap_err();
        assert!(matches!(problem, Error::Prompt(PromptError::OmpFile { .. })), "{problem}");
        assert_eq!(std::fs::read(file).ok(), before);
    }
    let folder = place.folder.path();
    assert!(matches!(history.import_omp(folder), Err(Error::File { .. })));
    assert!(matches!(history.export_omp(folder), Err(Error::File { .. })));
    assert!(matches!(history.export_omp(place.path("no/folder.db")), Err(Error::File { .. })));
    // An empty file is an empty database: there is nothing to read, and room for a history.
    let empty = place.write("empty.db", "");
    assert!(matches!(history.import_omp(&empty), Err(Error::Prompt(PromptError::OmpFile { .. }))));
    assert_eq!(history.export_omp(&empty).unwrap().copied, 1);
    assert_usable(&empty);
}

#[test]
fn a_damaged_file_is_an_error() {
    let place = Place::new();
    let rows: Vec<Row> =
        (0..5000).map(|number| (format!("prompt {number}"), number, None)).collect();
    let file = history_db(&place, "history.db", &rows);
    Connection::open(&file).unwrap().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let bytes = std::fs::read(&file).unwrap();
    let history = place.store.history();
    let mut wrong = bytes.clone();
    wrong[4096..60_000].fill(0xa5);
    for damaged in [&bytes[..50], &bytes[..4096], &wrong] {
        let damaged = place.write("damaged.db", damaged);
        let problem = history.import_omp(&damaged).unwrap_err();
        assert!(matches!(problem, Error::Prompt(PromptError::OmpFile { .. })), "{problem}");
        let problem = history.export_omp(&damaged).unwrap_err();
        assert!(matches!(problem, Error::Prompt(PromptError::OmpFile { .. })), "{problem}");
    }
    // Whether the damage is found or not, what can be read is kept, and nothing is stored twice.
    for cut in [bytes.len() / 8, bytes.len() / 2, bytes.len() - 100] {
        let damaged = place.write("cut.db", &bytes[..cut]);
        let _ = history.import_omp(&damaged);
        place.assert_sound();
    }
    let copied = history.import_omp(&file).unwrap();
    assert_eq!(copied.copied + copied.present, 5000);
    assert_eq!(history.search("prompt 4999", 9).unwrap().len(), 1);
}

/// The table of omp 18.3.4, which has each text once.
const COUNTED: &str =
    "CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL, cwd TEXT, session_id TEXT, use_count INTEGER NOT NULL DEFAULT 1)";

fn counts(connection: &Connection) -> Vec<(String, i64)> {
    let query = "SELECT prompt, use_count FROM history ORDER BY prompt";
    let mut rows = connection.prepare(query).unwrap();
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn counts_of_use_are_kept() {
    let place = Place::new();
    let from = place.path("from.db");
    let connection = Connection::open(&from).unwrap();
    connection.execute_batch(COUNTED).unwrap();
    connection
        .execute_batch(
            "INSERT INTO history (prompt, created_at, use_count) VALUES ('five', 10, 5), ('one', 20, 1), ('odd', 30, -2)",
        )
        .unwrap();
    let history = place.store.history();
    history.import_omp(&from).unwrap();
    for prompt in ["mine", "two", "mine"] {
        history.add(prompt, None).unwrap();
    }
    let found: Vec<(String, u64)> =
        history.recent(10).unwrap().into_iter().map(|it| (it.prompt, it.use_count)).collect();
    let expected = [("mine", 1), ("two", 1), ("mine", 1), ("odd", 1), ("one", 1), ("five", 5)];
    assert_eq!(found, expected.map(|(prompt, count)| (prompt.to_owned(), count)));
    place.assert_sound();

    // What a file has stays; a text that comes several times counts each.
    let to = place.path("to.db");
    let connection = Connection::open(&to).unwrap();
    connection.execute_batch(COUNTED).unwrap();
    connection
        .execute_batch("INSERT INTO history (prompt, created_at, use_count) VALUES ('two', 1, 9)")
        .unwrap();
    let transfer = history.export_omp(&to).unwrap();
    assert_eq!((transfer.copied, transfer.present, transfer.lost), (4, 2, 0));
    let expected = [("five", 5), ("mine", 2), ("odd", 1), ("one", 1), ("two", 9)];
    assert_eq!(counts(&connection), expected.map(|(prompt, count)| (prompt.to_owned(), count)));
    // A new file has a row for each.
    let new = place.path("new.db");
    history.export_omp(&new).unwrap();
    let rows = counts(&Connection::open(&new).unwrap());
    assert_eq!(rows.len(), 6);
    assert!(rows.contains(&("five".to_owned(), 5)));
}
