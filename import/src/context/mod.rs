//! What a program sends to its model at an entry of a session: the messages and the settings in force.

mod settings;

pub use settings::{ContextModel, ContextSettings};

use crate::conversation::{Base, Before, Conversation, History, HistoryScope};
use crate::family::{Family, with_format};

/// Receives a message: the places of the lines that it was made from, first to last, and its JSON. A message of a
/// preceding session has no places.
pub type TakeMessage<'t, E> = &'t mut dyn FnMut(&[u64], &[u8]) -> Result<(), E>;

/// The entry that a caller names by an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedEntry {
    /// This one.
    At(u64),
    /// The session has no such entry, for which its program builds an empty context.
    Nothing,
    /// The session has no such entry.
    Unknown,
}

/// How a family's program builds its context, however the session is stored: the part of a family's
/// [`Format`](crate::format::Format) about contexts.
pub trait Contexts {
    /// What the context is called, as in "context of pi".
    fn context_name() -> &'static str;

    /// Finds the entry at which a context is to be built.
    fn find_leaf<C: Conversation>(conversation: &C, id: &str) -> Result<NamedEntry, C::Error> {
        let found = conversation.find(id.as_bytes())?;
        Ok(found.map_or(NamedEntry::Unknown, NamedEntry::At))
    }

    /// The entry at which the context of the current leaf is built; `None` for the empty context.
    fn at_current_leaf<C: Conversation>(_: &mut C, leaf: u64) -> Result<Option<u64>, C::Error> {
        Ok(Some(leaf))
    }

    /// The part of another session that precedes this one.
    fn base<C: Conversation>(_: &mut C) -> Result<Option<Base>, C::Error> {
        Ok(None)
    }

    /// The entries that make the context at an entry, or its full history.
    fn history<C: Conversation>(
        conversation: &mut C,
        before: &mut [Before<C>],
        leaf: u64,
        scope: HistoryScope,
    ) -> Result<History, C::Error>;

    /// Passes on the messages at an entry, one at a time, and returns the settings in force. `None` stands for the
    /// place before the first entry.
    fn context<C: Conversation>(
        conversation: &mut C,
        before: &mut [Before<C>],
        leaf: Option<u64>,
        scope: HistoryScope,
        take: TakeMessage<'_, C::Error>,
    ) -> Result<ContextSettings, C::Error>;

    /// Passes on the messages of the request that the program makes of the same context. The default is for programs
    /// whose contexts are made of such messages.
    fn request<C: Conversation>(
        conversation: &mut C,
        before: &mut [Before<C>],
        leaf: Option<u64>,
        scope: HistoryScope,
        take: TakeMessage<'_, C::Error>,
    ) -> Result<ContextSettings, C::Error> {
        Self::context(conversation, before, leaf, scope, take)
    }

    /// The rules that were injected on the path to an entry, each once, in order.
    fn injected_rules<C: Conversation>(_: &C, _: u64) -> Result<Vec<String>, C::Error> {
        Ok(Vec::new())
    }

    /// The role of the last model change on the path to an entry; `None` if there is no change.
    fn last_model_change_role<C: Conversation>(
        _: &mut C,
        _: u64,
    ) -> Result<Option<String>, C::Error> {
        Ok(None)
    }

    /// Appends the settings to a context's JSON, as members with a comma before each.
    fn append_settings(settings: &ContextSettings, json: &mut String) {
        settings.append_model_id(json);
    }
}

/// Contexts.
impl Family {
    /// What its context is called, as in "context of pi".
    #[must_use]
    pub fn context_name(self) -> &'static str {
        with_format!(self, F => F::context_name())
    }

    /// Finds the entry at which a context is to be built, by its id.
    ///
    /// # Errors
    ///
    /// Errors of the look-ups.
    pub fn find_leaf<C: Conversation>(
        self,
        conversation: &C,
        id: &str,
    ) -> Result<NamedEntry, C::Error> {
        with_format!(self, F => F::find_leaf(conversation, id))
    }

    /// The entry at which the context of the current leaf is built; `None` for the empty context.
    ///
    /// # Errors
    ///
    /// Errors of the look-ups.
    pub fn at_current_leaf<C: Conversation>(
        self,
        conversation: &mut C,
        leaf: u64,
    ) -> Result<Option<u64>, C::Error> {
        with_format!(self, F => F::at_current_leaf(conversation, leaf))
    }

    /// The part of another session that precedes this one, if it is a fork that does not repeat its base's lines. The
    /// base may have a base as well.
    ///
    /// # Errors
    ///
    /// Errors of the look-ups.
    pub fn base<C: Conversation>(self, conversation: &mut C) -> Result<Option<Base>, C::Error> {
        with_format!(self, F => F::base(conversation))
    }

    /// The entries that make the context at an entry, or its full history, without those of preceding sessions.
    ///
    /// # Errors
    ///
    /// Errors of the look-ups.
    pub fn history<C: Conversation>(
        self,
        conversation: &mut C,
        before: &mut [Before<C>],
        leaf: u64,
        scope: HistoryScope,
    ) -> Result<History, C::Error> {
        with_format!(self, F => F::history(conversation, before, leaf, scope))
    }

    /// Passes on the messages of the context at an entry, or of its full history, and returns the settings in force
    /// there. Only one message is in memory at a time. `before` has the preceding sessions, the oldest first (see
    /// [`Self::base`]). A leaf of `None` stands for the place before the first entry.
    ///
    /// # Errors
    ///
    /// Errors of the look-ups and of `take`.
    pub fn context<C: Conversation>(
        self,
        conversation: &mut C,
        before: &mut [Before<C>],
        leaf: Option<u64>,
        scope: HistoryScope,
        take: TakeMessage<'_, C::Error>,
    ) -> Result<ContextSettings, C::Error> {
        with_format!(self, F => F::context(conversation, before, leaf, scope, take))
    }

    /// Passes on the messages of the request that the program makes of what [`Self::context`] passes on, and returns the
    /// same settings: pi's and omp's own messages as those of a user, summaries with the words around them, and so on.
    /// What a program adds only when it sends a request is not among them: the system prompt, reminders, the environment.
    ///
    /// No more is in memory at a time than a turn, and the system messages between its calls of tools and their results.
    ///
    /// # Errors
    ///
    /// Errors of the look-ups and of `take`.
    pub fn request<C: Conversation>(
        self,
        conversation: &mut C,
        before: &mut [Before<C>],
        leaf: Option<u64>,
        scope: HistoryScope,
        take: TakeMessage<'_, C::Error>,
    ) -> Result<ContextSettings, C::Error> {
        with_format!(self, F => F::request(conversation, before, leaf, scope, take))
    }

    /// omp: the rules that were injected on the path to an entry, each once, in order.
    ///
    /// # Errors
    ///
    /// Errors of the look-ups.
    pub fn injected_rules<C: Conversation>(
        self,
        conversation: &C,
        leaf: u64,
    ) -> Result<Vec<String>, C::Error> {
        with_format!(self, F => F::injected_rules(conversation, leaf))
    }

    /// pi and omp: the role of the last model change on the path to an entry; `None` if there is no change.
    ///
    /// # Errors
    ///
    /// Errors of the look-ups.
    pub fn last_model_change_role<C: Conversation>(
        self,
        conversation: &mut C,
        leaf: u64,
    ) -> Result<Option<String>, C::Error> {
        with_format!(self, F => F::last_model_change_role(conversation, leaf))
    }

    pub(crate) fn append_settings(self, settings: &ContextSettings, json: &mut String) {
        with_format!(self, F => F::append_settings(settings, json));
    }
}
