//! From a stored line to its bytes: fills holes in the way that the caller wants.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use leafline_import::ecma;

use crate::error::{Corruption, Result};
use crate::store::blobs::{self, Hash};
use crate::store::chunk::{Hole, HoleKind, REFERENCE_LEN};
use crate::store::snapshot::Snapshot;

/// Base64 characters from which an image becomes a reference: the documents' 1,024.
const REFERENCE_FROM: u64 = 1024;

/// The problem with a blob that was cut out of a line and is gone.
const NOT_THERE: &str = "a line needs this blob, and it is not there";

/// How a line's images are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rendering {
    /// As they went in.
    Exact,
    /// Inline: references become the blobs they name.
    Inline,
    /// References that are an image's `data` become base64 if the store has the blob; all others stay.
    InlineImages,
    /// References: base64 of 1,024 characters or more becomes one.
    References,
}

/// Renders lines, and notes what it could not do.
#[derive(Debug)]
pub(crate) struct Renderer<'a> {
    snapshot: &'a Snapshot,
    rendering: Rendering,
    /// Blobs that the rendered lines refer to.
    pub(crate) referenced: BTreeSet<Hash>,
    /// Whether a reference was left in place because its blob is missing.
    pub(crate) lacks_blobs: bool,
}

impl<'a> Renderer<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, rendering: Rendering) -> Self {
        Self { snapshot, rendering, referenced: BTreeSet::new(), lacks_blobs: false }
    }

    /// What the lines' images look like.
    pub(crate) fn rendering(&self) -> Rendering {
        self.rendering
    }

    /// Appends the line's bytes.
    pub(crate) fn render(&mut self, text: &[u8], holes: &[Hole], out: &mut Vec<u8>) -> Result<()> {
        let mut at = 0;
        for hole in holes {
            let offset = usize::try_from(hole.offset).unwrap_or(usize::MAX);
            let Some(before) = text.get(at..offset) else {
                return Err(corrupted(hole, "the hole lies outside its line").into());
            };
            out.extend_from_slice(before);
            at = offset;
            if hole.kind.is_cut() {
                self.fill(hole, out)?;
            } else if self.inlines(hole.kind) {
                let reference = reference_at(hole, text, offset)?;
                self.inline(hole, reference, out)?;
                at += reference.len();
            } else {
                self.referenced.insert(hole.hash);
            }
        }
        // A skipped reference ends within the line.
        out.extend_from_slice(text.get(at..).unwrap_or_default());
        Ok(())
    }

    /// Whether a reference of this kind is replaced by its blob.
    fn inlines(&self, kind: HoleKind) -> bool {
        match self.rendering {
            Rendering::Inline => true,
            Rendering::InlineImages => kind == HoleKind::ImageReference,
            Rendering::Exact | Rendering::References => false,
        }
    }

    fn fill(&mut self, hole: &Hole, out: &mut Vec<u8>) -> Result<()> {
        if self.rendering == Rendering::References && hole.kind == HoleKind::Image {
            let size = self.snapshot.blob_record(&hole.hash)?.and_then(|record| record.size);
            if size.is_some_and(|size| base64_len(size) >= REFERENCE_FROM) {
                self.referenced.insert(hole.hash);
                out.extend_from_slice(b"blob:sha256:");
                out.extend_from_slice(blobs::hex(&hole.hash).as_bytes());
                return Ok(());
            }
        }
        let Some(bytes) = self.snapshot.blob(&hole.hash)? else {
            return Err(corrupted(hole, NOT_THERE).into());
        };
        append_base64(&bytes, out);
        Ok(())
    }

    /// Writes the blob in place of a reference.
    fn inline(&mut self, hole: &Hole, reference: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let blob = self.snapshot.blob(&hole.hash)?;
        self.lacks_blobs |= blob.is_none();
        match blob {
            Some(bytes) if hole.kind == HoleKind::ImageReference => append_base64(&bytes, out),
            Some(bytes) if std::str::from_utf8(&bytes).is_ok() => append_text(&bytes, out),
            // Bytes that are not text cannot be in a JSON string: the reference says more.
            _ => out.extend_from_slice(reference),
        }
        Ok(())
    }
}

/// The text `blob:sha256:<hash>` that must be at a hole.
fn reference_at<'t>(hole: &Hole, text: &'t [u8], offset: usize) -> Result<&'t [u8]> {
    let reference = text.get(offset..offset.saturating_add(REFERENCE_LEN));
    let names_it = |reference: &&[u8]| {
        reference.strip_prefix(b"blob:sha256:") == Some(blobs::hex(&hole.hash).as_bytes())
    };
    let problem = "the line does not name the blob where the hole says";
    Ok(reference.filter(names_it).ok_or_else(|| corrupted(hole, problem))?)
}

/// The length of a line as [`Rendering::Exact`] writes it, given the length of the stored line: what was cut out comes
/// back.
pub(crate) fn rendered_len(snapshot: &Snapshot, stored: u64, holes: &[Hole]) -> Result<u64> {
    let mut length = stored;
    for hole in holes.iter().filter(|hole| hole.kind.is_cut()) {
        let size = snapshot.blob_record(&hole.hash)?.and_then(|record| record.size);
        let size = size.ok_or_else(|| corrupted(hole, NOT_THERE))?;
        length = length.saturating_add(base64_len(size));
    }
    Ok(length)
}

fn base64_len(bytes: u64) -> u64 {
    bytes.div_ceil(3).saturating_mul(4)
}

fn append_base64(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    let room = out.get_mut(start..).unwrap_or_default();
    STANDARD.encode_slice(bytes, room).expect("the room is the encoded length");
}

/// A blob that replaced a text, as the inside of a JSON string.
fn append_text(bytes: &[u8], out: &mut Vec<u8>) {
    let mut quoted = Vec::with_capacity(bytes.len() + 2);
    ecma::write_string(bytes, &mut quoted);
    out.extend_from_slice(quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default());
}

fn corrupted(hole: &Hole, problem: &str) -> Corruption {
    Corruption { table: "blobs", place: blobs::hex(&hole.hash), problem: problem.into() }
}
