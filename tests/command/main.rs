//! The `leafline` command, as a user and as a script see it.

#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod agents;
mod changing;
mod claude;
mod context;
mod discovery;
mod export;
mod families;
#[cfg(unix)]
mod flipped_bits;
mod history;
mod import;
mod lists;
mod live;
mod manners;
mod opal;
mod reading;
#[cfg(unix)]
mod removing;
mod scene;
mod search;
mod sync;
mod tree;
