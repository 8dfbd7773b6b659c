//! Compares a file with a session that was changed here and is exported with other bytes: as its program would save it, in any
//! order, or with another name in its header. It compares entries, not bytes.

use std::io::{self, Seek, SeekFrom};

use leafline_import::lines::split;
use leafline_import::{EntryKind, Family, Line, LineReader, text};

use super::candidate::Candidate;
use super::digest::Digest;
use super::name::{is_later, naming_time};
use crate::error::Result;
use crate::session::export::exact_bytes;
use crate::session::lines::LineCursor;
use crate::session::view::View;

/// What a file is to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::catalog) enum FileState {
    /// It equals an export of the session.
    Same,
    /// All its entries are the session's, which has others as well, or another header: the session has gone on since.
    Earlier,
    /// It has something that the session lacks.
    Other,
}

/// Compares a file with a session that was changed here.
pub(in crate::catalog) fn compare(
    view: View<'_>,
    candidate: &mut Candidate,
) -> Result<io::Result<FileState>> {
    let digests = match candidate.digests(&[candidate.size]) {
        Ok(digests) => digests,
        Err(error) => return Ok(Err(error)),
    };
    let mut saved = Digest::default();
    exact_bytes(view, &mut |bytes| {
        saved.take(bytes);
        Ok(true)
    })?;
    let saved = saved.finish();
    if digests.contains(&(saved.length, saved.digest)) {
        return Ok(Ok(FileState::Same));
    }
    let held = holds_all(view, candidate)?;
    Ok(held.map(|held| if held { FileState::Earlier } else { FileState::Other }))
}

/// Whether the session has every entry of the file.
fn holds_all(view: View<'_>, candidate: &mut Candidate) -> Result<io::Result<bool>> {
    if let Err(error) = candidate.file.seek(SeekFrom::Start(0)) {
        return Ok(Err(error));
    }
    let mut blocks = candidate.blocks();
    let mut entries = Entries { view, family: view.record().known_family(), cursor: view.cursor() };
    let mut lines = LineReader::new(view.reading());
    let named = naming_time(view)?;
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
            let read = lines.read(shown);
            let is_held = match read.kind() {
                EntryKind::Blank => true,
                EntryKind::Title => {
                    !is_later(entries.family.naming_time(line, EntryKind::Title), named)
                }
                EntryKind::Header => !std::mem::replace(&mut header_is_read, true),
                kind if kind.is_entry() => entries.hold(&read, shown)?,
                _ => false,
            };
            if !is_held {
                return Ok(Ok(false));
            }
        }
    }
}

/// The entries of a session.
struct Entries<'a> {
    view: View<'a>,
    family: Family,
    cursor: LineCursor<'a>,
}

impl Entries<'_> {
    /// Whether the entry is among them.
    fn hold(&mut self, entry: &Line<'_>, text: &str) -> Result<bool> {
        let Some(id) = entry.id() else { return Ok(false) };
        let Some(ordinal) = self.view.find(&id)? else { return Ok(false) };
        let stored = self.view.entry_of(&self.cursor.line(ordinal)?)?;
        let found = self.family.canonical(&text::decode(stored.line()));
        Ok(found.is_some() && found == self.family.canonical(text))
    }
}
