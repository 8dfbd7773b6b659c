//! Messages to be appended, as an agent passes them: without id and parent.

mod check;
mod construct;

use std::collections::BTreeMap;

use crate::ecma::Document;
use crate::kind::MessageRole;
use crate::opal::jason::JASON;
use crate::opal::{ParentId, WriteError, encode, write_string};
use crate::scan::Raw;
use crate::text::unescape;

/// A message to be appended: its members, without id and parent.
///
/// It is written as Opal's encoder writes it: `content` and `is_error` always, `tool_calls`, `call_id`, `name`,
/// `thinking` and `metadata` if they are set (observed). Unknown members pass through. Members are sorted by name, and
/// so are those of the objects in them; see [`encode`].
///
/// ```
/// use leafline_import::opal::{Draft, ParentId};
///
/// let piped = r#"{ "role": "user", "content": "\u0048i", "tag": 1.0, "tool_calls": [] }"#;
/// let draft = Draft::from_json(piped)?;
///
/// let mut line = Vec::new();
/// draft.write(b"msg_2", ParentId::Id(b"msg_1"), &mut line);
/// let expected = concat!(
///     r#"{"content":"Hi","id":"msg_2","is_error":false,"parent_id":"msg_1","role":"user","tag":1.0}"#,
///     "\n",
/// );
/// assert_eq!(line, expected.as_bytes());
/// # Ok::<(), leafline_import::opal::WriteError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// By name as WTF-8: JSON text as Jason writes it.
    members: BTreeMap<Vec<u8>, String>,
}

impl Draft {
    /// Takes a message as a JSON object. Its `id` and `parent_id` are dropped. A missing `content` is null and a
    /// missing `is_error` false; other members that Opal knows are omitted if they say nothing (null, no tool calls),
    /// as Opal omits them.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if the text is not a JSON object, has no `role` that is a non-empty string, or if a member that
    /// Opal knows has a value of the wrong type.
    pub fn from_json(text: &str) -> Result<Self, WriteError> {
        let document = Document::parse_as(text, &JASON)?;
        if !document.is_object() {
            return Err(WriteError::NotAnObject { found: Raw::parse(text)?.type_in_words() });
        }
        let mut draft = Self { members: BTreeMap::new() };
        for (name, json) in document.members() {
            let name = unescape(&name[1..name.len() - 1]).into_owned();
            if !matches!(&*name, b"id" | b"parent_id") {
                draft.put(name, json)?;
            }
        }
        draft.complete()
    }

    /// Who the message is from, as in [`Line::role`](crate::opal::Line::role).
    #[must_use]
    pub fn role(&self) -> MessageRole {
        match self.member("role") {
            Some("\"user\"") => MessageRole::User,
            Some("\"assistant\"") => MessageRole::Assistant,
            Some("\"tool_result\"") => MessageRole::ToolResult,
            _ => MessageRole::Other,
        }
    }

    /// The value of a member, as JSON text; `None` if there is none, and always for the id and the parent.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&str> {
        self.members.get(name.as_bytes()).map(String::as_str)
    }

    /// Sets a member to a value, as JSON text. If Opal omits a member with this value, the member is removed.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if the text is not JSON, if the value has the wrong type for this member, and for the members
    /// `id` and `parent_id`. The draft is then unchanged.
    pub fn set_member(&mut self, name: &str, json: &str) -> Result<(), WriteError> {
        if matches!(name, "id" | "parent_id") {
            return Err(WriteError::NotAMember { name: name.to_owned() });
        }
        let mut encoded = Vec::with_capacity(json.len());
        encode(json, &mut encoded).map_err(|malformed| WriteError::MalformedMember {
            name: name.to_owned(),
            malformed,
        })?;
        let encoded = String::from_utf8(encoded)
            .expect("what is written from text is text: lone surrogates are escapes");
        self.put(name.as_bytes().to_vec(), encoded)
    }

    /// Appends the message's line, ended by `
    /// `. The ids are WTF-8 (see [`crate::text`]); Opal's have 16 hex digits.
    pub fn write(&self, id: &[u8], parent: ParentId<'_>, out: &mut Vec<u8>) {
        let mut members: BTreeMap<&[u8], &[u8]> =
            self.members.iter().map(|(name, json)| (&**name, json.as_bytes())).collect();
        let (id, parent) = (quoted(id), quoted_parent(parent));
        members.insert(b"id", &id);
        members.insert(b"parent_id", &parent);
        write_object(members, out);
        out.push(b'\n');
    }
}

/// Appends an object, given the name of each member as WTF-8 and its value as JSON text.
pub(super) fn write_object<'a>(
    members: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
    out: &mut Vec<u8>,
) {
    out.push(b'{');
    for (name, json) in members {
        if out.last() != Some(&b'{') {
            out.push(b',');
        }
        write_string(name, out);
        out.push(b':');
        out.extend_from_slice(json);
    }
    out.push(b'}');
}

/// The JSON text of a string given as WTF-8.
pub(super) fn quoted(text: &[u8]) -> Vec<u8> {
    let mut json = Vec::with_capacity(text.len() + 2);
    write_string(text, &mut json);
    json
}

/// The JSON text of a `parent_id` or `current_id`.
pub(super) fn quoted_parent(parent: ParentId<'_>) -> Vec<u8> {
    match parent {
        ParentId::Null => b"null".to_vec(),
        ParentId::Id(id) => quoted(id),
    }
}

#[cfg(test)]
mod tests;
