//! Entries from standard input: a batch is stored, then its ids are printed.

use std::io::{BufRead, BufReader, Read, Write};

use leafline::live::EntryDraft;
use leafline::{Family, Session};

use super::super::advice::advised;
use super::super::failure::Failure;
use super::super::live;
use super::super::output::Output;
use super::drafts;

/// The most entries in one transaction: a transaction costs a few milliseconds, whatever its size.
const BATCH_ENTRIES: usize = 1000;

/// The bytes of lines at which a batch ends, to bound its memory.
const BATCH_BYTES: usize = 4 << 20;

/// Bytes read at once. If no more are ready, the batch ends, so that a caller that waits for an id gets it.
const READ_BYTES: usize = 1 << 20;

/// A stream of entries into a session.
pub(super) struct Stream<'a> {
    session: &'a mut Session,
    family: Family,
    out: &'a mut Output,
    batch: Vec<EntryDraft>,
    batch_bytes: usize,
    /// The most bytes of a line.
    longest_line: u64,
    /// Entries that are on disk.
    stored: u64,
    /// Why ids can no longer be printed. The entries are stored all the same.
    unheard: Option<Failure>,
}

impl<'a> Stream<'a> {
    /// A stream into a session, of lines with at most so many bytes.
    pub(super) fn new(
        session: &'a mut Session,
        family: Family,
        longest_line: u64,
        out: &'a mut Output,
    ) -> Self {
        let (batch, batch_bytes, stored, unheard) = (Vec::new(), 0, 0, None);
        Self { session, family, out, batch, batch_bytes, longest_line, stored, unheard }
    }

    /// Appends all lines, or those before the first that is not an entry.
    pub(super) fn append(mut self, input: impl Read) -> Result<(), Failure> {
        let mut input = BufReader::with_capacity(READ_BYTES, input);
        let mut line = Vec::new();
        for number in 1u64.. {
            line.clear();
            match self.take_line(&mut input, &mut line) {
                Ok(true) => {}
                Ok(false) => break,
                Err(problem) => {
                    self.store()?;
                    return Err(Failure::NoEntryInLine {
                        line: number,
                        problem,
                        stored: self.stored,
                    });
                }
            }
            let nothing_is_ready = input.buffer().is_empty();
            let is_full = self.batch.len() >= BATCH_ENTRIES || self.batch_bytes >= BATCH_BYTES;
            if nothing_is_ready || is_full {
                self.store()?;
                // Frees the memory of one very long line.
                line.shrink_to(BATCH_BYTES);
            }
        }
        self.store()?;
        self.unheard.map_or(Ok(()), Err)
    }

    /// Adds a line to the batch; `false` at the end of the input. Fails if the line is invalid.
    fn take_line(&mut self, input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool, String> {
        // With its line feed, and a byte more, by which one that is too long is known.
        let read = input.take(self.longest_line.saturating_add(2)).read_until(b'\n', line);
        if read.map_err(|error| format!("it cannot be read: {error}"))? == 0 {
            return Ok(false);
        }
        if line.strip_suffix(b"\n").unwrap_or(line).len() as u64 > self.longest_line {
            let longest = self.longest_line;
            return Err(format!("it has more than {longest} bytes, the bound for a line"));
        }
        let Ok(json) = std::str::from_utf8(line) else {
            return Err("the entry is not UTF-8 text".to_owned());
        };
        if json.trim().is_empty() {
            return Ok(true);
        }
        let drafts = drafts(json, self.family)?;
        for draft in &drafts {
            self.check_target(draft)?;
        }
        self.batch.extend(drafts);
        self.batch_bytes += line.len();
        Ok(true)
    }

    /// Checks that the target of a label exists. The ids of the batch's entries have not been printed yet, so the
    /// target is either stored or does not exist.
    fn check_target(&self, draft: &EntryDraft) -> Result<(), String> {
        let Some(target) = draft.target() else { return Ok(()) };
        self.session
            .get_entry(&String::from_utf8_lossy(&target))
            .map(drop)
            .map_err(|error| advised(&error))
    }

    /// Stores the batch, and prints its ids.
    fn store(&mut self) -> Result<(), Failure> {
        self.batch_bytes = 0;
        let count = self.batch.len() as u64;
        let appended = self.session.append_all(self.batch.drain(..));
        let ids =
            appended.map_err(|source| Failure::StreamNotStored { stored: self.stored, source })?;
        self.stored += count;
        // If standard output is closed, the entries are still stored.
        if self.unheard.is_none() {
            self.unheard = print_ids(&ids, self.out).err();
        }
        Ok(())
    }
}

fn print_ids(ids: &[String], out: &mut Output) -> Result<(), Failure> {
    for id in ids {
        live::print_entry(id, out)?;
    }
    Ok(out.flush()?)
}
