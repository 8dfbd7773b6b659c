//! How a file stands to a session of Opal's that was changed here. Opal writes its files anew, in any order, so that bytes
//! tell little: messages are compared.

use std::io::{self, Seek, SeekFrom};

use leafline_import::lines::{BlockReader, split};
use leafline_import::opal::{Draft, Line, LineKind, Parent, ParentId, Scanner, encode_sorted};
use leafline_import::text;

use super::candidate::Candidate;
use super::digest::Digest;
use super::pipeline::BLOCK_BYTES;
use crate::error::Result;
use crate::session::export::exact_bytes;
use crate::session::lines::LineCursor;
use crate::session::render::{Renderer, Rendering};
use crate::store::session_record::SessionRecord;
use crate::store::snapshot::Snapshot;

/// What a file is to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileState {
    /// What an export of the session gives.
    Same,
    /// All its messages are the session's, which has others as well, or another header: the session went on.
    Earlier,
    /// It has what the session lacks.
    Other,
}

/// Compares a file with a session that was changed here.
pub(super) fn compare(
    snapshot: &Snapshot,
    session: u64,
    record: &SessionRecord,
    candidate: &mut Candidate,
) -> Result<io::Result<FileState>> {
    let digests = match candidate.digests(&[candidate.size]) {
        Ok(digests) => digests,
        Err(error) => return Ok(Err(error)),
    };
    let mut saved = Digest::default();
    exact_bytes(snapshot, session, record, &mut |bytes| {
        saved.take(bytes);
        Ok(true)
    })?;
    let saved = saved.finish();
    if digests.contains(&(saved.length, saved.digest)) {
        return Ok(Ok(FileState::Same));
    }
    let held = holds_all(snapshot, (session, record), candidate)?;
    Ok(held.map(|held| if held { FileState::Earlier } else { FileState::Other }))
}

/// Whether the session has every message of the file.
fn holds_all(
    snapshot: &Snapshot,
    (session, record): (u64, &SessionRecord),
    candidate: &mut Candidate,
) -> Result<io::Result<bool>> {
    if let Err(error) = candidate.file.seek(SeekFrom::Start(0)) {
        return Ok(Err(error));
    }
    let mut blocks = BlockReader::new(candidate.bytes(), BLOCK_BYTES);
    let mut messages =
        Messages { snapshot, session, cursor: LineCursor::new(snapshot, session, record, 0) };
    let mut scanner = Scanner::new();
    let mut header_is_read = false;
    loop {
        let block = match blocks.next_block(Vec::new()) {
            Ok(Some(block)) => block,
            Ok(None) => return Ok(Ok(true)),
            Err(error) => return Ok(Err(error)),
        };
        for line in split(&block) {
            let decoded = text::decode(line);
            let shown = text::trim_start_of_file(&decoded);
            let scanned = scanner.scan(shown);
            let is_held = match scanned.kind() {
                LineKind::Blank => true,
                LineKind::Header => !std::mem::replace(&mut header_is_read, true),
                LineKind::Message => messages.hold(&scanned, shown)?,
                LineKind::Malformed | LineKind::Scalar => false,
            };
            if !is_held {
                return Ok(Ok(false));
            }
        }
    }
}

/// The messages of a session, to look up in.
struct Messages<'a> {
    snapshot: &'a Snapshot,
    session: u64,
    cursor: LineCursor<'a>,
}

impl Messages<'_> {
    /// Whether the message is among them.
    fn hold(&mut self, message: &Line<'_>, text: &str) -> Result<bool> {
        let Some(id) = message.id() else { return Ok(false) };
        let Some(entry) = self.snapshot.entry(self.session, &id)? else { return Ok(false) };
        self.cursor.seek(entry.ordinal);
        let Some(line) = self.cursor.next()? else { return Ok(false) };
        let mut stored = Vec::with_capacity(line.text.len());
        Renderer::new(self.snapshot, Rendering::Exact).render(
            line.text,
            line.holes,
            &mut stored,
        )?;
        let found = canonical(&text::decode(&stored));
        Ok(found.is_some() && found == canonical(text))
    }
}

/// One text for all forms in which a message may be written: its members sorted, and those that say nothing left out.
/// `None` for what is not JSON.
pub(super) fn canonical(text: &str) -> Option<Vec<u8>> {
    let text = text::trim_start_of_file(text);
    let mut sorted = Vec::with_capacity(text.len());
    match rewritten(text) {
        Some(message) => encode_sorted(&message, &mut sorted),
        None => encode_sorted(text, &mut sorted),
    }
    .ok()?;
    Some(sorted)
}

/// The message as Opal would write it; `None` for what is none of its messages.
fn rewritten(text: &str) -> Option<String> {
    let line = Scanner::new().scan(text);
    let draft = Draft::from_json(text).ok()?;
    let (id, parent) = (line.id()?, line.parent());
    let parent = match &parent {
        Parent::Root => ParentId::Null,
        Parent::Id(id) => ParentId::Id(id),
        Parent::NoId => return None,
    };
    let mut message = Vec::with_capacity(text.len());
    draft.write(&id, parent, &mut message);
    String::from_utf8(message).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_text_for_all_forms_of_a_message() {
        let forms = [
            r#"{"id":"m","role":"user","content":"Hi","parent_id":null,"metadata":{"b":1.0,"a":2}}"#,
            r#" {"metadata":{"a":2,"b":10e-1},"is_error":false,"id":"m","tool_calls":[],"role":"user","content":"\u0048i"}"#,
        ];
        let found = forms.map(canonical);
        assert!(found[0].is_some() && found[0] == found[1], "{found:?}");
        for other in [
            r#"{"id":"m","role":"user","content":"Hi","parent_id":"p","metadata":{"b":1.0,"a":2}}"#,
            r#"{"id":"m","role":"user","content":"Hi","parent_id":null,"metadata":{"b":1,"a":2}}"#,
            r#"{"id":"m","role":"user","content":"Hi","parent_id":null,"metadata":{"b":1.0,"a":2},"x":0}"#,
        ] {
            assert_ne!(canonical(other), found[0], "{other}");
        }
        assert_eq!(
            canonical(r#"{"b":1,"a":{"d":1,"c":2}}"#),
            canonical(r#"{"a":{"c":2,"d":1},"b":1}"#)
        );
        assert_eq!(canonical("{torn"), None);
    }
}
