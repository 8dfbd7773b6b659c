//! What Claude Code writes, as 2.1.330 is seen to do.

use crate::claude::draft::{self, Draft, DraftError, VERSION};
use crate::claude::format::ClaudeCode;
use crate::claude::{RecordKind, Scanner};
use crate::ecma::Document;
use crate::family::Family;
use crate::kind::MessageRole;
use crate::scan::Raw;
use crate::text;
use crate::writing::{
    Beginning, BranchSummary, Copy, Drafted, EntryDraft, NotWritten, Place, Writing, ids,
};

impl Writing for ClaudeCode {
    const VERSION: &'static str = VERSION;
    const COPIES: bool = true;
    const COPIES_CONVERSATION: bool = true;
    const STATES_SOURCE: bool = false;
    const SEES_ABOVE: bool = true;
    const NAMES_LEAF: bool = true;

    /// A UUID of version 4.
    fn fresh_session_id(_: i64) -> String {
        ids::random_uuid()
    }

    /// A UUID of version 4.
    fn fresh_entry_id<E>(is_taken: impl FnMut(&str) -> Result<bool, E>) -> Result<String, E> {
        ids::uuid(is_taken)
    }

    /// The title and the mode, with which a fork begins as well.
    fn begin(new: &Beginning<'_>, out: &mut Vec<u8>) -> Result<(), NotWritten> {
        if new.parent_session.is_some() {
            return Err(NotWritten::Unknown { operation: "parent session" });
        }
        let mut records = Vec::new();
        if let Some(title) = new.title {
            records.extend([Draft::custom_title(title), Draft::agent_name(title)]);
        }
        records.push(Draft::mode("normal"));
        for record in records {
            write_outside(&record, new.id.as_bytes(), out);
        }
        Ok(())
    }

    /// As `--fork-session` does: the records keep their uuids and get the new session's id; those of the model's name the
    /// session that asked for them.
    fn copy_line(line: &[u8], copy: &Copy<'_>, out: &mut Vec<u8>) -> bool {
        let decoded = text::decode(line);
        let shown = text::trim_start_of_file(&decoded);
        let Ok(mut document) = Document::parse(shown) else { return false };
        if !document.is_object() {
            return false;
        }
        let is_of_model = document.get("type").is_some_and(|name| name.is_text("assistant"));
        let source = document.get("requestSessionId").is_none();
        if document.get("sessionId").is_some() {
            document.set("sessionId", draft::quoted_wtf8(copy.id));
        }
        if let Some((from, to)) = copy.moved
            && document.get("cwd").is_some_and(|cwd| cwd.is_text(from))
        {
            document.set("cwd", draft::quoted(to));
        }
        if is_of_model && source {
            document.set("requestSessionId", draft::quoted_wtf8(copy.source_id));
        }
        document.write(out);
        out.push(b'\n');
        true
    }

    /// Titles go along.
    fn copies_outside(line: &[u8]) -> bool {
        let decoded = text::decode(line);
        let kind = Scanner::new().scan(text::trim_start_of_file(&decoded)).kind();
        matches!(kind, RecordKind::CustomTitle | RecordKind::AiTitle | RecordKind::AgentName)
    }

    fn has_call(line: &[u8], call: &[u8]) -> bool {
        let decoded = text::decode(line);
        let shown = text::trim_start_of_file(&decoded);
        if !shown.contains("tool_use") || Scanner::new().scan(shown).kind() != RecordKind::Assistant
        {
            return false;
        }
        let message = Raw::of_walked(shown.trim()).member("message");
        let content = message.and_then(|message| message.member("content"));
        content.into_iter().flat_map(Raw::elements).any(|block| {
            block.member("type").is_some_and(|name| name.is_text("tool_use"))
                && block.member("id").and_then(Raw::as_string).is_some_and(|id| *id == *call)
        })
    }

    fn explicit_leaf_line(leaf: Option<&[u8]>, session_id: &[u8], out: &mut Vec<u8>) {
        write_outside(&Draft::explicit_leaf(leaf), session_id, out);
    }

    fn leaf_line(leaf: &[u8], summary: Option<&[u8]>, session_id: &[u8], out: &mut Vec<u8>) {
        let Some(line) = summary else {
            return write_outside(&Draft::last_prompt(None, leaf), session_id, out);
        };
        let decoded = text::decode(line);
        match Document::parse(text::trim_start_of_file(&decoded)) {
            Ok(mut document) => {
                document.set("leafUuid", draft::quoted_wtf8(leaf));
                document.write(out);
                out.push(b'\n');
            }
            // Of a torn record only the leaf is known.
            Err(_) => write_outside(&Draft::summary("", leaf), session_id, out),
        }
    }

    /// A record, or a message of the API.
    fn entry(json: &str) -> Result<Vec<EntryDraft>, NotWritten> {
        Ok(Draft::parts(json)?.into_iter().map(EntryDraft::from).collect())
    }

    fn message(json: &str) -> Result<Vec<EntryDraft>, NotWritten> {
        Ok(Draft::message(json)?.into_iter().map(EntryDraft::from).collect())
    }

    fn branch_summary(_: &BranchSummary<'_>) -> Result<EntryDraft, NotWritten> {
        Err(NotWritten::Unknown { operation: "branch summary" })
    }

    /// What `/rename` writes, which clears no name.
    fn name_entries(name: &str) -> Vec<EntryDraft> {
        if name.trim().is_empty() {
            return Vec::new();
        }
        vec![Draft::custom_title(name).into(), Draft::agent_name(name).into()]
    }
}

impl Drafted for Draft {
    fn families(&self) -> &'static [Family] {
        &[Family::Claude]
    }

    fn name(&self) -> &'static str {
        "record in the form of Claude Code's"
    }

    fn role(&self) -> MessageRole {
        Self::role(self)
    }

    fn is_entry(&self) -> bool {
        Self::is_entry(self)
    }

    fn call(&self) -> Option<Vec<u8>> {
        self.results().into_iter().next()
    }

    fn write(&self, place: &Place<'_>, out: &mut Vec<u8>) {
        let Place { session_id, id: uuid, parent, time_ms: timestamp, above, cwd } = *place;
        Self::write(self, &draft::Place { uuid, parent, timestamp, session_id, above, cwd }, out);
    }

    fn duplicate(&self) -> Box<dyn Drafted> {
        Box::new(self.clone())
    }
}

impl From<DraftError> for NotWritten {
    fn from(error: DraftError) -> Self {
        Self::invalid(error)
    }
}

/// Appends the line of a record that stands outside the tree.
fn write_outside(record: &Draft, session_id: &[u8], out: &mut Vec<u8>) {
    let nowhere =
        draft::Place { uuid: "", parent: None, timestamp: 0, session_id, above: None, cwd: None };
    record.write(&nowhere, out);
}
