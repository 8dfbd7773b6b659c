//! pi's `SessionManager`, method by method.

mod edit;

use leafline_import::Family;
use leafline_import::pi_omp::{Compaction, Draft};
use serde::Serialize;

use super::{Sealed, optional};
use crate::error::Result;
use crate::session::live::DEFERRED;
use crate::session::live::json;
use crate::session::{Entry, NewSession, Session, SessionReader};
use crate::store::Store;

/// New sessions that are stored as late as pi's and omp's session managers do: for a host that wants their files, and no
/// others.
///
/// ```
/// use leafline::pi::{PiSession, PiStore};
/// use leafline::{Family, NewSession, Store};
/// use serde_json::json;
///
/// # fn main() -> leafline::Result<()> {
/// let store = Store::in_memory()?;
/// let mut session = store.create_deferred_session(&NewSession::new(Family::Pi, "/work"))?;
/// session.append_thinking_level_change("high")?;
/// assert!(session.is_waiting() && store.sessions()?.is_empty());
/// session.append_message(&json!({"role": "user", "content": "Hello"}))?;
/// assert_eq!(store.sessions()?[0].entries, 2);
/// # Ok(())
/// # }
/// ```
pub trait PiStore: Sealed {
    /// Begins a session in memory. The message at which the program writes its file stores it with all its entries; so do
    /// [`Session::append_lines`] and [`Session::store_now`]. What was appended before that is lost if the process ends. If it
    /// cannot be stored, it waits without what was to be appended.
    ///
    /// It is the first message of the user or the assistant for pi since 0.99, and the first of the assistant for pi before that
    /// and for omp. [`Persistence::as_of`](crate::live::Persistence::as_of) of `new` names the version of pi.
    ///
    /// # Errors
    ///
    /// Those of [`Store::create_session`]; [`SessionError::WrongFamily`](crate::error::SessionError::WrongFamily) for
    /// families other than pi and omp.
    fn create_deferred_session(&self, new: &NewSession) -> Result<Session>;
}

impl PiStore for Store {
    fn create_deferred_session(&self, new: &NewSession) -> Result<Session> {
        self.deferred_session(new)
    }
}

/// The writes of pi's `SessionManager`, under pi's names (pi document, session file format). omp's has the same
/// methods, and [`OmpSession`](crate::omp::OmpSession) has those that only omp's has.
///
/// A [`Session`] itself has what several families share, such as [`Session::append_message`] and [`Session::branch`].
///
/// ```
/// use leafline::pi::{PiReader, PiSession};
/// use leafline::{Family, NewSession, Store};
/// use serde_json::json;
///
/// # fn main() -> leafline::Result<()> {
/// let store = Store::in_memory()?;
/// let mut session = store.create_session(&NewSession::new(Family::Pi, "/work"))?;
/// session.append_model_change("anthropic", "claude-sonnet-4-5")?;
/// session.append_thinking_level_change("high")?;
/// let question = session.append_message(&json!({"role": "user", "content": "Hello"}))?;
/// session.append_label_change(&question, Some("start"))?;
/// let side = session.create_branched_session(&question)?;
/// // Its three entries, and a fresh one for the label.
/// assert_eq!(side.reader()?.get_branch(None, |_| Ok(()))?, 4);
/// # Ok(())
/// # }
/// ```
pub trait PiSession: Sealed {
    /// Appends a change of the thinking level.
    ///
    /// # Errors
    ///
    /// Those of [`Session::append`].
    fn append_thinking_level_change(&mut self, level: &str) -> Result<String>;

    /// Appends a change of the model: pi's provider and model id; in an omp session, both as one name for the default
    /// role.
    ///
    /// # Errors
    ///
    /// Those of [`Session::append`].
    fn append_model_change(&mut self, provider: &str, model_id: &str) -> Result<String>;

    /// Appends a compaction.
    ///
    /// # Errors
    ///
    /// [`LiveError::InvalidEntry`](crate::error::LiveError::InvalidEntry) for members that are not JSON; those of
    /// [`Session::append`].
    fn append_compaction(&mut self, compaction: &Compaction<'_>) -> Result<String>;

    /// Appends an extension's state, which is not part of contexts.
    ///
    /// # Errors
    ///
    /// Those of [`Session::append_message`].
    fn append_custom_entry(
        &mut self,
        custom_type: &str,
        data: Option<&impl Serialize>,
    ) -> Result<String>;

    /// Appends an extension's message, which is part of contexts: `content` is a string or an array of blocks.
    ///
    /// # Errors
    ///
    /// Those of [`Session::append_message`].
    fn append_custom_message_entry(
        &mut self,
        custom_type: &str,
        content: &impl Serialize,
        display: bool,
        details: Option<&impl Serialize>,
    ) -> Result<String>;

    /// Appends the session's name, trimmed; an empty one clears it.
    ///
    /// # Errors
    ///
    /// Those of [`Session::append`].
    fn append_session_info(&mut self, name: &str) -> Result<String>;

    /// Appends a change of the context (pi 0.87): the content of the entry `target` is replaced by the `content` of
    /// `replacement`, or left out if there is none. Text for a message of the model's or of a tool becomes a text block.
    /// The entry itself stays as it is.
    ///
    /// # Errors
    ///
    /// [`SessionError::EntryNotFound`](crate::error::SessionError::EntryNotFound);
    /// [`LiveError::InvalidEntry`](crate::error::LiveError::InvalidEntry) if the entry is not on the path to the leaf or
    /// gives the context no content of its own, or if `content` is neither a string nor an array;
    /// [`SessionError::WrongFamily`](crate::error::SessionError::WrongFamily) in a session of omp's; those of
    /// [`Session::append`].
    fn append_context_edit(
        &mut self,
        target: &str,
        content: Option<&impl Serialize>,
    ) -> Result<String>;

    /// Appends what a call of a model outside the conversation has used (pi 0.87): `kind` says what it was for.
    ///
    /// # Errors
    ///
    /// [`SessionError::WrongFamily`](crate::error::SessionError::WrongFamily) in a session of omp's; those of
    /// [`Session::append_message`].
    fn append_usage(
        &mut self,
        kind: &str,
        provider: &str,
        model: &str,
        usage: &impl Serialize,
        note: Option<&str>,
    ) -> Result<String>;

    /// [`Session::label`] under pi's name for it.
    ///
    /// # Errors
    ///
    /// Those of [`Session::label`].
    fn append_label_change(&mut self, target: &str, label: Option<&str>) -> Result<String>;

    /// A new session with only the path from the root to an entry (pi and omp documents,
    /// `SessionManager.createBranchedSession`): the path without its label entries, then a new label entry for each
    /// label that is set on it, each the child of the one before. The header's `parentSession` is this session's id.
    ///
    /// As in the programs, the children of an omitted label entry keep its id as their parent, so that the new
    /// session's path begins below it.
    ///
    /// In a Claude Code session it is the conversation at the entry: the path, over compactions, and the records beside it that
    /// the program sends along. Where some of these come after the entry, the last of them is the new leaf.
    ///
    /// # Errors
    ///
    /// [`SessionError::EntryNotFound`](crate::error::SessionError::EntryNotFound);
    /// [`SessionError::WrongFamily`](crate::error::SessionError::WrongFamily) if the session is Opal's or Codex's.
    fn create_branched_session(&self, leaf: &str) -> Result<Session>;

    /// The same, except that a path without the message at which the program writes its file waits for it, like
    /// [`PiStore::create_deferred_session`]; the version of pi is this session's.
    ///
    /// # Errors
    ///
    /// Those of [`Self::create_branched_session`];
    /// [`SessionError::WrongFamily`](crate::error::SessionError::WrongFamily) for families other than pi and omp.
    fn create_deferred_branched_session(&self, leaf: &str) -> Result<Session>;
}

impl PiSession for Session {
    fn append_thinking_level_change(&mut self, level: &str) -> Result<String> {
        self.append(Draft::thinking_level_change(level))
    }

    fn append_model_change(&mut self, provider: &str, model_id: &str) -> Result<String> {
        self.append(match self.family() {
            Family::Omp => Draft::model_change_omp(&format!("{provider}/{model_id}"), None),
            _ => Draft::model_change(provider, model_id),
        })
    }

    fn append_compaction(&mut self, compaction: &Compaction<'_>) -> Result<String> {
        self.append(Draft::compaction(self.family(), compaction)?)
    }

    fn append_custom_entry(
        &mut self,
        custom_type: &str,
        data: Option<&impl Serialize>,
    ) -> Result<String> {
        self.append(Draft::custom(custom_type, optional(data)?.as_deref())?)
    }

    fn append_custom_message_entry(
        &mut self,
        custom_type: &str,
        content: &impl Serialize,
        display: bool,
        details: Option<&impl Serialize>,
    ) -> Result<String> {
        let (content, details) = (json(content)?, optional(details)?);
        self.append(Draft::custom_message(custom_type, &content, display, details.as_deref())?)
    }

    fn append_session_info(&mut self, name: &str) -> Result<String> {
        self.append(Draft::session_info(name))
    }

    fn append_context_edit(
        &mut self,
        target: &str,
        content: Option<&impl Serialize>,
    ) -> Result<String> {
        self.only(Family::Pi, "context to be edited")?;
        let content = optional(content)?;
        let replacement = edit::replacement(&self.reader()?, target, content.as_deref())?;
        self.append(Draft::context_edit(target, &replacement)?)
    }

    fn append_usage(
        &mut self,
        kind: &str,
        provider: &str,
        model: &str,
        usage: &impl Serialize,
        note: Option<&str>,
    ) -> Result<String> {
        self.only(Family::Pi, "usage entry")?;
        self.append(Draft::usage([kind, provider, model], &json(usage)?, note)?)
    }

    fn append_label_change(&mut self, target: &str, label: Option<&str>) -> Result<String> {
        self.label(target, label)
    }

    fn create_branched_session(&self, leaf: &str) -> Result<Session> {
        self.branched_session(leaf, false)
    }

    fn create_deferred_branched_session(&self, leaf: &str) -> Result<Session> {
        self.only_pi_omp(DEFERRED)?;
        self.branched_session(leaf, true)
    }
}

/// Reads under pi's names where ours differ.
///
/// ```
/// use leafline::pi::PiReader;
/// # use leafline::{Store, import::ImportOptions};
///
/// # fn main() -> leafline::Result<()> {
/// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi");
/// # let store = Store::in_memory()?;
/// # store.import(&[samples], &ImportOptions::default(), &mut ())?;
/// let reader = store.reader("019c6605")?;
/// assert!(reader.get_session_id().starts_with("019c6605"));
/// assert_eq!(reader.get_leaf_entry()?.and_then(|leaf| leaf.id()), reader.get_leaf_id()?);
/// # Ok(())
/// # }
/// ```
pub trait PiReader: Sealed {
    /// [`SessionReader::id`] under the name in pi's and omp's session managers.
    fn get_session_id(&self) -> String;

    /// [`SessionReader::get_leaf`] under the name in pi's documents.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) if the store is damaged.
    fn get_leaf_entry(&self) -> Result<Option<Entry>>;

    /// [`SessionReader::get_path`] under pi's name for it.
    ///
    /// # Errors
    ///
    /// Those of [`SessionReader::get_path`].
    fn get_branch(&self, from: Option<&str>, take: impl FnMut(&Entry) -> Result<()>)
    -> Result<u64>;
}

impl PiReader for SessionReader {
    fn get_session_id(&self) -> String {
        self.id()
    }

    fn get_leaf_entry(&self) -> Result<Option<Entry>> {
        self.get_leaf()
    }

    fn get_branch(
        &self,
        from: Option<&str>,
        take: impl FnMut(&Entry) -> Result<()>,
    ) -> Result<u64> {
        self.get_path(from, take)
    }
}
