//! Many sessions.

pub(crate) mod backup;
pub(crate) mod beside;
mod blobs;
pub(crate) mod breadcrumbs;
pub(crate) mod export;
pub(crate) mod file_time;
pub(crate) mod files;
pub(crate) mod filter;
pub(crate) mod folder;
mod gone;
pub(crate) mod import;
pub(crate) mod list;
mod order;
pub(crate) mod programs;
mod relocate;
pub(crate) mod remove;
pub(crate) mod repair;
pub(crate) mod salvage;
pub(crate) mod statistics;
pub(crate) mod usage;
pub(crate) mod verify;
#[cfg(feature = "watch")]
pub(crate) mod watch;

use std::path::Path;

use serde::{Serialize, Serializer};

/// JSON is Unicode, and a path need not be: other bytes become U+FFFD.
fn path_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    path.to_string_lossy().serialize(serializer)
}
