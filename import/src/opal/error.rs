//! Why a line cannot be written.

use crate::grammar::Malformed;

/// Why a line cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// What was given is not JSON.
    #[error("the record cannot be read: {0}")]
    Malformed(#[from] Malformed),
    /// It is JSON, but no object.
    #[error("the record is {found}: an object is needed")]
    NotAnObject {
        /// What it is, in words.
        found: &'static str,
    },
    /// A member that every such record has is missing.
    #[error("the record has no {name}: {expected} is needed")]
    MissingMember {
        /// The member's name.
        name: &'static str,
        /// What its value must be, in words.
        expected: &'static str,
    },
    /// A member has a value of the wrong type.
    #[error("{name} is {found}: {expected} is needed")]
    WrongMember {
        /// The member's name.
        name: &'static str,
        /// What its value must be, in words.
        expected: &'static str,
        /// What it is, in words.
        found: &'static str,
    },
    /// A member was set to text that is not JSON.
    #[error("{name} cannot be read: {malformed}")]
    MalformedMember {
        /// The member's name.
        name: String,
        /// Where the text stops being JSON.
        #[source]
        malformed: Malformed,
    },
    /// The id and the parent of a draft are set when it is written.
    #[error("{name} is not a member that a draft can have")]
    NotAMember {
        /// `id` or `parent_id`.
        name: String,
    },
}
