//! What a loss of power leaves of a store and its journal: whatever of the writes that were not synced reached the disk, in
//! whatever order and with torn sectors, what was acknowledged is there, once and in its place.
//!
//! Two or three threads over two open stores, as two processes have them, play a random script at once: while one waits for
//! a sync, others write. All that happens to the files and to the journal's name is recorded, and from the record the files
//! are made as they may be after a loss of power at each moment. What has to be there follows from what the calls returned.
//!
//! The whole of it: `LEAFLINE_POWER_LOSS=10000 cargo test --workspace --lib power_loss -- --nocapture`, the number of images
//! of random subsets, and the prefix at each event; `LEAFLINE_POWER_LOSS_SEED=S` begins with another script.
//!
//! It fails if one of these is planted:
//!
//! - what is written is not on the disk when it is acknowledged: no sync of the journal, or none of the store at a commit; a
//!   thread, or a process, that shares another one's sync although it wrote after that began; a failed sync that a later one
//!   makes good;
//! - the order is wrong: an area is used again before what it has is folded; how far a fold came is in another commit than
//!   what it folded; a journal gets its name before its bytes are on the disk, or an epoch begins before the name is;
//! - what is read back is not checked: no checksum; of the numbers and the checksums by which records are a chain, neither;
//! - an appender does not see what others have appended; it builds on what another could not write.
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
mod run;
mod script;
mod shared;
mod stores;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod torn;
#[cfg(test)]
mod visible;
mod worker;

use std::path::{Path, PathBuf};

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
