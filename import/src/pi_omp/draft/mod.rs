//! Entries to be appended, as an agent or a command passes them: without id, parent and time.

mod check;
mod construct;
mod error;
mod header;
mod layout;
mod write;

pub use construct::Compaction;
pub use error::{DraftError, Expected};
pub use header::Header;
pub use write::{ParentId, Place};

use std::borrow::Cow;

use crate::ecma::{Document, array_index, write_string};
use crate::family::Family;
use crate::kind::{EntryKind, MessageRole};
use crate::scan::Raw;
use layout::Layout;

/// An entry to be appended: its type and its members in order, without id, parent and time.
///
/// It is written exactly as `JSON.stringify` would, with the members in the programs' order (observed behaviour,
/// writing): the documented members of the type in the documented order, then the others in the given order. Members
/// whose names are array indices come before all else, even the type, as in any JavaScript object.
///
/// ```
/// use leafline_import::Family;
/// use leafline_import::pi_omp::{Draft, ParentId, Place};
///
/// let piped = r#"{ "tag": 1.0, "message": {"role": "user", "content": "\u0048i"}, "type": "message" }"#;
/// let draft = Draft::from_json(piped, Family::Pi)?;
/// assert_eq!(draft.member("message"), Some(r#"{"role":"user","content":"Hi"}"#));
///
/// let mut line = Vec::new();
/// let place = Place { id: "b1c2d3e4", parent: ParentId::Id(b"a1b2c3d4"), timestamp: 1_733_234_401_500 };
/// draft.write(&place, &mut line);
/// let expected = concat!(
///     r#"{"type":"message","id":"b1c2d3e4","parentId":"a1b2c3d4","timestamp":"2024-12-03T14:00:01.500Z","#,
///     r#""message":{"role":"user","content":"Hi"},"tag":1}"#,
///     "\n",
/// );
/// assert_eq!(line, expected.as_bytes());
/// # Ok::<(), leafline_import::pi_omp::DraftError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    kind: EntryKind,
    /// As JSON text.
    entry_type: String,
    layout: &'static Layout,
    members: Vec<Member>,
}

/// A member, name and value exactly as `JSON.stringify` writes them, so that equal texts are equal values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::pi_omp) struct Member {
    /// With its quotes.
    pub(in crate::pi_omp) name: String,
    pub(in crate::pi_omp) json: String,
}

impl Draft {
    /// Takes an entry as a JSON object. Its `id`, `parentId` and `timestamp` are dropped, values are written as
    /// `JSON.stringify` would, members get the family's order, and the name of a `session_info` is trimmed as
    /// JavaScript trims. Undocumented types are accepted unchanged.
    ///
    /// # Errors
    ///
    /// [`DraftError`] if the text is not a JSON object, has no `type` that is a non-empty string, or is of type
    /// `session` or `title`; if a member that the type needs is missing; or if a member has a value of the wrong type.
    pub fn from_json(text: &str, family: Family) -> Result<Self, DraftError> {
        let document = Document::parse(text).map_err(DraftError::Malformed)?;
        if !document.is_object() {
            return Err(DraftError::NotAnObject);
        }
        let mut entry_type = None;
        let mut members = Vec::new();
        for (name, json) in document.members() {
            match &*name {
                "\"type\"" => entry_type = Some(json),
                "\"id\"" | "\"parentId\"" | "\"timestamp\"" => {}
                _ => members.push(Member { name, json }),
            }
        }
        let is_name = |json: &String| Raw::of_walked(json).is_string() && json != "\"\"";
        let entry_type = entry_type.filter(is_name).ok_or(DraftError::NoType)?;
        let kind = EntryKind::of_record(true, Some(Raw::of_walked(&entry_type)));
        if !kind.is_entry() {
            return Err(DraftError::NotAnEntry { entry_type: kind.name() });
        }
        let layout = Layout::of(kind, family);
        let mut draft = Self { kind, entry_type, layout, members };
        draft.trim_name();
        draft.check()?;
        draft.arrange();
        Ok(draft)
    }

    /// The entry's type, with U+FFFD for each lone surrogate.
    #[must_use]
    pub fn entry_type(&self) -> Cow<'_, str> {
        Raw::of_walked(&self.entry_type).to_string_lossy().unwrap_or_default()
    }

    /// The documented kind of the entry's type; [`EntryKind::Unknown`] for an undocumented type.
    #[must_use]
    pub fn kind(&self) -> EntryKind {
        self.kind
    }

    /// The role of its message; [`MessageRole::None`] if it has none.
    #[must_use]
    pub fn role(&self) -> MessageRole {
        let message = self.member("message").map(Raw::of_walked);
        MessageRole::of_role(message.and_then(|message| message.member("role")))
    }

    /// The value of a member, as JSON text; `None` if there is none, and always for type, id, parent and time.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&str> {
        let place = self.place_of(&quoted(name))?;
        Some(&self.members[place].json)
    }

    /// Sets a member to a value, as JSON text. An existing member keeps its place; a new one goes where
    /// [`Draft::from_json`] would put it if it came last.
    ///
    /// # Errors
    ///
    /// [`DraftError`] if the text is not JSON, if the value has the wrong type for this member, and for the members
    /// `type`, `id`, `parentId` and `timestamp`. The draft is then unchanged.
    pub fn set_member(&mut self, name: &str, json: &str) -> Result<(), DraftError> {
        if matches!(name, "type" | "id" | "parentId" | "timestamp") {
            return Err(DraftError::NotAMember { name: name.to_owned() });
        }
        let json = self.stringified(name, json)?;
        self.check_value(name, Raw::of_walked(&json))?;
        let name = quoted(name);
        match self.place_of(&name) {
            Some(place) => self.members[place].json = json,
            None => self.members.push(Member { name, json }),
        }
        self.trim_name();
        self.arrange();
        Ok(())
    }

    /// All members in order.
    pub(in crate::pi_omp) fn members_mut(&mut self) -> &mut Vec<Member> {
        &mut self.members
    }

    fn place_of(&self, quoted_name: &str) -> Option<usize> {
        self.members.iter().position(|member| member.name == quoted_name)
    }

    /// Sorts the members: array indices, documented ones, others.
    fn arrange(&mut self) {
        let layout = self.layout;
        // Stable, so that the others keep their order.
        self.members.sort_by_cached_key(|member| match member.index() {
            Some(index) => (0, u64::from(index)),
            None => layout.place_of(member.plain_name()).map_or((2, 0), |place| (1, place as u64)),
        });
    }
}

impl Member {
    /// The name between its quotes; this is the name itself if nothing in it needs an escape.
    pub(in crate::pi_omp) fn plain_name(&self) -> &str {
        self.name.get(1..self.name.len() - 1).unwrap_or("")
    }

    fn index(&self) -> Option<u32> {
        array_index(self.plain_name().as_bytes())
    }
}

/// The JSON text of a string.
fn quoted(text: &str) -> String {
    quoted_wtf8(text.as_bytes())
}

/// The JSON text of a string given as WTF-8.
pub(in crate::pi_omp) fn quoted_wtf8(text: &[u8]) -> String {
    let mut json = Vec::with_capacity(text.len() + 2);
    write_string(text, &mut json);
    String::from_utf8(json).expect("text was given as WTF-8, whose lone surrogates become escapes")
}

#[cfg(test)]
mod tests;
