//! Runs that damage stores on purpose, or cut the power, and compare what stores say then with what is true.
//!
//! `cargo run --release -p leafline-faults -- pages --seed 1 --runs 1000` prints what it found; the same seed gives the same
//! runs. A run fails on a wrong answer, a panic, a hang, damage that `verify` does not see, or a session that is whole and that
//! `salvage` does not save. The tests of this package are short runs.

pub mod answers;
pub mod damage;
mod expected;
mod outcome;
pub mod pages;
#[cfg(unix)]
pub mod power;
pub mod sample;
