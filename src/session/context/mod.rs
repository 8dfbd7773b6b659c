//! The context at an entry: the messages that a program sends to the model, and the settings in force.

mod by_index;
mod by_lines;
mod claude;
mod identity;
mod image_places;
mod instant;
mod json_text;
mod message;
mod opal;
mod pi_omp;
mod selection;
mod settings;
mod standing;

use std::io::Write;

use leafline_import::claude::{Extent, PathEnd};
use leafline_import::{EntryKind, Family};

pub use self::json_text::JsonText;
pub use self::settings::{ContextModel, ContextSettings};

use self::selection::Selection;
use super::history::{History, HistoryScope, walk};
use super::lines::LineView;
use super::reader::{SessionReader, is_entry};
use crate::error::{Error, Result};

/// Bytes that are gathered before they are handed to the writer.
const BUFFER_BYTES: usize = 256 << 10;

/// Takes a message: the ordinals of its entries, and its text.
type Take<'t> = &'t mut dyn FnMut(&[u64], &[u8]) -> Result<()>;

/// The entry at which a context is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContextLeaf<'a> {
    /// The session's current leaf. Of a session without one, as [`Self::None`].
    #[default]
    Current,
    /// The entry with this id. In a session of pi or omp an id that the session does not have, or an empty one, means the
    /// last entry of the file (observed behaviour, context). In all others it is an error.
    Entry(&'a str),
    /// Before the first entry: the context is empty.
    None,
}

/// What a program would send to the model, and the settings in force: of pi and omp, what `buildSessionContext()` gives.
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
    /// The line number of the entry that it is from, or was made of; of several, of the first.
    pub ordinal: u64,
    /// The line numbers of all entries that it was made of: several where Claude Code wrote one message in parts.
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
    /// Code and Opal `{messages, model}`.
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
    /// `family` says whose program's context it is; `None` is the session's own. pi's and omp's sessions can be read as
    /// each other's, all others as their own only. Where a compaction is on the path, only its summary, the entries that
    /// it keeps and those below it are read, however long the session is. In an irregular session of pi or omp, and in one
    /// with entries without an id, every line of the path is read instead.
    ///
    /// The rules are those of the documents (pi session file and omp session storage, context building; session JSONL
    /// format; Opal session), and where they are silent, of the programs; `docs/formats.md` has them one by one.
    ///
    /// ```
    /// use leafline::{ContextLeaf, ImportOptions, Store};
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
    /// [`Error::WrongFamily`], [`Error::EntryNotFound`] in sessions of Claude Code and Opal, and [`Error::Corrupted`]
    /// where the store is damaged.
    pub fn build_context(&self, leaf: ContextLeaf<'_>, family: Option<Family>) -> Result<Context> {
        self.build(leaf, family, HistoryScope::Context)
    }

    /// As [`Self::build_context`], with everything that was said up to an entry: of a session of Claude Code the history
    /// goes on above each compact boundary, of one of pi or omp above each compaction, whose summary stands in its place.
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

    /// Writes the context at an entry, exactly as [`Context::to_json`] has it, and answers the bytes written. One
    /// message at a time is in memory.
    ///
    /// # Errors
    ///
    /// [`Error::Output`] of the writer, and those of [`Self::build_context`].
    pub fn write_context(
        &self,
        leaf: ContextLeaf<'_>,
        family: Option<Family>,
        out: &mut dyn Write,
    ) -> Result<u64> {
        self.write(leaf, family, HistoryScope::Context, out)
    }

    /// Writes what [`Self::build_full_history`] gives, as [`Self::write_context`] does.
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

    /// The entries of which the context at an entry, or its full history, is made: of Claude Code's sessions those that
    /// are no messages too. Of all but pi and omp it is a path, whose end tells why it begins where it does.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// # let file = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/claude/projects/-home-robin-work-tide-clock/5b0c7a52-9d1e-4c3f-8a64-0f2e6d7b1c90.jsonl");
    /// # store.import(&[file], &leafline::ImportOptions::default(), &mut ())?;
    /// use leafline::{ContextLeaf, HistoryScope, PathEnd};
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
    /// [`Error::EntryNotFound`] in sessions of Claude Code and Opal, and [`Error::Corrupted`] where the store is damaged.
    pub fn get_history(&self, leaf: ContextLeaf<'_>, scope: HistoryScope) -> Result<History> {
        let Some(leaf) = self.context_leaf(leaf)? else {
            return Ok(History::default());
        };
        match (self.family(), scope) {
            (Family::Claude, HistoryScope::Context) => walk(self, leaf, Extent::Context),
            (Family::Claude, HistoryScope::Full) => walk(self, leaf, Extent::FullHistory),
            (Family::Pi | Family::Omp, HistoryScope::Context) => self.selected(leaf),
            _ => walk(self, leaf, Extent::Path),
        }
    }

    /// The entries of a context of pi or omp.
    fn selected(&self, leaf: u64) -> Result<History> {
        let Selection { compaction, kept, below, .. } = Selection::at(self, leaf)?;
        if compaction.is_none() {
            return walk(self, leaf, Extent::Path);
        }
        Ok(History { compaction, kept, below, end: Some(PathEnd::Boundary) })
    }

    fn build(
        &self,
        leaf: ContextLeaf<'_>,
        family: Option<Family>,
        scope: HistoryScope,
    ) -> Result<Context> {
        let mut messages = Vec::new();
        let settings = self.tell(leaf, family, scope, &mut |ordinals, json| {
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
        let settings = self.tell(leaf, family, scope, &mut |_, json| {
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

    /// Hands out the messages, and answers the settings in force.
    fn tell(
        &self,
        leaf: ContextLeaf<'_>,
        family: Option<Family>,
        scope: HistoryScope,
        take: Take<'_>,
    ) -> Result<ContextSettings> {
        let own = self.family();
        let family = family.unwrap_or(own);
        if family != own && !(family.is_pi_omp() && own.is_pi_omp()) {
            let operation = match family {
                Family::Pi => "context of pi",
                Family::Omp => "context of omp",
                Family::Claude => "context of Claude Code",
                _ => "context of Opal",
            };
            return Err(Error::WrongFamily { id: self.id(), family: own, operation });
        }
        let leaf = self.context_leaf(leaf)?;
        match family {
            Family::Claude => claude::tell(self, leaf, scope, take),
            Family::Opal => opal::tell(self, leaf, take),
            _ => pi_omp::tell(self, leaf, family, scope, take),
        }
    }

    /// The ordinal of the entry that is meant; `None` for an empty context.
    fn context_leaf(&self, leaf: ContextLeaf<'_>) -> Result<Option<u64>> {
        match leaf {
            ContextLeaf::None => Ok(None),
            ContextLeaf::Current => self.leaf_ordinal(),
            ContextLeaf::Entry(id) if !self.family().is_pi_omp() => self.ordinal_of(id).map(Some),
            // JavaScript takes an empty id for false, and does not look it up.
            ContextLeaf::Entry(id) => {
                let named = match id {
                    "" => None,
                    id => self.snapshot().entry(self.key(), id.as_bytes())?,
                };
                match named {
                    Some(record) => Ok(Some(record.ordinal)),
                    None => self.last_entry(),
                }
            }
        }
    }

    fn last_entry(&self) -> Result<Option<u64>> {
        for ordinal in (0..self.record().lines).rev() {
            if is_entry(&self.node(ordinal)?) {
                return Ok(Some(ordinal));
            }
        }
        Ok(None)
    }
}

fn kind_of(line: &LineView<'_>) -> EntryKind {
    EntryKind::from_code(line.node.kind).unwrap_or(EntryKind::Unknown)
}

fn hand_out(buffer: &mut Vec<u8>, out: &mut dyn Write) -> Result<u64> {
    out.write_all(buffer).map_err(Error::Output)?;
    let written = buffer.len() as u64;
    buffer.clear();
    buffer.shrink_to(4 * BUFFER_BYTES);
    Ok(written)
}
