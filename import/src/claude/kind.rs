//! The types of record that Claude Code writes.

use crate::codes::codes;
use crate::scan::Shape;

codes! {
    /// What a line of a Claude Code session is.
    ///
    /// The first four are the document's (session JSONL format; its `snapshot` included), the others are observed. A
    /// type that is not here is [`RecordKind::Unknown`]; [`crate::claude::Record::type_name`] has its name. The type
    /// alone does not say whether a record is an entry of the tree: see [`crate::claude::Record::is_entry`].
    ///
    /// ```
    /// use leafline_import::claude::{RecordKind, Scanner};
    ///
    /// let mut scanner = Scanner::new();
    /// let record = scanner.scan(r#"{"type":"marker","uuid":"a","parentUuid":null}"#);
    /// assert_eq!(record.kind(), RecordKind::Unknown);
    /// assert_eq!(record.type_name().as_deref(), Some("marker"));
    /// ```
    RecordKind {
        /// A message of the user: a prompt, or the results of tools.
        User = 0 "user",
        /// A message of the model, or a part of one.
        Assistant = 1 "assistant",
        /// A short description of a session, and its leaf.
        Summary = 2 "summary",
        /// A checkpoint, as the document calls it.
        Snapshot = 3 "snapshot",
        /// A checkpoint, as files have it.
        FileHistorySnapshot = 4 "file-history-snapshot",
        /// A change of a checkpoint.
        FileHistoryDelta = 5 "file-history-delta",
        /// A note of the program itself; a compact boundary by its subtype.
        System = 6 "system",
        /// What a tool reports while it runs.
        Progress = 7 "progress",
        /// Something that goes along with a message.
        Attachment = 8 "attachment",
        /// A prompt that waits, or is taken back.
        QueueOperation = 9 "queue-operation",
        /// A new permission mode.
        PermissionMode = 10 "permission-mode",
        /// A new mode.
        Mode = 11 "mode",
        /// The prompt typed last, and the leaf.
        LastPrompt = 12 "last-prompt",
        /// A title by the model.
        AiTitle = 13 "ai-title",
        /// A title by the user.
        CustomTitle = 14 "custom-title",
        /// A name of the agent.
        AgentName = 15 "agent-name",
        /// A pull request that belongs to the session.
        PrLink = 16 "pr-link",
        /// The model ended the session.
        EndedByModel = 21 "ended-by-model",
        /// The session that goes on with the conversation.
        ContinuedIn = 22 "continued-in",
        /// A tag by the user.
        Tag = 23 "tag",
        /// The folder that the session was moved to.
        Relocated = 24 "relocated",
        /// A color of the agent.
        AgentColor = 25 "agent-color",
        /// The agent that the session was started as.
        AgentSetting = 26 "agent-setting",
        /// A page that the session has published.
        FrameLink = 27 "frame-link",
        /// What is watched for comments.
        ArtifactCommentMonitor = 28 "artifact-comment-monitor",
        /// Comments that were seen.
        ArtifactAutoreactLedger = 29 "artifact-autoreact-ledger",
        /// The session's counterpart on another machine.
        BridgeSession = 30 "bridge-session",
        /// The history is not to be sent to the account.
        HistorySuppression = 31 "history-suppression",
        /// Which parts of files the model wrote.
        AttributionSnapshot = 32 "attribution-snapshot",
        /// Where the session's tools run.
        IsolationLatch = 33 "isolation-latch",
        /// The account.
        SessionOwner = 34 "session-owner",
        /// A folder of extensions.
        DevMods = 35 "dev-mods",
        /// Whether memories are kept.
        MemoryMode = 36 "memory-mode",
        /// A setting of the program's own.
        AtisLatch = 37 "atis-latch",
        /// The tools called so far.
        ToolsUsed = 38 "tools-used",
        /// Where data came from.
        DataFlowRecords = 39 "data-flow-records",
        /// A gap in those records.
        DataFlowIncomplete = 40 "data-flow-incomplete",
        /// The sessions that this one was made from.
        DerivedFrom = 41 "derived-from",
        /// The work tree.
        WorktreeState = 42 "worktree-state",
        /// What the program's counter of costs shows.
        CostState = 43 "cost-state",
        /// Shorter results of tools.
        ContentReplacement = 44 "content-replacement",
        /// The parts of a request, by their hashes.
        ApiRequestShape = 45 "api-request-shape",
        /// A part of requests.
        ApiRequestBlob = 46 "api-request-blob",
        /// A request.
        ApiRequest = 47 "api-request",
        /// A request after a resume.
        ApiRequestResumed = 48 "api-request-resumed",
        /// The conversation that an agent began with.
        ForkContextRef = 49 "fork-context-ref",
        /// A session that watches this one.
        ObserverRef = 50 "observer-ref",
        /// A mark by which a resume need not read the whole file.
        ResumeHeadVouch = 51 "resume-head-vouch",
        /// A record of the program around.
        HostRow = 52 "host-row",
        /// A mode of the program.
        ReplMode = 53 "repl-mode",
        /// The organization.
        HybridOrganization = 54 "hybrid-organization",
        /// An object of any other type, or of none.
        Unknown = 17 "<unknown>",
        /// A line of white space.
        Blank = 18 "<blank>",
        /// A line that is not JSON.
        Malformed = 19 "<malformed>",
        /// A line that is JSON but no object.
        Scalar = 20 "<scalar>",
    }
}

impl RecordKind {
    /// What a line of a shape is, given its `type` where that is a string.
    pub(super) fn of(shape: Shape, type_name: Option<&[u8]>) -> Self {
        match shape {
            Shape::Blank => Self::Blank,
            Shape::Malformed => Self::Malformed,
            Shape::Scalar => Self::Scalar,
            Shape::Object => Self::of_type(type_name),
        }
    }

    /// What an object is, given its `type` where that is a string.
    pub(super) fn of_type(type_name: Option<&[u8]>) -> Self {
        type_name.and_then(Self::of_documented_name).unwrap_or(Self::Unknown)
    }

    /// Whether it is a message of the conversation: of the user or of the model.
    #[must_use]
    pub fn is_message(self) -> bool {
        matches!(self, Self::User | Self::Assistant)
    }

    /// Whether records of this type stand in the tree even where they lack a uuid: a message and what hangs on one. All
    /// other types stand outside it unless they have a uuid or a parent.
    #[must_use]
    pub fn is_of_tree(self) -> bool {
        self.is_message() || matches!(self, Self::System | Self::Progress | Self::Attachment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_codes_come_back() {
        for &kind in RecordKind::ALL {
            assert_eq!(RecordKind::from_code(kind.code()), Some(kind));
            let own = kind.name().starts_with('<');
            let named = RecordKind::of_type(Some(kind.name().as_bytes()));
            assert_eq!(named, if own { RecordKind::Unknown } else { kind });
        }
        assert_eq!(RecordKind::ALL.len(), 55);
        assert_eq!(RecordKind::of(Shape::Scalar, Some(b"user")), RecordKind::Scalar);
        assert_eq!(RecordKind::of_type(None), RecordKind::Unknown);
    }
}
