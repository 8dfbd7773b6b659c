//! The context at an entry: messages and settings, as the session's program would have them.
//!
//! Guards against sending a model something else than its program would send.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod compactions;
mod images;
mod messages;
mod odd_files;
mod opal;
#[path = "../place/mod.rs"]
mod place;
mod requests;
mod scene;
mod settings;
mod versions;
