//! Bringing sessions of versions 1 and 2 to version 3, line by line, with the bytes the programs would write.

use serde::{Deserialize, Serialize};

use crate::ecma::Document;
use crate::kind::EntryKind;
use crate::migration::Migrated;
use crate::pi_omp::derived_id::IdPermutation;
use crate::pi_omp::forward::{ForwardReferences, Target, index_of};
use crate::pi_omp::positions::Positions;
use crate::pi_omp::{HeaderFacts, HeaderVersion, Rules};
use crate::scan::Raw;

/// How many runs of records that are no entries are remembered. Past it, a compaction that points at one gets an id that
/// nothing has, which is the same to a reader as none.
const MOST_RUNS: usize = 65_536;

/// The members of an entry that a migration from version 1 makes up.
pub(crate) const MADE_UP: &[&str] = &["id", "parentId", "firstKeptEntryId"];

/// Migrates a session's lines, in order (observed behaviour, migration):
///
/// - From version 1 to 2, every entry gets a new id, derived from the session's id and its position, and the entry before
///   it as its parent. A compaction's `firstKeptEntryIndex` becomes `firstKeptEntryId`.
/// - From version 2 to 3, the message role `hookMessage` becomes `custom`, and every `session` line gets version 3.
/// - All lines are rewritten as `JSON.stringify` gives them. omp cuts strings and removes members in doing so
///   ([`Self::with_rules`]).
///
/// Records that are no objects have no place in the documents: they are kept, count as positions, and take no part in the
/// chain of parents. omp's title lines before the header are kept and do not count.
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
    rules: Rules,
    state: MigratorState,
}

/// How far a migration has come: small, and enough to go on when the file has grown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MigratorState {
    positions: Positions,
    /// The position of the last entry.
    previous: Option<u64>,
    /// Runs of positions that are no entries, in order.
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
    /// A migration of a file from its start.
    #[must_use]
    pub fn new(header: &HeaderFacts) -> Self {
        Self::resume(header, MigratorState::default())
    }

    /// A migration that goes on where another has come to.
    #[must_use]
    pub fn resume(header: &HeaderFacts, state: MigratorState) -> Self {
        Self {
            ids: IdPermutation::new(&header.id),
            version: header.version,
            forward: ForwardReferences::default(),
            rules: Rules::keep_everything(),
            state,
        }
    }

    /// Takes what [`crate::pi_omp::forward_references`] has found in the whole file. Without it, an index that points
    /// ahead is only removed. A version 2 file needs none.
    #[must_use]
    pub fn with_forward_references(mut self, forward: ForwardReferences) -> Self {
        self.forward = forward;
        self
    }

    /// Does to each line what these rules say of strings and transient members. Images stay, whole: they are not taken out of
    /// a line without whoever stores them.
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

    /// Takes the next line's decoded text, with or without its terminator, and appends what becomes of it to `out`.
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
                self.state.positions.reject(text);
                Migrated::Dropped
            }
        }
    }

    /// Says that there are no more lines. The programs trim a file's end as they trim its start, so a last line that only
    /// white space foreign to JSON made malformed is written now.
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
            // What JavaScript sets to undefined is not written.
            Target::Entry { id: None } => document.remove("firstKeptEntryId"),
        }
        document.remove("firstKeptEntryIndex");
    }
}
