//! The sessions that another one continues without repeating them.

use leafline_import::conversation::{Base, Before};

use super::super::chunk_lines::{Frames, visit_lines};
use super::super::reader::SessionReader;
use super::stored::Stored;
use crate::error::{Error, Result, SessionError};
use crate::store::ordinal::Ordinal;

/// Sessions, the oldest first, each with the number of its lines that precede the next one.
pub(super) struct Bases(Vec<(SessionReader, u64)>);

impl Bases {
    /// The bases of a session, oldest first. If they form a loop, the session itself is among them.
    pub(super) fn of(reader: &SessionReader) -> Result<Self> {
        let family = reader.family();
        let mut bases: Vec<(SessionReader, u64)> = Vec::new();
        let mut base = family.base(&mut Stored::new(reader.view()))?;
        while let Some(Base { session: id, bytes }) = base {
            if id == reader.id() || bases.iter().any(|(known, _)| known.id() == id) {
                break;
            }
            let not_found =
                |base: String| SessionError::BaseNotFound { session: reader.id(), base };
            let found = match reader.snapshot().store().reader(&id) {
                Ok(found) if found.id() == id => found,
                Ok(_)
                | Err(Error::Session(
                    SessionError::NotFound { .. } | SessionError::Ambiguous { .. },
                )) => {
                    return Err(not_found(id).into());
                }
                Err(error) => return Err(error),
            };
            let lines = lines_within(&found, bytes)?;
            base = family.base(&mut Stored::new(found.view()))?;
            bases.push((found, lines));
        }
        bases.reverse();
        Ok(Self(bases))
    }

    /// Their ids.
    fn ids(&self) -> Vec<String> {
        self.0.iter().map(|(reader, _)| reader.id()).collect()
    }

    /// The same, to look up in.
    pub(super) fn before(&self) -> Vec<Before<Stored<'_>>> {
        let parts = self.0.iter();
        parts
            .map(|(reader, lines)| Before {
                conversation: Stored::new(reader.view()),
                lines: *lines,
            })
            .collect()
    }
}

impl SessionReader {
    /// The ids of the sessions that this one continues without repeating them, the oldest first: its program needs them to go
    /// on with it.
    pub(crate) fn bases(&self) -> Result<Vec<String>> {
        Ok(Bases::of(self)?.ids())
    }
}

/// How many of a session's lines are within the first `bytes` bytes of its file.
fn lines_within(reader: &SessionReader, bytes: u64) -> Result<u64> {
    let (mut lines, mut left) = (0, bytes);
    visit_lines(reader.view(), Some(Ordinal::FIRST), Frames::Forgotten, |chunk, ordinal, _| {
        let Some(rest) = left.checked_sub(chunk.rendered_len(ordinal)?) else { return Ok(None) };
        (lines, left) = (ordinal.number(), rest);
        Ok(ordinal.next())
    })?;
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use leafline_generate::{Family, random_tree_session};

    use super::*;
    use crate::Store;
    use crate::import::ImportOptions;

    #[test]
    fn lines_are_counted_by_their_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let file = random_tree_session(3, 60, Family::Omp);
        std::fs::write(folder.path().join("s.jsonl"), file).unwrap();
        let store = Store::in_memory().unwrap();
        store.import(&[folder.path()], &ImportOptions::default(), &mut ()).unwrap();
        let reader = store.reader(&store.sessions().unwrap()[0].id).unwrap();
        let mut lengths = Vec::new();
        let take = |line: crate::Entry| {
            lengths.push(line.line().len() as u64);
            Ok(true)
        };
        reader.lines(0, take).unwrap();
        let mut end = 0;
        for (lines, length) in (0..).zip(lengths) {
            assert_eq!(lines_within(&reader, end).unwrap(), lines);
            end += length;
            assert_eq!(lines_within(&reader, end - 1).unwrap(), lines);
        }
        assert_eq!(lines_within(&reader, u64::MAX).unwrap(), reader.record().lines);
    }
}
