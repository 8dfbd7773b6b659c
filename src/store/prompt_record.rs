//! The value of the `history` table: a prompt.

use bincode::{Decode, Encode};

use super::record::Record;

/// A prompt that was given to an agent.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct PromptRecord {
    /// When it was given, in milliseconds since 1970.
    pub(crate) created_at: i64,
    /// The working directory in which it was given.
    pub(crate) cwd: Option<String>,
    /// Its text, without white space around it.
    pub(crate) prompt: String,
}

impl Record for PromptRecord {
    const TABLE: &'static str = "history";
}
