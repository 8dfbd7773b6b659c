//! The members of a record that the scan of pi's and omp's lines does not read, and what its content is made of.
//!
//! The visitor runs beside that scan, on the same walk: adding these names to its table would make every pi and omp
//! record carry twice the members for nothing, and a second pass would cost as much as the first.

use crate::grammar::{Container, Scalar, StringToken, Visitor};
use crate::scan::Raw;
use crate::text::unescape;

macro_rules! members {
    ($($field:ident $name:literal)*) => {
        /// Raw values of members of the record; of one met twice the last.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub(super) struct Members<'a> {
            $(pub(super) $field: Option<Raw<'a>>,)*
            /// `message.id`; of the last `message`.
            pub(super) message_id: Option<Raw<'a>>,
        }

        #[allow(non_camel_case_types, reason = "a place is called as its field is")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum Slot {
            $($field,)*
            /// Not kept, but looked into.
            message,
        }

        impl Slot {
            #[inline]
            fn of(name: &[u8]) -> Option<Self> {
                match name {
                    $($name => Some(Self::$field),)*
                    b"message" => Some(Self::message),
                    _ => None,
                }
            }
        }

        impl<'a> Members<'a> {
            #[inline]
            fn set(&mut self, slot: Slot, raw: Raw<'a>) {
                match slot {
                    $(Slot::$field => self.$field = Some(raw),)*
                    Slot::message => {}
                }
            }
        }
    };
}

members! {
    subtype b"subtype"
    uuid b"uuid"
    sent_as_uuid b"sentAsUuid"
    parent_uuid b"parentUuid"
    logical_parent_uuid b"logicalParentUuid"
    session_id b"sessionId"
    is_sidechain b"isSidechain"
    agent_id b"agentId"
    git_branch b"gitBranch"
    is_meta b"isMeta"
    is_compact_summary b"isCompactSummary"
    is_api_error_message b"isApiErrorMessage"
    content b"content"
    compact_metadata b"compactMetadata"
    attachment b"attachment"
    leaf_uuid b"leafUuid"
    explicit b"explicit"
    custom_title b"customTitle"
    ai_title b"aiTitle"
    agent_name b"agentName"
    snapshot_message_id b"messageId"
    tool_use_id b"toolUseID"
    parent_tool_use_id b"parentToolUseID"
    request_id b"requestId"
    cost_usd b"costUSD"
    relocated_cwd b"relocatedCwd"
}

/// What a message's `content` is made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Content {
    /// No content, or an empty one.
    #[default]
    Nothing,
    /// Only what the sender says: a text that is not empty, or blocks other than `tool_result`.
    Own,
    /// Only `tool_result` blocks.
    ToolResults,
    /// Both kinds of blocks.
    OwnAndToolResults,
}

impl Content {
    fn with(self, block: Self) -> Self {
        match (self, block) {
            (other, Self::Nothing) | (Self::Nothing, other) => other,
            (one, other) if one == other => one,
            _ => Self::OwnAndToolResults,
        }
    }

    /// Whether any of it is not a tool's result.
    #[must_use]
    pub fn has_own(self) -> bool {
        matches!(self, Self::Own | Self::OwnAndToolResults)
    }
}

/// The depths at which the visitor reads something, as the number of containers around it.
const IN_RECORD: usize = 1;
const IN_MESSAGE: usize = 2;
const IN_CONTENT: usize = 3;
const IN_BLOCK: usize = 4;

/// The member of the message whose value comes next, as far as it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MessageName {
    Id,
    Content,
    Other,
}

/// Collects [`Members`] and [`Content`].
pub(super) struct MembersVisitor<'a> {
    text: &'a str,
    pub(super) members: Members<'a>,
    pub(super) content: Content,
    depth: usize,
    slot: Option<Slot>,
    start: usize,
    in_message: bool,
    message_name: MessageName,
    in_content: bool,
    /// What the block at hand is; `None` between blocks and in elements that are no blocks.
    block: Option<Content>,
    block_type_is_next: bool,
}

impl<'a> MembersVisitor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            members: Members::default(),
            content: Content::Nothing,
            depth: 0,
            slot: None,
            start: 0,
            in_message: false,
            message_name: MessageName::Other,
            in_content: false,
            block: None,
            block_type_is_next: false,
        }
    }

    fn is_named(&self, token: StringToken, name: &[u8]) -> bool {
        let raw = &self.text[token.start..token.end];
        if token.escaped { *unescape(raw) == *name } else { raw.as_bytes() == name }
    }

    #[inline]
    fn record_value(&mut self, start: usize, end: usize) {
        if let Some(slot) = self.slot {
            self.members.set(slot, Raw::of_walked(&self.text[start..end]));
        }
    }

    fn record_key(&mut self, token: StringToken) {
        let raw = &self.text[token.start..token.end];
        self.slot = if token.escaped { Slot::of(&unescape(raw)) } else { Slot::of(raw.as_bytes()) };
        if self.slot == Some(Slot::message) {
            self.members.message_id = None;
            self.content = Content::Nothing;
        }
    }

    fn message_key(&mut self, token: StringToken) {
        self.message_name = if self.is_named(token, b"content") {
            self.content = Content::Nothing;
            MessageName::Content
        } else if self.is_named(token, b"id") {
            MessageName::Id
        } else {
            MessageName::Other
        };
    }

    /// A value directly in the message that is a string, given with its quotes' inside, or any other.
    fn message_value(&mut self, start: usize, end: usize, string: Option<StringToken>) {
        match self.message_name {
            MessageName::Id => {
                self.members.message_id = Some(Raw::of_walked(&self.text[start..end]));
            }
            MessageName::Content if string.is_some_and(|token| token.start < token.end) => {
                self.content = Content::Own;
            }
            MessageName::Content | MessageName::Other => {}
        }
    }
}

impl Visitor for MembersVisitor<'_> {
    #[inline]
    fn open(&mut self, container: Container, start: usize) {
        match self.depth {
            IN_RECORD => {
                self.start = start;
                self.in_message =
                    self.slot == Some(Slot::message) && container == Container::Object;
            }
            IN_MESSAGE if self.in_message => {
                self.in_content =
                    self.message_name == MessageName::Content && container == Container::Array;
                if self.message_name == MessageName::Id {
                    self.members.message_id = None;
                }
            }
            IN_CONTENT if self.in_content && container == Container::Object => {
                self.block = Some(Content::Own);
            }
            IN_BLOCK if self.block_type_is_next => self.block = Some(Content::Own),
            _ => {}
        }
        self.block_type_is_next = false;
        self.depth += 1;
    }

    #[inline]
    fn close(&mut self, _: Container, end: usize) {
        self.depth -= 1;
        match self.depth {
            IN_RECORD => {
                self.in_message = false;
                self.record_value(self.start, end);
            }
            IN_MESSAGE => self.in_content = false,
            IN_CONTENT => {
                if let Some(block) = self.block.take() {
                    self.content = self.content.with(block);
                }
            }
            _ => {}
        }
    }

    #[inline]
    fn key(&mut self, token: StringToken) {
        match self.depth {
            IN_RECORD => self.record_key(token),
            IN_MESSAGE if self.in_message => self.message_key(token),
            IN_BLOCK if self.block.is_some() => {
                self.block_type_is_next = self.is_named(token, b"type");
            }
            _ => {}
        }
    }

    #[inline]
    fn string(&mut self, token: StringToken) {
        match self.depth {
            IN_RECORD => self.record_value(token.start - 1, token.end + 1),
            IN_MESSAGE if self.in_message => {
                self.message_value(token.start - 1, token.end + 1, Some(token));
            }
            IN_CONTENT if self.in_content => self.content = self.content.with(Content::Own),
            IN_BLOCK if self.block_type_is_next => {
                let results = self.is_named(token, b"tool_result");
                self.block = Some(if results { Content::ToolResults } else { Content::Own });
                self.block_type_is_next = false;
            }
            _ => {}
        }
    }

    #[inline]
    fn scalar(&mut self, _: Scalar, start: usize, end: usize) {
        match self.depth {
            IN_RECORD => self.record_value(start, end),
            IN_MESSAGE if self.in_message => self.message_value(start, end, None),
            IN_BLOCK if self.block_type_is_next => {
                self.block = Some(Content::Own);
                self.block_type_is_next = false;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
