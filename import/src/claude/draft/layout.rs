//! Which members a record has where, as Claude Code 2.1.330 writes it (observed).

use crate::claude::kind::RecordKind;
use crate::scan::Raw;

/// The members of an entry in their order, without those that say where it stands: `parentUuid`, `isSidechain` and
/// `agentId` come first; after `uuid` and `timestamp` come the members that are not here, in the given order, and then what
/// the program says of its surroundings.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Before the type.
    pub(super) before_type: &'static [&'static str],
    /// Between the type and the uuid.
    pub(super) after_type: &'static [&'static str],
    /// What the type needs.
    pub(super) needed: &'static [Needed],
}

/// A member that records of a type need.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Needed {
    pub(super) name: &'static str,
    pub(super) expected: Expected,
}

/// What the value of a needed member must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    Text,
    TextOrNull,
    Object,
}

impl Expected {
    pub(super) fn is_met_by(self, value: Raw<'_>) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::TextOrNull => value.is_string() || value.is_null(),
            Self::Object => value.is_object(),
        }
    }

    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::TextOrNull => "a string or null",
            Self::Object => "an object",
        }
    }
}

const fn text(name: &'static str) -> Needed {
    Needed { name, expected: Expected::Text }
}

static USER: Layout = Layout {
    before_type: &["promptId"],
    after_type: &["message", "isMeta", "isVisibleInTranscriptOnly", "isCompactSummary"],
    needed: &[],
};

static ASSISTANT: Layout = Layout {
    before_type: &[
        "message",
        "thinkingDurationMs",
        "thinkingDisplay",
        "toolInputStreamMs",
        "apiBlockIndex",
        "requestId",
        "requestRef",
        "requestedModel",
        "promptCacheRequested",
    ],
    after_type: &[],
    needed: &[],
};

static ATTACHMENT: Layout = Layout {
    before_type: &["attachment"],
    after_type: &[],
    needed: &[Needed { name: "attachment", expected: Expected::Object }],
};

static SYSTEM: Layout = Layout {
    before_type: &[],
    after_type: &["subtype", "content", "level"],
    needed: &[text("subtype")],
};

static SUMMARY: Layout =
    Layout { before_type: &[], after_type: &[], needed: &[text("summary"), text("leafUuid")] };

static CUSTOM_TITLE: Layout =
    Layout { before_type: &[], after_type: &[], needed: &[text("customTitle")] };

static AI_TITLE: Layout = Layout { before_type: &[], after_type: &[], needed: &[text("aiTitle")] };

static AGENT_NAME: Layout =
    Layout { before_type: &[], after_type: &[], needed: &[text("agentName")] };

static LAST_PROMPT: Layout = Layout {
    before_type: &[],
    after_type: &[],
    needed: &[Needed { name: "leafUuid", expected: Expected::TextOrNull }],
};

static OTHER: Layout = Layout { before_type: &[], after_type: &[], needed: &[] };

impl Layout {
    pub(super) fn of(kind: RecordKind) -> &'static Self {
        match kind {
            RecordKind::User => &USER,
            RecordKind::Assistant => &ASSISTANT,
            RecordKind::Attachment => &ATTACHMENT,
            RecordKind::System => &SYSTEM,
            RecordKind::Summary => &SUMMARY,
            RecordKind::CustomTitle => &CUSTOM_TITLE,
            RecordKind::AiTitle => &AI_TITLE,
            RecordKind::AgentName => &AGENT_NAME,
            RecordKind::LastPrompt => &LAST_PROMPT,
            _ => &OTHER,
        }
    }

    /// Whether the layout says where a member stands.
    pub(super) fn has(&self, name: &str) -> bool {
        self.before_type.contains(&name) || self.after_type.contains(&name)
    }
}

/// Whether records of a kind that stand outside the tree name their session.
pub(super) fn names_session(kind: RecordKind) -> bool {
    matches!(
        kind,
        RecordKind::CustomTitle
            | RecordKind::AiTitle
            | RecordKind::AgentName
            | RecordKind::LastPrompt
            | RecordKind::Mode
            | RecordKind::PermissionMode
            | RecordKind::QueueOperation
            | RecordKind::PrLink
    )
}

/// What an entry takes over from the one above it, in the order in which the program writes it.
pub(super) const SURROUNDINGS: [&str; 7] =
    ["userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug"];
