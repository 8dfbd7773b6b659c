//! What a file's beginning shows about its session.

use std::path::Path;

use crate::family::{Family, Migration, with_format};
use crate::format::Format;
use crate::leaf::LeafHint;

/// What the beginning of a file shows. Texts have U+FFFD for a lone surrogate, except the id.
#[derive(Debug, Clone)]
pub struct Start {
    /// The family of the session.
    pub family: Family,
    /// The session's id as WTF-8 (see [`crate::text`]); without one, the id is the file's name without its extension.
    pub id: Option<Vec<u8>>,
    /// The session that the records name, if that need not be the file's own.
    pub named_session: Option<String>,
    /// The version of the format or of the program that the file states; empty if the family has none.
    pub version: String,
    /// The version of the format, if it is a number.
    pub format_version: Option<u32>,
    /// The working folder.
    pub cwd: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// The rank of the title: 0, or [`TITLE_BESIDE`](crate::TITLE_BESIDE) if it comes from another file.
    pub title_rank: u8,
    /// Lineage: a session's id or a path, as in the file; in an agent's file the id of the session that started it.
    pub parent_session: Option<String>,
    /// When it was begun, in milliseconds since 1970.
    pub created_ms: Option<i64>,
    /// The agent, if this is an agent's file.
    pub agent: Option<Agent>,
    /// What it says about the leaf.
    pub leaf: LeafHint,
    /// How its program would rewrite the file on opening it; `None` if it would not.
    pub migration: Option<Migration>,
    /// Whether more of the file may show what is missing here.
    pub may_tell_more: bool,
}

/// An agent: a conversation that another session started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agent {
    /// Its id; `None` if nothing states it.
    pub id: Option<String>,
    /// Whether the file is an agent's, whatever its other lines contain. Otherwise it is one unless a line has a
    /// message that is not on a sidechain.
    pub is_certain: bool,
}

impl Start {
    /// A start that states only the family.
    #[must_use]
    pub fn new(family: Family) -> Self {
        Self {
            family,
            id: None,
            named_session: None,
            version: String::new(),
            format_version: None,
            cwd: None,
            title: None,
            title_rank: 0,
            parent_session: None,
            created_ms: None,
            agent: None,
            leaf: LeafHint::None,
            migration: None,
            may_tell_more: false,
        }
    }

    /// Adds what the file's path shows. `prefix` is the bytes from which the file was detected; `is_chosen` says that
    /// the caller chose the family.
    #[must_use]
    pub fn placed(self, path: &Path, prefix: &[u8], is_chosen: bool) -> Self {
        with_format!(self.family, F => F::placed(self, path, prefix, is_chosen))
    }

    /// Adds what a file's name would show to a session that has no file, as far as its lines state it. If the id is
    /// `None` after that, nothing names the session.
    #[must_use]
    pub fn without_file(self) -> Self {
        with_format!(self.family, F => F::without_file(self))
    }
}

/// Why a file is not a session of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Whether more of the file may show that it is one.
    pub is_undecided: bool,
    /// Whether the file surely belongs to the family, or surely to none, so that no other reason counts.
    pub is_certain: bool,
    /// The reason, in words.
    pub reason: String,
}
