//! The pipeline of a bulk import: one thread reads, workers prepare blocks side by side, one thread puts
//! them in order and commits. Every item carries its number; the writer takes them in that order.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::Builder;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use leafline_import::Reading;

use super::blob_folder::BlobFolder;
use super::budget::Budget;
use super::items::Item;
use super::writer::Writer;
use crate::error::{Error, Result};
use crate::session::index::prepare::Preparer;
use crate::store::compression::{Compressor, Dictionary};
use crate::store::originals;

/// Bytes of a block: a few milliseconds of a worker's time.
pub(in crate::catalog) const BLOCK_BYTES: usize = 1 << 20;

/// Blocks that wait for a worker.
const BLOCKS_WAITING: usize = 8;

/// Bytes in the pipeline at once, most of them prepared and waiting for the writer: a commit takes as long as preparing
/// some thirty blocks, and the workers should not wait for it.
const BYTES_UNDER_WAY: usize = 32 << 20;

/// Approximate bytes of an item without lines.
const SMALL_ITEM: usize = 4 << 10;

/// Work that any worker can do.
enum Job {
    Lines(Box<Lines>),
    Original { number: u64, bytes: Vec<u8> },
}

/// Lines to be prepared.
struct Lines {
    number: u64,
    block: Vec<u8>,
    opens_file: bool,
    reading: Reading,
    dictionary: Arc<Dictionary>,
}

/// The reading side's end of the pipeline.
pub(super) struct Feeder<'b> {
    next: u64,
    jobs: Sender<Job>,
    items: Sender<Numbered>,
    budget: &'b Budget,
    buffers: Receiver<Vec<u8>>,
}

/// An item on its way to the writer.
struct Numbered {
    number: u64,
    item: Item,
    /// The bytes that it has taken from the budget.
    bytes: usize,
}

/// The pipeline ends early: the writer failed, and reports why itself, or the import was stopped.
#[derive(Debug)]
pub(super) struct Stopped;

impl Feeder<'_> {
    /// Sends an item that needs no worker.
    pub(super) fn send(&mut self, item: Item) -> Result<(), Stopped> {
        let number = self.take_number(SMALL_ITEM)?;
        self.items.send(Numbered { number, item, bytes: SMALL_ITEM }).map_err(|_| Stopped)
    }

    /// Sends lines to be prepared.
    pub(super) fn send_lines(
        &mut self,
        block: Vec<u8>,
        opens_file: bool,
        reading: Reading,
        dictionary: &Arc<Dictionary>,
    ) -> Result<(), Stopped> {
        let number = self.take_number(block.len())?;
        let dictionary = Arc::clone(dictionary);
        let lines = Lines { number, block, opens_file, reading, dictionary };
        self.jobs.send(Job::Lines(Box::new(lines))).map_err(|_| Stopped)
    }

    /// Sends bytes of an imported file to be kept beside its migrated lines.
    pub(super) fn send_original(&mut self, bytes: Vec<u8>) -> Result<(), Stopped> {
        let number = self.take_number(bytes.len())?;
        self.jobs.send(Job::Original { number, bytes }).map_err(|_| Stopped)
    }

    /// Waits until everything that was sent is durable.
    pub(super) fn flush(&mut self) -> Result<(), Stopped> {
        let (answer, answered) = bounded(1);
        self.send(Item::Flush(answer))?;
        answered.recv().map_err(|_| Stopped)
    }

    /// A buffer for a block, reused if there is one.
    pub(super) fn buffer(&self) -> Vec<u8> {
        self.buffers.try_recv().unwrap_or_default()
    }

    fn take_number(&mut self, bytes: usize) -> Result<u64, Stopped> {
        self.budget.take(bytes)?;
        let number = self.next;
        self.next += 1;
        Ok(number)
    }
}

/// Runs `read` in parallel with the workers and the writer. Returns the writer's result, after `read` is done.
pub(super) fn run(
    writer: Writer<'_>,
    blobs: Option<&BlobFolder>,
    read: impl FnOnce(&mut Feeder<'_>) -> Result<(), Stopped>,
) -> Result<()> {
    let workers = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let (jobs, work) = bounded(BLOCKS_WAITING);
    let (items, ordered) = unbounded();
    let (used, buffers) = bounded(BLOCKS_WAITING);
    let budget = &Budget::new(BYTES_UNDER_WAY);
    let path = writer.path();
    let no_thread = |source| Error::File {
        action: "starting a thread to import into",
        path: path.to_owned(),
        source,
    };
    std::thread::scope(|scope| {
        for number in 0..workers {
            let (work, items, used): (Receiver<Job>, _, _) =
                (work.clone(), items.clone(), used.clone());
            let worker = move || work_on(&work, &items, budget, &used, blobs);
            match Builder::new().spawn_scoped(scope, worker) {
                Ok(_) => {}
                Err(error) if number == 0 => return Err(no_thread(error)),
                // The system gives no more.
                Err(_) => break,
            }
        }
        drop((work, used));
        let writing = Builder::new().spawn_scoped(scope, move || {
            // However the writer ends, no thread waits for what it would have returned.
            let _closing = Closing(budget);
            write(writer, &ordered, budget)
        });
        let writing = writing.map_err(no_thread)?;
        let mut feeder = Feeder { next: 0, jobs, items, budget, buffers };
        // If the pipeline has stopped, the writer's error says why.
        let _ = read(&mut feeder);
        drop(feeder);
        writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Closes a budget at the end of a scope.
struct Closing<'b>(&'b Budget);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

fn work_on(
    work: &Receiver<Job>,
    items: &Sender<Numbered>,
    budget: &Budget,
    used: &Sender<Vec<u8>>,
    blobs: Option<&BlobFolder>,
) {
    let mut preparer = None;
    let mut compressor = Compressor::new();
    for job in work {
        let item = match job {
            Job::Lines(lines) => {
                let Lines { number, block, opens_file, reading, dictionary } = *lines;
                let preparer = preparer.get_or_insert_with(|| Preparer::new(reading));
                preparer.set_reading(reading);
                let mut prepared = preparer.prepare(&block, opens_file, &dictionary);
                if let Some(folder) = blobs {
                    folder.fetch(&mut prepared);
                }
                let bytes = prepared.memory();
                budget.exchange(block.len(), bytes);
                // A buffer that one very long line has enlarged is dropped.
                if block.capacity() <= 2 * BLOCK_BYTES {
                    let _ = used.try_send(block);
                }
                Numbered { number, item: Item::Lines(Box::new(prepared)), bytes }
            }
            Job::Original { number, bytes } => {
                let encoded = originals::encode(&mut compressor, &bytes);
                budget.exchange(bytes.len(), encoded.len());
                Numbered { number, bytes: encoded.len(), item: Item::Original(encoded) }
            }
        };
        if items.send(item).is_err() {
            return;
        }
    }
}

fn write(mut writer: Writer<'_>, ordered: &Receiver<Numbered>, budget: &Budget) -> Result<()> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    for numbered in ordered {
        waiting.insert(numbered.number, numbered);
        while let Some(Numbered { item, bytes, .. }) = waiting.remove(&next) {
            next += 1;
            writer.take(item)?;
            budget.give_back(bytes);
        }
    }
    writer.finish()
}
