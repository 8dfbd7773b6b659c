//! The pipeline of a bulk import: one thread reads, workers prepare blocks side by side, one thread puts
//! them in order and commits. Every item carries its number; the writer takes them in that order.

use std::collections::BTreeMap;
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use leafline_import::Family;

use super::blob_folder::BlobFolder;
use super::items::Item;
use super::writer::Writer;
use crate::error::Result;
use crate::session::index::prepare::Preparer;
use crate::session::index::reading::Reading;
use crate::store::compression::{Compressor, Dictionary};
use crate::store::originals;

/// Bytes of a block: a few milliseconds of a worker's time.
pub(in crate::catalog) const BLOCK_BYTES: usize = 1 << 20;

/// Blocks that wait for a worker.
const BLOCKS_WAITING: usize = 8;

/// Items that are under way at once, most of them prepared and waiting for the writer: a commit takes as long
/// as preparing some thirty blocks, and the workers are not to wait for it. Some 25 MiB.
const ITEMS_UNDER_WAY: usize = 64;

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
pub(super) struct Feeder {
    next: u64,
    jobs: Sender<Job>,
    items: Sender<(u64, Item)>,
    permits: Receiver<()>,
    buffers: Receiver<Vec<u8>>,
}

/// The pipeline has ended early: the writer failed, and says why itself.
#[derive(Debug)]
pub(super) struct Stopped;

impl Feeder {
    /// Sends an item that needs no worker.
    pub(super) fn send(&mut self, item: Item) -> Result<(), Stopped> {
        let number = self.take_number()?;
        self.items.send((number, item)).map_err(|_| Stopped)
    }

    /// Sends lines to be prepared.
    pub(super) fn send_lines(
        &mut self,
        block: Vec<u8>,
        opens_file: bool,
        reading: Reading,
        dictionary: &Arc<Dictionary>,
    ) -> Result<(), Stopped> {
        let number = self.take_number()?;
        let dictionary = Arc::clone(dictionary);
        let lines = Lines { number, block, opens_file, reading, dictionary };
        self.jobs.send(Job::Lines(Box::new(lines))).map_err(|_| Stopped)
    }

    /// Sends bytes of an imported file to be kept beside its migrated lines.
    pub(super) fn send_original(&mut self, bytes: Vec<u8>) -> Result<(), Stopped> {
        let number = self.take_number()?;
        self.jobs.send(Job::Original { number, bytes }).map_err(|_| Stopped)
    }

    /// Waits until everything that was sent is durable.
    pub(super) fn flush(&mut self) -> Result<(), Stopped> {
        let (answer, answered) = bounded(1);
        self.send(Item::Flush(answer))?;
        answered.recv().map_err(|_| Stopped)
    }

    /// A buffer for a block, used before where there is one.
    pub(super) fn buffer(&self) -> Vec<u8> {
        self.buffers.try_recv().unwrap_or_default()
    }

    fn take_number(&mut self) -> Result<u64, Stopped> {
        self.permits.recv().map_err(|_| Stopped)?;
        let number = self.next;
        self.next += 1;
        Ok(number)
    }
}

/// Runs `read` beside the workers and the writer. Answers what the writer ended with, after `read` is done.
pub(super) fn run(
    writer: Writer<'_>,
    blobs: Option<&BlobFolder>,
    read: impl FnOnce(&mut Feeder) -> Result<(), Stopped>,
) -> Result<()> {
    let workers = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let (jobs, work) = bounded(BLOCKS_WAITING);
    let (items, ordered) = unbounded();
    let (permit, permits) = bounded(ITEMS_UNDER_WAY);
    let (used, buffers) = bounded(BLOCKS_WAITING);
    for _ in 0..ITEMS_UNDER_WAY {
        permit.send(()).expect("the channel has room for as many, and its receiver lives");
    }
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (work, items, used): (Receiver<Job>, _, _) =
                (work.clone(), items.clone(), used.clone());
            scope.spawn(move || work_on(&work, &items, &used, blobs));
        }
        drop((work, used));
        let writing = scope.spawn(move || write(writer, &ordered, &permit));
        let mut feeder = Feeder { next: 0, jobs, items, permits, buffers };
        // Where the pipeline has stopped, the writer's error says why.
        let _ = read(&mut feeder);
        drop(feeder);
        writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn work_on(
    work: &Receiver<Job>,
    items: &Sender<(u64, Item)>,
    used: &Sender<Vec<u8>>,
    blobs: Option<&BlobFolder>,
) {
    let mut preparer = Preparer::new(Reading::plain(Family::Pi));
    let mut compressor = Compressor::new();
    for job in work {
        let item = match job {
            Job::Lines(lines) => {
                let Lines { number, block, opens_file, reading, dictionary } = *lines;
                preparer.set_reading(reading);
                let mut prepared = preparer.prepare(&block, opens_file, &dictionary);
                if let Some(folder) = blobs {
                    folder.bring(&mut prepared);
                }
                // A buffer that one very long line has grown is given up.
                if block.capacity() <= 2 * BLOCK_BYTES {
                    let _ = used.try_send(block);
                }
                (number, Item::Lines(Box::new(prepared)))
            }
            Job::Original { number, bytes } => {
                (number, Item::Original(originals::encode(&mut compressor, &bytes)))
            }
        };
        if items.send(item).is_err() {
            return;
        }
    }
}

fn write(
    mut writer: Writer<'_>,
    ordered: &Receiver<(u64, Item)>,
    permit: &Sender<()>,
) -> Result<()> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    for (number, item) in ordered {
        waiting.insert(number, item);
        while let Some(item) = waiting.remove(&next) {
            next += 1;
            writer.take(item)?;
            // The reader may have ended.
            let _ = permit.try_send(());
        }
    }
    writer.finish()
}
