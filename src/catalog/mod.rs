//! Many sessions.

pub(crate) mod breadcrumbs;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod list;
pub(crate) mod names;
pub(crate) mod remove;
pub(crate) mod statistics;
pub(crate) mod verify;
