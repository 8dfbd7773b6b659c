//! Leafline keeps coding agents' sessions in one file.
//!
//! An agent's session is a JSONL file: a line a message, a tree of conversations, often very long. A [`Store`] is
//! one redb file that holds many of them, of pi, omp, Claude Code and Opal. Any entry of any session is found by its id at once, a path or a tree is
//! read without the rest of the session, an image that is met often is kept once, and every file comes back byte
//! for byte: blank lines, torn lines and lines that are no JSON among them.
//!
//! # Example
//!
//! ```
//! use leafline::{ExportMode, ImportOptions, Store};
//!
//! # fn main() -> leafline::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("sessions.leafline");
//! # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi");
//! let store = Store::open(&path)?;
//! let totals = store.import(&[samples], &ImportOptions::default(), &mut ())?;
//! println!("{} sessions, {} entries", totals.imported, totals.entries);
//!
//! // Newest first. A session is named by its id, or by the beginning of it where no other begins so.
//! let newest = &store.sessions()?[0];
//! let session = store.session(&newest.id)?;
//!
//! // A reader shows the session as it is at this moment.
//! let reader = session.reader()?;
//! let leaf = reader.get_leaf()?.expect("a session with entries has a leaf");
//! reader.get_path(None, |entry| {
//!     println!("line {}: {} {}", entry.ordinal(), entry.kind(), entry.role());
//!     Ok(())
//! })?;
//!
//! // One entry by its id, as the line that it is in the file.
//! let id = leaf.id().expect("pi gives every entry an id");
//! assert_eq!(session.get_entry(&id)?.line(), leaf.line());
//!
//! // The file again.
//! let mut bytes = Vec::new();
//! reader.export(&ExportMode::Exact, &mut bytes)?;
//! assert_eq!(bytes.len() as u64, newest.bytes);
//! # Ok(())
//! # }
//! ```
//!
//! # In an agent
//!
//! A [`Store`] is cheap to clone, and a [`Session`] holds a clone of its own: neither borrows from anything. A program keeps
//! both in its structs, and gives them to its threads and tasks. The store closes with the last handle of it.
//!
//! ```
//! use leafline::{ContextLeaf, Family, NewSession, Session, Store};
//! use serde_json::json;
//!
//! struct Agent {
//!     store: Store,
//!     session: Session,
//! }
//!
//! impl Agent {
//!     fn start(store: Store, cwd: &str) -> leafline::Result<Self> {
//!         let session = store.continue_recent(&NewSession::new(Family::Pi, cwd))?;
//!         Ok(Self { store, session })
//!     }
//!
//!     fn ask(&mut self, question: &str) -> leafline::Result<()> {
//!         self.session.append_message(&json!({"role": "user", "content": question}))?;
//!         let context = self.session.reader()?.build_context(ContextLeaf::Current, None)?;
//!         let answer = format!("{} messages went to the model", context.messages.len());
//!         self.session.append_message(&json!({"role": "assistant", "content": answer}))?;
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> leafline::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("sessions.leafline");
//! let store = Store::open(&path)?;
//! let mut agent = Agent::start(store.clone(), "/work")?;
//! let worker = std::thread::spawn(move || {
//!     agent.ask("Why is the build slow?")?;
//!     Ok(agent.store.sessions()?.len())
//! });
//! let outcome: leafline::Result<usize> = worker.join().expect("the agent does not panic");
//! assert_eq!((outcome?, store.sessions()?[0].messages), (1, 2));
//! # Ok(())
//! # }
//! ```
//!
//! Calls wait for the disk. In a program with an async runtime they belong where it lets calls wait, such as tokio's
//! `spawn_blocking`. A [`SessionReader`] can be given to a thread too, but is used by one at a time.
//!
//! The repository's `examples/` has longer ones.
//!
//! # Where to begin
//!
//! - [`Store::open`] makes or opens a store, [`Store::open_with`] with [`StoreOptions`].
//! - [`Store::import`] takes files and folders of any [`Family`], as [`ImportOptions`] say; [`program_folders`] tells
//!   where the programs keep theirs. An [`ImportObserver`] gets a
//!   [`FileReport`] a file; [`ImportStatus`] says what became of it. [`Store::sync`] does the same at the cost of what is
//!   new, and `Store::watch` goes on with it.
//! - [`Store::sessions`] lists [`SessionFacts`] without a look at any line, [`Store::list`] those that a [`SessionFilter`]
//!   takes, [`Store::agents_of`] those of the agents that a session started; [`Store::session`] gives a [`Session`].
//!   [`Store::move_session`] and [`Store::relocate`] note that a project has moved.
//! - [`SessionFiles`] has the same lists of files that no store has: [`FileFacts`] of whole files, [`RecentSession`]s of the
//!   first 4,096 bytes of the newest. All that was said is told on request: [`SessionReader::get_all_messages_text`],
//!   [`FileFacts::get_all_messages_text`].
//! - [`Store::create_session`] begins a session, [`Store::continue_recent`] goes on with the newest one of a directory,
//!   [`Store::fork_from`] and [`Session::create_branched_session`] copy. A [`Session`] is written by
//!   [`Session::append_message`] and its like, [`Session::append_all`] with [`Draft`]s, [`Session::branch`],
//!   [`Session::append_label_change`], [`Session::rewrite_entries`]; when and how is said by a [`Persistence`]. One of
//!   Opal's takes [`OpalDraft`]s, has [`Metadata`] ([`Session::set_metadata`]), and
//!   [`Session::replace_path_segment`] compacts it. What a family's program does not have is an
//!   [`Error::WrongFamily`]. [`Store::in_memory`] keeps nothing. [`Breadcrumbs`] know which session a terminal had last.
//! - [`Session::get_entry`] is the short way to one [`Entry`]; [`Session::reader`] gives a [`SessionReader`] for
//!   many reads of one moment: [`SessionReader::get_path`], [`SessionReader::get_children`],
//!   [`SessionReader::get_tree`], [`SessionReader::lines`]. [`SessionReader::entries`],
//!   [`SessionReader::path_backwards`] and [`SessionReader::entries_around`] answer a [`Page`] of a long one.
//! - [`Entry::view`] is what an entry says, whatever its family: a [`View`] has its [`Role`], text, time, model and
//!   [`Part`]s.
//! - [`SessionReader::build_context`] gives the [`Context`] at an entry, the messages for the model and the settings in
//!   force, as the session's program builds it; [`SessionReader::write_context`] writes it as JSON.
//!   [`SessionReader::build_full_history`] has what was compacted too, and [`SessionReader::get_history`] the entries of
//!   both.
//! - [`SessionReader::export`] writes a session in one of the forms of [`ExportMode`], [`Store::export_file`] a file.
//!   [`Store::export_all`] brings a folder of files in step, as [`ExportOptions`] say: an [`ExportReport`] tells the
//!   [`ExportOutcome`] of each.
//! - `SearchIndex`, beside the store, finds entries by their words; `SearchIndex::update` brings it in step, and a
//!   `SearchQuery` asks it.
//! - [`Store::history`] keeps the prompts that were given to agents: [`PromptHistory::add`] and
//!   [`PromptHistory::add_async`], [`PromptHistory::recent`], [`PromptHistory::search`].
//! - [`Store::verify`] checks every table against the lines, [`Store::statistics`] says where the bytes go,
//!   [`Store::remove`] and [`Store::compact`] give space back, the latter where no other handle is left.
//!
//! # What survives what
//!
//! - When [`Store::import`] returns, or reports a file as imported, grown or replaced, that file's session is on
//!   disk: it survives a crash of the process and of the machine, as far as the disk keeps what it has confirmed.
//!   So does a deletion when [`Store::remove`] or [`Store::remove_all`] returns.
//! - When a method that appends, branches or rewrites returns, what it did is on disk; when it fails, it did nothing.
//!   Entries that several processes append to one session chain after each other, each below the one before. Only a
//!   session that waits for its first message of an assistant ([`Session::is_waiting`]) is in memory alone.
//! - A file is stored as a whole or not at all. After a crash in the middle of an import the files that were
//!   reported are there. Of the file under way nothing is to be seen; the next import or [`Store::compact`] sweeps
//!   its rows. Importing the same folder again brings what is missing.
//! - A replaced session is there until its successor is complete; at no moment is neither there.
//! - Every piece of text is checked when it is read, and every blob against its SHA-256; an export ends well only where
//!   it is all that the session's record tells of. Damage is an [`Error::Corrupted`] that names the table and the place;
//!   it is never handed out as a line, and a gap is never taken for a session's end.
//! - Any number of processes may have a store open. One writes at a time, and the others wait for its transaction,
//!   not for its import. A reader never waits, and never sees half of a transaction.
//! - Files that an export writes are written beside their place and renamed. One that an export of all sessions finds
//!   changed by someone else is not written over, unless that loses nothing or the caller wants it. No output takes the
//!   place of a store ([`Error::WouldReplaceStore`]), and what a killed export has left half written is removed by the next
//!   one.
//!
//! # What it is not, yet
//!
//! - New entries are those of pi, omp and Opal. The sessions of Claude Code are imported, read and exported.
//! - It runs where redb can lock a part of a file: Linux, macOS and the other Apple systems, and Windows. A store on a
//!   network file system is as safe as that system's locks.
//!
//! # Features
//!
//! None is on by default.
//!
//! - `search`: `SearchIndex`, full text by tantivy.
//! - `watch`: `Store::watch`, by the system's file events.
//! - `omp-history`: `PromptHistory::import_omp` and `PromptHistory::export_omp`, with SQLite for omp's `history.db`.
//!
//! The `leafline` command is a package of its own, `leafline-cli`, and has all of them.
//!
//! The formats are described rule by rule in the repository's `docs/formats.md`, the store's file table by table in
//! `docs/storage.md`, the folder that an export keeps in step in `docs/export.md`.

mod catalog;
mod destination;
#[cfg(test)]
mod documented;
mod error;
mod history;
#[cfg(feature = "search")]
mod search;
mod session;
mod store;
mod temporary;
mod whole_file;

pub use catalog::breadcrumbs::{Breadcrumb, Breadcrumbs, terminal_id};
pub use catalog::export::{ExportOptions, ExportOutcome, ExportReport, ExportTotals, KeptReason};
pub use catalog::files::{FileFacts, FileList, RecentSession, SessionFiles, UnreadableFile};
pub use catalog::filter::{SessionFilter, SessionOrder};
pub use catalog::import::{
    FileReport, ImportObserver, ImportOptions, ImportStatus, ImportTotals, Recovery, Refusal,
};
pub use catalog::programs::{ProgramFolder, program_folders};
pub use catalog::remove::Removed;
pub use catalog::statistics::{BlobStatistics, SessionStatistics, Statistics, TableStatistics};
#[cfg(feature = "watch")]
pub use catalog::watch::Watch;
pub use error::{Corruption, Error, Result};
#[cfg(feature = "omp-history")]
pub use history::HistoryTransfer;
pub use history::{HistoryEntry, PromptHistory};
pub use leafline_import::claude::PathEnd;
pub use leafline_import::opal::{Draft as OpalDraft, Metadata, ReplaceOptions, WriteError};
pub use leafline_import::pi_omp::{Compaction, Draft, DraftError, Rules};
pub use leafline_import::view::{Part, Role, View};
pub use leafline_import::{EntryKind, Family, MessageRole};
#[cfg(feature = "search")]
pub use search::{
    DamagedSession, IndexLag, IndexUpdate, SearchHit, SearchIndex, SearchQuery, Snippet,
};
pub use session::{
    Context, ContextLeaf, ContextMessage, ContextModel, ContextSettings, Entry, EntryDraft,
    ExportMode, Finding, History, HistoryScope, JsonText, NewSession, Page, PageLimit, Persistence,
    Session, SessionFacts, SessionReader, SharedText, Tree, TreeNode, TreeRecord, TypeFacts,
    UsageStatistics, Verification,
};
pub use store::{Store, StoreOptions};
