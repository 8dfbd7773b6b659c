//! omp's `history.db`: an SQLite database of the same prompts (omp session storage document, prompt history storage).

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use leafline_import::text;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, Transaction, TransactionBehavior};
use xxhash_rust::xxh3::xxh3_128;

use super::PromptHistory;
use super::transfer::{Adding, HistoryTransfer, Known, Same};
use crate::destination::{Destination, folder_of};
use crate::error::{Error, FileContext, PromptError, Result};
use crate::lasting::sync_folder;
use crate::regular_file::check_regular;
use crate::store::prompt_record::PromptRecord;
use crate::store::prompts::ReadPrompts;
use crate::temporary::{Temporary, name_if_free, name_new, remove_left};

/// How long to wait for another program's transaction on the file.
const PATIENCE: Duration = Duration::from_secs(5);

/// The instructions of SQLite's machine that one prompt may take, triggers included. With omp's trigger, a prompt took 181 on
/// average and 17,672 at most (200,000 prompts, SQLite 3.54.1, a progress handler that counts each): the bound is more than
/// 5,000 times that. A trigger that looks through all rows took 4 for each.
const INSERT_STEPS: u64 = 100_000_000;

/// The instructions that the tables may take. An index of words that is made anew took 18 a prompt (measured likewise): the
/// bound is that of 50 million prompts.
const SCHEMA_STEPS: u64 = 1_000_000_000;

/// How many instructions pass between two checks.
const STEPS_A_CHECK: i32 = 10_000;

/// The table and its index, as omp creates them: with the count of later releases, which earlier ones leave alone.
const TABLE: &str = "
CREATE TABLE IF NOT EXISTS history (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	prompt TEXT NOT NULL,
	created_at INTEGER NOT NULL DEFAULT (CAST(strftime('%s','now') AS INTEGER)),
	cwd TEXT,
	use_count INTEGER NOT NULL DEFAULT 1
);
CREATE INDEX IF NOT EXISTS idx_history_created_at ON history(created_at DESC);
";

/// The index of words, which shares the table's text.
const WORDS: &str = "
CREATE VIRTUAL TABLE IF NOT EXISTS history_fts USING fts5(prompt, content='history', content_rowid='id');
";

/// The trigger that keeps the index of words up to date.
const TRIGGER: &str = "
CREATE TRIGGER IF NOT EXISTS history_ai AFTER INSERT ON history BEGIN
	INSERT INTO history_fts(rowid, prompt) VALUES (new.id, new.prompt);
END;
";

impl PromptHistory {
    /// Adds the prompts of an omp `history.db` that the history does not have. Prompts are the same if their text,
    /// directory and second are; if the file has a prompt twice, so does the history. The file is only read, and may be
    /// in use.
    ///
    /// A row's `use_count` (omp 18.2.9) is kept. Other columns and tables that omp's document does not name are not. Bytes that are not UTF-8 become U+FFFD.
    ///
    /// # Errors
    ///
    /// [`PromptError::OmpFile`] for a file that SQLite cannot read or that has no such table: prompts read before the
    /// error are kept, and another import adds the rest.
    pub fn import_omp(&self, path: impl AsRef<Path>) -> Result<HistoryTransfer> {
        let path = path.as_ref();
        // SQLite's error for a missing file says nothing, and it would wait for a pipe.
        std::fs::metadata(path)
            .and_then(|metadata| check_regular(&metadata))
            .at("reading", path)?;
        let read_only = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, read_only).at(path)?;
        connection.busy_timeout(PATIENCE).at(path)?;
        check_table(&connection, path)?;
        let mut rows = connection.prepare(&select(&connection, path)?).at(path)?;
        let mut rows = rows.query([]).at(path)?;
        let mut adding = Adding::new(self, Same::InSecond);
        while let Some(row) = rows.next().at(path)? {
            adding.add(read(row))?;
        }
        adding.finish()
    }

    /// Adds the prompts that an omp `history.db` does not have to it, in one transaction; its own rows stay. If there
    /// is no file, one is created as omp creates it. Times are cut to the second, as in omp.
    ///
    /// A later omp keeps each text once: there a prompt whose text the file has counts as present. If the file did not have
    /// it before, its `use_count` grows by that of the prompt.
    ///
    /// What was added is read again before it is committed: a file may have triggers of its own. A prompt counts as copied
    /// only if it is there, and as lost otherwise.
    ///
    /// # Errors
    ///
    /// [`PromptError::OmpFile`] for a file that SQLite cannot write, for one whose triggers remove or change prompts that
    /// it had or do not end, or for another database,
    /// [`ExportError::WouldReplaceStore`](crate::error::ExportError::WouldReplaceStore) for a store, [`Error::File`]
    /// for anything that is not a file. Nothing has changed then.
    pub fn export_omp(&self, path: impl AsRef<Path>) -> Result<HistoryTransfer> {
        let path = path.as_ref();
        let place = Destination::of(path, self.store.path())?.file(path)?;
        let folder = folder_of(&place);
        remove_left(folder);
        if place.try_exists().at("looking for", path)? {
            return self.export_into(&place, path);
        }
        let temporary = Temporary::in_folder(folder).at("writing", path)?;
        let (file, new) = temporary.database().at("writing", path)?.into_parts();
        let transfer = self.export_into(&new, path)?;
        file.sync_all().at("writing", path)?;
        name_new(new, &place, |refused| name_if_free(refused.path, &place)).at("writing", path)?;
        sync_folder(folder);
        Ok(transfer)
    }

    fn export_into(&self, file: &Path, path: &Path) -> Result<HistoryTransfer> {
        let writable = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(file, writable).at(path)?;
        connection.busy_timeout(PATIENCE).at(path)?;
        let steps = Steps::of(&mut connection).at(path)?;
        let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = begun.at(path)?;
        let is_empty = count(&transaction, "SELECT count(*) FROM sqlite_master").at(path)? == 0;
        if !is_empty {
            check_table(&transaction, path)?;
        }
        steps.allow(SCHEMA_STEPS);
        make_schema(&transaction).map_err(|error| too_long(error, path))?;
        steps.allow(u64::MAX);
        let transfer = self.insert_missing(&transaction, &steps, path)?;
        transaction.commit().at(path)?;
        connection.close().map_err(|(_, error)| error).at(path)?;
        Ok(transfer)
    }

    fn insert_missing(
        &self,
        file: &Transaction<'_>,
        steps: &Steps,
        path: &Path,
    ) -> Result<HistoryTransfer> {
        let before = known_in_file(file, path)?;
        let mut known = before.clone();
        let mut added = Known::new(Same::InSecond);
        let prompts = self.store.snapshot_to_read()?.prompts()?;
        let mut order = Vec::new();
        for number in 0..prompts.count()? {
            order.push((prompts.prompt(number)?.created_at, number));
        }
        // omp shows prompts of one second in the order of their ids.
        order.sort_unstable();
        let mut transfer = HistoryTransfer::default();
        let counts = has_column(file, "use_count").at(path)?;
        let (column, value) = if counts { (", use_count", ", ?4") } else { ("", "") };
        let mut insert = file
            .prepare(&format!(
                "INSERT INTO history (prompt, created_at, cwd{column}) VALUES (?1, ?2, ?3{value}) ON CONFLICT DO NOTHING"
            ))
            .at(path)?;
        let repeats = "UPDATE history SET use_count = use_count + ?2 WHERE prompt = ?1";
        let mut repeat = counts.then(|| file.prepare(repeats)).transpose().at(path)?;
        let mut new_texts = HashSet::new();
        for (_, number) in order {
            let prompt = prompts.prompt(number)?;
            let (text, count) = (&prompt.prompt, prompt.use_count.cast_signed());
            if known.take(&prompt) {
                transfer.present += 1;
                continue;
            }
            steps.allow(INSERT_STEPS);
            let inserted = if counts {
                insert.execute((text, second(&prompt), &prompt.cwd, count))
            } else {
                insert.execute((text, second(&prompt), &prompt.cwd))
            };
            match inserted.map_err(|error| too_long(error, path))? {
                0 => {
                    transfer.present += 1;
                    if let Some(repeat) =
                        repeat.as_mut().filter(|_| new_texts.contains(&xxh3_128(text.as_bytes())))
                    {
                        repeat.execute((text, count)).map_err(|error| too_long(error, path))?;
                    }
                }
                _ => {
                    new_texts.insert(xxh3_128(text.as_bytes()));
                    added.add(&prompt);
                }
            }
        }
        steps.allow(u64::MAX);
        let after = known_in_file(file, path)?;
        if before.counts.iter().any(|(prompt, count)| after.count(*prompt) < *count) {
            return Err(Error::Prompt(PromptError::OmpFile {
                path: path.to_owned(),
                problem:
                    "its own triggers remove or change prompts that it has when others are added"
                        .into(),
            }));
        }
        for (prompt, count) in added.counts {
            let arrived = (after.count(prompt) - before.count(prompt)).min(count);
            transfer.copied += arrived;
            transfer.lost += count - arrived;
        }
        Ok(transfer)
    }
}

/// Bounds what SQLite does for one statement. A trigger of the file's own may never end.
struct Steps(Arc<AtomicU64>);

impl Steps {
    /// Without a bound at first.
    fn of(connection: &mut Connection) -> rusqlite::Result<Self> {
        let left = Arc::new(AtomicU64::new(u64::MAX));
        let counted = Arc::clone(&left);
        connection.progress_handler(
            STEPS_A_CHECK,
            Some(move || {
                let rest = counted
                    .load(Ordering::Relaxed)
                    .saturating_sub(STEPS_A_CHECK.unsigned_abs().into());
                counted.store(rest, Ordering::Relaxed);
                rest == 0
            }),
        )?;
        Ok(Self(left))
    }

    /// How many of its virtual machine's instructions SQLite may run from now on.
    fn allow(&self, steps: u64) {
        self.0.store(steps, Ordering::Relaxed);
    }
}

/// Says of a statement that was ended why it was.
fn too_long(error: rusqlite::Error, path: &Path) -> Error {
    let problem = match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => {
            "its own triggers do not end when prompts are added; nothing was changed".to_owned()
        }
        _ => error.to_string(),
    };
    Error::Prompt(PromptError::OmpFile { path: path.to_owned(), problem })
}

/// The prompts of a file.
fn known_in_file(file: &Connection, path: &Path) -> Result<Known> {
    let mut known = Known::new(Same::InSecond);
    let mut rows = file.prepare(&select(file, path)?).at(path)?;
    let mut rows = rows.query([]).at(path)?;
    while let Some(row) = rows.next().at(path)? {
        if let Some(record) = read(row) {
            known.add(&record);
        }
    }
    Ok(known)
}

/// The prompt's time in seconds, as in omp.
fn second(prompt: &PromptRecord) -> i64 {
    prompt.created_at.div_euclid(1000)
}

/// The row's prompt; `None` if it has no text or no time.
fn read(row: &Row<'_>) -> Option<PromptRecord> {
    let prompt = text_of(row.get_ref(0).ok()?)?;
    let prompt = text::trim(&prompt);
    let seconds = match row.get_ref(1).ok()? {
        ValueRef::Integer(seconds) => seconds,
        _ => return None,
    };
    (!prompt.is_empty()).then_some(())?;
    Some(PromptRecord {
        created_at: seconds.checked_mul(1000)?,
        cwd: text_of(row.get_ref(2).ok()?),
        prompt: prompt.to_owned(),
        use_count: match row.get_ref(3).ok()? {
            ValueRef::Integer(count) => count.max(1).cast_unsigned(),
            _ => 1,
        },
    })
}

fn text_of(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
        _ => None,
    }
}

/// Refuses a database without omp's table. A view or a virtual table of that name is none: its rows may never end.
fn check_table(connection: &Connection, path: &Path) -> Result<()> {
    let tables = "SELECT count(*) FROM pragma_table_list('history') WHERE schema = 'main' AND type = 'table'";
    if count(connection, tables).at(path)? > 0
        && has_column(connection, "prompt").at(path)?
        && has_column(connection, "created_at").at(path)?
    {
        return Ok(());
    }
    Err(Error::Prompt(PromptError::OmpFile {
        path: path.to_owned(),
        problem: "it has no table `history` with the columns `prompt` and `created_at`".into(),
    }))
}

fn has_column(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    let columns = "SELECT count(*) FROM pragma_table_info('history') WHERE name = ?";
    Ok(connection.query_row(columns, [name], |row| row.get::<_, i64>(0))? > 0)
}

/// All rows in the order in which they were added; also for a table without directories or counts.
fn select(connection: &Connection, path: &Path) -> Result<String> {
    let cwd = if has_column(connection, "cwd").at(path)? { "cwd" } else { "NULL" };
    let count = if has_column(connection, "use_count").at(path)? { "use_count" } else { "1" };
    Ok(format!("SELECT prompt, created_at, {cwd}, {count} FROM history ORDER BY created_at, rowid"))
}

/// Creates the missing tables and the trigger.
fn make_schema(file: &Transaction<'_>) -> rusqlite::Result<()> {
    file.execute_batch(TABLE)?;
    let words = "SELECT count(*) FROM sqlite_master WHERE name = 'history_fts'";
    let triggers =
        "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'history'";
    let has_words = count(file, words)? > 0;
    // Another release's trigger may have another name and the same effect.
    let has_trigger = count(file, triggers)? > 0;
    file.execute_batch(WORDS)?;
    if !has_trigger {
        file.execute_batch(TRIGGER)?;
    }
    if !has_words || !has_trigger {
        file.execute_batch("INSERT INTO history_fts(history_fts) VALUES('rebuild')")?;
    }
    Ok(())
}

fn count(connection: &Connection, query: &str) -> rusqlite::Result<i64> {
    connection.query_row(query, [], |row| row.get(0))
}

/// Names the file in an SQLite error.
trait HistoryContext<T> {
    fn at(self, path: &Path) -> Result<T>;
}

impl<T> HistoryContext<T> for rusqlite::Result<T> {
    fn at(self, path: &Path) -> Result<T> {
        self.map_err(|error| {
            Error::Prompt(PromptError::OmpFile {
                path: path.to_owned(),
                problem: error.to_string(),
            })
        })
    }
}
