//! Claude Code's sessions in a store.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod agents;
mod contexts;
mod corpus;
mod damage;
mod document;
mod folded;
mod forks;
mod growth;
mod paths;
#[path = "../place/mod.rs"]
mod place;
mod random;
mod records;
mod recovery;
