//! The context at an entry: the messages that a program sends to the model, and the settings in force.

mod base;
mod standing;
mod stored;

use std::io::Write;

use leafline_import::conversation::{History, HistoryScope};
use leafline_import::{ContextSettings, Family, JsonText, NamedEntry, TakeMessage};

use self::base::Bases;
use self::stored::Stored;
use super::reader::SessionReader;
use crate::error::{Error, ExportError, Result, SessionError};

/// Bytes that are buffered before they are passed to the writer.
const BUFFER_BYTES: usize = 256 << 10;

/// The entry at which a context is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContextLeaf<'a> {
    /// The session's current leaf; in a session without one, the same as [`Self::None`].
    #[default]
    Current,
    /// The entry with this id. In a session of pi or omp an id that the session does not have, or an empty one, means the
    /// last entry of the file (observed behaviour, context). In all others it is an error.
    Entry(&'a str),
    /// Before the first entry: the context is empty.
    None,
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
    /// The line number of the entry that it is or was made from; the first of several, and 0 if there is none.
    pub ordinal: u64,
    /// The line numbers of all entries that it was made of: several if Claude Code wrote one message in parts or puts
    /// several together, and none if it is from another session that precedes this one. The result of a call that has none
    /// is made of the call's entry.
    pub ordinals: Vec<u64>,
    /// The message.
    pub json: JsonText,
}

impl ContextMessage {
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
    /// The text that `JSON.stringify` gives for the context: for pi `{messages, thinkingLevel, model}`, for omp
    /// `{messages, thinkingLevel, models, injectedTtsrRules, mode, modeData}`, without those that are undefined; for Claude
    /// Code, Opal and Codex `{messages, model}`.
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
    /// `family` selects the program whose context is built; `None` is the session's own. pi's and omp's sessions can be
    /// read as each other's, all others only as their own. If a compaction is on the path, only its summary, the
    /// entries that it keeps and those below it are read, however long the session is. In an irregular session of pi or
    /// omp, and in one with entries without an id, every line of the path is read instead.
    ///
    /// The rules are those of the documents (pi session file and omp session storage, context building; session JSONL
    /// format; Opal session), and where these are silent, those of the programs; `docs/formats.md` lists them one by
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
    /// [`SessionError::BaseNotFound`] where the store lacks the session that this one goes on from, and
    /// [`Error::Corrupted`] where the store is damaged.
    pub fn build_context(&self, leaf: ContextLeaf<'_>, family: Option<Family>) -> Result<Context> {
        self.build(leaf, family, HistoryScope::Context)
    }

    /// As [`Self::build_context`], with everything that was said up to an entry: in a Claude Code session the history
    /// continues above each compact boundary, in one of pi or omp above each compaction, whose summary stays in its
    /// place.
    ///
    /// # Errors
    ///
    /// Those of [`Self::build_context`].
    pub fn build_full_history(
        &self,
        leaf: ContextLeaf<'_>,
        family: Option<Family>,
    ) -> Result<Context> {
        self.build(leaf, family, HistoryScope::Full)
    }

    /// Writes the context at an entry, exactly as [`Context::to_json`] has it, and returns the bytes written. One
    /// message at a time is in memory.
    ///
    /// # Errors
    ///
    /// [`ExportError::Output`] of the writer, and those of [`Self::build_context`].
    pub fn write_context(
        &self,
        leaf: ContextLeaf<'_>,
        family: Option<Family>,
        out: &mut dyn Write,
    ) -> Result<u64> {
        self.write(leaf, family, HistoryScope::Context, out)
    }

    /// Writes what [`Self::build_full_history`] returns, as [`Self::write_context`] does.
    ///
    /// # Errors
    ///
    /// Those of [`Self::write_context`].
    pub fn write_full_history(
        &self,
        leaf: ContextLeaf<'_>,
        family: Option<Family>,
        out: &mut dyn Write,
    ) -> Result<u64> {
        self.write(leaf, family, HistoryScope::Full, out)
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
    /// [`SessionError::EntryNotFound`] in sessions of Claude Code, Opal and Codex, [`SessionError::BaseNotFound`] if the
    /// store lacks the session that this one goes on from, and [`Error::Corrupted`] if the store is damaged.
    pub fn get_history(&self, leaf: ContextLeaf<'_>, scope: HistoryScope) -> Result<History> {
        let Some(leaf) = self.context_leaf(leaf)? else {
            return Ok(History::default());
        };
        let bases = Bases::of(self)?;
        self.family().history(&mut Stored::new(self.view()), &mut bases.before(), leaf, scope)
    }

    fn build(
        &self,
        leaf: ContextLeaf<'_>,
        family: Option<Family>,
        scope: HistoryScope,
    ) -> Result<Context> {
        let mut messages = Vec::new();
        let settings = self.for_each_message(leaf, family, scope, &mut |ordinals, json| {
            messages.push(ContextMessage {
                ordinal: ordinals.first().copied().unwrap_or_default(),
                ordinals: ordinals.to_vec(),
                json: JsonText::of_written(json.to_vec()),
            });
            Ok(())
        })?;
        Ok(Context { messages, settings })
    }

    fn write(
        &self,
        leaf: ContextLeaf<'_>,
        family: Option<Family>,
        scope: HistoryScope,
        out: &mut dyn Write,
    ) -> Result<u64> {
        let mut buffer = b"{\"messages\":[".to_vec();
        let mut written = 0;
        let mut is_first = true;
        let settings = self.for_each_message(leaf, family, scope, &mut |_, json| {
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
        family: Option<Family>,
        scope: HistoryScope,
        take: TakeMessage<'_, Error>,
    ) -> Result<ContextSettings> {
        let own = self.family();
        let family = family.unwrap_or(own);
        if !own.is_kin_of(family) {
            let operation = family.context_name();
            return Err(Error::Session(SessionError::WrongFamily {
                id: self.id(),
                family: own,
                operation,
            }));
        }
        let leaf = self.context_leaf(leaf)?;
        let bases = Bases::of(self)?;
        family.context(&mut Stored::new(self.view()), &mut bases.before(), leaf, scope, take)
    }

    /// The ordinal of the selected entry; `None` for an empty context.
    fn context_leaf(&self, leaf: ContextLeaf<'_>) -> Result<Option<u64>> {
        match leaf {
            ContextLeaf::None => Ok(None),
            ContextLeaf::Current => self.leaf_ordinal(),
            ContextLeaf::Entry(id) => {
                match self.family().find_leaf(&Stored::new(self.view()), id)? {
                    NamedEntry::At(ordinal) => Ok(Some(ordinal)),
                    NamedEntry::Nothing => Ok(None),
                    NamedEntry::Unknown => Err(self.not_found(id)),
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
