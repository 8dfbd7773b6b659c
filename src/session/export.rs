//! A session's bytes, in all forms of an export.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::blob_file::write_blob;
use super::lines::LineView;
use super::render::{Renderer, Rendering};
use super::saved::saved_lines;
use super::view::View;

use crate::error::{Corruption, Error, ExportError, FileContext, Result};
use crate::lasting::sync_folder;
use crate::open_folder::OpenFolder;
use crate::redact::Redactor;
use crate::store::blobs::{self, Hash};
use crate::store::chunk::HoleKind;
use crate::store::fingerprint::Fingerprint;
use crate::store::originals::read_originals;
use crate::store::session_record::{SessionRecord, address_bytes};
use crate::store::snapshot::Snapshot;

/// Bytes that are buffered before they are passed to the writer.
pub(super) const BUFFER_BYTES: usize = 256 << 10;

/// The form in which a session is exported.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ExportMode {
    /// As its program would have it today: a file of version 1 or 2 as pi rewrites it on loading it, images unchanged;
    /// a file of version 3, or of Claude Code, Opal or Codex, byte for byte. An Opal session that was changed here is
    /// exported as Opal would save it: the header with the leaf as its `current_id`, then the messages in their stored
    /// order, all as Opal's encoder writes them; lines that Opal cannot read are left out.
    #[default]
    Current,
    /// As close to the imported bytes as possible: for a migrated session (a file of version 1 or 2) those bytes,
    /// without what was appended here; for any other its lines, which are the imported bytes followed by what was
    /// appended here, unless lines were changed here (by a name, a move, a rewrite). An Opal session that was changed
    /// here is exported as by [`Self::Current`]. [`Self::Original`] is always the imported bytes.
    Exact,
    /// The imported bytes and nothing else, checked against their fingerprint. What was appended here is left out.
    /// [`ExportError::OriginalNotHeld`] if the store does not have them: for a session created here, and for one whose
    /// lines were changed here, unless it was migrated.
    Original,
    /// Like [`Self::Current`], with every `blob:sha256:` reference resolved: an image's becomes base64, any other
    /// string's becomes the text, if the store has it and it is UTF-8.
    Portable,
    /// Like [`Self::Current`], with every image of at least 1,024 base64 characters in a `content` array replaced by a
    /// reference. The referenced blobs are written to the folder, each named by its hash.
    References {
        /// The folder; it is created if it does not exist.
        blobs: PathBuf,
    },
}

impl ExportMode {
    /// The form of a name, for the forms that write no blobs: `current`, `exact`, `original`, `portable`.
    ///
    /// ```
    /// use leafline::export::ExportMode;
    ///
    /// assert_eq!(ExportMode::named("exact"), Some(ExportMode::Exact));
    /// assert_eq!(ExportMode::named("refs"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "current" => Some(Self::Current),
            "exact" => Some(Self::Exact),
            "original" => Some(Self::Original),
            "portable" => Some(Self::Portable),
            _ => None,
        }
    }

    /// The folder to which blobs are written, if there is one.
    pub(crate) fn blobs(&self) -> Option<&Path> {
        match self {
            Self::References { blobs } => Some(blobs),
            Self::Current | Self::Exact | Self::Original | Self::Portable => None,
        }
    }
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exported {
    /// How many bytes.
    pub(crate) bytes: u64,
    /// Whether every change of the bytes implies a change of the session's record: no blob added later would change
    /// them, and they refer to no files that the export must maintain.
    pub(crate) is_settled: bool,
}

/// Writes a session's bytes to `out`. They are compared with the session's record before the last of them is written.
pub(crate) fn export(
    view: View<'_>,
    mode: &ExportMode,
    redactor: Option<&Redactor>,
    out: &mut dyn Write,
) -> Result<Exported> {
    export_redacted(view, mode, redactor, out).map_err(|error| match error {
        Error::Corrupted(mut damage) => {
            // People know the session by its id.
            let key = format!("session key {}", view.key());
            let id = format!("session {}", view.record().id());
            damage.place = damage.place.replacen(&key, &id, 1);
            Error::Corrupted(damage)
        }
        other => other,
    })
}

/// Writes a session's bytes, with secrets replaced if there is something that does it.
fn export_redacted(
    view: View<'_>,
    mode: &ExportMode,
    redactor: Option<&Redactor>,
    out: &mut dyn Write,
) -> Result<Exported> {
    #[cfg(feature = "redact")]
    if let Some(redactor) = redactor {
        let mut redacting = redactor.writer(out);
        let exported = export_in(view, mode, Some(redactor), &mut redacting)?;
        let bytes = redacting.finish().map_err(ExportError::Output)?;
        return Ok(Exported { bytes, ..exported });
    }
    export_in(view, mode, redactor, out)
}

fn export_in(
    view: View<'_>,
    mode: &ExportMode,
    redactor: Option<&Redactor>,
    out: &mut dyn Write,
) -> Result<Exported> {
    let snapshot = view.snapshot();
    check_address(view)?;
    let mut written = 0;
    let mut is_settled = true;
    let mut take = |bytes: &[u8]| {
        written += bytes.len() as u64;
        out.write_all(bytes).map_err(ExportError::Output)?;
        Ok(true)
    };
    match mode {
        ExportMode::Exact => exact_bytes(view, &mut take)?,
        ExportMode::Original => original_bytes(view, &mut take)?,
        ExportMode::Current => {
            let mut renderer = Renderer::new(snapshot, Rendering::Exact);
            current_lines(&mut renderer, view, &mut take)?;
        }
        ExportMode::Portable => {
            refuse_missing(view)?;
            let mut renderer = Renderer::new(snapshot, Rendering::Inline);
            current_lines(&mut renderer, view, &mut take)?;
            is_settled = !renderer.lacks_blobs;
        }
        ExportMode::References { blobs } => {
            // Nothing is written if there can be no such folder.
            let folder = OpenFolder::make(blobs).at("making the folder", blobs)?;
            let mut renderer = Renderer::new(snapshot, Rendering::References);
            current_lines(&mut renderer, view, &mut take)?;
            let referenced = std::mem::take(&mut renderer.referenced);
            is_settled = referenced.is_empty();
            write_blobs(snapshot, &referenced, &Arc::new(folder), redactor)?;
        }
    }
    Ok(Exported { bytes: written, is_settled })
}

/// The blobs to which a session's lines refer, with and without bytes in the store.
pub(crate) fn references(view: View<'_>) -> Result<BTreeSet<Hash>> {
    let mut references = BTreeSet::new();
    let mut chunks = view.chunks();
    while let Some(chunk) = chunks.next()? {
        let holes = chunk.holes().iter().filter(|hole| !hole.kind.is_cut());
        references.extend(holes.map(|hole| hole.hash));
    }
    Ok(references)
}

/// Those of these blobs whose bytes the store has.
pub(crate) fn held(snapshot: &Snapshot, hashes: &BTreeSet<Hash>) -> Result<BTreeSet<Hash>> {
    let mut held = BTreeSet::new();
    for hash in hashes {
        if snapshot.blob_record(hash)?.is_some_and(|record| record.size.is_some()) {
            held.insert(*hash);
        }
    }
    Ok(held)
}

/// Writes these blobs into a folder, each named by its hash. Those whose bytes the store does not have are left out.
pub(crate) fn write_blobs(
    snapshot: &Snapshot,
    hashes: &BTreeSet<Hash>,
    folder: &Arc<OpenFolder>,
    redactor: Option<&Redactor>,
) -> Result<()> {
    for hash in hashes {
        write_blob(snapshot, hash, folder, redactor)?;
    }
    if !hashes.is_empty() {
        sync_folder(folder.path());
    }
    Ok(())
}

/// Fails unless the id in the session's record leads to the session: some forms write the id.
fn check_address(view: View<'_>) -> Result<()> {
    let record = view.record();
    let address = address_bytes(&record.external_id, record.number);
    if view.snapshot().key_of(&address)? == Some(view.key()) {
        return Ok(());
    }
    let place = format!("session {}", record.id());
    let problem = "the id in its record does not lead to it".into();
    Err(Error::Corrupted(Corruption { table: "sessions", place, problem }))
}

/// Passes on the bytes of [`ExportMode::Exact`], until `take` returns `false`.
pub(crate) fn exact_bytes(
    view: View<'_>,
    take: &mut dyn FnMut(&[u8]) -> Result<bool>,
) -> Result<()> {
    let record = view.record();
    if record.migrated {
        return read_originals(view.rows(), &record.imported, take);
    }
    current_bytes(view, take)
}

/// Passes on the bytes of [`ExportMode::Original`], until `take` returns `false`.
fn original_bytes(view: View<'_>, take: &mut dyn FnMut(&[u8]) -> Result<bool>) -> Result<()> {
    let record = view.record();
    if record.migrated {
        return read_originals(view.rows(), &record.imported, take);
    }
    if !record.rewritten && record.imported.length > 0 {
        let mut left = record.imported.length;
        // Read to the end, so that all of it is compared with the record.
        return current_bytes(view, &mut |bytes| {
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
            left -= most as u64;
            take(bytes.split_at(most).0)
        });
    }
    let reason = match record.sources.is_empty() {
        true => "it came from no file",
        false => "lines were changed here since it was imported",
    };
    Err(Error::Export(ExportError::OriginalNotHeld { session: record.id(), reason }))
}

/// Passes on the bytes of [`ExportMode::Current`], until `take` returns `false`.
pub(crate) fn current_bytes(
    view: View<'_>,
    take: &mut dyn FnMut(&[u8]) -> Result<bool>,
) -> Result<()> {
    current_lines(&mut Renderer::new(view.snapshot(), Rendering::Exact), view, take)
}

/// Passes on the lines as they are, or, if the session was changed here and its program rewrites its files, as that
/// program would write them.
fn current_lines(
    renderer: &mut Renderer<'_>,
    view: View<'_>,
    take: &mut dyn FnMut(&[u8]) -> Result<bool>,
) -> Result<()> {
    if view.record().rewritten {
        return saved_lines(renderer, view, take);
    }
    lines(renderer, view, take)
}

fn lines(
    renderer: &mut Renderer<'_>,
    view: View<'_>,
    take: &mut dyn FnMut(&[u8]) -> Result<bool>,
) -> Result<()> {
    let record = view.record();
    let mut cursor = view.cursor();
    let mut read = Read::default();
    let mut rendered = (renderer.rendering() == Rendering::Exact).then(|| Rendered::new(record));
    let mut buffer = Vec::with_capacity(BUFFER_BYTES + (64 << 10));
    while let Some(line) = cursor.next()? {
        read.count(&line);
        // A long line is passed on as it is stored, if nothing is cut out of it.
        if line.text.len() >= BUFFER_BYTES && line.holes.is_empty() {
            for piece in [&*buffer, line.text] {
                if let Some(rendered) = &mut rendered {
                    rendered.take(piece);
                }
                if !take(piece)? {
                    return Ok(());
                }
            }
            buffer.clear();
            continue;
        }
        renderer.render(line.text, line.holes, &mut buffer)?;
        if buffer.len() >= BUFFER_BYTES {
            if let Some(rendered) = &mut rendered {
                rendered.take(&buffer);
            }
            if !take(&buffer)? {
                return Ok(());
            }
            buffer.clear();
            buffer.shrink_to(4 * BUFFER_BYTES);
        }
    }
    read.check(record)?;
    if let Some(rendered) = &mut rendered {
        rendered.take(&buffer);
        rendered.check(record)?;
    }
    take(&buffer)?;
    Ok(())
}

/// What was read of a session, for a comparison with its record.
#[derive(Debug, Default)]
pub(super) struct Read {
    lines: u64,
    text_bytes: u64,
}

impl Read {
    pub(super) fn count(&mut self, line: &LineView<'_>) {
        self.lines += 1;
        self.text_bytes += line.text.len() as u64;
    }

    /// Fails unless the session's record says the same.
    pub(super) fn check(&self, record: &SessionRecord) -> Result<()> {
        expect(record, "lines", self.lines, record.lines)?;
        expect(record, "bytes of stored text", self.text_bytes, record.text_bytes)
    }
}

/// A session's lines, including what was cut out of them, for a comparison with its record.
#[derive(Debug)]
struct Rendered {
    bytes: u64,
    /// The imported bytes, if the session still begins with them.
    imported: Option<PrefixDigest>,
}

impl Rendered {
    fn new(record: &SessionRecord) -> Self {
        let begins_with_imported = !record.migrated && record.imported.length > 0;
        let imported = begins_with_imported.then(|| PrefixDigest::new(record.imported.length));
        Self { bytes: 0, imported }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if let Some(imported) = &mut self.imported {
            imported.take(bytes);
        }
    }

    /// Fails unless the session's record says the same.
    fn check(&self, record: &SessionRecord) -> Result<()> {
        expect(record, "bytes", self.bytes, record.bytes)?;
        let is_imported =
            |imported: &PrefixDigest| imported.digest() == Some(record.imported.digest);
        if self.imported.as_ref().is_none_or(is_imported) {
            return Ok(());
        }
        let problem = format!(
            "the first {} bytes do not have the fingerprint of those that were imported",
            record.imported.length
        );
        Err(damaged(record, problem))
    }
}

/// Fails unless the session's record states the value that was found.
pub(super) fn expect(record: &SessionRecord, what: &str, found: u64, said: u64) -> Result<()> {
    if found == said {
        return Ok(());
    }
    Err(damaged(record, format!("there are {found} {what}, and its record says {said}")))
}

fn damaged(record: &SessionRecord, problem: String) -> Error {
    Error::Corrupted(Corruption {
        table: "lines",
        place: format!("session {}", record.id()),
        problem,
    })
}

/// An export without blob files is refused before its first byte if one of its images is missing. Any other string may
/// only look like a reference.
fn refuse_missing(view: View<'_>) -> Result<()> {
    let snapshot = view.snapshot();
    let mut missing = BTreeSet::new();
    let mut chunks = view.chunks();
    while let Some(chunk) = chunks.next()? {
        for hole in chunk.holes().iter().filter(|hole| hole.kind == HoleKind::ImageReference) {
            if snapshot.blob_record(&hole.hash)?.is_none_or(|record| record.size.is_none()) {
                missing.insert(hole.hash);
            }
        }
    }
    match missing.first() {
        None => Ok(()),
        Some(first) => Err(Error::Export(ExportError::BlobsMissing {
            session: view.record().id(),
            count: missing.len(),
            first: blobs::hex(first),
        })),
    }
}

/// The fingerprint of the first bytes of a stream.
#[derive(Debug)]
pub(crate) struct PrefixDigest {
    fingerprint: Fingerprint,
    left: u64,
}

impl PrefixDigest {
    /// Of the first `length` bytes.
    pub(crate) fn new(length: u64) -> Self {
        Self { fingerprint: Fingerprint::default(), left: length }
    }

    /// Takes bytes; returns whether more are needed.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> bool {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        self.fingerprint.take(bytes.get(..most).unwrap_or_default());
        self.left -= most as u64;
        self.left > 0
    }

    /// The digest, once there were enough bytes.
    pub(crate) fn digest(&self) -> Option<u128> {
        (self.left == 0).then(|| self.fingerprint.digest())
    }
}
