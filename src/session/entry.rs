//! An entry, or another line, as callers receive it.

use std::borrow::Cow;
use std::sync::OnceLock;

use leafline_import::view::{self, View};
use leafline_import::{EntryKind, Family, Line, MessageRole, ParentLink, Reading, read_line, text};

use crate::store::node::Node;
use crate::store::ordinal::Ordinal;

/// One line of a session, with its place in it.
#[derive(Debug, Clone)]
pub struct Entry {
    ordinal: Ordinal,
    line: Vec<u8>,
    reading: Reading,
    facts: OnceLock<Facts>,
}

/// The facts of a line, from the index or from a scan.
#[derive(Debug, Clone, Copy)]
struct Facts {
    kind: EntryKind,
    role: MessageRole,
    is_sidechain: bool,
    time: Option<i64>,
}

impl Entry {
    /// A line whose facts are scanned on demand: a look-up by id usually needs only the bytes.
    pub(crate) fn new(reading: Reading, ordinal: Ordinal, line: Vec<u8>) -> Self {
        Self { ordinal, line, reading, facts: OnceLock::new() }
    }

    /// A line whose node was read.
    pub(crate) fn with_node(
        reading: Reading,
        ordinal: Ordinal,
        node: &Node,
        line: Vec<u8>,
    ) -> Self {
        let facts = Facts {
            kind: EntryKind::from_code(node.kind).unwrap_or(EntryKind::Unknown),
            role: MessageRole::from_code(node.role).unwrap_or(MessageRole::None),
            is_sidechain: node.is_sidechain,
            time: node.time,
        };
        Self { ordinal, line, reading, facts: OnceLock::from(facts) }
    }

    fn facts(&self) -> Facts {
        *self.facts.get_or_init(|| {
            self.read(|line| Facts {
                kind: line.kind(),
                role: line.role(),
                is_sidechain: line.is_sidechain(),
                time: line.time(),
            })
        })
    }

    /// Its number in its session, from 0. It is the line's number, the header included, unless an earlier line has
    /// several records: each of those counts.
    pub fn ordinal(&self) -> u64 {
        self.ordinal.raw()
    }

    /// The same entry with another text.
    #[cfg(all(feature = "redact", feature = "share"))]
    pub(crate) fn with_line(self, line: Vec<u8>) -> Self {
        Self { line, ..self }
    }

    /// [`Self::ordinal`] as the rest of this crate has it.
    pub(crate) fn place(&self) -> Ordinal {
        self.ordinal
    }

    /// What kind of entry it is.
    pub fn kind(&self) -> EntryKind {
        self.facts().kind
    }

    /// Whose message it is; [`MessageRole::None`] if it is not a message.
    pub fn role(&self) -> MessageRole {
        self.facts().role
    }

    /// Whether it belongs to an agent's conversation beside the session's own (Claude Code, `isSidechain`).
    pub fn is_sidechain(&self) -> bool {
        self.facts().is_sidechain
    }

    /// The family of its format.
    pub fn family(&self) -> Family {
        self.reading.family
    }

    /// The entry's timestamp in milliseconds since 1970, if it states one.
    pub fn timestamp(&self) -> Option<i64> {
        self.facts().time
    }

    /// The exact bytes of the line, with its terminator; if the line has several records, those of this one.
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    /// The entry's id; `None` if it has none. A lone surrogate in it is shown as U+FFFD.
    ///
    /// The lines of some families state no ids: there the id is the entry's ordinal in decimal.
    pub fn id(&self) -> Option<String> {
        self.read(|line| Some(lossy(self.reading.id_at(line, self.ordinal())?)))
    }

    /// The id of the parent that the line names, whether the session has such an entry or not.
    pub fn parent_id(&self) -> Option<String> {
        self.read(|line| match line.parent() {
            ParentLink::Id(id) => Some(lossy(id)),
            ParentLink::None | ParentLink::NoId | ParentLink::Previous => None,
        })
    }

    /// The name of the entry's type as the line states it.
    pub fn type_name(&self) -> Option<String> {
        self.read(|line| line.type_name().map(Cow::into_owned))
    }

    /// See [`Line::leads`].
    pub(crate) fn leads(&self) -> bool {
        self.read(|line| line.leads())
    }

    /// What it says, for callers that do not depend on its format.
    pub fn view(&self) -> View {
        let text = text::decode(&self.line);
        let text = text::trim_start_of_file(&text);
        let view = view::of(self.reading.family, text);
        if self.kind() == EntryKind::Blank || view != View::default() {
            return view;
        }
        // A record that shares its line with another one, whole or torn.
        let record = self.reading.record_of(text);
        record.map_or(view, |record| view::of(self.reading.family, record))
    }

    /// The line as JSON.
    ///
    /// # Errors
    ///
    /// The error of the JSON reader, for a malformed line, and for what it refuses although JavaScript accepts it: lone
    /// surrogates, and nesting deeper than 128.
    pub fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::from_str(&text::decode(&self.line))
    }

    fn read<T>(&self, read: impl FnOnce(&Line<'_>) -> T) -> T {
        read_line(self.reading, &self.line, read)
    }
}

fn lossy(id: Cow<'_, [u8]>) -> String {
    String::from_utf8_lossy(&id).into_owned()
}
