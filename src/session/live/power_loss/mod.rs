//! What a loss of power leaves of a store and its journal: whatever of the writes that were not synced reached the disk, in
//! whatever order and with torn sectors, what was acknowledged is there, once and in its place.
//!
//! One to three threads over one or two open stores, or as many processes, play a random script at once: while one waits for
//! a sync, others write. Between the parts of a script the threads take turns, and each has the store for itself. They append,
//! change the leaf, labels, names, metadata and messages, begin and remove sessions, import files that grow and files that
//! became others, compact, back up, and make another store beside the first. All that happens to the files in the folder and
//! to their names is recorded, and from the record the files are made as they may be after a loss of power at each moment: with
//! all that was written, with what was synced alone, and with a part of the rest, torn at 512 bytes; each name stands for
//! anything that it did since the folder was last synced. What has to be there follows from what the calls returned:
//!
//! - the store opens and verifies without a problem, and what was acknowledged is in it, once and in its place; of a call that
//!   has not returned there is all or nothing. Some of the images are first read by who may not write, and some are appended to
//!   and opened again;
//! - the backup is the store as it was at one moment of the call that made it, or, while another such call runs, of the call
//!   before; a backup that was acknowledged is there;
//! - so is a new store, with its sessions.
//!
//! Every second script goes on from an image of the one before, so that power is lost again while a store is recovered.
//!
//! At length: `cargo run --release -p leafline-faults -- power --seed 1 --runs 1000000`; docs/reliability.md says what came of
//! it. The tests here are short runs of the same. A seed gives the same choices, but threads that run at once take turns as they
//! come; so a failing image is kept, and the failure says where.
//!
//! It fails if one of these is planted:
//!
//! - what is written is not on the disk when it is acknowledged: no sync of the journal, or none of the store at a commit; a
//!   thread, or a process, that shares another one's sync although it wrote after that began; a failed sync that a later one
//!   makes good; no sync of the folder after the journal, a new store or a backup got its name;
//! - the order is wrong: an area is used again before what it has is folded; how far a fold came is in another commit than
//!   what it folded; a journal or a backup gets its name before its bytes are on the disk, or an epoch begins before the name is;
//! - what is read back is not checked: no checksum; of the numbers and the checksums by which records are a chain, neither;
//! - an appender does not see what others have appended; it builds on what another could not write;
//! - a row is written to another session than its own.
//!
//! It cannot see that the last sync of a new backup is missing, since all of its bytes are on the disk by then: each of the
//! engine's commits is synced.
//!
//! Each of the number, the epoch and the repeated checksum of a record says nearly what the others say, so that it takes the
//! tests of the journal's file to miss one of them.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod appends;
mod disk;
mod edits;
mod expected;
#[cfg(test)]
mod failing;
mod images;
mod process;
mod run;
mod script;
mod shared;
#[cfg(test)]
mod standing;
mod stores;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod torn;
#[cfg(test)]
mod visible;
mod worker;

use std::path::{Path, PathBuf};

pub use self::process::{WORD, work};
pub use self::run::{Options, Report, run};

/// Numbers that follow from a seed.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap()
    }
}

/// A folder in memory, if there is one.
fn memory() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() }
}
