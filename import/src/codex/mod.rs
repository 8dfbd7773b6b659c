//! Codex CLI's rollouts: `rollout-<time>-<id>.jsonl` (observed in Codex 0.169.0; there is no document).
//!
//! A rollout is a log. Each line is `{timestamp, type, payload}`; the first is the header. Lines have no parents: the
//! conversation is linear, and later lines say what a rollback removes or a compaction replaces. So an entry is named
//! by its line ([`entry_id`]), and the leaf is the last line that takes part in the conversation ([`takes_part`]).
//!
//! ```
//! use leafline_import::codex::{ContextBuilder, Facts, Scanner, detect, takes_part};
//! use leafline_import::{lines, text::decode};
//!
//! let file = br#"{"timestamp":"2026-11-20T10:00:00.000Z","type":"session_meta","payload":{"id":"0199f2b4-5c1e-7a30-9c55-3b1f0e8d2a61","cwd":"/home/robin/work"}}
//! {"timestamp":"2026-11-20T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hello"}]}}
//! {"timestamp":"2026-11-20T10:00:02.000Z","type":"event_msg","payload":{"type":"task_complete","turn_id":"t"}}
//! "#;
//! assert_eq!(detect(file, true)?.header.cwd.as_deref(), Some("/home/robin/work"));
//!
//! let mut scanner = Scanner::new();
//! let (mut facts, mut context, mut leaf) = (Facts::default(), ContextBuilder::new(), None);
//! for (line, bytes) in (0..).zip(lines::split(file)) {
//!     let text = decode(bytes);
//!     let record = scanner.scan(&text);
//!     facts.observe(&record);
//!     context.observe(line, &record);
//!     if takes_part(&record) {
//!         leaf = Some(line);
//!     }
//! }
//! assert_eq!((facts.first_prompt(), leaf), (Some("Hello"), Some(1)));
//! let lines: Vec<u64> = context.finish().iter().map(|item| item.place.line).collect();
//! assert_eq!(lines, [1]);
//! # Ok::<(), leafline_import::codex::NotASession>(())
//! ```
//!
//! - [`detect`]: whether a file is a rollout, by its content; [`RolloutName`]: the parts of its name.
//! - [`Scanner`] and [`Record`]: a line's facts, in one pass. [`Header`]: those of its header.
//! - [`Codex`]: the family's [`Format`](crate::format::Format).
//! - [`Facts`]: what a session is about. [`SessionName`]: the name that the user gave it, from another file.
//! - [`ContextBuilder`] and [`write_input`]: what the model is sent when the session is resumed;
//!   [`Family::context`](crate::Family::context) and its neighbours do the same for a stored session, at any of its
//!   lines.
//! - [`view`]: one line as a reader of the conversation sees it.
//!
//! No input makes it panic, hang, or use stack by the depth of its nesting.

mod author;
mod context;
mod contextual;
mod detect;
mod facts;
mod file_name;
mod format;
mod header;
mod item;
mod json;
mod kind;
mod names;
mod payload;
mod reading;
mod record;
mod requirements;
mod scanner;
mod truncate;
mod usage;
mod view;

pub use context::{
    ContextBuilder, ContextItem, InputError, Place, Use, render, takes_part, write_input,
};
pub use detect::{Detection, NotASession, detect};
pub use facts::{Facts, Usage};
pub use file_name::RolloutName;
pub use format::Codex;
pub use header::{Git, Header, HistoryBase, HistoryMode};
pub use kind::RecordKind;
pub use names::SessionName;
pub use record::Record;
pub use scanner::Scanner;
pub use truncate::Truncation;
pub use view::view;

/// The id of an entry: the number of its line in the file, from 0, in decimal (ours).
///
/// Lines have no ids of their own. As a file only grows, the number of a line never changes; an item's `id` and a
/// tool's `call_id` repeat, and rollouts of the older kind have no `ordinal`s.
///
/// ```
/// assert_eq!(leafline_import::codex::entry_id(17), "17");
/// ```
#[must_use]
pub fn entry_id(line: u64) -> String {
    line.to_string()
}
