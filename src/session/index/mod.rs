//! From lines to rows.

pub(crate) mod beginning;
pub(crate) mod facts;
pub(crate) mod finish;
pub(crate) mod frames;
pub(crate) mod growth;
pub(crate) mod indexer;
pub(crate) mod leaf;
mod nodes;
pub(crate) mod prepare;
pub(crate) mod records;
pub(crate) mod resolve;
mod settings;
pub(crate) mod usage;
mod window;
