//! Leafline keeps coding agents' sessions in one file.
//!
//! An agent's session is a JSONL file: one message per line, a tree of conversations, often very long. A [`Store`] is
//! one redb file with many sessions, of pi, omp, Claude Code, Opal and Codex. It finds any entry of any session by its
//! id at once, reads a path or a tree without the rest of the session, stores repeated images once, and returns every
//! file byte for byte: including blank lines, torn lines and lines that are not JSON.
//!
//! # Example
//!
//! ```
//! use leafline::Store;
//! use leafline::export::ExportMode;
//! use leafline::import::ImportOptions;
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
//! A [`Store`] is cheap to clone, and a [`Session`] holds a clone of it: neither borrows from anything. A program keeps
//! both in its structs, and gives them to its threads and tasks. The store closes with its last handle.
//!
//! ```
//! use leafline::context::ContextLeaf;
//! use leafline::{Family, NewSession, Session, Store};
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
//! Calls block on the disk. In a program with an async runtime they belong where blocking is allowed, such as tokio's
//! `spawn_blocking`. A [`SessionReader`] can be sent to another thread, but only one thread at a time can use it.
//!
//! The repository's `examples/` has longer ones.
//!
//! # Where to begin
//!
//! - [`Store::open`] creates or opens a store, [`Store::open_with`] does so with [`StoreOptions`]. [`Store::in_memory`]
//!   keeps nothing.
//! - [`import`]: [`Store::import`] stores files and folders of any [`Family`], [`Store::sync`] does the same at the
//!   cost of what is new, and `Store::watch` does so continuously.
//! - [`list`]: [`Store::sessions`] lists [`SessionFacts`] without reading any line, [`Store::list`] those that a filter
//!   accepts, [`Store::agents_of`] those of the agents that a session started. [`Store::move_session`] and
//!   [`Store::relocate`] record that a project has moved. [`files`] has the same lists for files that are not in a
//!   store.
//! - [`Store::session`] returns a [`Session`], which writes; [`Session::reader`] returns a [`SessionReader`], which
//!   shows the session at one moment: [`SessionReader::get_path`], [`SessionReader::get_children`],
//!   [`SessionReader::lines`], a [`tree`], a [`page`] of a long one. [`Session::get_entry`] is the short way to one
//!   [`Entry`], and a [`view`] is what an entry says.
//! - [`context`]: [`SessionReader::build_context`] returns the messages for the model and the settings in force, as the
//!   session's program builds them, [`SessionReader::build_full_history`] also what was compacted, and
//!   [`SessionReader::request`] the messages that the program sends of them.
//! - [`live`]: [`Store::create_session`] begins a session, [`Store::continue_recent`] continues the newest one of a
//!   directory, [`Store::fork_from`] copies one. [`Session::append_message`], [`Session::append`] and
//!   [`Session::append_all`] write, [`Session::branch`] moves the leaf.
//! - [`pi`], [`omp`], [`claude`] and [`opal`] have what belongs to one program: its entries as drafts, and, except for
//!   Claude Code, a trait with the methods of its session manager under its own names. An operation that a family's program does not have is a
//!   [`SessionError::WrongFamily`](error::SessionError::WrongFamily).
//! - [`claude::SessionStore`] keeps the sessions of Claude's agent kits, by their keys.
//! - [`export`]: [`SessionReader::export`] writes a session in one of several forms, [`Store::export_file`] a file,
//!   [`Store::export_all`] brings a folder of files in step, and [`Store::export_to_source`] puts a session back where
//!   its program looks for it. [`Store::without_files`] are those whose files are gone. [`SessionReader::files_beside`] are the
//!   files that its program keeps beside it.
//! - [`storage`]: the files that an agent writes, in a store: it keeps its own code, and its sessions are the store's.
//!   [`Store::put_blob`] and [`Store::get_blob`] keep what lines refer to.
//! - `redact`: secrets replaced by placeholders in exports.
//! - `share`: a conversation as Markdown, or as one page of HTML.
//! - `search`: an index beside the store, which finds entries by their words.
//! - [`prompts`]: [`Store::history`] keeps the prompts given to agents.
//! - [`verify`] checks every table against the lines, [`statistics`] says where the bytes are; [`Store::remove`] and
//!   [`Store::compact`] free space, the latter only if there is no other handle.
//! - [`error`]: an [`Error`] wraps a small enum for each of these subjects, with the facts in it.
//!
//! # What survives what
//!
//! - When [`Store::import`] returns, or reports a file as imported, grown or replaced, that file's session is on disk:
//!   it survives a crash of the process and of the machine, as far as the disk keeps what it has confirmed. So does a
//!   deletion when [`Store::remove`] or [`Store::remove_all`] returns.
//! - When a method that appends, branches or rewrites returns, its effect is on disk; when it fails, it has no effect.
//!   Entries that several processes append to one session follow one another, each below the one before. Only a session
//!   that a host has asked to be deferred ([`pi::PiStore`]) is in memory until its first message.
//! - A file is stored as a whole or not at all. After a crash in the middle of an import the reported files are stored.
//!   Nothing of the file in progress is visible; the next import or [`Store::compact`] sweeps its rows. Importing the
//!   same folder again adds what is missing.
//! - A replaced session exists until its successor is complete; at every moment one of them exists.
//! - Every piece of text is checked when it is read, and every blob against its SHA-256; an export succeeds only if it
//!   agrees with the session's record. Damage is an [`Error::Corrupted`] that names the table and the place; it is
//!   never returned as a line, and a gap is never treated as a session's end.
//! - Any number of processes may have a store open. One writes at a time, and the others wait for its transaction,
//!   not for its import. A reader never sees half of a transaction, and does not wait for one, except to take in
//!   what was just appended.
//! - An export writes files under a temporary name and renames them. If an export of all sessions finds a file that
//!   someone else has changed, it does not overwrite it, unless that loses nothing or the caller allows it. No output
//!   replaces a store ([`ExportError::WouldReplaceStore`](error::ExportError::WouldReplaceStore)), and the next export
//!   removes what a killed one has left incomplete.
//!
//! # What it is not, yet
//!
//! - New entries are those of pi, omp, Claude Code and Opal. The sessions of Codex are imported, grow by raw lines, and are
//!   read and exported.
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

mod api;
mod catalog;
mod destination;
#[cfg(test)]
mod documented;
pub mod error;
/// What a loss of power leaves, for `leafline-faults`.
#[cfg(all(unix, any(test, feature = "faults")))]
#[doc(hidden)]
pub mod faults {
    pub use crate::session::live::power_loss::{Options, Report, WORD, run, work};
}
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod history;
/// For the command, too.
#[doc(hidden)]
pub mod in_place;
mod kits;
mod lasting;
#[cfg(test)]
mod layers;
mod open_folder;
mod private;
mod process;
mod programs;
#[cfg(feature = "redact")]
pub mod redact;
#[cfg(not(feature = "redact"))]
mod redact {
    /// Without the feature nothing is redacted.
    #[derive(Debug)]
    pub(crate) enum Redactor {}

    impl Redactor {
        pub(crate) fn aside(&self) -> Self {
            match *self {}
        }
    }
}
mod regular_file;
mod rights;
#[cfg(feature = "search")]
pub mod search;
mod session;
#[cfg(feature = "share")]
pub mod share;
pub mod storage;
mod store;
mod temporary;
mod whole_file;

pub use api::{
    backup, claude, compact, context, export, files, import, list, live, omp, opal, page, pi,
    prompts, salvage, statistics, tree, usage, verify, view,
};
pub use error::{Error, Result};
pub use leafline_import::{EntryKind, Family, MessageRole};
pub use session::{Entry, NewSession, PausedReader, Session, SessionFacts, SessionReader};
pub use store::{Store, StoreOptions};
