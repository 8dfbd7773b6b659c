//! Compares the tables' rows of a session with those that its lines require.

use std::collections::BTreeMap;

use super::super::view::View;
use super::Findings;
use crate::error::Result;
use crate::store::label_record::LabelRecord;
use crate::store::node::Parent;
use crate::store::ordinal::Ordinal;
use crate::store::pointer_record::{PointerKind, PointerRecord};
use crate::store::session_record::SessionRecord;
use crate::store::type_counts::OTHER;
use crate::store::usage_record::UsageRecord;

/// What the lines ask for.
#[derive(Debug, Default)]
pub(super) struct Expected {
    pub(super) lines: u64,
    pub(super) bytes: u64,
    pub(super) text_bytes: u64,
    pub(super) entries: u64,
    pub(super) messages: u64,
    pub(super) malformed: u64,
    pub(super) recovered: u64,
    pub(super) splits: u64,
    pub(super) unaddressed: u64,
    pub(super) orphans: u64,
    pub(super) duplicates: u64,
    /// Different ids.
    pub(super) ids: u64,
    children: u64,
    pub(super) labels: BTreeMap<Vec<u8>, LabelRecord>,
    pub(super) pointers: Vec<(Ordinal, PointerRecord)>,
    /// Rows of usage, by number.
    pub(super) usage: Vec<(u64, UsageRecord)>,
    /// Lines and bytes by type, for the types that the record names.
    types: BTreeMap<String, (u64, u64)>,
    /// Lines and bytes of all other types.
    others: (u64, u64),
}

impl Expected {
    /// The requirements of a session with this record, before its lines are read.
    pub(super) fn of(record: &SessionRecord) -> Self {
        let named = record.types.iter().filter(|count| count.name != OTHER);
        let types = named.map(|count| (count.name.clone(), (0, 0))).collect();
        Self { types, ..Self::default() }
    }

    /// Counts a line of a type.
    pub(super) fn count_type(&mut self, name: String, bytes: u64) {
        let count = self.types.get_mut(&name).unwrap_or(&mut self.others);
        count.0 += 1;
        count.1 += bytes;
    }
    /// The problem with the record's counts by type.
    ///
    /// If a session has more types than are counted, lines of a counted type may also be among the others.
    fn problem_of_types(&self, record: &SessionRecord) -> Option<String> {
        let mut others = self.others;
        let mut counted_as_others = (0, 0);
        let has_others = record.types.iter().any(|count| count.name == OTHER);
        for count in record.types.iter() {
            let stored = (count.lines, count.bytes);
            let Some(&found) = self.types.get(&count.name) else {
                counted_as_others = stored;
                continue;
            };
            let is_less = has_others && stored.0 <= found.0 && stored.1 <= found.1;
            if stored != found && !is_less {
                return Some(format!(
                    "the record counts {} lines and {} bytes of type {}, the lines {} and {}",
                    stored.0, stored.1, count.name, found.0, found.1
                ));
            }
            others.0 += found.0 - stored.0;
            others.1 += found.1 - stored.1;
        }
        (others != counted_as_others).then(|| {
            format!(
                "the record counts {} lines and {} bytes of other types, the lines {} and {}",
                counted_as_others.0, counted_as_others.1, others.0, others.1
            )
        })
    }

    /// Notes a line's change of a label.
    pub(super) fn set_label(&mut self, target: Vec<u8>, line: Ordinal, label: Option<Vec<u8>>) {
        match label {
            Some(label) => {
                let place = self.labels.get(&target).map_or(line, |known| known.place);
                self.labels.insert(target, LabelRecord { label, line, place });
            }
            None => {
                self.labels.remove(&target);
            }
        }
    }

    /// Notes the row of an entry as a child, and looks it up.
    pub(super) fn count_child(
        &mut self,
        view: View<'_>,
        ordinal: Ordinal,
        parent: Parent,
        findings: &mut Findings<'_>,
    ) -> Result<()> {
        let parent = match parent.ordinal() {
            // The neighbour's node says it.
            Some(parent) if parent.next() == Some(ordinal) => return Ok(()),
            parent => parent,
        };
        self.children += 1;
        if !view.rows().is_child(parent, ordinal)? {
            findings.problem("children", Some(ordinal), "the entry has no row as a child");
        }
        Ok(())
    }
}

/// Compares the counts of rows, and the session's record.
/// What pointers say in the stores of every version of Leafline: of last prompts that are explicit older ones lack that, and
/// those that name no entry.
fn known_of_old(mut pointers: Vec<(Ordinal, PointerRecord)>) -> Vec<(Ordinal, PointerRecord)> {
    let is_prompt = |pointer: &PointerRecord| pointer.kind == PointerKind::LastPrompt;
    pointers.retain(|(_, pointer)| !is_prompt(pointer) || pointer.target.is_some());
    for (_, pointer) in pointers.iter_mut().filter(|(_, pointer)| is_prompt(pointer)) {
        pointer.text = None;
    }
    pointers
}

pub(super) fn check_rows(
    view: View<'_>,
    expected: &Expected,
    findings: &mut Findings<'_>,
) -> Result<()> {
    let record = view.record();
    let rows = view.rows().count_entries()?;
    if rows != expected.ids {
        let text = format!("there are {rows} rows for {} ids", expected.ids);
        findings.problem("entries", None, text);
    }
    let children = view.rows().count_children()?;
    if children != expected.children {
        let text = format!("there are {children} rows for {} children", expected.children);
        findings.problem("children", None, text);
    }
    let labels: BTreeMap<_, _> = view.rows().labels()?.into_iter().collect();
    if labels != expected.labels {
        let text =
            format!("there are {} labels, the lines set {}", labels.len(), expected.labels.len());
        findings.problem("labels", None, text);
    }
    if known_of_old(view.rows().pointers()?) != known_of_old(expected.pointers.clone()) {
        findings.problem("pointers", None, "the rows are not what the lines ask for");
    }
    if let Some(Some(usage)) = findings.absorb(view.rows().usage())?
        && usage != expected.usage
    {
        findings.problem("usage", None, "the rows are not what the lines report");
    }
    for (name, stored, counted) in [
        ("lines", record.lines, expected.lines),
        ("bytes", record.bytes, expected.bytes),
        ("text_bytes", record.text_bytes, expected.text_bytes),
        ("entries", record.entries, expected.entries),
        ("messages", record.messages, expected.messages),
        ("malformed", record.malformed, expected.malformed),
        ("recovered", record.recovered, expected.recovered),
        ("splits", record.splits, expected.splits),
        ("unaddressed", record.unaddressed, expected.unaddressed),
        ("orphans", record.orphans, expected.orphans),
        ("duplicates", record.duplicates, expected.duplicates),
    ] {
        if stored != counted {
            let text = format!("the record has {name} {stored}, the lines {counted}");
            findings.problem("sessions", None, text);
        }
    }
    if let Some(problem) = expected.problem_of_types(record) {
        findings.problem("sessions", None, problem);
    }
    findings.absorb(view.leaf())?;
    Ok(())
}
