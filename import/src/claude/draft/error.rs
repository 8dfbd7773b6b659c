//! Why a record cannot be appended.

use crate::grammar::Malformed;

/// Why a record cannot be appended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DraftError {
    /// The text is not JSON.
    #[error("the record cannot be read: {0}")]
    Malformed(#[source] Malformed),
    /// The text is JSON, but not an object.
    #[error("the record is {found}: an object is needed")]
    NotAnObject {
        /// The JSON type of the text, in words.
        found: &'static str,
    },
    /// It is neither a record, which has a `type`, nor a message, which has a `role`.
    #[error(
        "neither a type nor a role that is a non-empty string: a record or a message is needed"
    )]
    NoType,
    /// A message is neither the user's nor the model's.
    #[error("the role of the message is {role}: it is needed to be user or assistant")]
    UnknownRole {
        /// The role, as JSON text.
        role: String,
    },
    /// A member that the type needs is missing.
    #[error("the {record_type} has no {name}: {expected} is needed")]
    MissingMember {
        /// The record's type, or `message`.
        record_type: String,
        /// The member's name.
        name: &'static str,
        /// What its value must be, in words.
        expected: &'static str,
    },
    /// A member has a value of the wrong type.
    #[error("{name} of the {record_type} is {found}: {expected} is needed")]
    WrongMember {
        /// The record's type, or `message`.
        record_type: String,
        /// The member's name.
        name: &'static str,
        /// What its value must be, in words.
        expected: &'static str,
        /// The JSON type of the value, in words.
        found: &'static str,
    },
    /// A block of a message's content is not an object with a `type`, or lacks what blocks of its type need.
    #[error("block {number} of the content is {found}: {expected} is needed")]
    WrongBlock {
        /// The block's place, from 1.
        number: usize,
        /// What it is, in words.
        found: String,
        /// What it must be, in words.
        expected: &'static str,
    },
    /// A message of the model's with blocks that only the user's have, or the other way round.
    #[error(
        "block {number} of the content is a {block}, which a message of the role {role} does not have"
    )]
    ForeignBlock {
        /// The block's place, from 1.
        number: usize,
        /// The type of the block.
        block: &'static str,
        /// The role of the message.
        role: &'static str,
    },
    /// These members of a draft cannot be set.
    #[error("{name} is not a member that a draft can have")]
    NotAMember {
        /// `type`, `uuid`, `parentUuid`, `timestamp` or `sessionId`.
        name: String,
    },
}
