//! From a file's lines to the facts of its session, without a store.

use std::collections::HashMap;
use std::io::{Seek, SeekFrom};

use leafline_import::{Effect, LineReader, PointerKind, Reading};

use crate::catalog::import::agents;
use crate::catalog::import::candidate::Candidate;
use crate::catalog::import::pipeline::BLOCK_BYTES;
use crate::session::index::facts;
use crate::session::index::prepare::PreparedLine;
use crate::session::index::records::{BlockRecord, each_record};
use crate::store::ordinal::Ordinal;
use crate::store::session_record::SessionRecord;

/// Reads files one after the other, reusing its memory.
pub(super) struct FileReader {
    /// Made for the first file.
    lines: Option<LineReader>,
    buffer: Vec<u8>,
}

impl FileReader {
    pub(super) fn new() -> Self {
        Self { lines: None, buffer: Vec::new() }
    }

    /// Reads a whole file; `record` has what its beginning shows. Facts that only the tree of entries shows are left
    /// out.
    pub(super) fn read(
        &mut self,
        candidate: &mut Candidate,
        record: SessionRecord,
    ) -> std::io::Result<SessionRecord> {
        let mut gathered = Gathered::new(record);
        self.each_block(candidate, |lines, block, opens_file| {
            gathered.record.bytes += block.len() as u64;
            each_record(lines, block, opens_file, |record| gathered.add(record));
        })?;
        if gathered.summaries.are_behind_entries {
            // The entries before them are read again: keeping all would take memory proportional to the file.
            gathered.summaries.forget_named();
            self.each_block(candidate, |lines, block, opens_file| {
                each_record(lines, block, opens_file, |record| gathered.summaries.note(record));
            })?;
        }
        let mut record = gathered.finish();
        agents::settle(&mut record, candidate.is_certain_agent());
        Ok(record)
    }

    /// The facts of the whole lines at the beginning of a file, and of `torn`, the start of the next line, completed.
    pub(super) fn read_prefix(
        &mut self,
        candidate: &Candidate,
        record: SessionRecord,
        lines: &[u8],
        torn: Option<&str>,
    ) -> SessionRecord {
        let mut gathered = Gathered::new(record);
        let reader = reader_of(&mut self.lines, candidate.reading());
        each_record(reader, lines, true, |record| gathered.add(record));
        if let Some(Effect::Prompt(prompt)) = torn.and_then(|torn| reader.read(torn).effect()) {
            gathered.record.first_prompt.get_or_insert(prompt);
        }
        gathered.finish()
    }

    fn each_block(
        &mut self,
        candidate: &mut Candidate,
        mut take: impl FnMut(&mut LineReader, &[u8], bool),
    ) -> std::io::Result<()> {
        let reader = reader_of(&mut self.lines, candidate.reading());
        candidate.file.seek(SeekFrom::Start(0))?;
        let mut blocks = candidate.blocks();
        let mut opens_file = true;
        while let Some(block) = blocks.next_block(std::mem::take(&mut self.buffer))? {
            take(reader, &block, opens_file);
            opens_file = false;
            // A buffer that one very long line has enlarged is dropped.
            if block.capacity() <= 2 * BLOCK_BYTES {
                self.buffer = block;
            }
        }
        Ok(())
    }
}

/// A reader of lines that are read so.
fn reader_of(reader: &mut Option<LineReader>, reading: Reading) -> &mut LineReader {
    let reader = reader.get_or_insert_with(|| LineReader::new(reading));
    reader.set_reading(reading);
    reader
}

/// The facts of a file's lines so far.
struct Gathered {
    record: SessionRecord,
    summaries: Summaries,
}

impl Gathered {
    fn new(record: SessionRecord) -> Self {
        Self { record, summaries: Summaries::default() }
    }

    fn add(&mut self, read: &BlockRecord<'_>) {
        let record = &mut self.record;
        let line = PreparedLine::of(&read.read, read.place);
        facts::count(record, &line);
        let ordinal = Ordinal::after(record.lines);
        facts::note_message(record, &line, ordinal);
        record.lines += 1;
        match read.read.effect() {
            Some(Effect::Title { title, rank }) => facts::set_title(record, title, rank),
            Some(Effect::Prompt(prompt)) => drop(record.first_prompt.get_or_insert(prompt)),
            Some(Effect::Moved(cwd)) => record.cwd = Some(cwd),
            Some(Effect::Pointer { kind: PointerKind::Summary, target, text }) => {
                let is_behind = record.entries > 0;
                self.summaries.add(target.unwrap_or_default(), text, is_behind);
            }
            _ => {}
        }
        self.summaries.note(read);
    }

    fn finish(self) -> SessionRecord {
        let mut record = self.record;
        let summary = self.summaries.text(record.last_message.is_some());
        facts::set_summary(&mut record, summary);
        facts::set_modified(&mut record);
        record
    }
}

/// The summaries of a session. The last one that names an entry of the file describes it.
#[derive(Default)]
struct Summaries {
    /// The entry that each names, and its text.
    all: Vec<(Vec<u8>, Option<String>)>,
    /// For the entries that they name, whether the last one with that id is on a sidechain; `None` as long as none was
    /// met.
    named: HashMap<Vec<u8>, Option<bool>>,
    /// Whether one comes after an entry, which it may name.
    are_behind_entries: bool,
}

impl Summaries {
    fn add(&mut self, target: Vec<u8>, text: Option<String>, is_behind_entries: bool) {
        self.named.entry(target.clone()).or_default();
        self.all.push((target, text));
        self.are_behind_entries |= is_behind_entries;
    }

    /// Notes an entry that one of them names.
    fn note(&mut self, record: &BlockRecord<'_>) {
        if self.named.is_empty() || !record.read.kind().is_entry() {
            return;
        }
        if let Some(named) = record.read.id().and_then(|id| self.named.get_mut(&*id)) {
            *named = Some(record.read.is_sidechain());
        }
    }

    fn forget_named(&mut self) {
        self.named.values_mut().for_each(|named| *named = None);
    }

    /// The text of the summary that describes the file's conversation; its entry is not on a sidechain if the file
    /// `has_own` messages.
    fn text(&self, has_own: bool) -> Option<String> {
        let is_about = |target: &Vec<u8>| match self.named.get(target) {
            Some(Some(is_sidechain)) => !(has_own && *is_sidechain),
            _ => false,
        };
        self.all
            .iter()
            .rev()
            .find(|(target, _)| is_about(target))
            .and_then(|(_, text)| text.clone())
    }
}
