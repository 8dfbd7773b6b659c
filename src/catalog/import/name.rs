//! A name that was set or cleared in the store, in a family whose program keeps the name in the file's header: a file that takes
//! the session's place gets it, unless the program has named the session since.

use std::io::{self, Seek, SeekFrom};

use leafline_import::lines::split;
use leafline_import::{EntryKind, LineReader, Reading, SPARE_TITLE, text};

use super::candidate::Candidate;
use crate::error::Result;
use crate::session::view::View;
use crate::store::clock::now;
use crate::store::ordinal::Ordinal;
use crate::store::session_record::NAMED_HERE;

/// A name, empty if it was cleared, and when it was given in milliseconds since 1970.
pub(super) struct Name {
    name: String,
    time: i64,
}

/// The name that was set in the store and that the file lacks, or the empty one if the store cleared it.
pub(super) fn name_to_keep(
    view: View<'_>,
    candidate: &mut Candidate,
) -> Result<io::Result<Option<Name>>> {
    let record = view.record();
    let is_cleared = record.title.is_none() || record.title_rank == SPARE_TITLE;
    if record.title_rank != NAMED_HERE && !is_cleared {
        return Ok(Ok(None));
    }
    let time = naming_time(view)?;
    let of_file = match naming_time_of_file(candidate) {
        Ok(of_file) => of_file,
        Err(error) => return Ok(Err(error)),
    };
    // Without a rank of its own, a cleared name is one that the lines give a later time.
    let is_kept = match record.title_rank {
        NAMED_HERE => !is_later(of_file, time),
        _ => time > of_file,
    };
    let name = record.title.clone().filter(|_| !is_cleared).unwrap_or_default();
    Ok(Ok(is_kept.then(|| Name { name, time: time.unwrap_or_else(now) })))
}

/// When the session got its name, as its lines state it.
pub(super) fn naming_time(view: View<'_>) -> Result<Option<i64>> {
    let mut time = None;
    for ordinal in Ordinal::FIRST.up_to(Ordinal::after(view.record().header.number())) {
        let entry = view.entry(ordinal)?;
        time = time.max(view.record().known_family().naming_time(entry.line(), entry.kind()));
    }
    Ok(time)
}

/// Returns true if the program has named the session after it was named in the store.
pub(super) fn is_later(of_file: Option<i64>, of_store: Option<i64>) -> bool {
    of_file.zip(of_store).is_some_and(|(of_file, of_store)| of_file > of_store)
}

fn naming_time_of_file(candidate: &mut Candidate) -> io::Result<Option<i64>> {
    candidate.file.seek(SeekFrom::Start(0))?;
    let block = candidate.blocks().next_block(Vec::new())?;
    candidate.file.seek(SeekFrom::Start(0))?;
    let mut time = None;
    each_up_to_the_header(
        candidate.reading(),
        block.as_deref().unwrap_or_default(),
        |line, kind| {
            time = time.max(candidate.start.family.naming_time(line, kind));
        },
    );
    Ok(time)
}

impl Name {
    /// The title that the session gets; `None` if the name was cleared.
    pub(super) fn title(&self) -> Option<String> {
        Some(self.name.clone()).filter(|name| !name.is_empty())
    }

    /// The first block of a file, with this name.
    pub(super) fn put_into(&self, reading: Reading, block: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(block.len());
        let read = each_up_to_the_header(reading, block, |line, kind| {
            let before = out.len();
            let name = (&*self.name, self.time);
            if !reading.family.name_line(line, kind, name, &mut out).is_ok_and(|is_named| is_named)
            {
                out.truncate(before);
                out.extend_from_slice(line);
            }
        });
        out.extend_from_slice(block.get(read..).unwrap_or_default());
        out
    }
}

/// Calls a function with each line up to the header and its kind. Returns the number of bytes of these lines.
fn each_up_to_the_header(
    reading: Reading,
    block: &[u8],
    mut take: impl FnMut(&[u8], EntryKind),
) -> usize {
    let mut lines = LineReader::new(reading);
    let mut bytes = 0;
    for line in split(block) {
        let kind = lines.read(text::trim_start_of_file(&text::decode(line))).kind();
        take(line, kind);
        bytes += line.len();
        if kind == EntryKind::Header {
            break;
        }
    }
    bytes
}
