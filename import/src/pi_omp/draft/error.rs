//! Why an entry cannot be appended.

use std::fmt;

use crate::grammar::Malformed;

/// Why an entry cannot be appended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DraftError {
    /// The entry is not JSON.
    #[error("the entry cannot be read: {0}")]
    Malformed(#[source] Malformed),
    /// The entry is JSON, but not an object.
    #[error("the entry is not a JSON object")]
    NotAnObject,
    /// Its `type` is missing, not a string, or empty.
    #[error("the entry has no type: a non-empty string is needed")]
    NoType,
    /// Its type is that of a header or title line, which are not entries.
    #[error("a line of type {entry_type} is not an entry and cannot be appended")]
    NotAnEntry {
        /// `session` or `title`.
        entry_type: &'static str,
    },
    /// A member that the type needs is missing.
    #[error("the {entry_type} entry has no {name}: {expected} is needed")]
    MissingMember {
        /// The entry's type.
        entry_type: String,
        /// The member's name.
        name: &'static str,
        /// What its value must be.
        expected: Expected,
    },
    /// A member has a value of the wrong type.
    #[error("{name} of the {entry_type} entry is {found}: {expected} is needed")]
    WrongMember {
        /// The entry's type.
        entry_type: String,
        /// The member's name.
        name: &'static str,
        /// What its value must be.
        expected: Expected,
        /// The JSON type of the value, in words. A number out of a double's range is null, as in JavaScript.
        found: &'static str,
    },
    /// A member was set to text that is not JSON.
    #[error("{name} of the {entry_type} entry cannot be read: {malformed}")]
    MalformedMember {
        /// The entry's type.
        entry_type: String,
        /// The member's name.
        name: String,
        /// Where the text stops being JSON.
        #[source]
        malformed: Malformed,
    },
    /// Type, id, parent and time of a draft cannot be set.
    #[error("{name} is not a member that a draft can have")]
    NotAMember {
        /// `type`, `id`, `parentId` or `timestamp`.
        name: String,
    },
}

/// What the value of a documented member must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// Any value.
    Anything,
    /// A string.
    Text,
    /// A string or null.
    TextOrNull,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A string or an array.
    TextOrArray,
    /// An array of strings.
    Texts,
    /// An object whose `role` is a string.
    Message,
}

impl fmt::Display for Expected {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Anything => "any value",
            Self::Text => "a string",
            Self::TextOrNull => "a string or null",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::TextOrArray => "a string or an array",
            Self::Texts => "an array of strings",
            Self::Message => "an object whose role is a string",
        })
    }
}
