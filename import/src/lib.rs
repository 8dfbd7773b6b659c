//! The JSONL session files of coding agents: bytes to lines to typed records and back, without storage.
//!
//! A session file is a sequence of lines, and the line is the truth: everything here reads lines without changing them.
//! Only a migration writes new ones, byte for byte as the program that owns the format would.
//!
//! ```
//! use leafline_import::lines;
//! use leafline_import::pi_omp::{detect, user_text};
//! use leafline_import::scan::Scanner;
//! use leafline_import::text::decode;
//! use leafline_import::{EntryKind, Family};
//!
//! let file = br#"{"type":"session","version":3,"id":"1f9d2a6b","timestamp":"2024-12-03T14:00:00.000Z","cwd":"/work"}
//! {"type":"message","id":"a1b2c3d4","parentId":null,"timestamp":"2024-12-03T14:00:01.000Z","message":{"role":"user","content":"Hello"}}
//! "#;
//!
//! let detection = detect(file, None, true)?;
//! assert_eq!(detection.family, Family::Pi);
//! assert_eq!(detection.header.cwd.as_deref(), Some("/work"));
//!
//! let mut scanner = Scanner::new();
//! let mut prompts = Vec::new();
//! for line in lines::split(file) {
//!     let text = decode(line);
//!     let scan = scanner.scan(&text);
//!     prompts.extend(user_text(EntryKind::of(&scan), &scan));
//! }
//! assert_eq!(prompts, ["Hello"]);
//! # Ok::<(), leafline_import::pi_omp::NotASession>(())
//! ```
//!
//! From the bottom up:
//!
//! - [`lines`]: physical lines, and files in blocks that end at one.
//! - [`text`]: decoding, white space and string escapes as in JavaScript.
//! - [`scan`]: one pass over a line: whether it is JSON, the members an index needs, its payloads.
//! - [`ecma`]: `JSON.stringify(JSON.parse(text))`, with edits.
//! - [`time`]: ISO texts and milliseconds since 1970.
//! - [`recover`]: the records of a line that is not JSON, because it has several or a torn one.
//! - [`detect()`]: whose session a file is, and what its beginning shows ([`Start`]).
//! - [`LineReader`] and [`Line`]: the facts of a line of any family; [`Effect`]: what it changes.
//! - [`Family`] and [`format::Format`]: the families, and the rules by which they differ. This is the interface: code
//!   that stores or shows sessions uses it and names no family.
//! - [`EntryKind`] and [`MessageRole`]: what a record and a message are.
//! - [`pi_omp`], and [`pi`] and [`omp`] for what only one of them has: the families. A family has its own folder, and
//!   what two share has another.
//! - [`claude`]: Claude Code's files.
//! - [`opal`]: Opal's sessions.
//! - [`codex`]: Codex's rollouts.
//! - [`conversation`]: a stored session. From it [`Family::context`] and its neighbours build the context of a program,
//!   and [`Family::request`] what the program sends of it to its model.
//! - [`writing`]: what a program writes: new sessions, entries, names, copies.
//! - [`view`]: one entry of any family as a reader of the conversation sees it.
//!
//! No input makes it panic, hang, or use stack in proportion to its nesting.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

pub mod claude;
mod codes;
pub mod codex;
mod context;
pub mod conversation;
mod detect;
pub mod ecma;
mod effect;
mod family;
mod file_name;
pub mod forks;
pub mod format;
mod grammar;
mod json_text;
mod kind;
pub mod leaf;
mod left_out;
mod line;
pub mod lines;
pub mod migration;
pub mod normalised;
pub mod omp;
pub mod opal;
pub mod pi;
pub mod pi_omp;
mod program_version;
mod reading;
pub mod recover;
pub mod scan;
mod start;
mod surroundings;
pub mod text;
pub mod time;
mod usage;
pub mod view;
pub mod writing;

pub use context::{ContextModel, ContextSettings, Contexts, NamedEntry, TakeMessage};
pub use detect::{NotASession, detect};
pub use effect::{
    AssistantModel, EXPLICIT, Effect, KEEPS_MESSAGES, PointerKind, SPARE_TITLE, SUMMARY_TITLE,
    SettingsChange, TITLE_BESIDE, UNDEFINED,
};
pub use family::{Family, LineMigrator, Migration, UnknownFamily};
pub use file_name::FileName;
pub use grammar::Malformed;
pub use json_text::JsonText;
pub use kind::{EntryKind, MessageRole};
pub use left_out::LeftOutReason;
pub use line::{Line, LineFacts, LineScanner, ParentLink, RecoveredLine};
pub use program_version::{NotAVersion, ProgramVersion};
pub use reading::{LineReader, Reading, read_line};
pub use start::{Agent, Refusal, Start};
pub use surroundings::Surroundings;
pub use usage::{Answer, ServiceTier, Usage, UsageCounter, UsageReport};
