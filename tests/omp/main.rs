//! The real omp, run by bun, as the judge: what it makes of a session is what Leafline makes of it.
//!
//! `tests/omp-judge` runs it; its README says how it is installed. Without it the tests say that they are skipped, unless
//! `LEAFLINE_REQUIRE_OMP` is set. What omp answered is kept in `answers.txt`, so that most cases are always checked.
//! `LEAFLINE_OMP_FULL=1` makes the random tests long.
//!
//! Guards against any difference from omp: in contexts, in lists, in what it reads of our files, and we of its.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod cases;
mod contexts;
mod damage;
mod expected;
mod exported;
mod judge;
mod listing;
mod operations;
#[path = "../place/mod.rs"]
mod place;
mod played;
mod random;
mod requests;
mod trees;

/// A session's file.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Whether the random tests are to be long.
pub(crate) fn is_full() -> bool {
    std::env::var_os("LEAFLINE_OMP_FULL").is_some()
}
