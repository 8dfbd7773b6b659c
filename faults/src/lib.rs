//! Runs that damage stores on purpose, or cut the power, and compare what stores say then with what is true.
//!
//! `cargo run --release -p leafline-faults -- pages --seed 1 --runs 1000` prints what it found; the same seed gives the same
//! runs. A run fails on a wrong answer, a panic, a hang, or damage that `verify` does not see. The tests of this package are
//! short runs.

pub mod answers;
pub mod pages;
#[cfg(unix)]
pub mod power;
pub mod sample;
