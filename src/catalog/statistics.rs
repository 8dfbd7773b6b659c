//! Where a store's bytes go.

use serde::Serialize;

use crate::error::Result;
use crate::session::{Session, SessionFacts, TypeFacts};
use crate::store::prompts::ReadPrompts;
use crate::store::{Store, TableStatistics, originals};

/// A whole store's bytes.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct Statistics {
    /// Bytes of the store's file.
    pub file_bytes: u64,
    /// Sessions.
    pub sessions: u64,
    /// Lines of all sessions.
    pub lines: u64,
    /// Entries of all sessions.
    pub entries: u64,
    /// Bytes of those lines: what their JSONL files take.
    pub line_bytes: u64,
    /// Bytes of those lines that are compressed: without the payloads that are kept as blobs.
    pub text_bytes: u64,
    /// Blobs.
    pub blobs: BlobStatistics,
    /// The files beside sessions.
    pub beside: BesideStatistics,
    /// Prompts of the history.
    pub prompts: u64,
    /// Each table's rows and bytes, the largest first.
    pub tables: Vec<TableStatistics>,
    /// Lines and bytes by type, over all sessions, the largest first.
    pub types: Vec<TypeFacts>,
}

/// What blobs take, and save.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct BlobStatistics {
    /// Different blobs whose bytes are in the store.
    pub count: u64,
    /// Their bytes, each once.
    pub bytes: u64,
    /// How often lines refer to them.
    pub references: u64,
    /// Bytes saved by keeping each blob once: what the further references would take.
    pub saved_bytes: u64,
    /// Blobs that lines refer to but the store does not have.
    pub missing: u64,
}

/// One session's bytes.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct SessionStatistics {
    /// The session's facts, including counts by type.
    #[serde(flatten)]
    pub facts: SessionFacts,
    /// Bytes of its lines that are compressed: without the payloads that are kept as blobs.
    pub text_bytes: u64,
    /// Bytes of its chunks: the lines, compressed, and their nodes.
    pub stored_bytes: u64,
    /// Bytes of the imported file that are kept beside migrated lines, compressed.
    pub original_bytes: u64,
    /// Chunks.
    pub chunks: u64,
    /// Blobs that it refers to.
    pub blobs: BlobStatistics,
    /// The files beside it.
    pub beside: BesideStatistics,
}

/// What the files beside sessions take.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BesideStatistics {
    /// Files.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl BesideStatistics {
    fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes += bytes;
    }
}

impl Store {
    /// Where the store's bytes are. Visits every table's pages, but reads no line.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupted`] if the store is damaged.
    pub fn statistics(&self) -> Result<Statistics> {
        let snapshot = self.snapshot_to_read()?;
        let mut statistics = Statistics { file_bytes: self.file_bytes()?, ..Statistics::default() };
        let mut types = Vec::new();
        for row in snapshot.sessions()?.iter()? {
            let record = row?.record()?;
            statistics.sessions += 1;
            statistics.lines += record.lines;
            statistics.entries += record.entries;
            statistics.line_bytes += record.bytes;
            statistics.text_bytes += record.text_bytes;
            add_types(&mut types, SessionFacts::of(&record).types);
        }
        types.sort_by(|a: &TypeFacts, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
        statistics.types = types;
        snapshot.each_blob(|_, record| {
            let record = record?;
            statistics.blobs.add(record.size, record.references);
            Ok(())
        })?;
        snapshot.each_file_beside(|bytes| statistics.beside.add(bytes))?;
        statistics.prompts = snapshot.prompts()?.count()?;
        statistics.tables = snapshot.table_statistics()?;
        Ok(statistics)
    }
}

impl Session {
    /// Where the session's bytes are.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupted`] if the store is damaged.
    pub fn statistics(&self) -> Result<SessionStatistics> {
        let reader = self.reader()?;
        let snapshot = reader.snapshot();
        let mut statistics = SessionStatistics {
            facts: reader.facts(),
            text_bytes: reader.record().text_bytes,
            stored_bytes: 0,
            original_bytes: 0,
            chunks: 0,
            blobs: BlobStatistics::default(),
            beside: BesideStatistics::default(),
        };
        for file in snapshot.files_beside(reader.key(), reader.record())? {
            statistics.beside.add(file.size);
        }
        let mut references = std::collections::BTreeMap::<_, u64>::new();
        // The reader's chunks, not the handle's: an import may have replaced the session since the handle was made.
        let mut chunks = reader.view().chunks();
        while let Some(chunk) = chunks.next()? {
            statistics.chunks += 1;
            statistics.stored_bytes += chunk.bytes().len() as u64;
            for hole in chunk.holes() {
                *references.entry(hole.hash).or_default() += 1;
            }
        }
        for (hash, count) in references {
            let size = snapshot.blob_record(&hash)?.and_then(|record| record.size);
            statistics.blobs.add(size, count);
        }
        statistics.original_bytes = originals::stored_bytes(reader.view().rows())?;
        Ok(statistics)
    }
}

impl BlobStatistics {
    fn add(&mut self, size: Option<u64>, references: u64) {
        self.references += references;
        match size {
            Some(size) => {
                self.count += 1;
                self.bytes += size;
                self.saved_bytes += size * references.saturating_sub(1);
            }
            None => self.missing += 1,
        }
    }
}

fn add_types(all: &mut Vec<TypeFacts>, of_session: Vec<TypeFacts>) {
    for facts in of_session {
        match all.iter_mut().find(|known| known.name == facts.name) {
            Some(known) => {
                known.lines += facts.lines;
                known.bytes += facts.bytes;
            }
            None => all.push(facts),
        }
    }
}
