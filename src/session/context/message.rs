//! From an entry's line to the message that it gives.

use leafline_import::ecma::Document;
use leafline_import::scan::Raw;
use leafline_import::{EntryKind, Family, text};

use super::super::lines::LineView;
use super::super::render::{Renderer, Rendering};
use super::image_places::resolved_by_omp;
use super::instant::milliseconds;
use crate::error::Result;
use crate::store::chunk::HoleKind;
use crate::store::snapshot::Snapshot;

/// Makes messages as a family's program does.
pub(super) struct MessageMaker<'a> {
    family: Family,
    renderer: Renderer<'a>,
    /// The line at hand, whole.
    line: Vec<u8>,
}

impl<'a> MessageMaker<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, family: Family) -> Self {
        let rendering = match family {
            Family::Omp => Rendering::InlineImages,
            _ => Rendering::Exact,
        };
        Self { family, renderer: Renderer::new(snapshot, rendering), line: Vec::new() }
    }

    /// Appends the text of the message that a line gives. Answers whether it gives one.
    pub(super) fn append(
        &mut self,
        kind: EntryKind,
        line: &LineView<'_>,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        use EntryKind::{BranchSummary, Compaction, CustomMessage, Message};
        if !matches!(kind, Message | CustomMessage | BranchSummary | Compaction) {
            return Ok(false);
        }
        self.read(kind, line)?;
        let decoded = text::decode(&self.line);
        // What is an entry has been parsed before.
        let Ok(document) = Document::parse(&decoded) else {
            return Ok(false);
        };
        Ok(append_message(kind, self.family, &document, out))
    }

    fn read(&mut self, kind: EntryKind, line: &LineView<'_>) -> Result<()> {
        self.line.clear();
        let refers = line.holes.iter().any(|hole| hole.kind == HoleKind::ImageReference);
        if refers && self.family == Family::Omp {
            let holes = resolved_by_omp(kind, line.text, line.holes);
            return self.renderer.render(line.text, &holes, &mut self.line);
        }
        self.renderer.render(line.text, line.holes, &mut self.line)
    }
}

fn append_message(
    kind: EntryKind,
    family: Family,
    document: &Document<'_>,
    out: &mut Vec<u8>,
) -> bool {
    match kind {
        EntryKind::Message => {
            // The programs throw where it is missing or null: there is nothing to be like.
            let is_there = document.get("message").is_some_and(|message| !message.is_null());
            is_there && document.write_member("message", out)
        }
        EntryKind::CustomMessage => {
            make("custom", &["customType", "content", "display", "details"], document, out)
        }
        EntryKind::BranchSummary => {
            document.get("summary").is_some_and(Raw::is_truthy)
                && make("branchSummary", &["summary", "fromId"], document, out)
        }
        EntryKind::Compaction if family == Family::Omp => {
            make("compactionSummary", &["summary", "shortSummary", "tokensBefore"], document, out)
        }
        EntryKind::Compaction => {
            make("compactionSummary", &["summary", "tokensBefore"], document, out)
        }
        _ => false,
    }
}

/// A message of a role, with these members of the entry, as far as it has them, and its time.
fn make(role: &str, members: &[&str], document: &Document<'_>, out: &mut Vec<u8>) -> bool {
    out.extend_from_slice(format!("{{\"role\":\"{role}\"").as_bytes());
    for name in members {
        let before = out.len();
        out.extend_from_slice(format!(",\"{name}\":").as_bytes());
        if !document.write_member(name, out) {
            out.truncate(before);
        }
    }
    let time = match milliseconds(document.get("timestamp")) {
        Some(time) => format!(",\"timestamp\":{time}}}"),
        // JSON has no NaN.
        None => ",\"timestamp\":null}".to_owned(),
    };
    out.extend_from_slice(time.as_bytes());
    true
}
