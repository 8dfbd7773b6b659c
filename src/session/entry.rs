//! An entry, or another line, as a caller gets it.

use std::sync::OnceLock;

use leafline_import::scan::{Members, Raw};
use leafline_import::{EntryKind, MessageRole, text};

use super::index::prepare::{classify, scan_line};
use crate::store::node::Node;

/// One line of a session, with its place in it.
#[derive(Debug, Clone)]
pub struct Entry {
    ordinal: u64,
    line: Vec<u8>,
    facts: OnceLock<Facts>,
}

/// What the index knows of a line, or a scan of the line tells.
#[derive(Debug, Clone, Copy)]
struct Facts {
    kind: EntryKind,
    role: MessageRole,
    time: Option<i64>,
}

impl Entry {
    /// A line whose facts are scanned when they are asked for: a look-up by id mostly wants the bytes alone.
    pub(crate) fn new(ordinal: u64, line: Vec<u8>) -> Self {
        Self { ordinal, line, facts: OnceLock::new() }
    }

    /// A line whose node is at hand.
    pub(crate) fn with_node(ordinal: u64, node: &Node, line: Vec<u8>) -> Self {
        let facts = Facts {
            kind: EntryKind::from_code(node.kind).unwrap_or(EntryKind::Unknown),
            role: MessageRole::from_code(node.role).unwrap_or(MessageRole::None),
            time: node.time,
        };
        Self { ordinal, line, facts: OnceLock::from(facts) }
    }

    fn facts(&self) -> Facts {
        *self.facts.get_or_init(|| {
            let (kind, role, time) = scan_line(&self.line, classify);
            Facts { kind, role, time }
        })
    }

    /// The line's number in its session, from 0; the header counts.
    pub fn ordinal(&self) -> u64 {
        self.ordinal
    }

    /// What kind of entry it is.
    pub fn kind(&self) -> EntryKind {
        self.facts().kind
    }

    /// Whose message it is; [`MessageRole::None`] for what is no message.
    pub fn role(&self) -> MessageRole {
        self.facts().role
    }

    /// The entry's timestamp in milliseconds since 1970, where it states one.
    pub fn timestamp(&self) -> Option<i64> {
        self.facts().time
    }

    /// The exact bytes of the line, with its terminator.
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    /// The entry's id; `None` where the line states none. A lone surrogate in it is shown as U+FFFD.
    pub fn id(&self) -> Option<String> {
        self.member(|members| members.id)
    }

    /// The id of the parent that the line names, whether the session has such an entry or not.
    pub fn parent_id(&self) -> Option<String> {
        self.member(|members| members.parent_id)
    }

    /// The name of the entry's type as it stands in the line.
    pub fn type_name(&self) -> Option<String> {
        self.member(|members| members.entry_type)
    }

    /// The line as JSON.
    ///
    /// # Errors
    ///
    /// That of the JSON reader, for a malformed line, and for what it refuses and JavaScript takes: lone
    /// surrogates, and nesting deeper than 128.
    pub fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::from_str(&text::decode(&self.line))
    }

    fn member(&self, choose: impl for<'a> Fn(&Members<'a>) -> Option<Raw<'a>>) -> Option<String> {
        scan_line(&self.line, |scan| Some(choose(&scan.members)?.to_string_lossy()?.into_owned()))
    }
}
