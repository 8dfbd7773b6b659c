//! Lines from standard input, stored in batches.

use std::io::{BufRead, BufReader, Read, Write};

use super::super::failure::Failure;
use super::super::output::Output;
use super::Sync;

/// The most lines stored at once: what is stored at once costs some milliseconds, whatever its size.
const BATCH_LINES: usize = 1000;

/// The bytes of lines at which a batch ends, to bound its memory.
const BATCH_BYTES: usize = 4 << 20;

/// Bytes read at once. If no more are ready, the batch ends, so that a caller that waits for an id gets it.
const READ_BYTES: usize = 1 << 20;

/// What lines become before they are stored.
pub(super) trait Batch {
    /// Takes a line, with its line feed if it has one. Fails if it is invalid, with the reason.
    fn take(&mut self, line: &[u8]) -> Result<(), String>;

    /// How many there are to be stored together.
    fn len(&self) -> usize;

    /// Stores what was taken, and returns what is to be printed of it.
    fn store(&mut self) -> leafline::Result<Vec<Answer>>;

    /// What is printed at the end.
    fn end(&self) -> Option<Answer>;

    /// What is on disk.
    fn stored(&self) -> u64;
}

/// Something to print.
#[derive(Debug)]
pub(super) enum Answer {
    /// The id of a new entry.
    Entry(String),
    /// How many lines were added, and how many left out.
    Lines { added: u64, ignored: u64 },
}

/// A stream of lines into a session.
pub(super) struct Stream<'a, B> {
    batch: B,
    bytes: usize,
    sync: Sync,
    out: &'a mut Output,
    /// The most bytes of a line.
    longest_line: u64,
    /// Why answers can no longer be printed. The lines are stored all the same.
    unheard: Option<Failure>,
}

impl<'a, B: Batch> Stream<'a, B> {
    /// A stream of lines with at most so many bytes.
    pub(super) fn new(batch: B, sync: Sync, longest_line: u64, out: &'a mut Output) -> Self {
        Self { batch, bytes: 0, sync, out, longest_line, unheard: None }
    }

    /// Appends all lines, or those before the first that is invalid.
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
                    let stored = self.batch.stored();
                    return Err(Failure::NoEntryInLine { line: number, problem, stored });
                }
            }
            let ends = match self.sync {
                Sync::Ready => input.buffer().is_empty(),
                Sync::Each => true,
                Sync::Batch => false,
            };
            if ends || self.batch.len() >= BATCH_LINES || self.bytes >= BATCH_BYTES {
                self.store()?;
                // Frees the memory of one very long line.
                line.shrink_to(BATCH_BYTES);
            }
        }
        self.store()?;
        let end = self.batch.end();
        self.print(end.into_iter().collect());
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
            return Err(format!(
                "it has more than {longest} bytes, the bound for a line (--longest-line)"
            ));
        }
        self.batch.take(line)?;
        self.bytes += line.len();
        Ok(true)
    }

    /// Stores the batch, and prints what it answers.
    fn store(&mut self) -> Result<(), Failure> {
        self.bytes = 0;
        let stored = self.batch.stored();
        let answers =
            self.batch.store().map_err(|source| Failure::StreamNotStored { stored, source })?;
        self.print(answers);
        Ok(())
    }

    /// Prints answers. If standard output is closed, the lines are still stored.
    fn print(&mut self, answers: Vec<Answer>) {
        if self.unheard.is_none() && !answers.is_empty() {
            self.unheard = print(&answers, self.out).err();
        }
    }
}

fn print(answers: &[Answer], out: &mut Output) -> Result<(), Failure> {
    for answer in answers {
        match answer {
            Answer::Entry(id) => super::super::live::print_entry(id, out)?,
            Answer::Lines { added, ignored } => super::lines::print(*added, *ignored, out)?,
        }
    }
    Ok(out.flush()?)
}
