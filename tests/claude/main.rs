//! Claude Code's sessions in a store.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod agents;
mod corpus;
#[path = "../place/mod.rs"]
mod place;
