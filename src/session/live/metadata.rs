//! The metadata of a session of Opal's: the part of its header that its users fill.

use leafline_import::opal::{HeaderFacts, Metadata, Scanner, with_metadata};
use leafline_import::{Family, text};

use super::super::{Session, SessionReader};
use super::rewrite::replace_lines;
use crate::error::{Corruption, Result, SessionError};
use crate::store::session_record::SessionRecord;

impl SessionReader {
    /// What [`OpalReader::metadata`](super::opal::OpalReader::metadata) answers.
    pub(super) fn opal_metadata(&self) -> Result<Metadata> {
        if self.family() != Family::Opal {
            let (id, family, operation) = (self.id(), self.family(), "metadata");
            return Err(SessionError::WrongFamily { id, family, operation }.into());
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
}

impl Session {
    /// Changes the metadata as they are when the transaction begins.
    pub(super) fn change_metadata(
        &mut self,
        change: impl FnOnce(&mut Metadata) -> Result<()>,
    ) -> Result<()> {
        self.only_opal("metadata")?;
        self.persist(|session| {
            replace_lines(session.place(), session.rewriting(), |reader, record| {
                let mut metadata = reader.opal_metadata()?;
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
