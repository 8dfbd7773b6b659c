//! Reads and scans every line of a session again, and looks up each row that it should have.

use std::borrow::Cow;
use std::collections::BTreeMap;

use leafline_import::{
    Effect, EntryKind, Line, LineReader, SUMMARY_TITLE, SettingsChange, TITLE_BESIDE, text,
};

use super::super::change::whole_change;
use super::super::export::PrefixDigest;
use super::super::index::facts::title_counts;
use super::super::index::leaf;
use super::super::index::prepare::type_name_of;
use super::super::lines::LineView;
use super::super::render::{Renderer, Rendering};
use super::super::view::View;
use super::loops::loops;
use super::rows::{Expected, check_rows};
use super::{Findings, Verification};
use crate::error::Result;
use crate::session::index::resolve::parent_named;
use crate::session::index::usage::UsageIndexer;
use crate::store::blobs::{self, Hash};
use crate::store::node::{Node, Parent};
use crate::store::ordinal::Ordinal;
use crate::store::pointer_record::{PointerKind, PointerRecord};
use crate::store::settings_record::SettingsRecord;
use crate::store::usage_rows::UsageTail;

/// Checks one session.
pub(crate) fn check(view: View<'_>, verification: &mut Verification) -> Result<()> {
    let mut findings = Findings::new(Some(view.record().id()), verification);
    if let Some(splits) = findings.absorb(splits(view))? {
        findings.number_lines(splits);
    }
    let mut checker = Checker {
        view,
        scanner: LineReader::new(view.reading()),
        expected: Expected::of(view.record()),
        parents: Vec::new(),
        imported: PrefixDigest::new(view.record().imported.length),
        settings: None,
        title: None,
        title_is_set: false,
        title_rank: 0,
        is_in_line: false,
        is_at_start: true,
        last_message: None,
        usage: UsageIndexer::behind(UsageTail::Nothing),
        missing: BTreeMap::new(),
    };
    let read = checker.read_lines(&mut findings);
    findings.absorb(read)?;
    let whole = checker.check_whole(&mut findings);
    findings.absorb(whole)?;
    let usage = &mut checker.expected.usage;
    checker.usage.finish(|number, row| usage.push((number, row)));
    let rows = check_rows(view, &checker.expected, &mut findings);
    findings.absorb(rows)?;
    Ok(())
}

/// The records that end before their line does.
fn splits(view: View<'_>) -> Result<Vec<Ordinal>> {
    let mut splits = Vec::new();
    if view.record().splits > 0 {
        let mut cursor = view.cursor();
        while let Some(line) = cursor.next()? {
            if ends_inside_line(view, &line) {
                splits.push(line.ordinal);
            }
        }
    }
    Ok(splits)
}

/// Whether a record ends before its line does: it has no line feed, and is not the session's last.
fn ends_inside_line(view: View<'_>, line: &LineView<'_>) -> bool {
    let is_last = line.ordinal.number() >= view.record().lines;
    !line.text.ends_with(b"\n") && !is_last
}

struct Checker<'r> {
    view: View<'r>,
    scanner: LineReader,
    expected: Expected,
    /// Parents by ordinal, for the search for loops; only in an irregular session.
    parents: Vec<Option<Ordinal>>,
    /// The digest of the imported bytes.
    imported: PrefixDigest,
    /// The settings that were read last, by id.
    settings: Option<(u64, SettingsRecord)>,
    /// The title according to the lines so far, and whether another line than the header has set it.
    title: Option<String>,
    title_is_set: bool,
    title_rank: u8,
    /// Whether the record before ended within its line.
    is_in_line: bool,
    /// Whether no record came before: only there a byte order mark and white space foreign to JSON are ignored.
    is_at_start: bool,
    /// The last message that is not on a sidechain.
    last_message: Option<Ordinal>,
    /// Counts the usage again.
    usage: UsageIndexer,
    /// References without a blob, and the line of the first.
    missing: BTreeMap<Hash, Ordinal>,
}

impl Checker<'_> {
    fn read_lines(&mut self, findings: &mut Findings<'_>) -> Result<()> {
        let mut cursor = self.view.cursor();
        let mut bytes = Vec::new();
        while let Some(line) = cursor.next()? {
            findings.counts().lines += 1;
            self.expected.lines += 1;
            self.expected.text_bytes += line.text.len() as u64;
            let name = self.check_line(&line, findings)?;
            // A long line is not copied.
            let whole = if line.holes.is_empty() {
                Some(line.text)
            } else {
                bytes.clear();
                let rendered = Renderer::new(self.view.snapshot(), Rendering::Exact)
                    .render(line.text, line.holes, &mut bytes);
                findings.absorb(rendered)?.map(|()| &*bytes)
            };
            if let Some(whole) = whole {
                self.imported.take(whole);
                self.expected.bytes += whole.len() as u64;
                self.expected.count_type(name, whole.len() as u64);
            }
            for hole in line.holes.iter().filter(|hole| !hole.kind.is_cut()) {
                let record = self.view.snapshot().blob_record(&hole.hash)?;
                if record.is_none_or(|record| record.size.is_none()) {
                    self.missing.entry(hole.hash).or_insert(line.ordinal);
                }
            }
        }
        Ok(())
    }

    /// Checks a line and its node. Returns the name under which the line is counted.
    fn check_line(&mut self, line: &LineView<'_>, findings: &mut Findings<'_>) -> Result<String> {
        let decoded = text::decode(line.text);
        let shown = if self.is_at_start { text::trim_start_of_file(&decoded) } else { &decoded };
        let read = self.scanner.read(shown);
        let (kind, role, time) = (read.kind(), read.role(), read.time());
        let name_to_count = type_name_of(&read);
        let at = Some(line.ordinal);
        let node = line.node;
        let expected = (kind.code(), role.code(), read.is_sidechain(), time);
        if (node.kind, node.role, node.is_sidechain, node.time) != expected {
            findings.problem("lines", at, "the node's kind, role or time is not the line's");
        }
        let goes_on = ends_inside_line(self.view, line);
        let is_piece = goes_on || self.is_in_line;
        self.is_in_line = goes_on;
        self.is_at_start &= goes_on || (kind == EntryKind::Blank && !is_piece);
        self.expected.splits += u64::from(goes_on);
        let effect = read.effect();
        if let Some(Effect::Label { target, label }) = &effect {
            self.expected.set_label(target.clone(), line.ordinal, label.clone());
        }
        if let Some(Effect::Title { title, rank }) = &effect
            && title_counts(self.title.as_ref(), self.title_rank, *rank)
        {
            self.title.clone_from(title);
            self.title_rank = *rank;
            self.title_is_set = true;
        }
        if line.ordinal == self.view.record().header && !self.title_is_set {
            self.title = read.header_title().map(Cow::into_owned);
        }
        if let Some(Effect::Pointer { kind, target, text }) = effect.clone() {
            let kind = PointerKind::from(kind);
            let before = self.last_message.filter(|_| kind == PointerKind::Boundary);
            let pointer = PointerRecord { kind, target, text, message_before: before };
            self.expected.pointers.push((line.ordinal, pointer));
        }
        if self.view.record().known_family().may_state_usage(kind, role) {
            let rows = &mut self.expected.usage;
            let place = (time, read.is_sidechain());
            for report in read.usage() {
                self.usage.take(report, place, |number, row| rows.push((number, row)));
            }
        }
        self.expected.messages += u64::from(kind == EntryKind::Message);
        if kind == EntryKind::Message && !read.is_sidechain() {
            self.last_message = Some(line.ordinal);
        }
        if !goes_on && (is_piece || read.is_malformed()) {
            self.expected.malformed += 1;
            findings.remark("malformed", at, None, "the line is not JSON; it is kept as it is");
        }
        if (is_piece || read.is_malformed()) && kind.is_entry() {
            self.expected.recovered += 1;
            let id = self.id_of(&read, line.ordinal);
            let id = id.map(|id| String::from_utf8_lossy(&id).into_owned());
            let text = "the entry was recovered from a line that is not JSON";
            findings.remark("recovered", at, id, text);
        }
        let is_entry = kind.is_entry();
        if self.view.record().irregular {
            self.parents.push(node.parent.ordinal().filter(|_| is_entry));
        }
        if !is_entry {
            let place = Node { jump: line.ordinal, ..Node::default() };
            if (node.parent, node.depth, node.jump, node.settings, node.compaction)
                != (place.parent, place.depth, place.jump, place.settings, place.compaction)
            {
                findings.problem(
                    "lines",
                    at,
                    "the line is not an entry, but has a place in the tree",
                );
            }
            return Ok(name_to_count);
        }
        self.expected.entries += 1;
        let id = self.id_of(&read, line.ordinal);
        let name = id.as_ref().map(|id| String::from_utf8_lossy(id).into_owned());
        match &id {
            Some(id) => self.check_id(line.ordinal, id, name.as_ref(), findings)?,
            None => {
                self.expected.unaddressed += 1;
                findings.remark("unaddressed", at, None, "the entry has no string id");
            }
        }
        let parent = parent_named(self.view, line.ordinal, &read)?;
        if parent != node.parent {
            findings.problem(
                "lines",
                at,
                format!("the node's parent is {:?}, the line's {parent:?}", node.parent),
            );
        }
        if parent == Parent::Orphan {
            self.expected.orphans += 1;
            findings.remark("orphan", at, name, "the session has no entry with the parent's id");
        }
        self.expected.count_child(self.view, line.ordinal, parent, findings)?;
        if !self.view.record().irregular {
            let change = match effect {
                Some(Effect::Settings(change)) => {
                    let change = whole_change(self.view, line, change);
                    let Some(change) = findings.absorb(change)? else {
                        return Ok(name_to_count);
                    };
                    change
                }
                _ => None,
            };
            self.check_walks(line.ordinal, node, kind, change, findings)?;
        }
        Ok(name_to_count)
    }

    fn id_of<'a>(&self, read: &Line<'a>, ordinal: Ordinal) -> Option<Cow<'a, [u8]>> {
        self.view.reading().id_at(read, ordinal.raw())
    }

    fn check_id(
        &mut self,
        ordinal: Ordinal,
        id: &[u8],
        name: Option<&String>,
        findings: &mut Findings<'_>,
    ) -> Result<()> {
        let found = findings.absorb(self.view.find(id))?;
        match found.flatten() {
            Some(found) if found == ordinal => self.expected.ids += 1,
            Some(found) if found > ordinal => {
                self.expected.duplicates += 1;
                let other = findings.line_number(found);
                let text = format!("line {other} has the same id, and wins look-ups");
                findings.remark("duplicate", Some(ordinal), name.cloned(), text);
            }
            Some(found) => findings.problem(
                "entries",
                Some(ordinal),
                format!(
                    "the row leads to line {}, which comes earlier",
                    findings.line_number(found)
                ),
            ),
            None => findings.problem("entries", Some(ordinal), "the entry has no row"),
        }
        Ok(())
    }

    /// Checks what makes walks fast: depth, jump, settings, compaction.
    fn check_walks(
        &mut self,
        ordinal: Ordinal,
        node: &Node,
        kind: EntryKind,
        change: Option<SettingsChange>,
        findings: &mut Findings<'_>,
    ) -> Result<()> {
        let above = match node.parent.ordinal() {
            Some(parent) if parent >= ordinal => {
                findings.problem("lines", Some(ordinal), "a regular session's parent comes later");
                return Ok(());
            }
            Some(parent) => {
                let above = findings.absorb(self.view.entry_node(parent))?;
                let Some(above) = above else { return Ok(()) };
                Some((parent, above))
            }
            None => None,
        };
        let (depth, compaction, settings) = above.map_or((Some(0), None, 0), |(_, above)| {
            (above.depth.checked_add(1), above.compaction, above.settings)
        });
        let is_compaction = kind == EntryKind::Compaction;
        let compaction = if is_compaction { Some(ordinal) } else { compaction };
        if (Some(node.depth), node.compaction) != (depth, compaction) {
            findings.problem(
                "lines",
                Some(ordinal),
                "the node's depth or compaction is not its parent's",
            );
        }
        let jumps_right = self.jumps_right(ordinal, node, above);
        if findings.absorb(jumps_right)? == Some(false) {
            findings.problem("lines", Some(ordinal), "the node's jump pointer leads elsewhere");
        }
        if change.is_none() && node.settings == settings {
            return Ok(());
        }
        let before = self.settings_of(settings);
        let stored = self.settings_of(node.settings);
        let (before, stored) = (findings.absorb(before)?, findings.absorb(stored)?);
        let expected =
            before.map(|before| change.map_or(before.clone(), |change| before.changed(&change)));
        if let (Some(expected), Some(stored)) = (expected, stored)
            && stored != expected
        {
            findings.problem("settings", Some(ordinal), "the settings are not those of the path");
        }
        Ok(())
    }

    fn jumps_right(
        &self,
        ordinal: Ordinal,
        node: &Node,
        above: Option<(Ordinal, Node)>,
    ) -> Result<bool> {
        let Some((parent, above)) = above else {
            return Ok(node.jump == ordinal);
        };
        let far = self.view.entry_node(above.jump)?;
        let farther = self.view.entry_node(far.jump)?;
        let equal = above.depth.wrapping_sub(far.depth) == far.depth.wrapping_sub(farther.depth);
        Ok(node.jump == if equal { far.jump } else { parent })
    }

    fn settings_of(&mut self, id: u64) -> Result<SettingsRecord> {
        if let Some((known, record)) = &self.settings
            && *known == id
        {
            return Ok(record.clone());
        }
        let record = self.view.rows().settings(id)?;
        self.settings = Some((id, record.clone()));
        Ok(record)
    }

    /// A summary's text is the title if no other line gives one.
    fn take_summary(&mut self) -> Result<()> {
        if self.title_rank < SUMMARY_TITLE {
            let mut lines = leaf::Committed { view: self.view };
            let summary =
                leaf::summary(&mut lines, self.view.record().into(), &self.expected.pointers)?;
            self.title = summary.or(self.title.take());
        }
        Ok(())
    }

    fn check_whole(&mut self, findings: &mut Findings<'_>) -> Result<()> {
        let record = self.view.record();
        if record.migrated {
            let read = crate::store::originals::read_originals(
                self.view.rows(),
                &record.imported,
                &mut |_| Ok(true),
            );
            findings.absorb(read)?;
        }
        // In an Opal session that was changed here, any line may be a new one.
        let is_imported = record.imported.length == 0
            || record.migrated
            || record.rewritten
            || self.imported.digest() == Some(record.imported.digest);
        if !is_imported {
            findings.problem("sessions", None, "the session does not begin with what was imported");
        }
        let taken = self.take_summary();
        findings.absorb(taken)?;
        let record = self.view.record();
        let is_of_lines = record.title_rank != TITLE_BESIDE;
        let stored = record.title.as_ref().filter(|title| !title.is_empty());
        if is_of_lines && self.title.as_ref() != stored {
            findings.problem("sessions", None, "the title is not the one that the lines give");
        }
        if record.dropped > 0 {
            let text = format!(
                "the migration dropped {} lines that are not JSON, as its program does; an export as original has them",
                record.dropped
            );
            findings.remark("dropped", None, None, text);
        }
        for (hash, line) in std::mem::take(&mut self.missing) {
            let text = format!("the store does not have the blob {}", blobs::hex(&hash));
            findings.remark("missing blob", Some(line), None, text);
        }
        for ordinal in loops(&self.parents) {
            let id = self.view.entry(ordinal)?.id();
            findings.remark(
                "loop",
                Some(ordinal),
                id,
                "the entry is among its own ancestors; walks end here",
            );
        }
        Ok(())
    }
}
