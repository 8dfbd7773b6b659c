//! What a line is.

use std::fmt;

use crate::scan::Shape;

macro_rules! kinds {
    ($($kind:ident $name:literal $doc:literal;)*) => {
        /// What a line of a rollout is, by its `type` (observed).
        #[non_exhaustive]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum RecordKind {
            $(#[doc = $doc] $kind,)*
            /// An object of another type, or without a type.
            Unknown,
            /// JSON, but no object.
            Scalar,
            /// Nothing, or white space only.
            Blank,
            /// Not JSON.
            Malformed,
        }

        impl RecordKind {
            pub(super) fn of(shape: Shape, name: Option<&[u8]>) -> Self {
                match shape {
                    Shape::Blank => return Self::Blank,
                    Shape::Malformed => return Self::Malformed,
                    Shape::Scalar => return Self::Scalar,
                    Shape::Object => {}
                }
                $(if name == Some($name.as_bytes()) {
                    return Self::$kind;
                })*
                Self::Unknown
            }

            /// Its `type` in files; a word in angle brackets if it has none.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                    Self::Unknown => "<unknown>",
                    Self::Scalar => "<scalar>",
                    Self::Blank => "<blank>",
                    Self::Malformed => "<malformed>",
                }
            }
        }
    };
}

kinds! {
    SessionMeta "session_meta" "The header. A fork of the older kind repeats that of the session it came from.";
    ResponseItem "response_item" "What the model was sent or what it answered: a message, a thought, a tool's call or its output.";
    EventMsg "event_msg" "What happened, told to whoever watches: turns, messages once more, usage, rollbacks.";
    Compacted "compacted" "The conversation was compacted: what stands above it for the model.";
    TurnContext "turn_context" "The settings of a turn: model, folder, permissions.";
    WorldState "world_state" "What the model was told of its surroundings, whole or as a change.";
    TokenUsageRecord "token_usage_record" "The tokens of one answer.";
    InterAgentCommunication "inter_agent_communication" "A message from one agent to another.";
    InterAgentCommunicationMetadata "inter_agent_communication_metadata" "What goes with such a message.";
    DynamicToolsUpdated "dynamic_tools_updated" "Which tools the client offers.";
    RetainedContext "retained_context" "What is kept of the conversation for its reviewer.";
    SecurityRiskScore "security_risk_score" "A rating.";
    RealtimeItem "realtime_item" "A part of a spoken conversation.";
}

impl RecordKind {
    /// Whether the line is a record: an object of any type.
    #[must_use]
    pub fn is_record(self) -> bool {
        !matches!(self, Self::Scalar | Self::Blank | Self::Malformed)
    }

    /// Whether the line is an entry of the session: a record other than a header (ours).
    #[must_use]
    pub fn is_entry(self) -> bool {
        self.is_record() && self != Self::SessionMeta
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
