//! The text of a session's messages, for searching.

use std::io::Write;

use leafline_import::{LineReader, MessageRole};

use super::chunk_lines::{Frames, visit_lines};
use super::lines::LineView;
use super::reader::SessionReader;
use super::render::{Renderer, Rendering};
use crate::error::{ExportError, Result};
use crate::store::chunk::HoleKind;
use crate::store::ordinal::Ordinal;

/// Takes the text of a message; `false` ends the walk.
pub(crate) type TakeText<'t> = &'t mut dyn FnMut(MessageRole, &str) -> Result<bool>;

/// All message text, as a listing has it on request.
impl SessionReader {
    /// Passes on the text of each message of the user and of the model that has any, in the order of the file and on
    /// any branch, until `take` returns `false`. A message's text is its content if that is a string, otherwise its
    /// text blocks joined by spaces (observed: pi's list of sessions); in Claude Code's and Opal's sessions the same
    /// counts, and of the user only the prompts (ours). Text is lossy: U+FFFD stands for a lone surrogate.
    ///
    /// One message at a time is in memory.
    ///
    /// # Errors
    ///
    /// The error of `take`, and [`Error::Corrupted`](crate::Error::Corrupted) if the store is damaged.
    pub fn message_texts(
        &self,
        mut take: impl FnMut(MessageRole, &str) -> Result<bool>,
    ) -> Result<()> {
        let mut reader = LineReader::new(self.reading());
        let mut bytes = Vec::new();
        visit_lines(self.view(), Some(Ordinal::FIRST), Frames::Forgotten, |lines, ordinal, node| {
            let role = MessageRole::from_code(node.role).unwrap_or(MessageRole::None);
            let is_of_both = matches!(role, MessageRole::User | MessageRole::Assistant);
            let goes_on = !is_of_both || {
                let line = lines.line(ordinal)?;
                let text = reader.message_text(self.message_bytes(&line, &mut bytes)?);
                text.map_or(Ok(true), |text| take(role, &text))?
            };
            Ok(ordinal.next().filter(|_| goes_on))
        })
    }

    /// The bytes of a line without its images, which have no text and would have to be encoded.
    fn message_bytes<'l>(&self, line: &LineView<'l>, bytes: &'l mut Vec<u8>) -> Result<&'l [u8]> {
        if line.holes.iter().all(|hole| hole.kind != HoleKind::Payload) {
            return Ok(line.text);
        }
        bytes.clear();
        Renderer::new(self.snapshot(), Rendering::Exact).render(line.text, line.holes, bytes)?;
        Ok(bytes)
    }

    /// Writes all [message texts](Self::message_texts) joined by spaces, which is pi's `allMessagesText` (observed).
    /// Returns the bytes written.
    ///
    /// # Errors
    ///
    /// Those of [`Self::message_texts`], and [`ExportError::Output`] of the writer.
    pub fn write_all_messages_text(&self, out: &mut dyn Write) -> Result<u64> {
        write_all(|take| self.message_texts(take), out)
    }

    /// All message text, as [`Self::write_all_messages_text`] writes it.
    ///
    /// ```
    /// # fn main() -> leafline::Result<()> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi");
    /// store.import(&[samples], &leafline::import::ImportOptions::default(), &mut ())?;
    /// for session in store.sessions()? {
    ///     let text = store.session(&session.id)?.reader()?.get_all_messages_text()?;
    ///     println!("{}: {} characters said", session.id, text.chars().count());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Self::message_texts`].
    pub fn get_all_messages_text(&self) -> Result<String> {
        all(|take| self.message_texts(take))
    }

    /// The whole text of the first message of the user that has text: pi's `firstMessage` (observed). `None` if there
    /// is none, where pi has `(no messages)`.
    ///
    /// # Errors
    ///
    /// Those of [`Self::message_texts`].
    pub fn get_first_message(&self) -> Result<Option<String>> {
        first(|take| self.message_texts(take))
    }
}

/// Writes the texts that `walk` passes on, joined by spaces.
pub(crate) fn write_all(
    walk: impl FnOnce(TakeText<'_>) -> Result<()>,
    out: &mut dyn Write,
) -> Result<u64> {
    let mut written = 0;
    walk(&mut |_, text| {
        let between = if written > 0 { " " } else { "" };
        out.write_all(between.as_bytes()).map_err(ExportError::Output)?;
        out.write_all(text.as_bytes()).map_err(ExportError::Output)?;
        written += (between.len() + text.len()) as u64;
        Ok(true)
    })?;
    Ok(written)
}

/// The texts that `walk` passes on, joined by spaces.
pub(crate) fn all(walk: impl FnOnce(TakeText<'_>) -> Result<()>) -> Result<String> {
    let mut joined = String::new();
    walk(&mut |_, text| {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(text);
        Ok(true)
    })?;
    Ok(joined)
}

/// The first text of the user that `walk` passes on.
pub(crate) fn first(walk: impl FnOnce(TakeText<'_>) -> Result<()>) -> Result<Option<String>> {
    let mut first = None;
    walk(&mut |role, text| {
        if role == MessageRole::User {
            first = Some(text.to_owned());
        }
        Ok(first.is_none())
    })?;
    Ok(first)
}
