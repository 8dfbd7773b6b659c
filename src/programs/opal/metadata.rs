//! The metadata of an Opal session: the part of its header that its users fill in.

use leafline_import::Family;
use leafline_import::opal::{Metadata, header_facts, with_metadata};

use crate::error::{Corruption, Result, SessionError};
use crate::session::{Session, SessionReader};
use crate::store::session_record::SessionRecord;

impl SessionReader {
    /// See [`OpalReader::metadata`](super::OpalReader::metadata).
    pub(super) fn opal_metadata(&self) -> Result<Metadata> {
        if self.family() != Family::Opal {
            let (id, family, operation) = (self.id(), self.family(), "metadata");
            return Err(SessionError::WrongFamily { id, family, operation }.into());
        }
        let header = self.get_header()?;
        let facts =
            header.and_then(|header| header_facts(header.line(), self.record().header.raw()));
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
    /// Changes the metadata as they are then. `change` may be called again, with what others have changed meanwhile.
    pub(super) fn change_metadata(
        &mut self,
        mut change: impl FnMut(&mut Metadata) -> Result<()>,
    ) -> Result<()> {
        self.only_opal("metadata")?;
        self.replace_header(|reader, record| {
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
    }
}

/// Copies the header's facts into the record.
fn note(record: &mut SessionRecord, header: &[u8]) {
    if let Some(facts) = header_facts(header, record.header.raw()) {
        record.title = facts.title;
        record.cwd = facts.cwd;
        record.created = facts.created_at_ms;
    }
}
