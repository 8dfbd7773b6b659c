//! The metadata of an Opal session: the part of its header that its users fill in.

use leafline_import::opal::{HeaderFacts, Metadata, Scanner, with_metadata};
use leafline_import::{Family, text};

use super::super::{Session, SessionReader};
use super::rewrite::replace_lines;
use crate::error::{Corruption, Result, SessionError};
use crate::store::ordinal::Ordinal;
use crate::store::session_record::SessionRecord;

impl SessionReader {
    /// See [`OpalReader::metadata`](super::opal::OpalReader::metadata).
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
                place: format!("session {}, line {}", self.id(), self.record().header.number()),
                problem: "the line is not an Opal header".to_owned(),
            }
            .into()),
        }
    }
}

impl Session {
    /// Changes the metadata, read at the beginning of the transaction.
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
                Ok(vec![(header.place(), line)])
            })
        })?;
        Ok(())
    }
}

fn facts_of(header: &[u8], ordinal: Ordinal) -> Option<HeaderFacts> {
    let decoded = text::decode(header);
    HeaderFacts::of(&Scanner::new().scan(text::trim_start_of_file(&decoded)), ordinal.raw())
}

/// Copies the header's facts into the record.
fn note(record: &mut SessionRecord, header: &[u8]) {
    if let Some(facts) = facts_of(header, record.header) {
        record.title = facts.title;
        record.cwd = facts.cwd;
        record.created = facts.created_at_ms;
    }
}
