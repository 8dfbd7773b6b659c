//! What Opal writes.

use crate::ecma;
use crate::family::Family;
use crate::kind::{EntryKind, MessageRole};
use crate::opal::{
    Draft, Header, HeaderFacts, Metadata, Opal, ParentId, Scanner, WriteError, with_metadata,
};
use crate::text;
use crate::time::format_timestamp;
use crate::writing::{
    Beginning, BranchSummary, Drafted, EntryDraft, NotWritten, Place, Writing, ids,
};

impl Writing for Opal {
    const SAVES_WHOLE: bool = true;
    const NAMES_IN_HEADER: bool = true;

    /// 16 random bytes in hex.
    fn fresh_session_id(_: i64) -> String {
        ids::random_hex(16)
    }

    /// 8 random bytes in hex (observed behaviour, Opal).
    fn fresh_entry_id<E>(is_taken: impl FnMut(&str) -> Result<bool, E>) -> Result<String, E> {
        ids::hex(8, is_taken)
    }

    /// A header with the documented metadata, and the working directory under Opal's name for it.
    fn begin(new: &Beginning<'_>, out: &mut Vec<u8>) -> Result<(), NotWritten> {
        if new.parent_session.is_some() {
            return Err(NotWritten::Unknown { operation: "parent session" });
        }
        let mut metadata = Metadata::default();
        metadata.set("created_at", &json(&format_timestamp(new.time_ms)))?;
        metadata.set("working_dir", &json(new.cwd))?;
        if let Some(title) = new.title {
            metadata.set("title", &json(title))?;
        }
        let metadata = metadata.to_json();
        let session_id = new.id.as_bytes();
        Header { session_id, current_id: ParentId::Null, metadata: &metadata }.write(out)?;
        Ok(())
    }

    fn entry(json: &str) -> Result<Vec<EntryDraft>, NotWritten> {
        Self::message(json)
    }

    fn message(json: &str) -> Result<Vec<EntryDraft>, NotWritten> {
        Ok(vec![Draft::from_json(json)?.into()])
    }

    /// A user message with the summary in its metadata. Opal has neither details nor such extensions: details are also a
    /// member of the metadata.
    fn branch_summary(summary: &BranchSummary<'_>) -> Result<EntryDraft, NotWritten> {
        let mut draft = Draft::branch_summary(summary.summary, summary.left);
        if let (Some(details), Some(metadata)) = (summary.details, draft.member("metadata")) {
            let mut metadata = Metadata::from_json(metadata)?;
            metadata.set("details", details)?;
            draft.set_member("metadata", &metadata.to_json())?;
        }
        Ok(draft.into())
    }

    fn name_entries(_: &str) -> Vec<EntryDraft> {
        Vec::new()
    }

    /// The name is `title` of the header's metadata (Opal session document, state fields).
    fn name_line(
        line: &[u8],
        kind: EntryKind,
        (name, _): (&str, i64),
        out: &mut Vec<u8>,
    ) -> Result<bool, NotWritten> {
        if kind != EntryKind::Header {
            return Ok(false);
        }
        let facts = header_facts(line, 0);
        let facts = facts.ok_or_else(|| NotWritten::invalid("the line is not an Opal header"))?;
        let mut metadata = Metadata::from_json(&facts.metadata)?;
        let before = metadata.clone();
        if name.is_empty() {
            metadata.remove("title");
        } else {
            metadata.set("title", &json(name))?;
        }
        if metadata == before {
            return Ok(false);
        }
        with_metadata(line, &metadata.to_json(), out)?;
        if !out.ends_with(b"\n") {
            out.push(b'\n');
        }
        Ok(true)
    }
}

impl Drafted for Draft {
    fn families(&self) -> &'static [Family] {
        &[Family::Opal]
    }

    fn name(&self) -> &'static str {
        "message in the form of Opal's"
    }

    fn role(&self) -> MessageRole {
        Self::role(self)
    }

    fn write(&self, place: &Place<'_>, out: &mut Vec<u8>) {
        let parent = place.parent.map_or(ParentId::Null, ParentId::Id);
        Self::write(self, place.id.as_bytes(), parent, out);
    }

    fn duplicate(&self) -> Box<dyn Drafted> {
        Box::new(self.clone())
    }
}

impl From<WriteError> for NotWritten {
    fn from(error: WriteError) -> Self {
        Self::invalid(error)
    }
}

/// The facts of a header, on line `line` of its session; `None` if it is not one.
#[must_use]
pub fn header_facts(header: &[u8], line: u64) -> Option<HeaderFacts> {
    let decoded = text::decode(header);
    HeaderFacts::of(&Scanner::new().scan(text::trim_start_of_file(&decoded)), line)
}

fn json(text: &str) -> String {
    let mut json = Vec::with_capacity(text.len() + 2);
    ecma::write_string(text.as_bytes(), &mut json);
    String::from_utf8(json).expect("a string's JSON is text")
}
