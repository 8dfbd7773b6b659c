//! Entries that are to be appended: what an agent, or a command, hands in before there is an id, a parent and a time.

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

/// An entry that is to be appended: its type and its members in order, without id, parent and time.
///
/// What is written of it is `JSON.stringify`-exact, in the order of members in which the programs write (observed
/// behaviour, writing). Those of a type's members that the documents name come in the documented order, the others after
/// them as they were given. Members whose names are array indices come before all else, the type included, as in any
/// JavaScript object.
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

/// A member, both parts exactly as `JSON.stringify` writes them, so that equal texts are equal values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::pi_omp) struct Member {
    /// With its quotes.
    pub(in crate::pi_omp) name: String,
    pub(in crate::pi_omp) json: String,
}

impl Draft {
    /// Takes an entry as a JSON object. Its `id`, `parentId` and `timestamp` are dropped, the values become what
    /// `JSON.stringify` gives for them, the members get the order of the family, and the name of a `session_info` is
    /// trimmed as JavaScript trims. Types that no document names are taken as they are.
    ///
    /// # Errors
    ///
    /// [`DraftError`] where the text is no JSON object, has no `type` that is a string with something in it, is of type
    /// `session` or `title`, or where a member that the type needs is missing or a member has a wrong type of value.
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

    /// What the documents call an entry of this type; [`EntryKind::Unknown`] for a type that they do not name.
    #[must_use]
    pub fn kind(&self) -> EntryKind {
        self.kind
    }

    /// The role of its message; [`MessageRole::None`] where it has none.
    #[must_use]
    pub fn role(&self) -> MessageRole {
        let message = self.member("message").map(Raw::of_walked);
        MessageRole::of_role(message.and_then(|message| message.member("role")))
    }

    /// The value of a member, as JSON text; `None` if there is none, and for the type, id, parent and time.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&str> {
        let place = self.place_of(&quoted(name))?;
        Some(&self.members[place].json)
    }

    /// Gives a member a value, as JSON text. A member that is there keeps its place; a new one goes where
    /// [`Draft::from_json`] would put it if it came last.
    ///
    /// # Errors
    ///
    /// [`DraftError`] where the text is not JSON, where its type of value is wrong for this member, and for the members
    /// `type`, `id`, `parentId` and `timestamp`. The draft is then as it was.
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

    /// Brings the members into order: array indices, those that the documents name, the others.
    fn arrange(&mut self) {
        let layout = self.layout;
        // Stable, so that the others keep theirs.
        self.members.sort_by_cached_key(|member| match member.index() {
            Some(index) => (0, u64::from(index)),
            None => layout.place_of(member.plain_name()).map_or((2, 0), |place| (1, place as u64)),
        });
    }
}

impl Member {
    /// The name between its quotes; that is the name itself where nothing in it needs an escape.
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
