//! A line of a session's file and its facts.

use std::borrow::Cow;
use std::ops::Range;

use crate::kind::MessageRole;
use crate::scan::{Raw, Shape};
use crate::time::parse_timestamp;

/// The members of Opal's headers and messages that a line has, as raw values.
///
/// The last of repeated members counts, as in Jason. Names may be written with escapes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Members<'a> {
    /// `id`: of a message.
    pub id: Option<Raw<'a>>,
    /// `parent_id`: the message before it; null for a root.
    pub parent_id: Option<Raw<'a>>,
    /// `role`: `user`, `assistant`, `tool_call` or `tool_result`.
    pub role: Option<Raw<'a>>,
    /// `content`: text or null.
    pub content: Option<Raw<'a>>,
    /// `is_error`: in a tool's result.
    pub is_error: Option<Raw<'a>>,
    /// `tool_calls`: objects with `call_id`, `name` and `arguments`.
    pub tool_calls: Option<Raw<'a>>,
    /// `call_id`: the call that a tool's result answers.
    pub call_id: Option<Raw<'a>>,
    /// `name`: of the tool.
    pub name: Option<Raw<'a>>,
    /// `thinking`: text.
    pub thinking: Option<Raw<'a>>,
    /// `metadata`: an object; of the session in a header, otherwise of the message.
    pub metadata: Option<Raw<'a>>,
    /// `timestamp` of a message. Opal of February 2026 writes none.
    pub timestamp: Option<Raw<'a>>,
    /// `session_id`: on a header.
    pub session_id: Option<Raw<'a>>,
    /// `current_id`: the leaf, in a header.
    pub current_id: Option<Raw<'a>>,
    /// `type`: Opal writes none; the other families' records have one.
    pub entry_type: Option<Raw<'a>>,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// Nothing, or white space only.
    Blank,
    /// Not JSON.
    Malformed,
    /// JSON, but no object.
    Scalar,
    /// An object with a `metadata` that is an object, and without `id`, `parent_id` and `role`. Only the file's first
    /// line that is neither blank nor malformed is its header; a later one is ignored.
    Header,
    /// Any other object: a message. Without a string id it is in the tree but cannot be named.
    Message,
}

/// The value of `parent_id`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parent<'a> {
    /// Null or missing: the message is a root.
    Root,
    /// An id as WTF-8 (see [`crate::text`]). If no message has it, the message is an orphan.
    Id(Cow<'a, [u8]>),
    /// A value that cannot be an id: the message is an orphan.
    NoId,
}

/// A line, scanned by a [`Scanner`](crate::opal::Scanner).
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// What it is as JSON.
    pub shape: Shape,
    /// The members of a line that is an object; all absent for any other.
    pub members: Members<'a>,
    /// Where the value of `content` starts in the text.
    pub(super) content_start: usize,
}

impl<'a> Line<'a> {
    /// What the line is.
    #[must_use]
    pub fn kind(&self) -> LineKind {
        let members = &self.members;
        let of_message = [members.id, members.parent_id, members.role];
        match self.shape {
            Shape::Blank => LineKind::Blank,
            Shape::Malformed => LineKind::Malformed,
            Shape::Scalar => LineKind::Scalar,
            Shape::Object
                if members.metadata.is_some_and(Raw::is_object)
                    && of_message.iter().all(Option::is_none) =>
            {
                LineKind::Header
            }
            Shape::Object => LineKind::Message,
        }
    }

    /// The message's id as WTF-8 (see [`crate::text`]); `None` if it is not a string.
    #[must_use]
    pub fn id(&self) -> Option<Cow<'a, [u8]>> {
        self.members.id?.as_string()
    }

    /// The message before it.
    #[must_use]
    pub fn parent(&self) -> Parent<'a> {
        match self.members.parent_id {
            None => Parent::Root,
            Some(parent) if parent.is_null() => Parent::Root,
            Some(parent) => parent.as_string().map_or(Parent::NoId, Parent::Id),
        }
    }

    /// Who the message is from: `user`, `assistant` and `tool_result` as pi's roles for them, any other name as
    /// [`MessageRole::Other`]; [`MessageRole::None`] if `role` is not a string.
    #[must_use]
    pub fn role(&self) -> MessageRole {
        match self.members.role.and_then(Raw::as_string).as_deref() {
            None => MessageRole::None,
            Some(b"user") => MessageRole::User,
            Some(b"assistant") => MessageRole::Assistant,
            Some(b"tool_result") => MessageRole::ToolResult,
            Some(_) => MessageRole::Other,
        }
    }

    /// Whether it is the result of a failed tool call. Opal reads a missing or null `is_error` as false.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.members.is_error.is_some_and(|is_error| !matches!(is_error.as_str(), "false" | "null"))
    }

    /// Whether the message calls a tool.
    #[must_use]
    pub fn has_tool_calls(&self) -> bool {
        self.members.tool_calls.is_some_and(|calls| calls.elements().next().is_some())
    }

    /// The bytes of the scanned text between the quotes of `content`; `None` if it is not a string. They may hold escapes.
    #[must_use]
    pub fn content_range(&self) -> Option<Range<usize>> {
        let content = self.members.content.filter(|content| content.is_string())?;
        Some(self.content_start + 1..self.content_start + content.as_str().len() - 1)
    }

    /// The message's text, with U+FFFD for each lone surrogate; `None` if `content` is not a string.
    #[must_use]
    pub fn content(&self) -> Option<Cow<'a, str>> {
        self.members.content?.to_string_lossy()
    }

    /// The message's `timestamp` in milliseconds since 1970; `None` if it is not an ISO time.
    #[must_use]
    pub fn timestamp(&self) -> Option<i64> {
        parse_timestamp(&self.members.timestamp?.to_string_lossy()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opal::Scanner;

    fn scan(text: &str) -> Line<'_> {
        Scanner::new().scan(text)
    }

    #[test]
    fn the_last_member_counts_and_inner_ones_do_not() {
        let text = r#" {"content":"old","metadata":{"id":"deep","role":"x"},"\u0069d":"\ud800","content" : "n\"ew" ,"id2":1,"tool_calls":[{"name":"t"}]}"#;
        let line = scan(text);
        assert_eq!(line.id().as_deref(), Some(&b"\xed\xa0\x80"[..]));
        assert_eq!(line.content_range().map(|range| &text[range]), Some(r#"n\"ew"#));
        assert_eq!(line.content().as_deref(), Some("n\"ew"));
        assert_eq!(line.members.role, None);
        assert_eq!(line.members.name, None);
        assert!(line.has_tool_calls() && !line.is_error());
        let line = scan(r#"{"content":"text","content":[1],"is_error":true,"tool_calls":[]}"#);
        assert_eq!(line.content_range(), None);
        assert!(line.is_error() && !line.has_tool_calls());
    }

    #[test]
    fn kinds() {
        for (text, kind) in [
            (" \r\n", LineKind::Blank),
            ("{\"id\":", LineKind::Malformed),
            ("\0{}", LineKind::Malformed),
            ("[{\"id\":1}]", LineKind::Scalar),
            (r#"{"metadata":{}}"#, LineKind::Header),
            (r#"{"metadata":{},"role":"user"}"#, LineKind::Message),
            (r#"{"metadata":null}"#, LineKind::Message),
            ("{}", LineKind::Message),
        ] {
            assert_eq!(scan(text).kind(), kind, "{text}");
        }
        assert_eq!(scan("[{\"id\":1}]").members, Members::default());
        assert_eq!(scan("{\"id\":1}{}").members, Members::default());
    }

    #[test]
    fn parents_and_roles() {
        assert_eq!(scan(r#"{"parent_id":""}"#).parent(), Parent::Id(Cow::Borrowed(b"")));
        assert_eq!(scan(r#"{"parent_id":false}"#).parent(), Parent::NoId);
        assert_eq!(scan(r#"{"parent_id":"a","parent_id":null}"#).parent(), Parent::Root);
        assert_eq!(scan("{}").parent(), Parent::Root);
        assert_eq!(scan(r#"{"role":"tool_result"}"#).role(), MessageRole::ToolResult);
        assert_eq!(scan(r#"{"role":"tool_call"}"#).role(), MessageRole::Other);
        assert_eq!(scan(r#"{"role":null}"#).role(), MessageRole::None);
    }

    #[test]
    fn times() {
        let line = r#"{"timestamp":"2026-02-12T00:00:00Z"}"#;
        assert_eq!(scan(line).timestamp(), Some(1_770_854_400_000));
        assert_eq!(scan(r#"{"timestamp":5}"#).timestamp(), None);
    }
}
