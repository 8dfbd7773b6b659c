//! Whom an entry is from.

use std::fmt;

/// Who an entry is from, or what it does in the conversation, in terms that apply to every family.
///
/// The [module's table](crate::view) says which entries of a family have which role.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// The user said it, or the program did in the user's name.
    User,
    /// The model said it; its tool calls are part of it.
    Assistant,
    /// The results of tool calls.
    Tool,
    /// The program says something to the model or the user.
    System,
    /// A summary that replaces a part of the conversation, or all of it.
    Summary,
    /// A command that the user ran, and its output.
    Shell,
    /// An extension said it, or it was added to the conversation together with a message.
    Custom,
    /// A change that applies from here on: a model, a mode, a name.
    Setting,
    /// Any other record.
    Other,
    /// There is no record: the line is blank, malformed or no object.
    #[default]
    None,
}

impl Role {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::User,
        Self::Assistant,
        Self::Tool,
        Self::System,
        Self::Summary,
        Self::Shell,
        Self::Custom,
        Self::Setting,
        Self::Other,
        Self::None,
    ];

    /// Its name, one word in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::System => "system",
            Self::Summary => "summary",
            Self::Shell => "shell",
            Self::Custom => "custom",
            Self::Setting => "setting",
            Self::Other => "other",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
