//! Claude Code's session files (session JSONL format document; what it leaves open as observed).
//!
//! A file has no header. Each record names its parent by uuid, and the conversation is read from its leaf upwards;
//! records without a uuid (summaries, checkpoints, titles) stand outside the tree.
//!
//! ```
//! use leafline_import::claude::{LeafFinder, Scanner, detect, for_each_node, path};
//! use leafline_import::lines;
//!
//! let file = br#"{"type":"summary","summary":"Greeting","leafUuid":"b","version":"1"}
//! {"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Hello"}}
//! {"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"s","message":{"role":"assistant","content":[]}}
//! "#;
//! assert_eq!(detect(file, true)?.session_id.as_deref(), Some("s"));
//!
//! let mut scanner = Scanner::new();
//! let mut finder = LeafFinder::new();
//! for (line, bytes) in (0..).zip(lines::split(file)) {
//!     for_each_node(bytes, &mut scanner, |_, node| finder.observe(line, node));
//! }
//! let leaf = finder.leaf().expect("the file has a conversation");
//! assert_eq!(leaf.line, 2);
//!
//! let tree = finder.into_tree();
//! let conversation = path(&tree, leaf.entry)?;
//! let lines: Vec<u64> = conversation.entries.iter().map(|&entry| tree.line(entry)).collect();
//! assert_eq!(lines, [1, 2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`detect`]: is a file a session of Claude Code, by its content.
//! - [`Scanner`] and [`Record`]: a line's facts, in one pass. [`Node`]: those that the tree needs, and
//!   [`for_each_node`], which finds them on malformed lines as well.
//! - [`SessionTree`]: which entry is whose parent. [`LeafFinder`]: which is the leaf; [`leaf`], the same over any
//!   [`LeafLookup`].
//! - [`path`], [`context`], [`full_history`]: the conversation at an entry, over any [`Lookup`]; [`above`], one step of it.
//! - [`SessionTree::forks`] and [`messages`]: where the user went back, and which entries are one message of the API.
//! - [`AgentFile`] and [`project_folder_name`]: how files belong together.
//! - [`Draft`]: a record to be appended.

mod agent;
mod commands;
mod context;
mod detect;
mod draft;
mod folder;
mod forks;
mod format;
mod kind;
mod leaf;
pub(crate) mod markup;
mod members;
mod messages;
mod node;
mod path;
mod reading;
mod record;
mod scanner;
mod tree;
mod usage;
mod uuid_key;
mod writing;

pub use agent::{Agent, AgentFile};
pub use detect::{Detection, MOST_UNMARKED, NotASession, detect};
pub use draft::{Draft, DraftError, Place, VERSION};
pub use folder::project_folder_name;
pub use format::ClaudeCode;
pub use kind::RecordKind;
pub use leaf::{
    Boundary, Leaf, LeafEntry, LeafFacts, LeafFinder, LeafLookup, LeafPointer, LeafSource, leaf,
    summary,
};
pub use members::Content;
pub use messages::{Message, messages};
pub use node::{Node, for_each_node};
pub use path::{Extent, Lookup, Path, above, context, full_history, path};
pub use record::{Parent, Record};
pub use scanner::Scanner;
pub use tree::SessionTree;
