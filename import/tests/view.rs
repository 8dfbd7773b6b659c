//! Views of entries: real files against the same lines as serde_json sees them, and random input.
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
