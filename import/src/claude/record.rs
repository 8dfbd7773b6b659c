//! The facts of one record.

use std::borrow::Cow;

use crate::claude::kind::RecordKind;
use crate::claude::markup;
use crate::claude::members::{Content, Members, MembersVisitor};
use crate::scan::{Raw, Scan, Shape};
use crate::time::parse_timestamp;

/// The subtype of the `system` record that stands where the conversation was compacted.
const COMPACT_BOUNDARY: &str = "compact_boundary";

/// The subtype of a `system` record that is a command of the user's, or what it printed.
const LOCAL_COMMAND: &str = "local_command";

/// The type of the attachment that tells of a hook's success.
const HOOK_SUCCESS: &str = "hook_success";

/// Which record a record names as its parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parent<'a> {
    /// None: `parentUuid` is missing, null or empty (document), or false or zero (ours, as in pi's files).
    Root,
    /// The record with this uuid, as WTF-8; it may not be in the file.
    Uuid(Cow<'a, [u8]>),
    /// A value that can name nothing: the record is an orphan (ours, as in pi's files).
    Unusable,
}

/// The messages that a compaction kept, and the record behind which they stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Preserved<'a> {
    /// Those with these uuids.
    Messages { anchor: Option<Raw<'a>>, uuids: Raw<'a> },
    /// Those from one up to another above it.
    Segment { anchor: Option<Raw<'a>>, head: Cow<'a, [u8]>, tail: Cow<'a, [u8]> },
}

/// The facts of a line of a Claude Code session, made by [`Scanner::scan`](crate::claude::Scanner::scan).
///
/// Facts are read from the line's text when they are asked for, and copied only where they have escapes. Uuids are
/// compared by value, as WTF-8 (see [`crate::text`]); other texts have U+FFFD for a lone surrogate. A fact whose value
/// is not of the expected JSON type is absent. Of a member met twice the last counts.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    scan: Scan<'a>,
    members: Members<'a>,
    content: Content,
}

fn text(raw: Option<Raw<'_>>) -> Option<Cow<'_, str>> {
    raw.and_then(Raw::to_string_lossy)
}

/// The texts of a content: itself if it is a string, else its text blocks.
fn texts<'a>(content: Option<Raw<'a>>) -> impl Iterator<Item = Cow<'a, str>> {
    let own = text(content);
    let is_text = |block: &Raw<'_>| block.member("type").is_some_and(|name| name.is_text("text"));
    let blocks = content.into_iter().flat_map(Raw::elements).filter(is_text);
    own.into_iter().chain(blocks.filter_map(|block| text(block.member("text"))))
}

/// Texts with a space between them; `None` if there is nothing to read.
fn joined(texts: impl Iterator<Item = String>) -> Option<String> {
    let texts: Vec<String> = texts.collect();
    Some(texts.join(" ")).filter(|joined| !joined.is_empty())
}

fn id(raw: Option<Raw<'_>>) -> Option<Cow<'_, [u8]>> {
    raw.and_then(Raw::as_string)
}

fn is_set(raw: Option<Raw<'_>>) -> bool {
    raw.is_some_and(|raw| raw.as_str() == "true")
}

impl<'a> Record<'a> {
    pub(super) fn new(scan: Scan<'a>, visitor: MembersVisitor<'a>) -> Self {
        if scan.shape == Shape::Object {
            Self { scan, members: visitor.members, content: visitor.content }
        } else {
            Self { scan, members: Members::default(), content: Content::Nothing }
        }
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> RecordKind {
        RecordKind::of(self.scan.shape, id(self.scan.members.entry_type).as_deref())
    }

    /// `type`, known or not.
    #[must_use]
    pub fn type_name(&self) -> Option<Cow<'a, str>> {
        text(self.scan.members.entry_type)
    }

    /// `subtype`, of a `system` record.
    #[must_use]
    pub fn subtype(&self) -> Option<Cow<'a, str>> {
        text(self.members.subtype)
    }

    /// `uuid`: its name in the tree. A `user` record that was stored again has the name under which it was sent,
    /// `sentAsUuid` (observed).
    #[must_use]
    pub fn uuid(&self) -> Option<Cow<'a, [u8]>> {
        let sent_as = id(self.members.sent_as_uuid).filter(|uuid| !uuid.is_empty());
        let sent_as = sent_as.filter(|_| self.kind() == RecordKind::User);
        sent_as.or_else(|| id(self.members.uuid))
    }

    /// `relocatedCwd`, of a `relocated`: the folder that the session was moved to.
    pub(super) fn relocated_cwd(&self) -> Option<Cow<'a, str>> {
        text(self.members.relocated_cwd).filter(|cwd| !cwd.is_empty())
    }

    /// `parentUuid`.
    #[must_use]
    pub fn parent(&self) -> Parent<'a> {
        let parent = self.members.parent_uuid.filter(|parent| parent.is_truthy());
        match parent.map(Raw::as_string) {
            None => Parent::Root,
            Some(Some(uuid)) => Parent::Uuid(uuid),
            Some(None) => Parent::Unusable,
        }
    }

    /// Whether there is a member `parentUuid`, null included.
    #[must_use]
    pub fn has_parent_member(&self) -> bool {
        self.members.parent_uuid.is_some()
    }

    /// `logicalParentUuid`: of a compact boundary, the record that the conversation came from.
    #[must_use]
    pub fn logical_parent(&self) -> Option<Cow<'a, [u8]>> {
        id(self.members.logical_parent_uuid).filter(|uuid| !uuid.is_empty())
    }

    /// `sessionId`: the session that the record was written for. Copied records keep another's; an agent's records have
    /// that of the session that started it (observed).
    #[must_use]
    pub fn session_id(&self) -> Option<Cow<'a, [u8]>> {
        id(self.members.session_id)
    }

    /// Whether there is a member `sessionId`, of any type.
    pub(super) fn has_session_member(&self) -> bool {
        self.members.session_id.is_some()
    }

    /// Whether there is a member `isSidechain`, false included.
    pub(super) fn has_sidechain_member(&self) -> bool {
        self.members.is_sidechain.is_some()
    }

    /// `isSidechain`: it is part of an agent's conversation.
    #[must_use]
    pub fn is_sidechain(&self) -> bool {
        is_set(self.members.is_sidechain)
    }

    /// `agentId`.
    #[must_use]
    pub fn agent_id(&self) -> Option<Cow<'a, str>> {
        text(self.members.agent_id)
    }

    /// `timestamp`, in milliseconds since 1970; `None` if it is no ISO time.
    #[must_use]
    pub fn timestamp_ms(&self) -> Option<i64> {
        parse_timestamp(&text(self.scan.members.timestamp)?)
    }

    /// `cwd`: the working folder.
    #[must_use]
    pub fn cwd(&self) -> Option<Cow<'a, str>> {
        text(self.scan.members.cwd)
    }

    /// `gitBranch`.
    #[must_use]
    pub fn git_branch(&self) -> Option<Cow<'a, str>> {
        text(self.members.git_branch)
    }

    /// `version`: of the program; on a `summary`, of the format (document).
    #[must_use]
    pub fn version(&self) -> Option<Cow<'a, str>> {
        text(self.scan.members.version)
    }

    /// `isMeta`: the program wrote it in the user's name.
    #[must_use]
    pub fn is_meta(&self) -> bool {
        is_set(self.members.is_meta)
    }

    /// `isCompactSummary`: it is what the compacted conversation was replaced by.
    #[must_use]
    pub fn is_compact_summary(&self) -> bool {
        is_set(self.members.is_compact_summary)
    }

    /// `isApiErrorMessage`: it tells of an error of the API in place of an answer (observed).
    pub(super) fn is_api_error_message(&self) -> bool {
        is_set(self.members.is_api_error_message)
    }

    /// `compactMetadata`, of a compact boundary.
    pub(super) fn compact_metadata(&self) -> Option<Raw<'a>> {
        self.members.compact_metadata
    }

    /// Of a compact boundary, what it kept of the messages above it, word by word: `preservedMessages`, or else
    /// `preservedSegment` (observed).
    pub(super) fn preserved(&self) -> Option<Preserved<'a>> {
        let [list, segment] =
            self.compact_metadata()?.members(["preservedMessages", "preservedSegment"]);
        if let Some(list) = list.filter(|list| list.is_truthy()) {
            let [anchor, uuids] = list.members(["anchorUuid", "uuids"]);
            return Some(Preserved::Messages { anchor, uuids: uuids? });
        }
        let [anchor, head, tail] = segment?.members(["anchorUuid", "headUuid", "tailUuid"]);
        Some(Preserved::Segment { anchor, head: id(head)?, tail: id(tail)? })
    }

    /// Whether it is a compact boundary that kept messages above it word by word.
    #[must_use]
    pub fn keeps_messages(&self) -> bool {
        self.is_compact_boundary() && self.preserved().is_some()
    }

    /// Whether it is an `attachment` of which the model may be told: any but the success of a hook (observed).
    pub(super) fn is_attachment(&self) -> bool {
        let attached = self.members.attachment.and_then(|attached| attached.member("type"));
        self.kind() == RecordKind::Attachment
            && !attached.is_some_and(|kind| kind.is_text(HOOK_SUCCESS))
    }

    /// `content` beside the message: the text of a `system` record.
    pub(super) fn own_content(&self) -> Option<Raw<'a>> {
        self.members.content
    }

    /// `leafUuid`: of a `summary` or a `last-prompt`.
    #[must_use]
    pub fn leaf_uuid(&self) -> Option<Cow<'a, [u8]>> {
        id(self.members.leaf_uuid)
    }

    /// `explicit`: the leaf that a `last-prompt` names holds whatever hangs below it (observed). With null for `leafUuid` the
    /// conversation begins anew.
    #[must_use]
    pub fn is_explicit(&self) -> bool {
        is_set(self.members.explicit)
            && self.kind() == RecordKind::LastPrompt
            && self
                .members
                .leaf_uuid
                .is_some_and(|leaf| leaf.is_string() || leaf.as_str() == "null")
    }

    /// `summary`: the text of a `summary`.
    #[must_use]
    pub fn summary(&self) -> Option<Cow<'a, str>> {
        text(self.scan.members.summary)
    }

    /// `customTitle`.
    #[must_use]
    pub fn custom_title(&self) -> Option<Cow<'a, str>> {
        text(self.members.custom_title)
    }

    /// `aiTitle`.
    #[must_use]
    pub fn ai_title(&self) -> Option<Cow<'a, str>> {
        text(self.members.ai_title)
    }

    /// `agentName`.
    #[must_use]
    pub fn agent_name(&self) -> Option<Cow<'a, str>> {
        text(self.members.agent_name)
    }

    /// `messageId`: of a snapshot, the record that it goes with. It repeats, and is no key (observed).
    #[must_use]
    pub fn snapshot_message_id(&self) -> Option<Cow<'a, [u8]>> {
        id(self.members.snapshot_message_id)
    }

    /// `toolUseID`: of a `progress`.
    #[must_use]
    pub fn tool_use_id(&self) -> Option<Cow<'a, [u8]>> {
        id(self.members.tool_use_id)
    }

    /// `parentToolUseID`: of a `progress`.
    #[must_use]
    pub fn parent_tool_use_id(&self) -> Option<Cow<'a, [u8]>> {
        id(self.members.parent_tool_use_id)
    }

    /// `message.id`: the message of the API, which several records may share.
    #[must_use]
    pub fn message_id(&self) -> Option<Cow<'a, [u8]>> {
        id(self.members.message_id)
    }

    /// `requestId`: the call of the API that a record of the model's came from.
    pub(super) fn request_id(&self) -> Option<Raw<'a>> {
        self.members.request_id
    }

    /// `costUSD`: what the answer cost, in records of 2025.
    pub(super) fn cost(&self) -> Option<Raw<'a>> {
        self.members.cost_usd
    }

    /// `message.role`.
    #[must_use]
    pub fn role(&self) -> Option<Cow<'a, str>> {
        text(self.scan.members.message_role)
    }

    /// `message.model`.
    #[must_use]
    pub fn model(&self) -> Option<Cow<'a, str>> {
        text(self.scan.members.message_model)
    }

    /// What `message.content` is made of.
    #[must_use]
    pub fn content(&self) -> Content {
        self.content
    }

    /// Whether the record is an entry of the tree: it has a string uuid or a member `parentUuid`, or is of a type whose
    /// place is in the tree ([`RecordKind::is_of_tree`]). An entry without a uuid cannot be named.
    #[must_use]
    pub fn is_entry(&self) -> bool {
        self.members.uuid.is_some_and(Raw::is_string)
            || self.has_parent_member()
            || self.kind().is_of_tree()
    }

    /// Whether the conversation was compacted here: a `system` record of subtype `compact_boundary` (observed).
    #[must_use]
    pub fn is_compact_boundary(&self) -> bool {
        self.members.subtype.is_some_and(|subtype| subtype.is_text(COMPACT_BOUNDARY))
            && self.kind() == RecordKind::System
    }

    /// Whether it is a command of the user's that the program ran itself, or what that printed: a `system` record of subtype
    /// `local_command` (observed).
    pub(crate) fn is_local_command(&self) -> bool {
        self.members.subtype.is_some_and(|subtype| subtype.is_text(LOCAL_COMMAND))
            && self.kind() == RecordKind::System
    }

    /// Whether it is a prompt: a `user` record with content of its own, not only tools' results, that the program did
    /// not write in the user's name (`isMeta`, `isCompactSummary`). On a sidechain it is what the agent was told.
    #[must_use]
    pub fn is_prompt(&self) -> bool {
        self.content.has_own()
            && self.kind() == RecordKind::User
            && !self.is_meta()
            && !self.is_compact_summary()
    }

    /// The text by which a prompt is called: its content where that is a string, else its text blocks with a space between
    /// them, without what the program or an editor added to them. A command is `/name arguments`, a line for the shell
    /// `! line`. `None` if it is no prompt, queued or not, or has no such text, as a command that is built in.
    #[must_use]
    pub fn prompt_text(&self) -> Option<String> {
        let prompt = || self.scan.members.message_content.filter(|_| self.is_prompt());
        let content = self.queued_prompt().or_else(prompt);
        joined(texts(content).filter_map(|text| markup::title(&text)))
    }

    /// What the user or the model says, as a reader sees it; of blocks the texts, with a space between them.
    pub(super) fn message_text(&self) -> Option<String> {
        if self.kind() == RecordKind::Assistant {
            return joined(texts(self.scan.members.message_content).map(Cow::into_owned));
        }
        let content = self.queued_prompt().or(self.scan.members.message_content);
        joined(texts(content).map(|text| {
            let pieces = markup::pieces(&text);
            pieces.iter().map(markup::Piece::shown).collect::<Vec<_>>().join("\n")
        }))
    }

    /// What the user said while the model worked: the `prompt` of an attachment `queued_command` with the `commandMode`
    /// `prompt` (observed).
    pub(crate) fn queued_prompt(&self) -> Option<Raw<'a>> {
        if self.kind() != RecordKind::Attachment {
            return None;
        }
        let [kind, mode, prompt, is_meta] =
            self.members.attachment?.members(["type", "commandMode", "prompt", "isMeta"]);
        let is_queued = kind.is_some_and(|kind| kind.is_text("queued_command"))
            && mode.is_some_and(|mode| mode.is_text("prompt"));
        prompt.filter(|_| is_queued && !is_set(is_meta))
    }

    /// The scan it was read from: its shape, and the members that pi's and omp's records have as well.
    #[must_use]
    pub fn scan(&self) -> &Scan<'a> {
        &self.scan
    }
}

#[cfg(test)]
mod tests;
