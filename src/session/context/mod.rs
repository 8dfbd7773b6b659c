//! The context at an entry: the messages that a program sends to the model, and the settings in force.

mod by_index;
mod by_lines;
mod identity;
mod image_places;
mod instant;
mod json_text;
mod message;
mod selection;
mod settings;
mod standing;

use std::io::Write;

use leafline_import::{EntryKind, Family};

pub use self::json_text::JsonText;
pub use self::settings::{ContextModel, ContextSettings};

use self::message::MessageMaker;
use self::selection::Selection;
use super::lines::LineView;
use super::reader::{SessionReader, is_entry};
use crate::error::{Error, Result};

/// Bytes that are gathered before they are handed to the writer.
const BUFFER_BYTES: usize = 256 << 10;

/// The entry at which a context is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContextLeaf<'a> {
    /// The session's current leaf. Of a session without one, as [`Self::None`].
    #[default]
    Current,
    /// The entry with this id. An id that the session does not have, or an empty one, means the last entry of the
    /// file (observed behaviour, context).
    Entry(&'a str),
    /// Before the first entry: the context is empty.
    None,
}

/// What a program would send to the model, and the settings in force: what `buildSessionContext()` gives.
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
    /// The line number of the entry that it is from, or was made of.
    pub ordinal: u64,
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
    /// `{messages, thinkingLevel, models, injectedTtsrRules, mode, modeData}`, without those that are undefined.
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

impl SessionReader<'_> {
    /// The context at an entry, in memory.
    ///
    /// `family` says whose program's context it is; `None` is the session's own. Where a compaction is on the path,
    /// only its summary, the entries that it keeps and those below it are read, however long the session is. In an
    /// irregular session, and in one with entries without an id, every line of the path is read instead.
    ///
    /// The rules are those of the documents (pi session file and omp session storage, context building), and where
    /// they are silent, of the programs; `docs/formats.md` has them one by one.
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
    /// [`Error::Corrupted`] where the store is damaged.
    pub fn build_context(&self, leaf: ContextLeaf<'_>, family: Option<Family>) -> Result<Context> {
        let family = family.unwrap_or_else(|| self.family());
        let selection = self.select(leaf)?;
        let mut messages = Vec::new();
        self.for_each_message(&selection, family, |ordinal, json| {
            messages.push(ContextMessage { ordinal, json: JsonText::of_written(json.to_vec()) });
            Ok(())
        })?;
        Ok(Context { messages, settings: ContextSettings::of(&selection.settings, family) })
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
        let family = family.unwrap_or_else(|| self.family());
        let selection = self.select(leaf)?;
        let mut buffer = b"{\"messages\":[".to_vec();
        let mut written = 0;
        let mut is_first = true;
        self.for_each_message(&selection, family, |_, json| {
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
        ContextSettings::of(&selection.settings, family).append_members(&mut tail);
        tail.push('}');
        buffer.extend_from_slice(tail.as_bytes());
        Ok(written + hand_out(&mut buffer, out)?)
    }

    fn select(&self, leaf: ContextLeaf<'_>) -> Result<Selection> {
        match self.context_leaf(leaf)? {
            Some(ordinal) => Selection::at(self, ordinal),
            None => Ok(Selection::default()),
        }
    }

    /// The ordinal of the entry that is meant; `None` for an empty context.
    fn context_leaf(&self, leaf: ContextLeaf<'_>) -> Result<Option<u64>> {
        match leaf {
            ContextLeaf::None => Ok(None),
            ContextLeaf::Current => self.leaf_ordinal(),
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
            if self.node(ordinal)?.as_ref().is_some_and(is_entry) {
                return Ok(Some(ordinal));
            }
        }
        Ok(None)
    }

    /// Hands out the messages that the selected entries give, each with the ordinal of its entry.
    fn for_each_message(
        &self,
        selection: &Selection,
        family: Family,
        mut take: impl FnMut(u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut maker = MessageMaker::new(self.snapshot(), family);
        let mut cursor = self.cursor(0);
        let mut message = Vec::new();
        let mut make = |ordinal, is_summary| -> Result<()> {
            cursor.seek(ordinal);
            let Some(line) = cursor.next()? else {
                return Ok(());
            };
            message.clear();
            // A compaction gives a message only where it is the one that counts.
            let gives = is_summary || kind_of(&line) != EntryKind::Compaction;
            if gives && maker.append(kind_of(&line), &line, &mut message)? {
                take(ordinal, &message)?;
            }
            Ok(())
        };
        if let Some(compaction) = selection.compaction {
            make(compaction, true)?;
        }
        for ordinal in selection.entries() {
            make(ordinal, false)?;
        }
        Ok(())
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
