//! Opal's sessions: whole files read, written again and shortened, and what holds for any input.
//!
//! Guards against edits that change more of a file than they should.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "opal/corpus.rs"]
mod corpus;
#[path = "opal/file.rs"]
mod file;
#[path = "opal/laws.rs"]
mod laws;
mod oracle;
#[path = "opal/samples.rs"]
mod samples;
#[path = "opal/segments.rs"]
mod segments;
