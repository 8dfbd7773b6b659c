//! Runs that damage stores on purpose, or cut the power, and compare what stores say then with what is true.
//!
//! `cargo run --release -p leafline-faults -- pages --seed 1 --runs 1000` prints what it found; the same seed gives the same
//! runs. A run fails on a wrong answer, a panic, a hang, damage that `verify` does not see, or a session that is whole and that
//! `salvage` does not save. `power` makes the files as losses of power may leave them. `kills` and `calls` run the command
//! `leafline`, kill it and let its calls fail; `crowd` lets many processes use one store, and `forks` processes that are forked
//! while it is open. `journal` harms the journal that processes append to, and `soak` measures a store that is used as in days. The tests of this package are short runs.

pub mod answers;
pub mod calls;
pub mod command;
pub mod crowd;
pub mod damage;
mod expected;
#[cfg(unix)]
pub mod forks;
#[cfg(unix)]
pub mod journal;
pub mod kills;
mod outcome;
pub mod pages;
#[cfg(unix)]
pub mod power;
mod refused;
pub mod sample;
#[cfg(target_os = "linux")]
pub mod soak;
