//! Compactions of version 1 files that point to a later line.
//!
//! The migration runs through a file once, from the top. An index that points back finds an entry with its new id; one
//! that points forward finds the entry as it is in the file, with its old id or none. To give the same result line by
//! line, those ids are collected in a pass before the migration.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use crate::ecma::restringify;
use crate::kind::EntryKind;
use crate::pi_omp::positions::Positions;
use crate::recover::first_record;
use crate::scan::{Raw, Scan, Scanner, Shape};
use crate::text::decode;

/// The later entries that the compactions of a version 1 file point to: one item per entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForwardReferences {
    targets: BTreeMap<u64, Target>,
}

/// What a compaction points at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Target {
    /// Nothing that can be kept: no such record, a header, or not an object.
    #[default]
    NotAnEntry,
    /// An entry, and the JSON text of its `id` as `JSON.stringify` writes it, if it has one.
    Entry { id: Option<String> },
}

impl ForwardReferences {
    /// Whether no compaction points forward, which is the usual case.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    pub(super) fn target(&self, position: u64) -> &Target {
        self.targets.get(&position).unwrap_or(&Target::NotAnEntry)
    }
}

/// The record that a compaction's `firstKeptEntryIndex` names, counting parsed lines with the header as 0; `None` if
/// the member is not a number or not an array index.
pub(super) fn index_of(member: Option<Raw<'_>>) -> Option<u64> {
    /// Beyond this, doubles are not exact, and no file has as many records.
    const BOUND: f64 = 9_007_199_254_740_992.0;
    let number = member?.as_f64()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be whole and in range"
    )]
    let index = number as u64;
    ((0.0..BOUND).contains(&number) && number.fract() == 0.0).then_some(index)
}

/// Reads a whole version 1 file and collects the later entries that its compactions point to.
///
/// Memory is the longest line, plus an item for each entry that an earlier compaction points to.
///
/// # Errors
///
/// Errors of the reader.
pub fn forward_references(reader: impl BufRead) -> io::Result<ForwardReferences> {
    forward_references_in(reader, false)
}

/// [`forward_references`]; `reads_first_record` says whether the record counts with which a line begins that is not JSON.
pub(crate) fn forward_references_in(
    mut reader: impl BufRead,
    reads_first_record: bool,
) -> io::Result<ForwardReferences> {
    let mut references = ForwardReferences::default();
    let mut positions = Positions::default();
    let mut scanner = Scanner::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        references.read(&decode(&line), reads_first_record, &mut positions, &mut scanner);
    }
    if let Some(last) = positions.last() {
        references.read(&last, reads_first_record, &mut positions, &mut scanner);
    }
    Ok(references)
}

impl ForwardReferences {
    fn read(
        &mut self,
        line: &str,
        reads_first_record: bool,
        positions: &mut Positions,
        scanner: &mut Scanner,
    ) {
        let Some(text) = positions.text(line) else {
            return;
        };
        let mut scan = scanner.scan(text);
        if reads_first_record
            && scan.shape == Shape::Malformed
            && let Some(first) = first_record(text)
        {
            scan = scanner.scan(first);
        }
        let kind = EntryKind::of(&scan);
        if kind == EntryKind::Malformed {
            positions.reject(text);
        } else if let Some(position) = positions.count(kind) {
            self.note(position, kind, &scan);
        }
    }

    fn note(&mut self, position: u64, kind: EntryKind, scan: &Scan<'_>) {
        let is_entry = !matches!(kind, EntryKind::Header | EntryKind::Scalar);
        if is_entry && let Some(target) = self.targets.get_mut(&position) {
            let id = scan.members.id.map(|id| {
                let mut json = Vec::new();
                // A value that was scanned cannot be malformed.
                let written = restringify(id.as_str(), &mut json);
                debug_assert!(written.is_ok());
                String::from_utf8_lossy(&json).into_owned()
            });
            *target = Target::Entry { id };
        }
        if kind == EntryKind::Compaction
            && let Some(index) = index_of(scan.members.first_kept_entry_index)
            && index > position
        {
            self.targets.entry(index).or_default();
        }
    }
}
