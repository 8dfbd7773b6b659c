//! Views of entries: real files compared with serde_json's reading of the same lines, and random input.
//!
//! Guards against text, tools or times that a transcript shows and the entry does not have.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "view/corpus.rs"]
mod corpus;
mod oracle;
#[path = "view/random.rs"]
mod random;
#[path = "view/reading.rs"]
mod reading;
