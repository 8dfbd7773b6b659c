//! The metadata of a session of Opal's: the part of its header that its users fill.

use leafline_import::opal::{HeaderFacts, Metadata, Scanner, with_metadata};
use leafline_import::{Family, text};
use serde::Serialize;

use super::super::{Session, SessionReader};
use super::json;
use super::rewrite::replace_lines;
use crate::error::{Corruption, Error, Result};
use crate::store::session_record::SessionRecord;

impl SessionReader {
    /// The session's metadata (Opal session document, state fields).
    ///
    /// # Errors
    ///
    /// [`Error::WrongFamily`] in a session that is not Opal's; [`Error::Corrupted`] where the store is damaged.
    pub fn metadata(&self) -> Result<Metadata> {
        if self.family() != Family::Opal {
            let (id, family) = (self.id(), self.family());
            return Err(Error::WrongFamily { id, family, operation: "metadata" });
        }
        let header = self.get_header()?;
        let facts = header.and_then(|header| facts_of(header.line(), self.record().header));
        let metadata = facts.map(|facts| Metadata::from_json(&facts.metadata));
        match metadata {
            Some(Ok(metadata)) => Ok(metadata),
            _ => Err(Corruption {
                table: "lines",
                place: format!("session {}, line {}", self.id(), self.record().header + 1),
                problem: "the line is no header of Opal's".to_owned(),
            }
            .into()),
        }
    }

    /// One value of the metadata, as JSON text; `None` where there is none.
    ///
    /// # Errors
    ///
    /// Those of [`Self::metadata`].
    pub fn get_metadata(&self, key: &str) -> Result<Option<String>> {
        Ok(self.metadata()?.get(key).map(str::to_owned))
    }
}

impl Session {
    /// The session's metadata.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn metadata(&self) -> Result<Metadata> {
        self.reader()?.metadata()
    }

    /// One value of the metadata, as JSON text; `None` where there is none.
    ///
    /// # Errors
    ///
    /// As the reader's.
    pub fn get_metadata(&self, key: &str) -> Result<Option<String>> {
        self.reader()?.get_metadata(key)
    }

    /// Gives the session other metadata, in one transaction. Its title, its working directory and the time of its
    /// creation are then what that says (Opal session document).
    ///
    /// ```
    /// use leafline::{Family, Metadata, NewSession, Store};
    ///
    /// # fn main() -> leafline::Result<()> {
    /// let store = Store::in_memory()?;
    /// let mut session = store.create_session(&NewSession::new(Family::Opal, "/work"))?;
    /// session.set_metadata_value("title", &"Fix auth bug")?;
    /// assert_eq!(store.sessions()?[0].title.as_deref(), Some("Fix auth bug"));
    /// session.set_metadata(&Metadata::default())?;
    /// assert_eq!(session.get_metadata("title")?, None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::WrongFamily`] in a session that is not Opal's; those of the store.
    pub fn set_metadata(&mut self, metadata: &Metadata) -> Result<()> {
        self.change_metadata(|old| {
            old.clone_from(metadata);
            Ok(())
        })
    }

    /// Sets one value of the metadata; the others stay (Opal session document, `metadata`).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidEntry`] for a value that cannot be written as JSON; those of [`Self::set_metadata`].
    pub fn set_metadata_value(&mut self, key: &str, value: &impl Serialize) -> Result<()> {
        let value = json(value)?;
        self.change_metadata(|metadata| Ok(metadata.set(key, &value)?))
    }

    /// Changes the metadata as they are when the transaction begins.
    pub(super) fn change_metadata(
        &mut self,
        change: impl FnOnce(&mut Metadata) -> Result<()>,
    ) -> Result<()> {
        self.only_opal("metadata")?;
        self.persist(|session| {
            replace_lines(session.place(), (session.key, &session.id), |reader, record| {
                let mut metadata = reader.metadata()?;
                let Some(header) = reader.get_header()? else { return Ok(Vec::new()) };
                let before = metadata.clone();
                change(&mut metadata)?;
                if metadata == before {
                    return Ok(Vec::new());
                }
                let mut line = Vec::with_capacity(header.line().len());
                with_metadata(header.line(), &metadata.to_json(), &mut line)?;
                if !line.ends_with(b"\n") {
                    line.push(b'\n');
                }
                note(record, &line);
                Ok(vec![(header.ordinal(), line)])
            })
        })?;
        Ok(())
    }
}

fn facts_of(header: &[u8], ordinal: u64) -> Option<HeaderFacts> {
    let decoded = text::decode(header);
    HeaderFacts::of(&Scanner::new().scan(text::trim_start_of_file(&decoded)), ordinal)
}

/// Puts what the header says into the record.
fn note(record: &mut SessionRecord, header: &[u8]) {
    if let Some(facts) = facts_of(header, record.header) {
        record.title = facts.title;
        record.cwd = facts.cwd;
        record.created = facts.created_at_ms;
    }
}
