//! Migrates sessions of versions 1 and 2 to version 3, line by line, with the bytes that the programs would write.

use serde::{Deserialize, Serialize};

use crate::ecma::Document;
use crate::kind::EntryKind;
use crate::migration::Migrated;
use crate::pi_omp::derived_id::IdPermutation;
use crate::pi_omp::forward::{ForwardReferences, Target, index_of};
use crate::pi_omp::positions::Positions;
use crate::pi_omp::{HeaderFacts, HeaderVersion};
use crate::recover::first_record;
use crate::scan::Raw;
use crate::writing::Rules;

/// How many runs of records that are not entries are kept. Beyond it, a compaction that points to such a record gets an
/// id that nothing has, which a reader treats like none.
const MOST_RUNS: usize = 65_536;

/// The members of an entry for which a migration from version 1 makes up values.
pub(crate) const MADE_UP: &[&str] = &["id", "parentId", "firstKeptEntryId"];

/// Migrates a session's lines, in order (observed behaviour, migration):
///
/// - From version 1 to 2, every entry gets a new id, derived from the session's id and its position, and the entry
///   before it as its parent. A compaction's `firstKeptEntryIndex` becomes `firstKeptEntryId`.
/// - From version 2 to 3, the message role `hookMessage` becomes `custom`, and every `session` line gets version 3.
/// - All lines are rewritten as `JSON.stringify` writes them. omp also cuts strings and removes members
///   ([`Self::with_rules`]).
///
/// The documents do not mention records that are not objects: they are kept, count as positions, and are not part of
/// the chain of parents. omp's title lines before the header are kept and do not count.
///
/// ```
/// use leafline_import::pi_omp::{Migrator, detect};
///
/// let file = "{\"type\":\"session\",\"id\":\"s\"}\n{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"Hi\"}}\n";
/// let detection = detect(file.as_bytes(), None, true)?;
/// assert!(detection.needs_migration);
/// let mut migrator = Migrator::new(&detection.header);
/// let mut out = Vec::new();
/// for line in file.lines() {
///     migrator.migrate_line(line, &mut out);
/// }
/// migrator.finish(&mut out);
/// let text = String::from_utf8(out)?;
/// assert!(text.starts_with("{\"type\":\"session\",\"id\":\"s\",\"version\":3}\n"));
/// assert!(text.ends_with("\"parentId\":null}\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Migrator {
    ids: IdPermutation,
    version: HeaderVersion,
    forward: ForwardReferences,
    reads_first_record: bool,
    rules: Rules,
    state: MigratorState,
}

/// The state of a migration: small, and enough to go on when the file has grown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MigratorState {
    positions: Positions,
    /// The position of the last entry.
    previous: Option<u64>,
    /// Runs of positions that are not entries, in order.
    not_entries: Vec<(u64, u64)>,
}

impl MigratorState {
    fn note_no_entry(&mut self, position: u64) {
        let runs = self.not_entries.len();
        match self.not_entries.last_mut() {
            Some((_, last)) if *last + 1 == position => *last = position,
            _ if runs < MOST_RUNS => self.not_entries.push((position, position)),
            _ => {}
        }
    }

    fn is_entry(&self, position: u64) -> bool {
        let run = self.not_entries.partition_point(|&(_, last)| last < position);
        let run = self.not_entries.get(run);
        run.is_none_or(|&(first, _)| position < first)
    }
}

impl Migrator {
    /// A migration from the start of a file.
    #[must_use]
    pub fn new(header: &HeaderFacts) -> Self {
        Self::resume(header, MigratorState::default())
    }

    /// A migration that goes on where another one stopped.
    #[must_use]
    pub fn resume(header: &HeaderFacts, state: MigratorState) -> Self {
        Self {
            ids: IdPermutation::new(&header.id),
            version: header.version,
            forward: ForwardReferences::default(),
            reads_first_record: false,
            rules: Rules::keep_everything(),
            state,
        }
    }

    /// Takes the result of [`crate::pi_omp::forward_references`] for the whole file. Without it, an index that points
    /// forward is only removed. A version 2 file needs none.
    #[must_use]
    pub fn with_forward_references(mut self, forward: ForwardReferences) -> Self {
        self.forward = forward;
        self
    }

    /// Takes the record with which a line begins that is not JSON, as omp does.
    #[must_use]
    pub fn reading_first_records(self, reads_first_record: bool) -> Self {
        Self { reads_first_record, ..self }
    }

    /// Applies these rules on strings and transient members to each line. Images stay in the line: whoever stores it cuts
    /// them out.
    #[must_use]
    pub fn with_rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// How far it has come.
    #[must_use]
    pub fn state(&self) -> MigratorState {
        self.state.clone()
    }

    /// Takes the next line's decoded text, with or without terminator, and appends the result to `out`.
    pub fn migrate_line(&mut self, text: &str, out: &mut Vec<u8>) -> Migrated {
        let Some(text) = self.state.positions.text(text) else {
            return Migrated::Dropped;
        };
        match Document::parse(text) {
            Ok(document) => {
                self.migrate(document, out);
                Migrated::Written
            }
            Err(_) => {
                let first = first_record(text).filter(|_| self.reads_first_record);
                if let Some(Ok(document)) = first.map(Document::parse) {
                    self.migrate(document, out);
                    return Migrated::FirstRecord;
                }
                self.state.positions.reject(text);
                Migrated::Dropped
            }
        }
    }

    /// Ends the file. The programs trim a file's end as they trim its start, so a last line that is malformed only
    /// because of white space foreign to JSON is written now.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Migrated {
        match self.state.positions.last() {
            Some(text) => self.migrate_line(&text, out),
            None => Migrated::Dropped,
        }
    }

    fn migrate(&mut self, mut document: Document<'_>, out: &mut Vec<u8>) {
        let kind = EntryKind::of_record(document.is_object(), document.get("type"));
        if let Some(position) = self.state.positions.count(kind) {
            match kind {
                EntryKind::Scalar => self.state.note_no_entry(position),
                EntryKind::Header => {
                    self.state.note_no_entry(position);
                    if self.version.needs_roles() {
                        document.set("version", "3".to_owned());
                    }
                }
                _ => self.migrate_entry(position, kind, &mut document),
            }
        }
        let start = out.len();
        document.write(out);
        let line = out.get(start..).unwrap_or_default();
        if let Ok(line) = std::str::from_utf8(line)
            && let Some(changed) = self.rules.apply_but_to_images(line)
        {
            out.truncate(start);
            out.extend_from_slice(changed.as_bytes());
        }
        out.push(b'\n');
    }

    fn migrate_entry(&mut self, position: u64, kind: EntryKind, document: &mut Document<'_>) {
        if self.version.needs_tree() {
            let previous = self.state.previous.replace(position);
            let parent = previous.map_or_else(|| "null".to_owned(), |previous| self.id(previous));
            document.set("id", self.id(position));
            document.set("parentId", parent);
            if kind == EntryKind::Compaction {
                self.migrate_first_kept(position, document);
            }
        }
        if self.version.needs_roles()
            && kind == EntryKind::Message
            && document
                .get_within("message", "role")
                .is_some_and(|role| role.is_text("hookMessage"))
        {
            document.set_within("message", "role", "\"custom\"".to_owned());
        }
    }

    /// The JSON text of the id of the entry at a position.
    fn id(&self, position: u64) -> String {
        format!("\"{}\"", self.ids.id(position))
    }

    fn migrate_first_kept(&self, position: u64, document: &mut Document<'_>) {
        let member = document.get("firstKeptEntryIndex");
        if !member.is_some_and(Raw::is_number) {
            return;
        }
        let target = match index_of(member) {
            Some(index) if index > position => self.forward.target(index).clone(),
            Some(index) if self.state.is_entry(index) => Target::Entry { id: Some(self.id(index)) },
            _ => Target::NotAnEntry,
        };
        match target {
            Target::NotAnEntry => {}
            Target::Entry { id: Some(id) } => document.set("firstKeptEntryId", id),
            // JavaScript does not write what was set to undefined.
            Target::Entry { id: None } => document.remove("firstKeptEntryId"),
        }
        document.remove("firstKeptEntryIndex");
    }
}
