//! Prompts that are written while their caller goes on.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use super::write;
use crate::error::{FileContext, Result};
use crate::process::Process;
use crate::store::prompt_record::PromptRecord;
use crate::store::{Store, StoreOptions};

/// The most prompts that wait; a person gives one in seconds.
const WAITING: usize = 4096;

/// The most prompts in one commit.
const PROMPTS_A_COMMIT: usize = 1000;

/// The page cache of the thread's handle, in bytes: the pages that one prompt changes.
const PAGE_CACHE: usize = 4 << 20;

/// A thread that writes prompts, and the channel to it.
#[derive(Debug)]
pub(super) struct Queue {
    /// Gone when the queue ends.
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
    process: Process,
}

/// What the thread is to do.
enum Job {
    Add(PromptRecord),
    /// Report the result of all prompts before.
    Flush(SyncSender<Result<()>>),
}

impl Queue {
    /// Starts the thread for the store in this file.
    ///
    /// # Errors
    ///
    /// [`crate::Error::File`] if the system gives no thread.
    pub(super) fn start(path: &Path) -> Result<Self> {
        let (jobs, received) = sync_channel(WAITING);
        let path = path.to_owned();
        let written = path.clone();
        let thread = Builder::new()
            .spawn(move || write_all(&written, &received))
            .at("starting a thread to add prompts to", &path)?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread), process: Process::current() })
    }

    /// Hands over a prompt.
    pub(super) fn push(&self, record: PromptRecord) {
        self.send(Job::Add(record));
    }

    /// Waits for all prompts in the queue.
    pub(super) fn flush(&self) -> Result<()> {
        let (answer, answered) = sync_channel(1);
        self.send(Job::Flush(answer));
        answered.recv().expect("the thread answers every flush before it ends")
    }

    fn send(&self, job: Job) {
        let jobs = self.jobs.as_ref().expect("the queue is open until it is dropped");
        jobs.send(job).expect("the thread takes jobs until the queue is dropped");
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if !self.process.is_current() {
            // A forked process has the channel, and not the thread.
            return std::mem::forget((self.jobs.take(), self.thread.take()));
        }
        // Without a sender the thread ends when it has written what is queued.
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write_all(path: &Path, jobs: &Receiver<Job>) {
    let mut store = None;
    let mut first_error = None;
    while let Ok(job) = jobs.recv() {
        let mut waiting = Some(job);
        let mut prompts = Vec::new();
        let mut flush = None;
        while let Some(job) = waiting {
            match job {
                Job::Add(prompt) => prompts.push(prompt),
                Job::Flush(answer) => flush = Some(answer),
            }
            let is_full = flush.is_some() || prompts.len() >= PROMPTS_A_COMMIT;
            waiting = if is_full { None } else { jobs.try_recv().ok() };
        }
        if let Err(error) = write_prompts(path, &mut store, prompts) {
            first_error.get_or_insert(error);
        }
        if let Some(answer) = flush {
            // A caller that no longer waits does not need the answer.
            let _ = answer.send(first_error.take().map_or(Ok(()), Err));
        }
    }
}

fn write_prompts(path: &Path, store: &mut Option<Store>, prompts: Vec<PromptRecord>) -> Result<()> {
    if prompts.is_empty() {
        return Ok(());
    }
    let store = match store {
        Some(store) => store,
        None => {
            let options = StoreOptions {
                page_cache_bytes: PAGE_CACHE,
                line_cache_bytes: 0,
                create: false,
                ..StoreOptions::default()
            };
            store.insert(Store::open_with(path, &options)?)
        }
    };
    write::add_all(store, prompts)?;
    Ok(())
}
