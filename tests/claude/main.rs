//! Claude Code's sessions in a store.
//!
//! Guards against conversations that are not those of the program: wrong parents, contexts, agents or titles.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod agents;
mod contexts;
mod corpus;
mod damage;
mod document;
mod exported;
mod folded;
mod forks;
mod growth;
mod named;
mod paths;
#[path = "../place/mod.rs"]
mod place;
mod random;
mod records;
mod recovery;
mod written;
