//! `history.db` files in omp's form.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::place::Place;

/// The statements that omp runs when it opens its history (omp session storage document; the columns and triggers as
/// observed).
pub const SCHEMA: &str = "
PRAGMA journal_mode=WAL;
PRAGMA synchronous=NORMAL;
CREATE TABLE IF NOT EXISTS history (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	prompt TEXT NOT NULL,
	created_at INTEGER NOT NULL DEFAULT (unixepoch()),
	cwd TEXT
);
CREATE INDEX IF NOT EXISTS idx_history_created_at ON history(created_at DESC);
CREATE VIRTUAL TABLE IF NOT EXISTS history_fts USING fts5(prompt, content='history', content_rowid='id');
CREATE TRIGGER IF NOT EXISTS history_ai AFTER INSERT ON history BEGIN
	INSERT INTO history_fts(rowid, prompt) VALUES (new.id, new.prompt);
END;
";

/// A row of the table: prompt, seconds since 1970, directory.
pub type Row = (String, i64, Option<String>);

/// A `history.db` of these rows.
pub fn history_db(place: &Place, name: &str, rows: &[Row]) -> PathBuf {
    let path = place.path(name);
    let mut connection = Connection::open(&path).unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    insert(&mut connection, rows);
    path
}

/// Adds rows as omp does, but for the time, which it leaves to the default.
pub fn insert(connection: &mut Connection, rows: &[Row]) {
    let transaction = connection.transaction().unwrap();
    {
        let mut insert = transaction
            .prepare("INSERT INTO history (prompt, created_at, cwd) VALUES (?, ?, ?)")
            .unwrap();
        for row in rows {
            insert.execute((&row.0, row.1, &row.2)).unwrap();
        }
    }
    transaction.commit().unwrap();
}

/// omp's result of a search: the rows that FTS5 matches, each part of the query as a phrase whose last word is a prefix.
pub fn search(connection: &Connection, query: &str, limit: i64) -> Vec<Row> {
    let expression: Vec<String> = query
        .split_whitespace()
        .map(|part| format!("\"{}\"*", part.replace('"', "\"\"")))
        .collect();
    if expression.is_empty() {
        return Vec::new();
    }
    let mut search = connection
        .prepare_cached(
            "SELECT h.prompt, h.created_at, h.cwd FROM history_fts f JOIN history h ON h.id = f.rowid
             WHERE history_fts MATCH ? ORDER BY h.created_at DESC, h.id DESC LIMIT ?",
        )
        .unwrap();
    let rows = search.query_map((expression.join(" "), limit), as_row).unwrap();
    rows.map(Result::unwrap).collect()
}

/// All rows as omp lists them, newest first.
pub fn rows(path: &Path) -> Vec<Row> {
    let connection = Connection::open(path).unwrap();
    let mut all = connection
        .prepare("SELECT prompt, created_at, cwd FROM history ORDER BY created_at DESC, id DESC")
        .unwrap();
    all.query_map([], as_row).unwrap().map(Result::unwrap).collect()
}

/// Panics unless SQLite and FTS5 find the file sound, and the next prompt that omp adds is found.
#[track_caller]
pub fn assert_usable(path: &Path) {
    let connection = Connection::open(path).unwrap();
    let check: String =
        connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    connection
        .execute_batch("INSERT INTO history_fts(history_fts, rank) VALUES('integrity-check', 1)")
        .unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    connection
        .execute("INSERT INTO history (prompt, created_at, cwd) VALUES ('zyxw from omp', unixepoch() + 9, '/o')", [])
        .unwrap();
    assert_eq!(search(&connection, "zyx", 10).len(), 1);
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
}

fn as_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

/// Pseudo-random numbers, the same every time.
pub struct Numbers(pub u64);

impl Numbers {
    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % end
    }

    pub fn one_of<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}
