//! The context at an entry: the messages that a program sends to the model, and the settings in force.

mod base;
mod request;
mod standing;
mod stored;

use std::io::Write;

use leafline_import::conversation::{History, HistoryScope};
use leafline_import::{ContextSettings, Family, JsonText, NamedEntry, ProgramVersion, TakeMessage};

use self::base::Bases;
use self::stored::Stored;
use super::reader::SessionReader;
use crate::error::{Error, ExportError, Result, SessionError};
use crate::store::ordinal::Ordinal;

/// Bytes that are buffered before they are passed to the writer.
const BUFFER_BYTES: usize = 256 << 10;

/// The entry at which a context is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContextLeaf<'a> {
    /// The session's current leaf; in a session without one, the same as [`Self::None`].
    #[default]
    Current,
    /// The entry with this id. In a session of pi or omp an unknown or empty id means the last entry of the file
    /// (observed behaviour, context); in all others it is an error.
    Entry(&'a str),
    /// Before the first entry: the context is empty.
    None,
}

/// The program whose context is built. A family alone can be given in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContextProgram {
    /// The program; `None` is the session's own. pi's and omp's sessions can be read as each other's, all others only
    /// as their own.
    pub family: Option<Family>,
    /// The version whose rules are followed, where Leafline knows the rules of several; `None` is the newest one.
    /// `docs/formats.md` lists the rules that it knows: those of pi before 0.87, before 1.3 and since then, and those
    /// of omp before 15, before 18.3 and since then.
    pub as_of: Option<ProgramVersion>,
}

/// What is made of the entries of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Make {
    /// The messages as the program has them in its context.
    Context,
    /// Those of its request.
    Request,
}

impl From<Option<Family>> for ContextProgram {
    fn from(family: Option<Family>) -> Self {
        Self { family, as_of: None }
    }
}

impl From<Family> for ContextProgram {
    fn from(family: Family) -> Self {
        Self::from(Some(family))
    }
}

/// What a program would send to the model, and the settings in force: for pi and omp, what `buildSessionContext()`
/// returns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Context {
    /// The messages, first to last.
    pub messages: Vec<ContextMessage>,
    /// The settings in force.
    pub settings: ContextSettings,
}

/// One message of a context.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextMessage {
    /// The line number of the entry that it was made from; the first of several, and 0 if there is none.
    pub ordinal: u64,
    /// The line numbers of all entries that it was made from: several if Claude Code wrote one message in parts or joins
    /// several, none if it is from a preceding session. The result that is added for a call without one is made from the
    /// call's entry.
    pub ordinals: Vec<u64>,
    /// The message.
    pub json: JsonText,
}

impl ContextMessage {
    fn new(ordinals: &[u64], json: &[u8]) -> Self {
        Self {
            ordinal: ordinals.first().copied().unwrap_or_default(),
            ordinals: ordinals.to_vec(),
            json: JsonText::of_written(json.to_vec()),
        }
    }

    /// The message as a value.
    ///
    /// # Errors
    ///
    /// Those of [`JsonText::value`].
    pub fn value(&self) -> serde_json::Result<serde_json::Value> {
        self.json.value()
    }
}

impl Context {
    /// The context as the text that `JSON.stringify` would return: for pi `{messages, thinkingLevel, model}`, for omp
    /// `{messages, thinkingLevel, models, injectedTtsrRules, mode, modeData}`, without undefined members; for Claude Code, Opal and Codex `{messages, model}`.
    pub fn to_json(&self) -> String {
        let mut json = String::from("{\"messages\":[");
        for (place, message) in self.messages.iter().enumerate() {
            if place > 0 {
                json.push(',');
            }
            json.push_str(message.json.as_str());
        }
        json.push(']');
        self.settings.append_members(&mut json);
        json.push('}');
        json
    }
}

impl SessionReader {
    /// The context at an entry, in memory.
    ///
    /// `program` selects the program whose context is built; `None` is the session's own. If a compaction is on the path, only its summary, the
    /// entries that it keeps and those below it are read, however long the session is. In an irregular session of pi or
    /// omp, and in one with entries without an id, every line of the path is read instead.
    ///
    /// The rules are those of the documents (pi session file and omp session storage, context building; session JSONL
    /// format; Opal session), and where these say nothing, those of the programs; `docs/formats.md` lists them one by
    /// one.
    ///
    /// ```
    /// use leafline::Store;
    /// use leafline::context::ContextLeaf;
    /// use leafline::import::ImportOptions;
    ///
    /// # fn main() -> leafline::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let store = Store::open(folder.path().join("sessions.leafline"))?;
    /// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi");
    /// # store.import(&[samples], &ImportOptions::default(), &mut ())?;
    /// # let session = store.sessions()?[0].id.clone();
    /// let reader = store.reader(&session)?;
    /// let context = reader.build_context(ContextLeaf::Current, None)?;
    /// for message in &context.messages {
    ///     println!("line {}: {}", message.ordinal, message.json);
    /// }
    /// let level = context.settings.thinking_level.as_ref().and_then(|level| level.text());
    /// println!("thinking: {}", level.unwrap_or_default());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::WrongFamily`], [`SessionError::EntryNotFound`] in sessions of Claude Code, Opal and Codex,
    /// [`SessionError::BaseNotFound`] if the store lacks the session that this one continues, and [`Error::Corrupted`]
    /// if the store is damaged.
    pub fn build_context(
        &self,
        leaf: ContextLeaf<'_>,
        program: impl Into<ContextProgram>,
    ) -> Result<Context> {
        self.build(leaf, program.into(), HistoryScope::Context)
    }

    /// Like [`Self::build_context`], with everything that was said up to an entry: in a Claude Code session the history
    /// continues above each compact boundary, in one of pi or omp above each compaction, whose summary stays in place.
    ///
    /// # Errors
    ///
    /// Those of [`Self::build_context`].
    pub fn build_full_history(
        &self,
        leaf: ContextLeaf<'_>,
        program: impl Into<ContextProgram>,
    ) -> Result<Context> {
        self.build(leaf, program.into(), HistoryScope::Full)
    }

    /// Writes the context at an entry, exactly as [`Context::to_json`] returns it, and returns the number of bytes
    /// written. Only one message is in memory at a time.
    ///
    /// # Errors
    ///
    /// [`ExportError::Output`] of the writer, and those of [`Self::build_context`].
    pub fn write_context(
        &self,
        leaf: ContextLeaf<'_>,
        program: impl Into<ContextProgram>,
        out: &mut dyn Write,
    ) -> Result<u64> {
        self.write(leaf, program.into(), (HistoryScope::Context, Make::Context), out)
    }

    /// Writes what [`Self::build_full_history`] returns, as [`Self::write_context`] does.
    ///
    /// # Errors
    ///
    /// Those of [`Self::write_context`].
    pub fn write_full_history(
        &self,
        leaf: ContextLeaf<'_>,
        program: impl Into<ContextProgram>,
        out: &mut dyn Write,
    ) -> Result<u64> {
        self.write(leaf, program.into(), (HistoryScope::Full, Make::Context), out)
    }

    /// The entries from which the context at an entry, or its full history, is made; in Claude Code's sessions those of
    /// the path, including those that are not messages. The messages of such a context may be made of more: see
    /// [`ContextMessage::ordinals`]. Except for pi and omp it is a path, whose end states why it begins where
    /// it does.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// # let file = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/claude/projects/-home-robin-work-tide-clock/5b0c7a52-9d1e-4c3f-8a64-0f2e6d7b1c90.jsonl");
    /// # store.import(&[file], &leafline::import::ImportOptions::default(), &mut ())?;
    /// use leafline::context::{ContextLeaf, HistoryScope, PathEnd};
    ///
    /// let reader = store.reader("5b0c7a52")?;
    /// let shown = reader.get_history(ContextLeaf::Current, HistoryScope::Context)?;
    /// let said = reader.get_history(ContextLeaf::Current, HistoryScope::Full)?;
    /// assert_eq!((shown.len(), shown.end()), (4, Some(PathEnd::Boundary)));
    /// assert_eq!((said.len(), said.end()), (15, Some(PathEnd::Root)));
    /// assert!(shown.ordinals().all(|ordinal| said.ordinals().any(|known| known == ordinal)));
    /// # Ok::<(), leafline::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::EntryNotFound`] in sessions of Claude Code, Opal and Codex, [`SessionError::BaseNotFound`] if
    /// the store lacks the session that this one continues, and [`Error::Corrupted`] if the store is damaged.
    pub fn get_history(&self, leaf: ContextLeaf<'_>, scope: HistoryScope) -> Result<History> {
        let Some(leaf) = self.context_leaf(leaf)? else {
            return Ok(History::default());
        };
        self.history_at(leaf, scope)
    }

    /// The same at an entry by its ordinal.
    pub(crate) fn history_at(&self, leaf: Ordinal, scope: HistoryScope) -> Result<History> {
        let bases = Bases::of(self)?;
        let mut stored = Stored::new(self.view());
        self.family().history(&mut stored, &mut bases.before(), leaf.raw(), scope)
    }

    /// Passes on the messages of the session's own program at an entry, with the lines of each.
    pub(crate) fn for_each_message_at(
        &self,
        leaf: Ordinal,
        scope: HistoryScope,
        take: TakeMessage<'_, Error>,
    ) -> Result<()> {
        let bases = Bases::of(self)?;
        let mut stored = Stored::new(self.view());
        let leaf = Some(leaf.raw());
        self.family().context(&mut stored, &mut bases.before(), leaf, scope, take)?;
        Ok(())
    }

    fn build(
        &self,
        leaf: ContextLeaf<'_>,
        program: ContextProgram,
        scope: HistoryScope,
    ) -> Result<Context> {
        let mut messages = Vec::new();
        let made = (scope, Make::Context);
        let settings = self.for_each_message(leaf, program, made, &mut |ordinals, json| {
            messages.push(ContextMessage::new(ordinals, json));
            Ok(())
        })?;
        Ok(Context { messages, settings })
    }

    fn write(
        &self,
        leaf: ContextLeaf<'_>,
        program: ContextProgram,
        made: (HistoryScope, Make),
        out: &mut dyn Write,
    ) -> Result<u64> {
        let mut buffer = b"{\"messages\":[".to_vec();
        let mut written = 0;
        let mut is_first = true;
        let settings = self.for_each_message(leaf, program, made, &mut |_, json| {
            if !is_first {
                buffer.push(b',');
            }
            is_first = false;
            buffer.extend_from_slice(json);
            if buffer.len() >= BUFFER_BYTES {
                written += hand_out(&mut buffer, out)?;
            }
            Ok(())
        })?;
        let mut tail = String::from("]");
        settings.append_members(&mut tail);
        tail.push('}');
        buffer.extend_from_slice(tail.as_bytes());
        Ok(written + hand_out(&mut buffer, out)?)
    }

    /// Passes on the messages, and returns the settings in force.
    fn for_each_message(
        &self,
        leaf: ContextLeaf<'_>,
        program: ContextProgram,
        (scope, make): (HistoryScope, Make),
        take: TakeMessage<'_, Error>,
    ) -> Result<ContextSettings> {
        let own = self.family();
        let family = program.family.unwrap_or(own);
        if !own.is_kin_of(family) {
            let operation = family.context_name();
            return Err(Error::Session(SessionError::WrongFamily {
                id: self.id(),
                family: own,
                operation,
            }));
        }
        let leaf = self.context_leaf(leaf)?.map(Ordinal::raw);
        let bases = Bases::of(self)?;
        let mut stored = Stored::new(self.view()).by_rules_of(program.as_of);
        let mut before = bases.before();
        match make {
            Make::Context => family.context(&mut stored, &mut before, leaf, scope, take),
            Make::Request => family.request(&mut stored, &mut before, leaf, scope, take),
        }
    }

    /// The ordinal of the selected entry; `None` for an empty context.
    fn context_leaf(&self, leaf: ContextLeaf<'_>) -> Result<Option<Ordinal>> {
        match leaf {
            ContextLeaf::None => Ok(None),
            ContextLeaf::Current => {
                let Some(leaf) = self.view().leaf()? else { return Ok(None) };
                let mut stored = Stored::new(self.view());
                let at = self.family().at_current_leaf(&mut stored, leaf.raw())?;
                Ok(at.map(Ordinal::new))
            }
            ContextLeaf::Entry(id) => {
                match self.family().find_leaf(&Stored::new(self.view()), id)? {
                    NamedEntry::At(ordinal) => Ok(Some(Ordinal::new(ordinal))),
                    NamedEntry::Nothing => Ok(None),
                    NamedEntry::Unknown => Err(self.view().not_found(id)),
                }
            }
        }
    }
}

fn hand_out(buffer: &mut Vec<u8>, out: &mut dyn Write) -> Result<u64> {
    out.write_all(buffer).map_err(ExportError::Output)?;
    let written = buffer.len() as u64;
    buffer.clear();
    buffer.shrink_to(4 * BUFFER_BYTES);
    Ok(written)
}
