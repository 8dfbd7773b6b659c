//! The `leafline` command, as a user and as a script see it.

#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod changing;
mod context;
mod export;
mod history;
mod import;
mod live;
mod manners;
mod reading;
mod scene;
mod tree;
