//! SQLite as a careful program would use it for sessions: one row per line, found by position, id and parent.
//!
//! As durable as Leafline: a write-ahead log, synced at each commit. The statements are prepared, and the import
//! commits in slices, so that its log stays small and a live agent never waits long.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, Statement, params};
use serde::Deserialize;
use tempfile::TempDir;

use super::session_file::{SessionFile, folder};

/// The number of the one session.
const SESSION: i64 = 1;

/// Bytes of lines per transaction, as in Leafline.
const SLICE_BYTES: usize = 64 << 20;

/// Page size in bytes: importing 1 GB took 9 s with pages of 8 KiB, 12 s with the default of 4 KiB.
const PAGE_BYTES: i64 = 8 << 10;

/// The page cache in KiB, which SQLite expects negative: as large as Leafline's default.
const CACHE_KIBIBYTES: i64 = -(64 << 10);

/// How long it waits for another process's transaction.
const PATIENCE: Duration = Duration::from_secs(60);

const SCHEMA: &str = "
    CREATE TABLE entries (
        session INTEGER NOT NULL,
        ordinal INTEGER NOT NULL,
        id TEXT,
        parent TEXT,
        type TEXT,
        timestamp TEXT,
        line BLOB NOT NULL,
        PRIMARY KEY (session, ordinal)
    );
    CREATE INDEX entries_by_id ON entries (session, id);
    CREATE INDEX entries_by_parent ON entries (session, parent);
";

const INSERT: &str = "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)";

/// The members of a line that get their own columns, borrowed from it.
#[derive(Default, Deserialize)]
struct Columns<'l> {
    #[serde(rename = "type")]
    kind: Option<&'l str>,
    id: Option<&'l str>,
    #[serde(rename = "parentId")]
    parent: Option<&'l str>,
    timestamp: Option<&'l str>,
}

/// Opens the database at `path`, or creates it.
pub(crate) fn open(path: &Path) -> Connection {
    let connection = Connection::open(path).expect("a database can be opened");
    // The page size comes first: the log fixes it.
    connection
        .pragma_update(None, "page_size", PAGE_BYTES)
        .and_then(|()| connection.pragma_update(None, "journal_mode", "WAL"))
        .and_then(|()| connection.pragma_update(None, "synchronous", "FULL"))
        .and_then(|()| connection.pragma_update(None, "cache_size", CACHE_KIBIBYTES))
        .and_then(|()| connection.busy_timeout(PATIENCE))
        .expect("SQLite knows the settings");
    connection
}

/// A new database.
pub(crate) fn create(path: &Path) -> Connection {
    let connection = open(path);
    connection.execute_batch(SCHEMA).expect("the tables can be made");
    connection
}

/// Imports the file into a new database, and closes it.
pub(crate) fn import(file: &SessionFile, database: &Path) {
    import_as(SESSION, file, database);
}

/// Imports the file as the session with this number into a database, which is created if it is missing.
pub(crate) fn import_as(session: i64, file: &SessionFile, database: &Path) {
    let mut connection = if database.exists() { open(database) } else { create(database) };
    let mut lines = file.open();
    let mut ordinal = 0;
    while import_slice(&mut connection, session, &mut lines, &mut ordinal) {}
    connection.close().expect("the database can be closed");
}

/// Inserts the lines of one transaction; returns whether there may be more.
fn import_slice(
    connection: &mut Connection,
    session: i64,
    lines: &mut BufReader<File>,
    ordinal: &mut i64,
) -> bool {
    let transaction = connection.transaction().expect("a transaction can be begun");
    let mut more = true;
    {
        let mut insert = transaction.prepare_cached(INSERT).expect("the statement is correct");
        let mut line = Vec::new();
        let mut bytes = 0;
        while more && bytes < SLICE_BYTES {
            line.clear();
            bytes += lines.read_until(b'\n', &mut line).expect("the session file can be read");
            more = !line.is_empty();
            if more {
                insert_line(&mut insert, session, *ordinal, &line);
                *ordinal += 1;
            }
        }
    }
    transaction.commit().expect("the transaction can be committed");
    more
}

fn insert_line(insert: &mut Statement<'_>, session: i64, ordinal: i64, line: &[u8]) {
    let columns: Columns<'_> = serde_json::from_slice(line).unwrap_or_default();
    insert
        .execute(params![
            session,
            ordinal,
            columns.id,
            columns.parent,
            columns.kind,
            columns.timestamp,
            line
        ])
        .expect("the row can be inserted");
}

/// Appends messages to a session. If others append to it, a transaction is begun and the end looked for each time.
pub(crate) struct Appender<'c> {
    connection: &'c Connection,
    insert: Statement<'c>,
    end: Statement<'c>,
    session: i64,
    ordinal: i64,
}

impl<'c> Appender<'c> {
    pub(crate) fn new(connection: &'c Connection, session: i64) -> Self {
        let insert = connection.prepare(INSERT).expect("the statement is correct");
        let end = connection
            .prepare("SELECT coalesce(max(ordinal) + 1, 0) FROM entries WHERE session = ?")
            .expect("the statement is correct");
        let mut appender = Self { connection, insert, end, session, ordinal: 0 };
        appender.find_end();
        appender
    }

    /// Looks where the session ends, since others may have appended to it.
    pub(crate) fn find_end(&mut self) {
        let end = self.end.query_row(params![self.session], |row| row.get(0));
        self.ordinal = end.expect("the session can be read");
    }

    /// Appends a message, in its own transaction unless one was begun.
    pub(crate) fn append(&mut self, message: &str) {
        let line = format!(
            r#"{{"type":"message","id":"{:08x}","parentId":"{:08x}","timestamp":"2026-02-16T10:20:30.000Z","message":{message}}}"#,
            scattered(self.ordinal),
            scattered(self.ordinal - 1),
        );
        insert_line(&mut self.insert, self.session, self.ordinal, line.as_bytes());
        self.ordinal += 1;
    }

    pub(crate) fn begin(&self) {
        self.connection.execute_batch("BEGIN IMMEDIATE").expect("a transaction can be begun");
    }

    pub(crate) fn commit(&self) {
        self.connection.execute_batch("COMMIT").expect("a transaction can be committed");
    }
}

/// Spreads numbers over the index of ids as random ids would be.
fn scattered(number: i64) -> u32 {
    u32::try_from(number & 0xffff_ffff).unwrap_or_default().wrapping_mul(0x9e37_79b1)
}

/// The prepared statement for [`line_by_id`].
pub(crate) fn prepare_lookup(connection: &Connection) -> Statement<'_> {
    connection
        .prepare("SELECT line FROM entries WHERE session = ? AND id = ?")
        .expect("the statement is correct")
}

/// The line of the entry with this id.
pub(crate) fn line_by_id(lookup: &mut Statement<'_>, id: &str) -> Vec<u8> {
    lookup.query_row(params![SESSION, id], |row| row.get(0)).expect("every id was imported")
}

/// Writes all lines to `out`, in order.
pub(crate) fn export(database: &Path, out: &mut dyn Write) -> u64 {
    let connection = open(database);
    let mut select = connection
        .prepare("SELECT line FROM entries WHERE session = ? ORDER BY ordinal")
        .expect("the statement is correct");
    let mut rows = select.query(params![SESSION]).expect("the session can be read");
    let mut written = 0;
    while let Some(row) = rows.next().expect("the session can be read") {
        let line = row
            .get_ref(0)
            .and_then(|line| line.as_blob().map_err(Into::into))
            .expect("a line is a blob");
        out.write_all(line).expect("the output takes all bytes");
        written += line.len() as u64;
    }
    written
}

/// A database with the session; deleted when dropped.
#[derive(Debug)]
pub(crate) struct ImportedDatabase {
    folder: TempDir,
}

impl ImportedDatabase {
    pub(crate) fn make(file: &SessionFile) -> Self {
        let folder = TempDir::new_in(folder()).expect("a folder can be made");
        import(file, &folder.path().join("sessions.sqlite"));
        Self { folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("sessions.sqlite")
    }
}
