//! The kinds of record, and the roles of messages, that the documents name.

use crate::codes::codes;
use crate::scan::{Raw, Scan, Shape};

codes! {
    /// What a line of a session is.
    ///
    /// In pi's and omp's files, any object that is not a header or title is an entry, whatever its type: unknown types
    /// are kept and can be parents and leaves (observed behaviour). Records of other families get the nearest kind:
    /// their messages are [`EntryKind::Message`], a compact boundary is [`EntryKind::Compaction`], Opal's first line
    /// [`EntryKind::Header`].
    EntryKind {
        /// The session's header, or a later line of that type.
        Header = 0 "session",
        /// omp's title line.
        Title = 1 "title",
        /// A message of the conversation.
        Message = 2 "message",
        /// A new thinking level.
        ThinkingLevelChange = 3 "thinking_level_change",
        /// A new model.
        ModelChange = 4 "model_change",
        /// A summary that replaces earlier messages.
        Compaction = 5 "compaction",
        /// A summary of a branch that was left.
        BranchSummary = 6 "branch_summary",
        /// State of an extension.
        Custom = 7 "custom",
        /// A message of an extension.
        CustomMessage = 8 "custom_message",
        /// A label set on an entry, or cleared.
        Label = 9 "label",
        /// The session's name.
        SessionInfo = 10 "session_info",
        /// omp: rules that were injected.
        TtsrInjection = 11 "ttsr_injection",
        /// omp: the session's initial state.
        SessionInit = 12 "session_init",
        /// omp: a new mode.
        ModeChange = 13 "mode_change",
        /// An object of any other type, or without a type.
        Unknown = 14 "<unknown>",
        /// A line of white space.
        Blank = 15 "<blank>",
        /// A line that is not JSON.
        Malformed = 16 "<malformed>",
        /// A line that is JSON but not an object.
        Scalar = 17 "<scalar>",
        /// Claude Code, Codex: a note by the program itself.
        System = 18 "system",
        /// Claude Code: a short description of a session, outside the tree.
        Summary = 19 "summary",
        /// Claude Code: any other record outside the tree.
        Outside = 20 "<outside>",
    }
}

impl EntryKind {
    /// The kind of a scanned line of pi or omp.
    #[must_use]
    pub fn of(scan: &Scan<'_>) -> Self {
        match scan.shape {
            Shape::Blank => Self::Blank,
            Shape::Malformed => Self::Malformed,
            Shape::Scalar => Self::of_record(false, None),
            Shape::Object => Self::of_record(true, scan.members.entry_type),
        }
    }

    /// The kind of a parsed record, given whether it is an object and its `type`.
    pub(crate) fn of_record(is_object: bool, entry_type: Option<Raw<'_>>) -> Self {
        if !is_object {
            return Self::Scalar;
        }
        let name = entry_type.and_then(Raw::as_string);
        name.and_then(|name| Self::of_name(&name)).unwrap_or(Self::Unknown)
    }

    /// The kind whose records have this `type` in pi's and omp's files.
    #[must_use]
    pub fn of_name(name: &[u8]) -> Option<Self> {
        Self::of_documented_name(name).filter(|kind| *kind <= Self::ModeChange)
    }

    /// Whether such a line is part of the tree. A header, a title line, a line that is not an object, and what Claude
    /// Code keeps outside the tree are not.
    #[must_use]
    pub fn is_entry(self) -> bool {
        !matches!(
            self,
            Self::Header
                | Self::Title
                | Self::Blank
                | Self::Malformed
                | Self::Scalar
                | Self::Summary
                | Self::Outside
        )
    }
}

codes! {
    /// Who a message is from.
    MessageRole {
        /// The user.
        User = 0 "user",
        /// The model.
        Assistant = 1 "assistant",
        /// The result of a tool call.
        ToolResult = 2 "toolResult",
        /// A command the user ran.
        BashExecution = 3 "bashExecution",
        /// An extension.
        Custom = 4 "custom",
        /// The name of [`MessageRole::Custom`] before version 3.
        HookMessage = 5 "hookMessage",
        /// A branch summary, as a message.
        BranchSummary = 6 "branchSummary",
        /// A compaction's summary, as a message.
        CompactionSummary = 7 "compactionSummary",
        /// Any other role.
        Other = 8 "<other>",
        /// The line has no `message` whose role is a string.
        None = 9 "<none>",
        /// Claude Code, Codex: the program, writing in the user's name or as the developer.
        Meta = 10 "<meta>",
    }
}

impl MessageRole {
    /// The role of a scanned line's message.
    #[must_use]
    pub fn of(scan: &Scan<'_>) -> Self {
        Self::of_role(scan.members.message_role)
    }

    /// The role of a message, given its `role`.
    pub(crate) fn of_role(role: Option<Raw<'_>>) -> Self {
        match role.and_then(Raw::as_string) {
            None => Self::None,
            Some(name) => Self::of_documented_name(&name).unwrap_or(Self::Other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Scanner;

    fn kind(text: &str) -> EntryKind {
        EntryKind::of(&Scanner::new().scan(text))
    }

    #[test]
    fn codes_come_back() {
        for code in 0..=255 {
            if let Some(kind) = EntryKind::from_code(code) {
                assert_eq!(kind.code(), code);
            }
            if let Some(role) = MessageRole::from_code(code) {
                assert_eq!(role.code(), code);
            }
        }
        assert_eq!(EntryKind::ALL.len(), 21);
        assert_eq!(MessageRole::ALL.len(), 11);
    }

    #[test]
    fn kinds_of_lines() {
        assert_eq!(kind(r#"{"id":"x","type":"label"}"#), EntryKind::Label);
        assert_eq!(kind(r#"{"type":"l\u0061bel"}"#), EntryKind::Label);
        assert_eq!(kind(r#"{"type":"leaf"}"#), EntryKind::Unknown);
        assert_eq!(kind(r#"{"type":"<blank>"}"#), EntryKind::Unknown);
        assert_eq!(kind(r#"{"type":"system"}"#), EntryKind::Unknown);
        assert_eq!(kind(r#"{"type":5}"#), EntryKind::Unknown);
        assert_eq!(kind("{}"), EntryKind::Unknown);
        assert_eq!(kind("[]"), EntryKind::Scalar);
        assert_eq!(kind(" \r\n"), EntryKind::Blank);
        assert_eq!(kind("{}{}"), EntryKind::Malformed);
    }
}
