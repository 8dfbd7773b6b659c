//! Entries with the blobs that they refer to.

use super::entry::Entry;
use super::export::{held, references};
use super::reader::SessionReader;
use super::render::{Renderer, Rendering};
use crate::error::Result;
use crate::store::blobs;

impl SessionReader {
    /// The entry with this id, with every `blob:sha256:` reference resolved, as in [`ExportMode::Portable`]: an image's becomes
    /// base64, any other string's becomes the text. A reference whose blob the store does not have stays.
    ///
    /// omp does the same on load to the images of messages (omp session storage document, persistence).
    ///
    /// ```
    /// use leafline::live::RepeatedIds;
    /// use leafline::{Family, NewSession, Store};
    ///
    /// # fn main() -> leafline::Result<()> {
    /// let store = Store::in_memory()?;
    /// let hash = store.put_blob(b"a long text")?;
    /// let mut session = store.create_session(&NewSession::new(Family::Omp, "/work"))?;
    /// let line = format!(r#"{{"type":"custom","id":"a1","parentId":null,"data":"blob:sha256:{hash}"}}"#);
    /// session.append_lines(line.as_bytes(), RepeatedIds::Add)?;
    /// let resolved = session.reader()?.get_resolved_entry("a1")?;
    /// assert_eq!(resolved.json().expect("the line is JSON")["data"], "a long text");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`ExportMode::Portable`]: crate::export::ExportMode::Portable
    ///
    /// # Errors
    ///
    /// [`SessionError::EntryNotFound`](crate::error::SessionError::EntryNotFound).
    pub fn get_resolved_entry(&self, id: &str) -> Result<Entry> {
        let view = self.view();
        let ordinal = view.named(id)?;
        let line = view.line(ordinal)?;
        let mut bytes = Vec::with_capacity(line.text().len());
        let mut renderer = Renderer::new(view.snapshot(), Rendering::Inline);
        renderer.render(line.text(), &line.holes, &mut bytes)?;
        Ok(Entry::new(view.reading(), ordinal, bytes))
    }

    /// The blobs to which the session's lines refer and that the store has, each once: SHA-256 in lower-case hex, for
    /// [`Store::get_blob`](crate::Store::get_blob). [`ExportMode::Portable`] writes them into the lines, and an export into a
    /// folder writes them where the program looks for them.
    ///
    /// [`ExportMode::Portable`]: crate::export::ExportMode::Portable
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn blob_references(&self) -> Result<Vec<String>> {
        let held = held(self.snapshot(), &references(self.view())?)?;
        Ok(held.iter().map(blobs::hex).collect())
    }
}
