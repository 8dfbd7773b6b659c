//! What pi and omp write: headers, entries, labels once more, names in lines.

use crate::ecma::{self, Document};
use crate::family::Family;
use crate::kind::{EntryKind, MessageRole};
use crate::pi_omp::draft::{Draft, DraftError, Header, ParentId, Place, quoted_wtf8};
use crate::program_version::ProgramVersion;
use crate::scan::{Raw, Scanner};
use crate::text;
use crate::time::{format_timestamp, parse_timestamp};
use crate::writing::{
    Beginning, BranchSummary, CopiedLabel, Drafted, EntryDraft, ExternalisedImage, Hash,
    NotWritten, Rules, Writing, ids,
};

/// The version of the sessions that are begun here.
const VERSION: &str = "3";

/// The first version of pi that writes a new session's file at its first prompt, not at the first answer.
const KEEPS_PROMPTS: ProgramVersion = ProgramVersion::new(0, 99, 0);

impl Writing for crate::pi::Pi {
    const VERSION: &'static str = VERSION;
    const COPIES: bool = true;
    const FOLLOWS_PATHS: bool = true;

    /// Observed of pi 0.73.1, 0.87.1 and 1.6.0; read in 0.99.1, before which there is none that does so.
    fn begins_file(role: MessageRole, as_of: Option<ProgramVersion>) -> bool {
        match role {
            MessageRole::Assistant => true,
            MessageRole::User => as_of.is_none_or(|version| version >= KEEPS_PROMPTS),
            _ => false,
        }
    }

    fn fresh_session_id(time_ms: i64) -> String {
        ids::by_time(time_ms)
    }

    fn fresh_entry_id<E>(is_taken: impl FnMut(&str) -> Result<bool, E>) -> Result<String, E> {
        ids::short(is_taken)
    }

    /// pi's header has no title: an entry names the session.
    fn begin(new: &Beginning<'_>, out: &mut Vec<u8>) -> Result<(), NotWritten> {
        if new.title.is_some() {
            return Err(NotWritten::Unknown { operation: "title of a new session" });
        }
        begin(new, out);
        Ok(())
    }

    fn copy_label(label: &CopiedLabel<'_>, out: &mut Vec<u8>) {
        copy_label(label, out);
    }

    fn entry(json: &str) -> Result<Vec<EntryDraft>, NotWritten> {
        Ok(vec![Draft::from_json(json, Family::Pi)?.into()])
    }

    fn message(json: &str) -> Result<Vec<EntryDraft>, NotWritten> {
        Ok(vec![Draft::message(json)?.into()])
    }

    fn label(target: &str, label: Option<&str>) -> Result<EntryDraft, NotWritten> {
        Ok(Draft::label(target, label).into())
    }

    fn branch_summary(summary: &BranchSummary<'_>) -> Result<EntryDraft, NotWritten> {
        branch_summary(Family::Pi, summary)
    }

    /// pi appends a `session_info` entry (pi session file document, `appendSessionInfo`).
    fn name_entries(name: &str) -> Vec<EntryDraft> {
        vec![Draft::session_info(name).into()]
    }

    fn apply_to_line(
        rules: &Rules,
        line: &str,
        hash: Hash<'_>,
    ) -> Option<(String, Vec<ExternalisedImage>)> {
        apply_to_line(rules, line, hash)
    }
}

impl Writing for crate::omp::Omp {
    const VERSION: &'static str = VERSION;
    const RULES: Rules = Rules::documented();
    const LATCHES_ERRORS: bool = true;
    const NAMES_IN_HEADER: bool = true;
    const COPIES: bool = true;

    fn fresh_session_id(time_ms: i64) -> String {
        ids::of_time(time_ms)
    }

    fn fresh_entry_id<E>(is_taken: impl FnMut(&str) -> Result<bool, E>) -> Result<String, E> {
        ids::short(is_taken)
    }

    fn begin(new: &Beginning<'_>, out: &mut Vec<u8>) -> Result<(), NotWritten> {
        begin(new, out);
        Ok(())
    }

    /// The source's title comes last.
    fn begin_fork(
        new: &Beginning<'_>,
        source_header: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<String>, NotWritten> {
        let title = title_of(source_header);
        match &title {
            None => begin(new, out),
            Some(title) => {
                let mut header = Vec::new();
                begin(new, &mut header);
                write_with_member(&header, "title", &quoted_wtf8(title.as_bytes()), out)?;
            }
        }
        Ok(title)
    }

    fn copy_label(label: &CopiedLabel<'_>, out: &mut Vec<u8>) {
        copy_label(label, out);
    }

    fn entry(json: &str) -> Result<Vec<EntryDraft>, NotWritten> {
        Ok(vec![Draft::from_json(json, Family::Omp)?.into()])
    }

    fn message(json: &str) -> Result<Vec<EntryDraft>, NotWritten> {
        Ok(vec![Draft::message(json)?.into()])
    }

    fn label(target: &str, label: Option<&str>) -> Result<EntryDraft, NotWritten> {
        Ok(Draft::label(target, label).into())
    }

    fn branch_summary(summary: &BranchSummary<'_>) -> Result<EntryDraft, NotWritten> {
        branch_summary(Family::Omp, summary)
    }

    /// For sessions that pi has named: pi's entry takes precedence over the header.
    fn name_entries(name: &str) -> Vec<EntryDraft> {
        vec![Draft::session_info(name).into()]
    }

    /// The title is in the header, and in the title line before it, which takes precedence (omp session storage document,
    /// persistence).
    fn name_line(
        line: &[u8],
        kind: EntryKind,
        (name, time): (&str, i64),
        out: &mut Vec<u8>,
    ) -> Result<bool, NotWritten> {
        let title = quoted_wtf8(name.as_bytes());
        match kind {
            EntryKind::Title => write_title_line(line, &title, time, out)?,
            EntryKind::Header => write_with_member(line, "title", &title, out)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn naming_time(line: &[u8], kind: EntryKind) -> Option<i64> {
        let decoded = text::decode(line);
        let shown = text::trim_start_of_file(&decoded);
        let document = Document::parse(shown).ok().filter(|_| kind == EntryKind::Title)?;
        parse_timestamp(&document.get("updatedAt")?.to_string_lossy()?)
    }

    fn apply_to_line(
        rules: &Rules,
        line: &str,
        hash: Hash<'_>,
    ) -> Option<(String, Vec<ExternalisedImage>)> {
        apply_to_line(rules, line, hash)
    }
}

impl Drafted for Draft {
    fn families(&self) -> &'static [Family] {
        &[Family::Pi, Family::Omp]
    }

    fn name(&self) -> &'static str {
        match self.kind() {
            EntryKind::Message => "message in the form of pi's",
            EntryKind::Unknown => "entry in the form of pi's",
            kind => kind.name(),
        }
    }

    fn role(&self) -> MessageRole {
        Self::role(self)
    }

    fn target(&self) -> Option<Vec<u8>> {
        let target = match self.kind() {
            EntryKind::Label => self.member("targetId"),
            EntryKind::Compaction => self.member("firstKeptEntryId"),
            _ => None,
        }?;
        Raw::of_walked(target).as_string().map(Vec::from)
    }

    fn apply(&mut self, rules: &Rules, hash: Hash<'_>) -> Vec<ExternalisedImage> {
        rules.apply(self, hash)
    }

    fn write(&self, place: &crate::writing::Place<'_>, out: &mut Vec<u8>) {
        let parent = place.parent.map_or(ParentId::Null, ParentId::Id);
        Self::write(self, &Place { id: place.id, parent, timestamp: place.time_ms }, out);
    }

    fn duplicate(&self) -> Box<dyn Drafted> {
        Box::new(self.clone())
    }
}

impl From<DraftError> for NotWritten {
    fn from(error: DraftError) -> Self {
        let problem = error.to_string();
        match error {
            DraftError::NotAnEntry { .. } => Self::NotAnEntry { problem },
            _ => Self::Invalid { problem },
        }
    }
}

fn begin(new: &Beginning<'_>, out: &mut Vec<u8>) {
    let header = Header {
        id: new.id,
        title: new.title,
        timestamp: new.time_ms,
        cwd: new.cwd,
        parent_session: new.parent_session.map(str::as_bytes),
    };
    header.write(out);
}

fn branch_summary(family: Family, summary: &BranchSummary<'_>) -> Result<EntryDraft, NotWritten> {
    let from = summary.entry.unwrap_or("root");
    let BranchSummary { summary: text, details, from_extension, .. } = *summary;
    Ok(Draft::branch_summary(family, from, text, details, from_extension)?.into())
}

fn apply_to_line(
    rules: &Rules,
    line: &str,
    hash: Hash<'_>,
) -> Option<(String, Vec<ExternalisedImage>)> {
    if *rules == Rules::keep_everything() {
        return None;
    }
    rules.apply_to_line(line, hash)
}

/// The title of a header.
fn title_of(header: &[u8]) -> Option<String> {
    let decoded = text::decode(header);
    let document = Document::parse(text::trim_start_of_file(&decoded)).ok()?;
    let title = document.get("title")?.to_string_lossy()?;
    (!title.is_empty()).then(|| title.into_owned())
}

/// Appends a line with another value of a member, and its other bytes as a program writes them.
///
/// # Errors
///
/// [`NotWritten::Invalid`] if the line is not JSON.
pub fn write_with_member(
    line: &[u8],
    member: &'static str,
    json: &str,
    out: &mut Vec<u8>,
) -> Result<(), NotWritten> {
    let decoded = text::decode(line);
    let mut document =
        Document::parse(text::trim_start_of_file(&decoded)).map_err(NotWritten::invalid)?;
    document.set(member, json.to_owned());
    document.write(out);
    out.push(b'\n');
    Ok(())
}

/// Appends a title line with another title and its time. It keeps its length if its padding allows, since omp overwrites it in
/// place.
fn write_title_line(
    line: &[u8],
    title: &str,
    time: i64,
    out: &mut Vec<u8>,
) -> Result<(), NotWritten> {
    let decoded = text::decode(line);
    let shown = text::trim_start_of_file(&decoded);
    let mut document = Document::parse(shown).map_err(NotWritten::invalid)?;
    document.set("title", title.to_owned());
    if document.get("updatedAt").is_some_and(Raw::is_string) {
        document.set("updatedAt", format!("\"{}\"", format_timestamp(time)));
    }
    if document.get("pad").is_some_and(Raw::is_string) {
        document.set("pad", "\"\"".to_owned());
        let mut unpadded = Vec::with_capacity(line.len());
        document.write(&mut unpadded);
        let room = line.len().saturating_sub(unpadded.len() + 1);
        document.set("pad", format!("\"{}\"", " ".repeat(room)));
    }
    document.write(out);
    out.push(b'\n');
    Ok(())
}

/// A label entry with the timestamp of the entry that set the label, whatever its form.
fn copy_label(label: &CopiedLabel<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"type":"label","id":"#);
    ecma::write_string(label.id.as_bytes(), out);
    out.extend_from_slice(br#","parentId":"#);
    match label.parent {
        Some(parent) => ecma::write_string(parent, out),
        None => out.extend_from_slice(b"null"),
    }
    let decoded = text::decode(label.setter);
    let scan = Scanner::new().scan(text::trim_start_of_file(&decoded));
    if let Some(timestamp) = scan.members.timestamp.map(Raw::as_str) {
        out.extend_from_slice(br#","timestamp":"#);
        // It is a part of a line that was already parsed.
        let _ = ecma::restringify(timestamp, out);
    }
    out.extend_from_slice(br#","targetId":"#);
    ecma::write_string(label.target, out);
    out.extend_from_slice(br#","label":"#);
    ecma::write_string(label.label, out);
    out.extend_from_slice(b"}\n");
}
