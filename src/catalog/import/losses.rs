//! Compares a session with a file: the lines that the file lacks, and whether the two can be merged.

use std::collections::{HashMap, HashSet};
use std::fmt;

use leafline_import::ecma::Document;
use leafline_import::format::EntryIds;
use leafline_import::{EntryKind, Family, LineReader, text};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::Result;
use crate::session::lines::{LineCursor, LineView};
use crate::session::view::View;
use crate::store::blobs::Hash;
use crate::store::chunk::REFERENCE_LEN;
use crate::store::ordinal::Ordinal;

/// Lost entries that are named.
const NAMED: usize = 5;

/// What a session has and a file lacks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Losses {
    /// Entries whose id the file does not have.
    missing: u64,
    /// Entries that have other contents in the file.
    changed: u64,
    /// Lines without an id that the file does not have.
    lines: u64,
    examples: Vec<String>,
    /// The session's lines that the file lacks, with and without an id.
    own: Vec<Ordinal>,
    /// True if the file lacks imported lines, and so does not continue a common beginning.
    is_torn_out: bool,
    /// True if the session is a tree whose lines are still addressed as they were imported.
    is_tree: bool,
}

impl Losses {
    /// The lines that only the session has, if they can follow those of the file because both continue the same beginning.
    pub(super) fn into_own(self) -> std::result::Result<Vec<Ordinal>, Self> {
        if self.is_tree && self.changed == 0 && !self.is_torn_out {
            Ok(self.own)
        } else {
            Err(self)
        }
    }
}

impl fmt::Display for Losses {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the store holds what the file lacks:")?;
        let mut comma = "";
        for (count, one, many, what) in [
            (self.missing, "entry that is", "entries that are", "not in the file"),
            (self.changed, "entry whose", "entries whose", "content differs"),
            (self.lines, "line", "lines", "without an id"),
        ] {
            if count > 0 {
                let counted = if count == 1 { one } else { many };
                write!(formatter, "{comma} {count} {counted} {what}")?;
                comma = ",";
            }
        }
        if self.examples.is_empty() {
            return Ok(());
        }
        write!(formatter, " ({}", self.examples.join(", "))?;
        let more = (self.missing + self.changed).saturating_sub(self.examples.len() as u64);
        if more > 0 {
            write!(formatter, " and {more} more")?;
        }
        formatter.write_str(")")
    }
}

/// Compares the session `old` with the file's session `new`: `None` if `new` has everything that `old` has.
///
/// The header and omp's title line may differ, since programs rewrite them; blank lines do not count. The file has an
/// entry if it has the id with the same JSON. In a session that was migrated from version 1, the import made up ids,
/// and the program that migrates the file makes up others: there the file also has an entry if its entry in the same
/// place has the same contents.
/// If `needs_imported`, a file that lacks imported lines cannot be merged, even if they are the last ones.
pub(super) fn losses(old: View<'_>, new: View<'_>, needs_imported: bool) -> Result<Option<Losses>> {
    let record = old.record();
    let is_tree = !record.migrated && record.known_family().entry_ids() != EntryIds::Ordinals;
    let mut losses = Losses { is_tree, ..Losses::default() };
    let first_own = first_own(old)?;
    let mut comparison = Comparison {
        new,
        candidates: new.cursor(),
        expected: Some(Ordinal::FIRST),
        reader: LineReader::new(record.reading()),
        unaddressed: None,
        own_unaddressed: None,
        first_own,
        by_place: record.migrated.then(|| new.cursor()),
        torn: None,
    };
    let torn = first_own.filter(|_| !record.imported.complete);
    comparison.torn = torn.and_then(Ordinal::previous);
    let in_any_order = record.known_family().saves_whole();
    let mut lines = old.cursor();
    while let Some(line) = lines.next()? {
        let is_imported = first_own.is_none_or(|first| line.ordinal < first);
        let ordinal = line.ordinal;
        match comparison.compare(line, &mut losses)? {
            Found::Missing => {
                let is_torn = needs_imported && first_own.is_some() && is_imported;
                losses.is_torn_out |= is_torn;
                losses.own.push(ordinal);
            }
            Found::There => {
                losses.is_torn_out |= is_imported && !in_any_order && !losses.own.is_empty();
            }
            Found::Ignored => {}
        }
    }
    let lost = losses.missing + losses.changed + losses.lines;
    Ok((lost > 0).then_some(losses))
}

/// The first line after the imported ones; `None` if the session does not begin with them.
fn first_own(view: View<'_>) -> Result<Option<Ordinal>> {
    let record = view.record();
    if record.migrated || record.rewritten || record.imported.length == 0 {
        return Ok(None);
    }
    let mut first = Ordinal::after(record.lines);
    let mut left = record.bytes.saturating_sub(record.imported.length);
    while left > 0 {
        let Some(before) = first.previous() else { break };
        let length = view.entry(before)?.line().len() as u64;
        // The last imported line, to which the store has added a line feed.
        if length > left {
            break;
        }
        left -= length;
        first = before;
    }
    Ok(Some(first))
}

/// The result of looking for a line in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    There,
    Missing,
    /// The line is not compared.
    Ignored,
}

struct Comparison<'a> {
    new: View<'a>,
    candidates: LineCursor<'a>,
    /// The line of the new session that should equal the next old one.
    expected: Option<Ordinal>,
    reader: LineReader,
    /// Hashes of the new session's lines without an id, computed on demand.
    unaddressed: Option<HashSet<u64>>,
    /// How often each of those is behind what was imported.
    own_unaddressed: Option<HashMap<u64, usize>>,
    first_own: Option<Ordinal>,
    /// Goes through the new session's entries in parallel with the old one's, if ids were made up.
    by_place: Option<LineCursor<'a>>,
    /// A line that was imported without its line feed.
    torn: Option<Ordinal>,
}

impl Comparison<'_> {
    fn compare(&mut self, line: LineView<'_>, losses: &mut Losses) -> Result<Found> {
        let kind = EntryKind::from_code(line.node.kind).unwrap_or(EntryKind::Unknown);
        let opposite = if kind.is_entry() { self.next_entry()? } else { None };
        if matches!(kind, EntryKind::Blank | EntryKind::Header | EntryKind::Title) {
            return Ok(Found::Ignored);
        }
        self.candidates.seek(self.expected);
        if let Some(candidate) = self.candidates.next()?
            && (is_same(&candidate, &line)
                || (self.torn == Some(line.ordinal)
                    && candidate.text.starts_with(line.text.trim_ascii_end())))
        {
            self.expected = candidate.ordinal.next();
            return Ok(Found::There);
        }
        let decoded = text::decode(line.text);
        let read = self.reader.read(text::trim_start_of_file(&decoded));
        let id = self.reader.reading().id_at(&read, line.ordinal.raw()).filter(|_| kind.is_entry());
        let Some(id) = id else {
            if self.has_unaddressed(&line)? {
                return Ok(Found::There);
            }
            losses.lines += 1;
            return Ok(Found::Missing);
        };
        let found = if let Some(ordinal) = self.new.find(&id)? {
            let candidate = self.candidates.line(ordinal)?;
            self.expected = candidate.ordinal.next();
            if says_the_same(self.reader.reading().family, &candidate, &line) {
                return Ok(Found::There);
            }
            losses.changed += 1;
            Found::There
        } else if opposite
            .is_some_and(|opposite| opposite == without_ids(self.reader.reading().family, &line))
        {
            return Ok(Found::There);
        } else {
            losses.missing += 1;
            Found::Missing
        };
        if losses.examples.len() < NAMED {
            losses.examples.push(String::from_utf8_lossy(&id).into_owned());
        }
        Ok(found)
    }

    /// The next entry of the new session, without its ids.
    fn next_entry(&mut self) -> Result<Option<Vec<u8>>> {
        let Some(cursor) = &mut self.by_place else {
            return Ok(None);
        };
        while let Some(line) = cursor.next()? {
            if EntryKind::from_code(line.node.kind).is_some_and(EntryKind::is_entry) {
                return Ok(Some(without_ids(self.reader.reading().family, &line)));
            }
        }
        Ok(None)
    }

    /// Whether the new session has a line without an id. One that the store has added may be equal to an earlier line, and say
    /// something else where it is: it must be behind what was imported there, too, as often as here.
    fn has_unaddressed(&mut self, line: &LineView<'_>) -> Result<bool> {
        if let Some(first) = self.first_own.filter(|first| line.ordinal >= *first) {
            return self.has_own_unaddressed(first, line);
        }
        if self.unaddressed.is_none() {
            let mut known = HashSet::new();
            let mut cursor = self.new.cursor();
            while let Some(line) = cursor.next()? {
                known.insert(xxh3_64(line.text.trim_ascii_end()));
            }
            self.unaddressed = Some(known);
        }
        let hash = xxh3_64(line.text.trim_ascii_end());
        if self.unaddressed.as_ref().is_some_and(|known| known.contains(&hash)) {
            return Ok(true);
        }
        // A torn line at the old end counts as present if it has become a longer line.
        if line.text.ends_with(b"\n") {
            return Ok(false);
        }
        self.candidates.seek(Some(line.ordinal));
        Ok(self.candidates.next()?.is_some_and(|candidate| candidate.text.starts_with(line.text)))
    }

    fn has_own_unaddressed(&mut self, first: Ordinal, line: &LineView<'_>) -> Result<bool> {
        if self.own_unaddressed.is_none() {
            let mut counts = HashMap::new();
            let mut cursor = self.new.cursor_from(first);
            while let Some(line) = cursor.next()? {
                *counts.entry(xxh3_64(line.text.trim_ascii_end())).or_default() += 1;
            }
            self.own_unaddressed = Some(counts);
        }
        let hash = xxh3_64(line.text.trim_ascii_end());
        let left = self.own_unaddressed.as_mut().and_then(|counts| counts.get_mut(&hash));
        Ok(left.is_some_and(|left| {
            let is_there = *left > 0;
            *left = left.saturating_sub(1);
            is_there
        }))
    }
}

fn hashes<'v>(line: &'v LineView<'_>) -> impl Iterator<Item = &'v Hash> {
    line.holes.iter().map(|hole| &hole.hash)
}

fn is_same(a: &LineView<'_>, b: &LineView<'_>) -> bool {
    a.text.trim_ascii_end() == b.text.trim_ascii_end() && hashes(a).eq(hashes(b))
}

/// Whether two lines have the same contents, however they are written.
fn says_the_same(family: Family, a: &LineView<'_>, b: &LineView<'_>) -> bool {
    let canonical = |line: &LineView<'_>| {
        let whole = without_references(line);
        family.canonical(&text::decode(&whole))
    };
    hashes(a).eq(hashes(b)) && canonical(a).is_some_and(|a| canonical(b) == Some(a))
}

/// The line without the text of its references, which is how a line is stored whose base64 was cut out: an image and
/// the reference to it are the same contents.
fn without_references(line: &LineView<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.text.len());
    let mut at = 0;
    for hole in line.holes.iter().filter(|hole| !hole.kind.is_cut()) {
        let offset = usize::try_from(hole.offset).unwrap_or(usize::MAX);
        out.extend_from_slice(line.text.get(at..offset).unwrap_or_default());
        at = offset.saturating_add(REFERENCE_LEN);
    }
    out.extend_from_slice(line.text.get(at..).unwrap_or_default());
    out
}

/// The entry's JSON without the members that a migration makes up.
fn without_ids(family: Family, line: &LineView<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let bytes = without_references(line);
    let decoded = text::decode(&bytes);
    if let Ok(mut document) = Document::parse(&decoded) {
        for name in family.made_up_members() {
            document.remove(name);
        }
        document.write(&mut out);
    }
    for hash in hashes(line) {
        out.extend_from_slice(hash);
    }
    out
}
