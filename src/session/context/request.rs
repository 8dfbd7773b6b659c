//! The request that a program makes of a context.

use std::io::Write;

use leafline_import::ContextSettings;
use leafline_import::conversation::HistoryScope;

use super::{Context, ContextLeaf, ContextMessage, ContextProgram, Make};
use crate::error::Result;
use crate::session::reader::SessionReader;

impl SessionReader {
    /// Passes on the messages of the request that the program would send to its model at an entry, one at a time, and
    /// returns the settings in force.
    ///
    /// They are made of the same entries as [`Self::build_context`]'s, or [`Self::build_full_history`]'s with
    /// [`HistoryScope::Full`]. For Claude Code and Codex both are the same. pi and omp have messages of their own in a
    /// context, which they convert: what the user ran is a message of the user's in words, summaries have the program's
    /// words around them, messages of extensions are the user's or a developer's, and what is kept from the model is left
    /// out. For pi failed turns are left out too, a call of a tool without a result has one that says so, and thoughts of
    /// another model than the session's are text. `docs/formats.md` lists the rules.
    ///
    /// What a program adds only when it sends a request is left out: the system prompt, tools, reminders, the environment.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi");
    /// # store.import(&[samples], &leafline::import::ImportOptions::default(), &mut ())?;
    /// # let session = store.sessions()?[0].id.clone();
    /// use leafline::context::{ContextLeaf, HistoryScope};
    ///
    /// let reader = store.reader(&session)?;
    /// let mut roles = Vec::new();
    /// let settings = reader.request(ContextLeaf::Current, None, HistoryScope::Context, |message| {
    ///     let message = message.value().expect("this session has no lone surrogates");
    ///     roles.push(message["role"].as_str().unwrap_or_default().to_owned());
    ///     Ok(())
    /// })?;
    /// assert!(settings.model.is_some());
    /// assert!(roles.iter().all(|role| ["user", "assistant", "toolResult"].contains(&&**role)));
    /// # Ok::<(), leafline::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Self::build_context`], and what `take` returns.
    pub fn request(
        &self,
        leaf: ContextLeaf<'_>,
        program: impl Into<ContextProgram>,
        scope: HistoryScope,
        mut take: impl FnMut(ContextMessage) -> Result<()>,
    ) -> Result<ContextSettings> {
        self.for_each_message(
            leaf,
            program.into(),
            (scope, Make::Request),
            &mut |ordinals, json| take(ContextMessage::new(ordinals, json)),
        )
    }

    /// The request at an entry, in memory, with the messages that [`Self::request`] passes on.
    ///
    /// # Errors
    ///
    /// Those of [`Self::build_context`].
    pub fn build_request(
        &self,
        leaf: ContextLeaf<'_>,
        program: impl Into<ContextProgram>,
        scope: HistoryScope,
    ) -> Result<Context> {
        let mut messages = Vec::new();
        let settings = self.request(leaf, program, scope, |message| {
            messages.push(message);
            Ok(())
        })?;
        Ok(Context { messages, settings })
    }

    /// Writes the request at an entry, exactly as [`Context::to_json`] returns it, and returns the number of bytes
    /// written. Only one message is in memory at a time.
    ///
    /// # Errors
    ///
    /// [`ExportError::Output`](crate::error::ExportError::Output) of the writer, and those of [`Self::build_context`].
    pub fn write_request(
        &self,
        leaf: ContextLeaf<'_>,
        program: impl Into<ContextProgram>,
        scope: HistoryScope,
        out: &mut dyn Write,
    ) -> Result<u64> {
        self.write(leaf, program.into(), (scope, Make::Request), out)
    }
}
