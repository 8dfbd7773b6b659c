//! The history of prompts, compared with SQLite's FTS5 as omp uses it.
//!
//! Guards against prompts that are lost, and searches that find something else than omp's.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![allow(unreachable_pub, reason = "a test is a crate of its own")]

mod claude;
mod damage;
mod keeping;
#[cfg(feature = "omp-history")]
mod omp;
#[cfg(feature = "omp-history")]
mod omp_files;
#[path = "../place/mod.rs"]
mod place;

use leafline::prompts::HistoryEntry;

/// The prompts' texts.
fn texts(prompts: &[HistoryEntry]) -> Vec<&str> {
    prompts.iter().map(|prompt| prompt.prompt.as_str()).collect()
}
