//! Entries to append, of any family that can be written.

use std::fmt;

use super::{ExternalisedImage, NotWritten, Rules};
use crate::family::Family;
use crate::kind::MessageRole;

/// Where an entry is appended.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The session's id as WTF-8 (see [`crate::text`]).
    pub session_id: &'a [u8],
    /// The new entry's id.
    pub id: &'a str,
    /// The id of the entry that it follows, as WTF-8; `None` for a root.
    pub parent: Option<&'a [u8]>,
    /// The time in milliseconds since 1970.
    pub time_ms: i64,
    /// The line of the entry that it follows, if the family [asks for it](super::Writing::SEES_ABOVE) and there is one.
    pub above: Option<&'a [u8]>,
    /// The session's working directory.
    pub cwd: Option<&'a str>,
}

/// Computes the SHA-256 of an image's bytes.
pub type Hash<'h> = &'h mut dyn FnMut(&[u8]) -> [u8; 32];

/// What a family's draft says of itself. Anything that implements it becomes an [`EntryDraft`].
pub trait Drafted: fmt::Debug + Send + Sync + 'static {
    /// The families to whose sessions it can be appended.
    fn families(&self) -> &'static [Family];

    /// What it is called where sessions of a family have no such thing.
    fn name(&self) -> &'static str;

    /// Whose message it is; [`MessageRole::None`] if it is none.
    fn role(&self) -> MessageRole;

    /// The entry that it names, which must exist: the one that gets a label, or the first that a compaction keeps. The id is WTF-8
    /// (see [`crate::text`]).
    fn target(&self) -> Option<Vec<u8>> {
        None
    }

    /// Whether it is an entry of the tree. Nothing follows a line that stands outside it.
    fn is_entry(&self) -> bool {
        true
    }

    /// The id of the tool call whose result it is, as WTF-8, in a family where a result follows
    /// [the entry with its call](super::Writing::has_call).
    fn call(&self) -> Option<Vec<u8>> {
        None
    }

    /// Makes the rules' changes, and returns the images that were taken out.
    fn apply(&mut self, rules: &Rules, hash: Hash<'_>) -> Vec<ExternalisedImage> {
        let (_, _) = (rules, hash);
        Vec::new()
    }

    /// Appends its line, with the line feed.
    fn write(&self, place: &Place<'_>, out: &mut Vec<u8>);

    /// The same again.
    fn duplicate(&self) -> Box<dyn Drafted>;
}

/// An entry to be appended, in the form of its session's family. Every family's draft converts into it.
#[derive(Debug)]
pub struct EntryDraft(Box<dyn Drafted>);

impl<D: Drafted> From<D> for EntryDraft {
    fn from(draft: D) -> Self {
        Self(Box::new(draft))
    }
}

impl Clone for EntryDraft {
    fn clone(&self) -> Self {
        Self(self.0.duplicate())
    }
}

impl EntryDraft {
    /// Takes an entry of a family's sessions as a JSON object: [`Writing::entry`](super::Writing::entry). Several drafts if
    /// the program writes it in parts.
    ///
    /// # Errors
    ///
    /// Why it is not one.
    pub fn from_json(family: Family, json: &str) -> Result<Vec<Self>, NotWritten> {
        family.entry(json)
    }

    /// Whose message it is; [`MessageRole::None`] if it is none.
    #[must_use]
    pub fn role(&self) -> MessageRole {
        self.0.role()
    }

    /// The entry that it names, which must exist: [`Drafted::target`].
    #[must_use]
    pub fn target(&self) -> Option<Vec<u8>> {
        self.0.target()
    }

    /// Whether it is an entry of the tree: [`Drafted::is_entry`].
    #[must_use]
    pub fn is_entry(&self) -> bool {
        self.0.is_entry()
    }

    /// The id of the tool call whose entry it follows, wherever the leaf is: [`Drafted::call`].
    #[must_use]
    pub fn call(&self) -> Option<Vec<u8>> {
        self.0.call()
    }

    /// What sessions of the family do not have, if the entry is such a thing; `None` if it can be appended.
    #[must_use]
    pub fn unknown_to(&self, family: Family) -> Option<&'static str> {
        if self.0.families().contains(&family) {
            return None;
        }
        let is_message = self.role() != MessageRole::None;
        Some(if is_message && !family.is_written() { "appending" } else { self.0.name() })
    }

    /// Makes the rules' changes, and returns the images that were taken out.
    pub fn apply(&mut self, rules: &Rules, hash: Hash<'_>) -> Vec<ExternalisedImage> {
        self.0.apply(rules, hash)
    }

    /// Appends its line, with the line feed.
    pub fn write(&self, place: &Place<'_>, out: &mut Vec<u8>) {
        self.0.write(place, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{opal, pi_omp};

    #[test]
    fn a_draft_fits_the_sessions_of_its_family_alone() {
        let pi: EntryDraft = pi_omp::Draft::label("a", None).into();
        let message: EntryDraft = pi_omp::Draft::message(r#"{"role":"user"}"#).unwrap().into();
        let opal: EntryDraft = opal::Draft::user("Hi").into();
        let unknown = |family| [&pi, &message, &opal].map(|draft| draft.unknown_to(family));
        assert_eq!(unknown(Family::Pi), [None, None, Some("message in the form of Opal's")]);
        assert_eq!(unknown(Family::Omp), unknown(Family::Pi));
        assert_eq!(
            unknown(Family::Opal),
            [Some("label"), Some("message in the form of pi's"), None]
        );
        assert_eq!(
            unknown(Family::Claude),
            [
                Some("label"),
                Some("message in the form of pi's"),
                Some("message in the form of Opal's")
            ]
        );
        assert_eq!(unknown(Family::Codex), [Some("label"), Some("appending"), Some("appending")]);
        let claude: EntryDraft = crate::claude::Draft::user("Hi").into();
        assert_eq!(claude.unknown_to(Family::Claude), None);
        assert_eq!(claude.unknown_to(Family::Pi), Some("record in the form of Claude Code's"));
    }
}
