//! What the machine allows threads that do no work beside their writes: each writes its record in place, and those that wait
//! at the same time share an `fdatasync`.

use std::fs::File;
use std::path::Path;
use std::sync::{Barrier, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::ways::BARE;

/// Bytes of the file, which are written before.
const FILE: usize = 4 << 20;

/// Where the records begin: three on a page.
const APART: usize = 1_365;

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Where threads wait for this sync and for the next one.
    synced: [Condvar; 2],
}

#[derive(Default)]
struct State {
    is_running: bool,
    turn: usize,
    /// The number of the last write: of all, in the sync that runs, and on the disk.
    written: usize,
    last: usize,
    done: usize,
}

/// Durable writes in a second by so many threads together.
pub(crate) fn of_threads(path: &Path, threads: usize, writes: usize) -> f64 {
    std::fs::write(path, vec![1; FILE]).expect("a file can be written");
    let file = File::options().write(true).open(path).expect("it can be opened");
    file.sync_all().expect("it can be synced");
    let (shared, barrier) = (Shared::default(), Barrier::new(threads + 1));
    let each = writes / threads;
    let start = std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let record = vec![2; BARE];
                barrier.wait();
                (0..each).for_each(|_| write(&file, &shared, &record));
            });
        }
        barrier.wait();
        Instant::now()
    });
    super::processes::rate(each * threads, start)
}

fn write(file: &File, shared: &Shared, record: &[u8]) {
    let mut state = lock(shared);
    state.written += 1;
    let number = state.written;
    let at = number * APART % (FILE - APART);
    write_at(file, record, at as u64);
    while state.done < number {
        if state.is_running {
            let turn = if number <= state.last { state.turn } else { state.turn + 1 };
            let synced = &shared.synced[turn % 2];
            state = synced.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        state.is_running = true;
        state.turn += 1;
        state.last = state.written;
        drop(state);
        file.sync_data().expect("it can be synced");
        state = lock(shared);
        state.is_running = false;
        state.done = state.last;
        shared.synced[state.turn % 2].notify_all();
        shared.synced[(state.turn + 1) % 2].notify_one();
    }
}

fn lock(shared: &Shared) -> MutexGuard<'_, State> {
    shared.state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at).expect("it can be written");
}

#[cfg(windows)]
fn write_at(file: &File, bytes: &[u8], at: u64) {
    let written = std::os::windows::fs::FileExt::seek_write(file, bytes, at);
    assert_eq!(written.expect("it can be written"), bytes.len());
}
