//! Full text over sessions.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]
#![cfg(feature = "search")]

#[path = "../place/mod.rs"]
mod place;

mod following;
mod model;
mod queries;
