//! Many sessions.

pub(crate) mod breadcrumbs;
pub(crate) mod export;
mod file_time;
pub(crate) mod import;
pub(crate) mod list;
pub(crate) mod names;
pub(crate) mod programs;
mod relocate;
pub(crate) mod remove;
pub(crate) mod statistics;
pub(crate) mod verify;
#[cfg(feature = "watch")]
pub(crate) mod watch;
