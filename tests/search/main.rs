//! Full text over sessions.
//!
//! Guards against hits that a reading of every entry would not find, and entries that no search finds.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]
#![cfg(feature = "search")]

#[path = "../place/mod.rs"]
mod place;

mod dead_files;
mod following;
mod model;
mod queries;
