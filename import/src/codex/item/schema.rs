//! The kinds of item, and the members of each in the order in which the program sends them (observed, Codex 0.169.0).

/// How a member is read and sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A string or nothing; sent if it is an id of the program's form.
    Id,
    /// A string.
    Text,
    /// A string or nothing.
    OptionalText,
    /// A string or nothing; nothing is sent as null.
    NullableText,
    /// A string or nothing; not sent.
    UnsentText,
    /// A list of strings or nothing; not sent.
    UnsentTexts,
    /// The program's own data about the item: an object or nothing; not sent.
    Unsent,
    /// `commentary` or `final_answer`, or nothing.
    Phase,
    /// The blocks of a message.
    Content,
    /// The blocks of a message to an agent.
    AgentContent,
    /// A tool's output: a string, or blocks.
    Output,
    /// The summaries of a thought.
    Summary,
    /// The texts of reasoning, or nothing; nothing is sent as null.
    Thought,
    /// The state of a shell's call.
    ShellStatus,
    /// What a shell was to do.
    ShellAction,
    /// The action of a web search, or nothing.
    WebAction,
    /// Any JSON.
    Json,
    /// A list of any JSON.
    List,
}

impl Form {
    /// Whether a missing member is sent as null.
    pub(super) fn is_sent_as_null(self) -> bool {
        matches!(self, Self::NullableText | Self::Thought)
    }
}

/// A member of an item.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) form: Form,
}

const fn member(name: &'static str, form: Form) -> Member {
    Member { name, form }
}

const ID: Member = member("id", Form::Id);
const PASSTHROUGH: Member = member("internal_chat_message_metadata_passthrough", Form::Unsent);

macro_rules! items {
    ($($kind:ident $name:literal $(or $alias:literal)? [$($member:expr),* $(,)?];)*) => {
        /// The items that the program knows.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(in crate::codex) enum ItemKind {
            $($kind,)*
            /// An item of another type. The program ignores it, except that it keeps its place in a compaction.
            Other,
        }

        impl ItemKind {
            pub(super) fn of(name: &[u8]) -> Self {
                $(if name == $name.as_bytes() $(|| name == $alias.as_bytes())? {
                    return Self::$kind;
                })*
                Self::Other
            }

            /// The type under which it is sent.
            pub(super) fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                    Self::Other => "other",
                }
            }

            pub(super) fn members(self) -> &'static [Member] {
                match self {
                    $(Self::$kind => {
                        const MEMBERS: &[Member] = &[$($member),*];
                        MEMBERS
                    })*
                    Self::Other => &[],
                }
            }
        }
    };
}

items! {
    Message "message" [
        member("status", Form::OptionalText),
        ID,
        member("role", Form::Text),
        member("content", Form::Content),
        member("phase", Form::Phase),
        member("encrypted_content", Form::UnsentText),
        PASSTHROUGH,
    ];
    AgentMessage "agent_message" [
        ID,
        member("author", Form::Text),
        member("recipient", Form::Text),
        member("content", Form::AgentContent),
        PASSTHROUGH,
    ];
    Reasoning "reasoning" [
        ID,
        member("summary", Form::Summary),
        member("content", Form::Thought),
        member("encrypted_content", Form::NullableText),
        PASSTHROUGH,
    ];
    LocalShellCall "local_shell_call" [
        ID,
        member("call_id", Form::NullableText),
        member("status", Form::ShellStatus),
        member("action", Form::ShellAction),
        PASSTHROUGH,
    ];
    FunctionCall "function_call" [
        member("status", Form::OptionalText),
        ID,
        member("name", Form::Text),
        member("namespace", Form::OptionalText),
        member("arguments", Form::Text),
        member("encrypted_function_args", Form::UnsentTexts),
        member("call_id", Form::Text),
        PASSTHROUGH,
    ];
    FunctionCallOutput "function_call_output" [
        ID,
        member("call_id", Form::OptionalText),
        member("name", Form::OptionalText),
        member("namespace", Form::OptionalText),
        member("output", Form::Output),
        PASSTHROUGH,
    ];
    CustomToolCall "custom_tool_call" [
        ID,
        member("status", Form::OptionalText),
        member("call_id", Form::Text),
        member("name", Form::Text),
        member("namespace", Form::OptionalText),
        member("input", Form::Text),
        PASSTHROUGH,
    ];
    CustomToolCallOutput "custom_tool_call_output" [
        ID,
        member("call_id", Form::Text),
        member("name", Form::OptionalText),
        member("output", Form::Output),
        PASSTHROUGH,
    ];
    ToolSearchCall "tool_search_call" [
        ID,
        member("call_id", Form::NullableText),
        member("status", Form::OptionalText),
        member("execution", Form::Text),
        member("arguments", Form::Json),
        PASSTHROUGH,
    ];
    ToolSearchOutput "tool_search_output" [
        ID,
        member("call_id", Form::NullableText),
        member("status", Form::Text),
        member("execution", Form::Text),
        member("tools", Form::List),
        PASSTHROUGH,
    ];
    WebSearchCall "web_search_call" [
        ID,
        member("status", Form::OptionalText),
        member("action", Form::WebAction),
        PASSTHROUGH,
    ];
    ImageGenerationCall "image_generation_call" [
        ID,
        member("status", Form::Text),
        member("revised_prompt", Form::OptionalText),
        member("result", Form::Text),
        PASSTHROUGH,
    ];
    Compaction "compaction" or "compaction_summary" [
        ID,
        member("encrypted_content", Form::Text),
        PASSTHROUGH,
    ];
    ContextCompaction "context_compaction" [
        ID,
        member("encrypted_content", Form::OptionalText),
        PASSTHROUGH,
    ];
    AdditionalTools "additional_tools" [
        ID,
        member("role", Form::Text),
        member("tools", Form::List),
    ];
    CompactionTrigger "compaction_trigger" [];
    ConfigurationUpdate "configuration_update" [
        member("reasoning", Form::Json),
    ];
}
