//! The facts of a session's file that a list shows.

use std::io::Write;
use std::path::PathBuf;

use leafline_import::lines::BlockReader;
use leafline_import::{Family, LineReader, MessageRole, Reading};
use serde::Serialize;

use crate::catalog::import::candidate::Candidate;
use crate::catalog::import::pipeline::BLOCK_BYTES;
use crate::catalog::order::{SortKey, Sortable};
use crate::catalog::path_text;
use crate::error::{FileContext, Result};
use crate::regular_file::open_regular;
use crate::session::index::records::each_record;
use crate::session::messages::{self, TakeText};
use crate::store::session_record::SessionRecord;

/// The facts of a session in a file, made by [`SessionFiles::list`](crate::files::SessionFiles::list).
///
/// They are those of [`SessionFacts`](crate::SessionFacts) once the file is imported, with these differences:
///
/// - [`id`](Self::id) is the session's own; of several files with one id a store addresses the second as `<id>~2`, and
///   keeps one session for files with the same bytes.
/// - For a file of version 1 or 2 of pi or omp, which an import migrates, [`lines`](Self::lines) and
///   [`bytes`](Self::bytes) are those of the unmigrated file.
/// - What only the tree shows (orphans, repeated ids, whether parents come later) is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileFacts {
    /// The file.
    #[serde(serialize_with = "path_text")]
    pub path: PathBuf,
    /// When the file was modified, in milliseconds since 1970.
    pub file_modified: Option<i64>,
    /// The session's id: the header's; if the family has none, the file's name without its extension.
    pub id: String,
    /// Whose format it has.
    pub family: Family,
    /// The version that the header states; 1 if it states none.
    pub version: String,
    /// The working directory that the header names.
    pub cwd: Option<String>,
    /// Messages of the user, the model and tools.
    pub messages: u64,
    /// Its title or name.
    pub title: Option<String>,
    /// The lineage in the header; for an agent's conversation the id of the session that started it.
    pub parent_session: Option<String>,
    /// The beginning of the first user message, on one line.
    pub first_prompt: Option<String>,
    /// When it was created, in milliseconds since 1970.
    pub created: Option<i64>,
    /// The time of its last message, or else of its header, or else of its file; in milliseconds since 1970.
    pub modified: Option<i64>,
    /// The agent whose conversation it is, if the session `parent_session` started it (Claude Code).
    pub agent: Option<String>,
    /// Lines of all kinds.
    pub lines: u64,
    /// Entries.
    pub entries: u64,
    /// Lines that are not JSON.
    pub malformed: u64,
    /// Entries that were recovered from such lines.
    pub recovered: u64,
    /// Bytes of the file.
    pub bytes: u64,
    #[serde(skip)]
    reading: Reading,
}

impl FileFacts {
    pub(super) fn of(candidate: &Candidate, record: SessionRecord) -> Self {
        Self {
            path: candidate.path.clone(),
            file_modified: candidate.modified_milliseconds(),
            id: record.id(),
            family: record.known_family(),
            lines: record.physical_lines(),
            version: record.imported_version,
            cwd: record.cwd,
            messages: record.messages,
            title: record.title,
            parent_session: record.parent_session,
            first_prompt: record.first_prompt,
            created: record.created,
            modified: record.modified,
            agent: record.agent,
            entries: record.entries,
            malformed: record.malformed,
            recovered: record.recovered,
            bytes: record.bytes,
            reading: candidate.reading(),
        }
    }

    /// Passes on the text of each message of the user and of the model, read from the file, by the rules of
    /// [`SessionReader::message_texts`](crate::SessionReader::message_texts).
    ///
    /// # Errors
    ///
    /// The error of `take`, and [`Error::File`](crate::Error::File) if the file cannot be read.
    pub fn message_texts(
        &self,
        mut take: impl FnMut(MessageRole, &str) -> Result<bool>,
    ) -> Result<()> {
        self.walk(&mut take)
    }

    fn walk(&self, take: TakeText<'_>) -> Result<()> {
        let file = open_regular(&self.path).at("opening", &self.path)?;
        let mut blocks = BlockReader::new(file, BLOCK_BYTES);
        let mut lines = LineReader::new(self.reading);
        let mut buffer = Vec::new();
        let mut opens_file = true;
        let mut goes_on = Ok(true);
        while matches!(goes_on, Ok(true))
            && let Some(block) = blocks.next_block(buffer).at("reading", &self.path)?
        {
            each_record(&mut lines, &block, opens_file, |record| {
                if matches!(goes_on, Ok(true))
                    && let Some(text) = record.read.message_text()
                {
                    goes_on = take(record.read.role(), &text);
                }
            });
            opens_file = false;
            buffer = block;
        }
        goes_on.map(|_| ())
    }

    /// Writes all message text, as
    /// [`SessionReader::write_all_messages_text`](crate::SessionReader::write_all_messages_text) does. Returns the bytes
    /// written.
    ///
    /// # Errors
    ///
    /// Those of [`Self::message_texts`], and [`ExportError::Output`](crate::error::ExportError::Output) of the writer.
    pub fn write_all_messages_text(&self, out: &mut dyn Write) -> Result<u64> {
        messages::write_all(|take| self.walk(take), out)
    }

    /// All message text (pi's `allMessagesText`), as [`Self::write_all_messages_text`] writes it.
    ///
    /// # Errors
    ///
    /// Those of [`Self::message_texts`].
    pub fn get_all_messages_text(&self) -> Result<String> {
        messages::all(|take| self.walk(take))
    }

    /// The whole text of the first message of the user that has text (pi's `firstMessage`).
    ///
    /// # Errors
    ///
    /// Those of [`Self::message_texts`].
    pub fn get_first_message(&self) -> Result<Option<String>> {
        messages::first(|take| self.walk(take))
    }
}

impl Sortable for FileFacts {
    fn sort_id(&self) -> &str {
        &self.id
    }

    fn sort_key(&self) -> SortKey<'_> {
        SortKey {
            said: self.title.as_deref().or(self.first_prompt.as_deref()),
            created: self.created,
            modified: self.modified,
            bytes: self.bytes,
        }
    }
}
