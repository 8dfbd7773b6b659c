//! The interface between the formats and the code that stores or shows sessions: the rules of a family's files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::context::Contexts;
use crate::ecma;
use crate::family::{Family, with_format};
use crate::file_name::FileName;
use crate::kind::{EntryKind, MessageRole};
use crate::leaf::{Decided, LeafFacts, SessionLines};
use crate::left_out::LeftOutReason;
use crate::line::{LineScanner, RecoveredLine};
use crate::migration::Migrate;
use crate::recover::Recovered;
use crate::start::{Refusal, Start};
use crate::surroundings::Surroundings;
use crate::view::View;
use crate::writing::Writing;

/// The rules of a family. Each default is what most families do.
///
/// The type that implements it stands for its family and has no values; the list in `family.rs` names it. Callers use
/// [`Family`], which has a function for each rule.
pub trait Format: Contexts {
    /// Scans lines and reads their facts.
    type Scanner: LineScanner;
    /// How the program rewrites files on opening them; [`NoMigration`](crate::migration::NoMigration) if it does not.
    type Migration: Migrate;
    /// How the program begins sessions and adds to them; [`NoWriting`](crate::writing::NoWriting) if sessions of the family
    /// are only read here.
    type Writing: Writing;

    /// Where the program keeps its sessions, in the user's home folder.
    const FOLDER: &'static [&'static str];
    /// Further folders of the home folder, into which the program moves sessions.
    const ASIDE: &'static [&'static [&'static str]] = &[];
    /// The variables of the environment by which the user can name other folders: what [`Self::named_folders`] reads.
    const VARIABLES: &'static [&'static str] = &[];
    /// The names of `.jsonl` files in which the program keeps other things than sessions: a search of a folder skips
    /// them.
    const NO_SESSIONS: &'static [&'static str] = &[];
    /// The families whose files have the same records, so that one can read the other's files.
    const KIN: &'static [Family] = &[];
    /// How entries are named.
    const ENTRY_IDS: EntryIds = EntryIds::Stated;
    /// Whether records are recovered from lines that are not JSON.
    const RECOVERY: RecoveryRule = RecoveryRule::OnDemand;
    /// Whether the program reads the record with which a line begins that is not JSON, whatever follows it there.
    const READS_FIRST_RECORD: bool = false;
    /// At which entries a conversation branches.
    const FORKS: ForkRule = ForkRule::EveryChild;
    /// Whether the children of an entry are sorted by time instead of file order.
    const SIBLINGS_BY_TIME: bool = true;
    /// Whether the program writes one API message in several records.
    const SPLITS_MESSAGES: bool = false;
    /// Whether sessions start agents that have their own files.
    const STARTS_AGENTS: bool = false;
    /// Whether the program keeps files of a session beside its file, in a folder with its name without `.jsonl`: long outputs of
    /// tools and the like.
    const KEEPS_FILES_BESIDE: bool = false;
    /// Folders of the program's home in which it keeps files of a session, in a folder with the session's id.
    const FOLDERS_BY_ID: &[&str] = &[];
    /// The file beside the folder of its sessions in which the program keeps what was typed, a line of JSON each.
    const PROMPTS: Option<&str> = None;
    /// The members of an entry for which a [migration](Self::Migration) makes up values, different ones each time.
    const MADE_UP: &'static [&'static str] = &[];
    /// Whether the beginning of a line shows that it is a prompt, whatever follows its text.
    const PREFIX_SHOWS_PROMPT: bool = true;

    /// Whether a file is a session of the family, decided from its first bytes; the families' rules are mutually
    /// exclusive.
    ///
    /// `complete` says that `prefix` is the whole file. `is_chosen` says that the caller chose the family: then files
    /// of its [kin](Self::KIN) count as its own.
    ///
    /// # Errors
    ///
    /// Why it is not one.
    fn detect(prefix: &[u8], is_chosen: bool, complete: bool) -> Result<Start, Refusal>;

    /// Where the program keeps its sessions if variables of the environment name other folders than [`Self::FOLDER`] and
    /// [`Self::ASIDE`]: first the one in which it begins them.
    fn named_folders(surroundings: &Surroundings<'_>) -> Option<Vec<PathBuf>> {
        let _ = surroundings;
        None
    }

    /// Why the search of a folder leaves a file of this name out, although it holds a session. By default it leaves none out.
    fn left_out(name: &str) -> Option<LeftOutReason> {
        let _ = name;
        None
    }

    /// Adds what the file's path shows; see [`Start::placed`].
    fn placed(start: Start, path: &Path, prefix: &[u8], is_chosen: bool) -> Start {
        let (_, _, _) = (path, prefix, is_chosen);
        start
    }

    /// Adds what a file's name would show to a session that has no file; see [`Start::without_file`].
    fn without_file(start: Start) -> Start {
        start
    }

    /// Whether lines of this kind and role can report usage ([`Line::usage`](crate::Line::usage)): other lines are not read
    /// for it. By default none does.
    fn may_state_usage(kind: EntryKind, role: MessageRole) -> bool {
        let (_, _) = (kind, role);
        false
    }

    /// The part of a record that could be recovered from a line that is not JSON.
    fn recovered(recovered: Recovered<'_>) -> RecoveredLine<'_> {
        RecoveredLine::no_entry(recovered)
    }

    /// The leaf of a session, and the summary that describes it. By default the leaf is the last entry that
    /// [leads](crate::Line::leads).
    ///
    /// # Errors
    ///
    /// Errors of the look-ups.
    fn leaf<L: SessionLines>(lines: &mut L, facts: &LeafFacts<'_>) -> Result<Decided, L::Error> {
        let _ = lines;
        Ok(Decided { leaf: facts.last_entry, summary: None })
    }

    /// The ordinal of the summary that describes the session.
    ///
    /// # Errors
    ///
    /// Errors of the look-ups.
    fn summary<L: SessionLines>(
        lines: &mut L,
        facts: &LeafFacts<'_>,
    ) -> Result<Option<u64>, L::Error> {
        let (_, _) = (lines, facts);
        Ok(None)
    }

    /// The same text for all forms in which a line may be written; `None` if the line is not JSON.
    fn canonical(text: &str) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        ecma::restringify(text, &mut out).ok().map(|()| out)
    }

    /// Appends the header that the program would save for this one, for a session with this id and leaf, both WTF-8.
    ///
    /// # Errors
    ///
    /// Why the line is not a header.
    fn save_header(
        line: &[u8],
        id: &[u8],
        leaf: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<(), NotSaved> {
        let (_, _) = (id, leaf);
        Self::save_line(line, out)
    }

    /// Appends the line that the program would save after reading this one.
    ///
    /// # Errors
    ///
    /// Why the program cannot read it.
    fn save_line(line: &[u8], out: &mut Vec<u8>) -> Result<(), NotSaved> {
        out.extend_from_slice(line);
        Ok(())
    }

    /// The path of a session's file, relative to the folder of all the family's sessions.
    fn file_path(name: &FileName<'_>) -> PathBuf;

    /// The path of a session's file as the program itself would choose it in these surroundings, relative to the same folder.
    fn file_at_home(name: &FileName<'_>, surroundings: &Surroundings<'_>) -> PathBuf {
        let _ = surroundings;
        Self::file_path(name)
    }

    /// An agent's file, relative to the folder beside its session's file, if the program keeps it there.
    fn agent_file(name: &FileName<'_>) -> Option<PathBuf> {
        let _ = name;
        None
    }

    /// Whether the program would find a session's file at this path, below the folder of all the family's sessions, or
    /// below one of [`Self::ASIDE`]; the parts of the path.
    fn is_file_path(name: &FileName<'_>, below: &[&str]) -> bool;

    /// The program, and the arguments with which it goes on with a session, by its id or by the file in which it looks for it;
    /// `None` if that is not known.
    fn resume_command(id: &str, file: &Path) -> Option<Vec<OsString>> {
        let (_, _) = (id, file);
        None
    }

    /// The command that must run before [`Self::resume_command`]; `None` if no command is needed.
    fn before_resuming(id: &str, file: &Path) -> Option<Vec<OsString>> {
        let (_, _) = (id, file);
        None
    }

    /// The directory in which the program is started to find a session that names none, by the file in which it looks for it;
    /// `None` if it finds the session from anywhere.
    fn resume_directory(file: &Path) -> Option<PathBuf> {
        let _ = file;
        None
    }

    /// Whether a session's file name contains facts from its header: then [`Self::file_path`] is given the header too.
    fn is_named_by_header(name: &FileName<'_>) -> bool {
        let _ = name;
        false
    }

    /// Whether an id, which is a file's name, has the form of the program's session ids. A session with another id is
    /// also found by the one that its records state ([`Start::named_session`]).
    fn is_usual_id(id: &[u8]) -> bool {
        let _ = id;
        true
    }

    /// The folder of the blobs that sessions at this absolute path refer to, existing or not. `named` are the program's
    /// [named folders](Self::named_folders).
    fn blobs_folder(path: &Path, named: &[PathBuf]) -> Option<PathBuf> {
        let (_, _) = (path, named);
        None
    }

    /// A line as a reader of the conversation sees it.
    fn view(line: &str) -> View;

    /// A message as the model is sent it, as a reader of the conversation sees it.
    fn view_message(message: &str) -> View;
}

/// How entries are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryIds {
    /// By an id that their lines state.
    Stated,
    /// By the ordinals of their lines, from 0, in decimal.
    Ordinals,
}

/// Whether records are recovered from lines that are not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecoveryRule {
    /// Always, unless the caller says otherwise.
    Usual,
    /// Only if the caller asks for it.
    OnDemand,
    /// They never are.
    Never,
}

/// At which entries a conversation branches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForkRule {
    /// At each entry with several children.
    EveryChild,
    /// At entries whose children lead to different prompts, as [`forks`](crate::forks::forks) finds them.
    Prompts,
}

/// Why the line that a program would save cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct NotSaved {
    problem: String,
}

impl NotSaved {
    /// For this reason.
    pub fn new(problem: impl std::fmt::Display) -> Self {
        Self { problem: problem.to_string() }
    }
}

/// The rules of a family, as its [`Format`] defines them.
impl Family {
    /// Where the program keeps its sessions, in the user's home folder: [`Format::FOLDER`].
    #[must_use]
    pub fn folder(self) -> &'static [&'static str] {
        with_format!(self, F => F::FOLDER)
    }

    /// Further folders of the home folder, into which the program moves sessions: [`Format::ASIDE`].
    #[must_use]
    pub fn folders_aside(self) -> &'static [&'static [&'static str]] {
        with_format!(self, F => F::ASIDE)
    }

    /// The variables of the environment that name its folders: [`Format::VARIABLES`].
    #[must_use]
    pub fn folder_variables(self) -> &'static [&'static str] {
        with_format!(self, F => F::VARIABLES)
    }

    /// Where the program keeps its sessions: first the folder in which it begins them. [`Format::named_folders`], else the
    /// usual ones.
    #[must_use]
    pub fn folders(self, surroundings: &Surroundings<'_>) -> Vec<PathBuf> {
        let usual = || {
            let all = std::iter::once(self.folder()).chain(self.folders_aside().iter().copied());
            let home = surroundings.home();
            all.map(|parts| home.join(parts.iter().collect::<PathBuf>())).collect()
        };
        with_format!(self, F => F::named_folders(surroundings)).unwrap_or_else(usual)
    }

    /// The names of files in which the program keeps other things than sessions: [`Format::NO_SESSIONS`].
    #[must_use]
    pub fn other_files(self) -> &'static [&'static str] {
        with_format!(self, F => F::NO_SESSIONS)
    }

    /// Why the search of a folder leaves a file of this name out, although it holds a session: [`Format::left_out`].
    #[must_use]
    pub fn left_out(self, name: &str) -> Option<LeftOutReason> {
        with_format!(self, F => F::left_out(name))
    }

    /// Whether the files of both families have the same records: [`Format::KIN`].
    #[must_use]
    pub fn is_kin_of(self, other: Self) -> bool {
        self == other || with_format!(self, F => F::KIN).contains(&other)
    }

    /// How entries are named: [`Format::ENTRY_IDS`].
    #[must_use]
    pub fn entry_ids(self) -> EntryIds {
        with_format!(self, F => F::ENTRY_IDS)
    }

    /// Whether records are recovered from lines that are not JSON: [`Format::RECOVERY`].
    #[must_use]
    pub fn recovery(self) -> RecoveryRule {
        with_format!(self, F => F::RECOVERY)
    }

    /// Whether the first record of a line that is not JSON is read: [`Format::READS_FIRST_RECORD`].
    #[must_use]
    pub fn reads_first_record(self) -> bool {
        with_format!(self, F => F::READS_FIRST_RECORD)
    }

    /// At which entries a conversation branches: [`Format::FORKS`].
    #[must_use]
    pub fn fork_rule(self) -> ForkRule {
        with_format!(self, F => F::FORKS)
    }

    /// Whether siblings are sorted by time instead of file order: [`Format::SIBLINGS_BY_TIME`].
    #[must_use]
    pub fn sorts_siblings_by_time(self) -> bool {
        with_format!(self, F => F::SIBLINGS_BY_TIME)
    }

    /// Whether one API message may be several records: [`Format::SPLITS_MESSAGES`].
    #[must_use]
    pub fn splits_messages(self) -> bool {
        with_format!(self, F => F::SPLITS_MESSAGES)
    }

    /// Whether sessions start agents that have their own files: [`Format::STARTS_AGENTS`].
    #[must_use]
    pub fn starts_agents(self) -> bool {
        with_format!(self, F => F::STARTS_AGENTS)
    }

    /// Whether the program keeps files beside a session's: [`Format::KEEPS_FILES_BESIDE`].
    #[must_use]
    pub fn keeps_files_beside(self) -> bool {
        with_format!(self, F => F::KEEPS_FILES_BESIDE)
    }

    /// The file in which the program keeps what was typed: [`Format::PROMPTS`].
    #[must_use]
    pub fn prompts(self) -> Option<&'static str> {
        with_format!(self, F => F::PROMPTS)
    }

    /// The folders of the program's home in which it keeps files of a session: [`Format::FOLDERS_BY_ID`].
    #[must_use]
    pub fn folders_by_id(self) -> &'static [&'static str] {
        with_format!(self, F => F::FOLDERS_BY_ID)
    }

    /// The members of an entry for which a migration makes up values: [`Format::MADE_UP`].
    #[must_use]
    pub fn made_up_members(self) -> &'static [&'static str] {
        with_format!(self, F => F::MADE_UP)
    }

    /// Whether lines of this kind and role can report usage: [`Format::may_state_usage`].
    #[must_use]
    pub fn may_state_usage(self, kind: EntryKind, role: MessageRole) -> bool {
        with_format!(self, F => F::may_state_usage(kind, role))
    }

    /// Whether the beginning of a line shows that it is a prompt: [`Format::PREFIX_SHOWS_PROMPT`].
    #[must_use]
    pub fn prefix_shows_prompt(self) -> bool {
        with_format!(self, F => F::PREFIX_SHOWS_PROMPT)
    }

    /// The leaf of a session: [`Format::leaf`].
    ///
    /// # Errors
    ///
    /// Errors of the look-ups.
    pub fn leaf<L: SessionLines>(
        self,
        lines: &mut L,
        facts: &LeafFacts<'_>,
    ) -> Result<Decided, L::Error> {
        with_format!(self, F => F::leaf(lines, facts))
    }

    /// The summary that describes a session: [`Format::summary`].
    ///
    /// # Errors
    ///
    /// Errors of the look-ups.
    pub fn summary<L: SessionLines>(
        self,
        lines: &mut L,
        facts: &LeafFacts<'_>,
    ) -> Result<Option<u64>, L::Error> {
        with_format!(self, F => F::summary(lines, facts))
    }

    /// The same text for all forms of a line: [`Format::canonical`].
    #[must_use]
    pub fn canonical(self, text: &str) -> Option<Vec<u8>> {
        with_format!(self, F => F::canonical(text))
    }

    /// Appends the header that the program would save: [`Format::save_header`].
    ///
    /// # Errors
    ///
    /// Why the line is not a header.
    pub fn save_header(
        self,
        line: &[u8],
        id: &[u8],
        leaf: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<(), NotSaved> {
        with_format!(self, F => F::save_header(line, id, leaf, out))
    }

    /// Appends the line that the program would save: [`Format::save_line`].
    ///
    /// # Errors
    ///
    /// Why the program cannot read it.
    pub fn save_line(self, line: &[u8], out: &mut Vec<u8>) -> Result<(), NotSaved> {
        with_format!(self, F => F::save_line(line, out))
    }

    /// The path of a session's file as the program itself would choose it: [`Format::file_at_home`].
    #[must_use]
    pub fn file_at_home(self, name: &FileName<'_>, surroundings: &Surroundings<'_>) -> PathBuf {
        with_format!(self, F => F::file_at_home(name, surroundings))
    }

    /// The path of a session's file: [`Format::file_path`].
    #[must_use]
    pub fn file_path(self, name: &FileName<'_>) -> PathBuf {
        with_format!(self, F => F::file_path(name))
    }

    /// An agent's file in the folder beside its session's file: [`Format::agent_file`].
    #[must_use]
    pub fn agent_file(self, name: &FileName<'_>) -> Option<PathBuf> {
        with_format!(self, F => F::agent_file(name))
    }

    /// The path of a session's file in a folder that the program can use in place of its own (`~/.claude` and the like):
    /// the last part of [`Self::folder`], then [`Self::file_path`].
    #[must_use]
    pub fn program_path(self, name: &FileName<'_>) -> PathBuf {
        let sessions = self.folder().last().copied().unwrap_or_default();
        Path::new(sessions).join(self.file_path(name))
    }

    /// The same for a file that was imported from such a folder, by its path: where the program had put it. `None` if the
    /// path is of another kind.
    #[must_use]
    pub fn placed_path(self, name: &FileName<'_>, source: &Path) -> Option<PathBuf> {
        let parts: Option<Vec<&str>> =
            source.components().map(|part| part.as_os_str().to_str()).collect();
        let parts = parts?;
        let all = std::iter::once(self.folder()).chain(self.folders_aside().iter().copied());
        let folders: Vec<&str> = all.filter_map(|folder| folder.last().copied()).collect();
        let is_file_path = |below: &[&str]| with_format!(self, F => F::is_file_path(name, below));
        (0..parts.len()).rev().find_map(|place| {
            let (folder, below) = parts.get(place..)?.split_first()?;
            (folders.contains(folder) && is_file_path(below)).then(|| {
                let path: PathBuf = parts.iter().skip(place).collect();
                path
            })
        })
    }

    /// How the program goes on with a session: [`Format::resume_command`].
    #[must_use]
    pub fn resume_command(self, id: &str, file: &Path) -> Option<Vec<OsString>> {
        with_format!(self, F => F::resume_command(id, file))
    }

    /// The command that must run before a session is resumed: [`Format::before_resuming`].
    #[must_use]
    pub fn before_resuming(self, id: &str, file: &Path) -> Option<Vec<OsString>> {
        with_format!(self, F => F::before_resuming(id, file))
    }

    /// Where the program is started to find a session that names no directory: [`Format::resume_directory`].
    #[must_use]
    pub fn resume_directory(self, file: &Path) -> Option<PathBuf> {
        with_format!(self, F => F::resume_directory(file))
    }

    /// Whether a session's file name contains facts from its header: [`Format::is_named_by_header`].
    #[must_use]
    pub fn is_named_by_header(self, name: &FileName<'_>) -> bool {
        with_format!(self, F => F::is_named_by_header(name))
    }

    /// Whether an id has the form of the program's session ids: [`Format::is_usual_id`].
    #[must_use]
    pub fn is_usual_id(self, id: &[u8]) -> bool {
        with_format!(self, F => F::is_usual_id(id))
    }

    /// The folder of the blobs that sessions at an absolute path refer to, existing or not: [`Format::blobs_folder`].
    #[must_use]
    pub fn blobs_folder(self, path: &Path, named: &[PathBuf]) -> Option<PathBuf> {
        with_format!(self, F => F::blobs_folder(path, named))
    }

    /// A message as the model is sent it, as a reader of the conversation sees it: [`Format::view_message`].
    #[must_use]
    pub fn view_message(self, message: &str) -> View {
        with_format!(self, F => F::view_message(message))
    }
}
