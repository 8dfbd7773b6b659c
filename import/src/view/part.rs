//! What an entry is made of.

/// A part of an entry: a block of its content, or the equivalent.
///
/// Texts have U+FFFD for each lone surrogate. Empty texts and empty reasoning are left out.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// What is said.
    Text(String),
    /// The model's reasoning. Reasoning that the file has only encrypted is [`Part::Other`].
    Thinking(String),
    /// The model calls a tool.
    ToolCall {
        /// The id of the call, by which its result refers to it.
        id: Option<String>,
        /// The tool; empty if the file does not state it.
        name: String,
        /// The arguments as JSON text, as written in the line; empty if there are none.
        arguments: String,
    },
    /// The output of a tool, or of a command of the user. Anything else than text in it follows as parts of their own.
    ToolResult {
        /// The call that it answers.
        call_id: Option<String>,
        /// The tool; Claude Code and Opal do not state it with the result.
        name: Option<String>,
        /// Whether it failed.
        is_error: bool,
        /// Its text blocks, each on a line of its own; empty if there are none.
        text: String,
    },
    /// An image.
    Image {
        /// Its MIME type.
        mime_type: Option<String>,
        /// The length of its base64 text in the line, in bytes; 0 if the line only says where it is kept.
        base64_length: usize,
    },
    /// A block that is none of these, or what was added to a text of the user's (Claude Code, `ide_selection` and the like).
    Other {
        /// Its `type`, or the name of its tag.
        type_name: String,
        /// Its title.
        title: Option<String>,
        /// The text in it, without base64; empty if there is none.
        text: String,
    },
}

impl Part {
    /// A part of which only the name is shown.
    pub(crate) fn named(type_name: impl Into<String>) -> Self {
        Self::Other { type_name: type_name.into(), title: None, text: String::new() }
    }

    /// The texts of the part that describe it, in order. A call's are its name and arguments.
    pub(super) fn texts(&self) -> [&str; 2] {
        match self {
            Self::Text(text) | Self::Thinking(text) | Self::ToolResult { text, .. } => [text, ""],
            Self::ToolCall { name, arguments, .. } => [name, arguments],
            Self::Other { title, text, .. } => [title.as_deref().unwrap_or_default(), text],
            Self::Image { .. } => ["", ""],
        }
    }
}
