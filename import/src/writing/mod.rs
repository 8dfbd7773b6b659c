//! What a program writes: the interface between the formats and the code that begins sessions and adds to them.
//!
//! [`Writing`] is the part of a family's [`Format`] for this; callers use the functions of [`Family`].

mod draft;
pub(crate) mod ids;
mod rules;

pub use draft::{Drafted, EntryDraft, Hash, Place};
pub use rules::{ExternalisedImage, Rules};

use crate::ecma;
use crate::family::{Family, with_format};
use crate::format::Format;
use crate::kind::{EntryKind, MessageRole};
use crate::program_version::ProgramVersion;
use crate::text;

/// How a program begins sessions, appends to them, names and copies them. Each default is what most families do.
pub trait Writing {
    /// Whether sessions of the family can be begun and appended to here.
    const IS_WRITTEN: bool = true;
    /// The version that new sessions state.
    const VERSION: &'static str = "";
    /// The changes made to an entry before it is stored.
    const RULES: Rules = Rules::keep_everything();
    /// Whether the program writes the whole file each time: a session that was changed here is exported as it would save
    /// it.
    const SAVES_WHOLE: bool = false;
    /// Whether the session's name is in its header; an entry states it otherwise.
    const NAMES_IN_HEADER: bool = false;
    /// Whether sessions are forked, and branches of them made sessions of their own.
    const COPIES: bool = false;
    /// Whether the program follows only paths from a fork to its source.
    const FOLLOWS_PATHS: bool = false;
    /// Whether the program keeps its first failure to write, and writes nothing after it.
    const LATCHES_ERRORS: bool = false;
    /// Whether a copy has only the conversation at an entry, a fork that at the leaf; otherwise a fork has all entries.
    const COPIES_CONVERSATION: bool = false;
    /// Whether a session states from which it comes.
    const STATES_SOURCE: bool = true;
    /// Whether an entry repeats what the one above it says, so that a draft needs its line.
    const SEES_ABOVE: bool = false;
    /// Whether records in the file can name the leaf, and an entry that follows another than that needs
    /// [one](Self::leaf_line).
    const NAMES_LEAF: bool = false;

    /// Whether a message of this role makes the program write the file of a new session: the program of this version, or the
    /// newest one.
    fn begins_file(role: MessageRole, as_of: Option<ProgramVersion>) -> bool {
        let _ = as_of;
        role == MessageRole::Assistant
    }

    /// An id for a new session, begun at this time in milliseconds since 1970.
    fn fresh_session_id(time_ms: i64) -> String;

    /// An id for a new entry that is not taken.
    ///
    /// # Errors
    ///
    /// Those of `is_taken`.
    fn fresh_entry_id<E>(is_taken: impl FnMut(&str) -> Result<bool, E>) -> Result<String, E>;

    /// Appends the lines with which a session begins.
    ///
    /// # Errors
    ///
    /// [`NotWritten`] if such a session cannot be begun.
    fn begin(new: &Beginning<'_>, out: &mut Vec<u8>) -> Result<(), NotWritten>;

    /// The same for a fork of a session with this header. Returns the title that it takes over.
    ///
    /// # Errors
    ///
    /// Those of [`Self::begin`].
    fn begin_fork(
        new: &Beginning<'_>,
        source_header: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<String>, NotWritten> {
        let _ = source_header;
        Self::begin(new, out)?;
        Ok(None)
    }

    /// Appends an entry's line as a copy of its session has it, with the line feed; `false` if it has no such line.
    ///
    /// By default the line as JavaScript writes it again; lines that are not JSON are left out.
    fn copy_line(line: &[u8], copy: &Copy<'_>, out: &mut Vec<u8>) -> bool {
        let _ = copy;
        let decoded = text::decode(line);
        let shown = text::trim_start_of_file(&decoded);
        if shown.trim().is_empty() || ecma::restringify(shown, out).is_err() {
            return false;
        }
        out.push(b'\n');
        true
    }

    /// Appends a label once more, in the session of a branch; nothing in a family without labels.
    fn copy_label(label: &CopiedLabel<'_>, out: &mut Vec<u8>) {
        let (_, _) = (label, out);
    }

    /// Whether a copy of a conversation has a line that stands outside the tree, such as a title's.
    fn copies_outside(line: &[u8]) -> bool {
        let _ = line;
        false
    }

    /// Whether an entry calls the tool with this id, given as WTF-8.
    fn has_call(line: &[u8], call: &[u8]) -> bool {
        let (_, _) = (line, call);
        false
    }

    /// Appends a line that names the leaf, or an entry from which the leaf follows: the session's summary, whose line is
    /// given, with this leaf in place of its own, or the program's own line.
    fn leaf_line(leaf: &[u8], summary: Option<&[u8]>, session_id: &[u8], out: &mut Vec<u8>) {
        let (_, _, _, _) = (leaf, summary, session_id, out);
    }

    /// Appends a line that makes an entry the leaf, or clears the leaf, even if entries hang below it. Appends nothing if the
    /// family has no such line.
    fn explicit_leaf_line(leaf: Option<&[u8]>, session_id: &[u8], out: &mut Vec<u8>) {
        let (_, _, _) = (leaf, session_id, out);
    }

    /// An entry, given as a JSON object; several if the program writes it in parts.
    ///
    /// # Errors
    ///
    /// [`NotWritten`] if it is not one.
    fn entry(json: &str) -> Result<Vec<EntryDraft>, NotWritten>;

    /// A message, given as a JSON object with a `role`; several entries if the program writes it in parts.
    ///
    /// # Errors
    ///
    /// [`NotWritten`] if it is not one.
    fn message(json: &str) -> Result<Vec<EntryDraft>, NotWritten>;

    /// A label for an entry; `None` clears the one it has.
    ///
    /// # Errors
    ///
    /// [`NotWritten::Unknown`] in a family without labels.
    fn label(target: &str, label: Option<&str>) -> Result<EntryDraft, NotWritten> {
        let (_, _) = (target, label);
        Err(NotWritten::Unknown { operation: "label" })
    }

    /// The summary of an abandoned branch.
    ///
    /// # Errors
    ///
    /// [`NotWritten`] if it cannot be written.
    fn branch_summary(summary: &BranchSummary<'_>) -> Result<EntryDraft, NotWritten>;

    /// What names the session; nothing if only the header does. An empty name clears the name.
    fn name_entries(name: &str) -> Vec<EntryDraft>;

    /// Appends one of the lines up to the header, with another name in it, given at this time in milliseconds since 1970;
    /// `false` if the line does not state the name.
    ///
    /// # Errors
    ///
    /// [`NotWritten::Invalid`] if the line cannot be written.
    fn name_line(
        line: &[u8],
        kind: EntryKind,
        (name, time): (&str, i64),
        out: &mut Vec<u8>,
    ) -> Result<bool, NotWritten> {
        let (_, _, _, _, _) = (line, kind, name, time, out);
        Ok(false)
    }

    /// When the name was given that one of the lines up to the header states, in milliseconds since 1970.
    fn naming_time(line: &[u8], kind: EntryKind) -> Option<i64> {
        let (_, _) = (line, kind);
        None
    }

    /// A line of a session as it is stored under these rules, and the images that were taken out; `None` if nothing
    /// changes.
    fn apply_to_line(
        rules: &Rules,
        line: &str,
        hash: Hash<'_>,
    ) -> Option<(String, Vec<ExternalisedImage>)> {
        let (_, _, _) = (rules, line, hash);
        None
    }
}

/// What a new session is to be.
#[derive(Debug, Clone, Copy)]
pub struct Beginning<'a> {
    /// Its id.
    pub id: &'a str,
    /// The time in milliseconds since 1970.
    pub time_ms: i64,
    /// The working directory.
    pub cwd: &'a str,
    /// The title.
    pub title: Option<&'a str>,
    /// The session that it comes from: an id or a path.
    pub parent_session: Option<&'a str>,
}

/// The summary of an abandoned branch.
#[derive(Debug, Clone, Copy)]
pub struct BranchSummary<'a> {
    /// The entry below which it is appended; `None` before all.
    pub entry: Option<&'a str>,
    /// The id of the leaf that was left, as WTF-8 (see [`crate::text`]).
    pub left: Option<&'a [u8]>,
    /// The text.
    pub summary: &'a str,
    /// Anything, as JSON text.
    pub details: Option<&'a str>,
    /// Whether an extension made it.
    pub from_extension: Option<bool>,
}

/// A label that is set in a session, for the session of one of its branches.
#[derive(Debug, Clone, Copy)]
pub struct CopiedLabel<'a> {
    /// The new entry's id.
    pub id: &'a str,
    /// The entry that it follows, as WTF-8 (see [`crate::text`]).
    pub parent: Option<&'a [u8]>,
    /// The line that set the label.
    pub setter: &'a [u8],
    /// The entry that has the label, as WTF-8.
    pub target: &'a [u8],
    /// The label, as WTF-8.
    pub label: &'a [u8],
}

/// What a session is that is copied from another.
#[derive(Debug, Clone, Copy)]
pub struct Copy<'a> {
    /// Its id as WTF-8 (see [`crate::text`]).
    pub id: &'a [u8],
    /// The id of the one that it comes from, as WTF-8.
    pub source_id: &'a [u8],
    /// The working directory of the one that it comes from, and its own where that is another.
    pub moved: Option<(&'a str, &'a str)>,
}

/// Why something cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotWritten {
    /// Sessions of the family have no such thing, or are not written here.
    #[error("sessions of this family have no {operation}")]
    Unknown {
        /// What was asked for.
        operation: &'static str,
    },
    /// What was given is not such a thing.
    #[error("{problem}")]
    Invalid {
        /// Why not.
        problem: String,
    },
    /// It is a session's line, but none that can be appended.
    #[error("{problem}")]
    NotAnEntry {
        /// Which line.
        problem: String,
    },
}

impl NotWritten {
    /// What was given is not such a thing, for this reason.
    pub fn invalid(problem: impl std::fmt::Display) -> Self {
        Self::Invalid { problem: problem.to_string() }
    }
}

/// The rules of a family whose sessions are only read here.
#[derive(Debug)]
pub enum NoWriting {}

/// What is asked of a family whose sessions are only read here.
const APPENDING: NotWritten = NotWritten::Unknown { operation: "appending" };

impl Writing for NoWriting {
    const IS_WRITTEN: bool = false;

    fn fresh_session_id(time_ms: i64) -> String {
        ids::by_time(time_ms)
    }

    fn fresh_entry_id<E>(is_taken: impl FnMut(&str) -> Result<bool, E>) -> Result<String, E> {
        ids::short(is_taken)
    }

    fn begin(_: &Beginning<'_>, _: &mut Vec<u8>) -> Result<(), NotWritten> {
        Err(NotWritten::Unknown { operation: "beginning of a session" })
    }

    fn entry(_: &str) -> Result<Vec<EntryDraft>, NotWritten> {
        Err(APPENDING)
    }

    fn message(_: &str) -> Result<Vec<EntryDraft>, NotWritten> {
        Err(APPENDING)
    }

    fn branch_summary(_: &BranchSummary<'_>) -> Result<EntryDraft, NotWritten> {
        Err(APPENDING)
    }

    fn name_entries(_: &str) -> Vec<EntryDraft> {
        Vec::new()
    }
}

/// Evaluates an expression with the family's writing bound to the given name.
macro_rules! with_writing {
    ($family:expr, $writing:ident => $body:expr) => {
        with_format!($family, F => {
            type $writing = <F as Format>::Writing;
            $body
        })
    };
}

/// What a family's program writes, as its [`Writing`] says.
impl Family {
    /// Whether sessions can be begun and appended to here: [`Writing::IS_WRITTEN`].
    #[must_use]
    pub fn is_written(self) -> bool {
        with_writing!(self, W => W::IS_WRITTEN)
    }

    /// The version that new sessions state: [`Writing::VERSION`].
    #[must_use]
    pub fn written_version(self) -> &'static str {
        with_writing!(self, W => W::VERSION)
    }

    /// The changes made to an entry before it is stored: [`Writing::RULES`].
    #[must_use]
    pub fn rules(self) -> Rules {
        with_writing!(self, W => W::RULES)
    }

    /// Whether the program writes the whole file each time: [`Writing::SAVES_WHOLE`].
    #[must_use]
    pub fn saves_whole(self) -> bool {
        with_writing!(self, W => W::SAVES_WHOLE)
    }

    /// Whether the session's name is in its header: [`Writing::NAMES_IN_HEADER`].
    #[must_use]
    pub fn names_in_header(self) -> bool {
        with_writing!(self, W => W::NAMES_IN_HEADER)
    }

    /// Whether sessions are forked: [`Writing::COPIES`].
    #[must_use]
    pub fn copies(self) -> bool {
        with_writing!(self, W => W::COPIES)
    }

    /// Whether the program follows only paths from a fork to its source: [`Writing::FOLLOWS_PATHS`].
    #[must_use]
    pub fn follows_paths(self) -> bool {
        with_writing!(self, W => W::FOLLOWS_PATHS)
    }

    /// Whether the program keeps its first failure to write: [`Writing::LATCHES_ERRORS`].
    #[must_use]
    pub fn latches_errors(self) -> bool {
        with_writing!(self, W => W::LATCHES_ERRORS)
    }

    /// Whether a message of this role makes the program write the file of a new session: [`Writing::begins_file`].
    #[must_use]
    pub fn begins_file(self, role: MessageRole, as_of: Option<ProgramVersion>) -> bool {
        with_writing!(self, W => W::begins_file(role, as_of))
    }

    /// Whether a copy has only the conversation at an entry: [`Writing::COPIES_CONVERSATION`].
    #[must_use]
    pub fn copies_conversation(self) -> bool {
        with_writing!(self, W => W::COPIES_CONVERSATION)
    }

    /// Whether a session states from which it comes: [`Writing::STATES_SOURCE`].
    #[must_use]
    pub fn states_source(self) -> bool {
        with_writing!(self, W => W::STATES_SOURCE)
    }

    /// Whether a draft needs the line of the entry above it: [`Writing::SEES_ABOVE`].
    #[must_use]
    pub fn sees_above(self) -> bool {
        with_writing!(self, W => W::SEES_ABOVE)
    }

    /// Whether records in the file can name the leaf: [`Writing::NAMES_LEAF`].
    #[must_use]
    pub fn names_leaf(self) -> bool {
        with_writing!(self, W => W::NAMES_LEAF)
    }

    /// Whether a copy of a conversation has a line that stands outside the tree: [`Writing::copies_outside`].
    #[must_use]
    pub fn copies_outside(self, line: &[u8]) -> bool {
        with_writing!(self, W => W::copies_outside(line))
    }

    /// Whether an entry calls the tool with this id: [`Writing::has_call`].
    #[must_use]
    pub fn has_call(self, line: &[u8], call: &[u8]) -> bool {
        with_writing!(self, W => W::has_call(line, call))
    }

    /// Appends a line that names the leaf: [`Writing::leaf_line`].
    pub fn leaf_line(
        self,
        leaf: &[u8],
        summary: Option<&[u8]>,
        session_id: &[u8],
        out: &mut Vec<u8>,
    ) {
        with_writing!(self, W => W::leaf_line(leaf, summary, session_id, out));
    }

    /// Appends a line that makes an entry the leaf: [`Writing::explicit_leaf_line`].
    pub fn explicit_leaf_line(self, leaf: Option<&[u8]>, session_id: &[u8], out: &mut Vec<u8>) {
        with_writing!(self, W => W::explicit_leaf_line(leaf, session_id, out));
    }

    /// An id for a new session: [`Writing::fresh_session_id`].
    #[must_use]
    pub fn fresh_session_id(self, time_ms: i64) -> String {
        with_writing!(self, W => W::fresh_session_id(time_ms))
    }

    /// An id for a new entry: [`Writing::fresh_entry_id`].
    ///
    /// # Errors
    ///
    /// Those of `is_taken`.
    pub fn fresh_entry_id<E>(
        self,
        is_taken: impl FnMut(&str) -> Result<bool, E>,
    ) -> Result<String, E> {
        with_writing!(self, W => W::fresh_entry_id(is_taken))
    }

    /// Appends the lines with which a session begins: [`Writing::begin`].
    ///
    /// # Errors
    ///
    /// [`NotWritten`] if such a session cannot be begun.
    pub fn begin(self, new: &Beginning<'_>, out: &mut Vec<u8>) -> Result<(), NotWritten> {
        with_writing!(self, W => W::begin(new, out))
    }

    /// Appends the lines with which a fork begins: [`Writing::begin_fork`].
    ///
    /// # Errors
    ///
    /// [`NotWritten`] if such a session cannot be begun.
    pub fn begin_fork(
        self,
        new: &Beginning<'_>,
        source_header: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<String>, NotWritten> {
        with_writing!(self, W => W::begin_fork(new, source_header, out))
    }

    /// Appends an entry's line as a copy of its session has it: [`Writing::copy_line`].
    #[must_use]
    pub fn copy_line(self, line: &[u8], copy: &Copy<'_>, out: &mut Vec<u8>) -> bool {
        with_writing!(self, W => W::copy_line(line, copy, out))
    }

    /// Appends a label once more: [`Writing::copy_label`].
    pub fn copy_label(self, label: &CopiedLabel<'_>, out: &mut Vec<u8>) {
        with_writing!(self, W => W::copy_label(label, out));
    }

    /// An entry, given as a JSON object: [`Writing::entry`].
    pub(crate) fn entry(self, json: &str) -> Result<Vec<EntryDraft>, NotWritten> {
        with_writing!(self, W => W::entry(json))
    }

    /// A message, given as a JSON object: [`Writing::message`].
    ///
    /// # Errors
    ///
    /// [`NotWritten`] if it is not one.
    pub fn message(self, json: &str) -> Result<Vec<EntryDraft>, NotWritten> {
        with_writing!(self, W => W::message(json))
    }

    /// A label for an entry: [`Writing::label`].
    ///
    /// # Errors
    ///
    /// [`NotWritten::Unknown`] in a family without labels.
    pub fn label(self, target: &str, label: Option<&str>) -> Result<EntryDraft, NotWritten> {
        with_writing!(self, W => W::label(target, label))
    }

    /// The summary of an abandoned branch: [`Writing::branch_summary`].
    ///
    /// # Errors
    ///
    /// [`NotWritten`] if it cannot be written.
    pub fn branch_summary(self, summary: &BranchSummary<'_>) -> Result<EntryDraft, NotWritten> {
        with_writing!(self, W => W::branch_summary(summary))
    }

    /// What names the session: [`Writing::name_entries`].
    #[must_use]
    pub fn name_entries(self, name: &str) -> Vec<EntryDraft> {
        with_writing!(self, W => W::name_entries(name))
    }

    /// Appends one of the lines up to the header, with another name in it: [`Writing::name_line`].
    ///
    /// # Errors
    ///
    /// [`NotWritten::Invalid`] if the line cannot be written.
    pub fn name_line(
        self,
        line: &[u8],
        kind: EntryKind,
        (name, time): (&str, i64),
        out: &mut Vec<u8>,
    ) -> Result<bool, NotWritten> {
        with_writing!(self, W => W::name_line(line, kind, (name, time), out))
    }

    /// When the name was given that one of the lines up to the header states: [`Writing::naming_time`].
    #[must_use]
    pub fn naming_time(self, line: &[u8], kind: EntryKind) -> Option<i64> {
        with_writing!(self, W => W::naming_time(line, kind))
    }

    /// A line of a session as it is stored under these rules: [`Writing::apply_to_line`].
    #[must_use]
    pub fn apply_to_line(
        self,
        rules: &Rules,
        line: &str,
        hash: Hash<'_>,
    ) -> Option<(String, Vec<ExternalisedImage>)> {
        with_writing!(self, W => W::apply_to_line(rules, line, hash))
    }
}
