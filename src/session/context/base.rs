//! The sessions that another one continues without repeating them.

use leafline_import::conversation::{Base, BaseEnd, Before, Conversation};

use super::super::chunk_lines::{Frames, visit_lines};
use super::super::reader::SessionReader;
use super::stored::Stored;
use crate::error::{Error, Result, SessionError};
use crate::store::ordinal::Ordinal;

/// Sessions, the oldest first, each with the number of its lines that precede the next one.
#[derive(Default)]
pub(super) struct Bases {
    parts: Vec<(SessionReader, u64)>,
    /// Whether the program does not go on without them.
    are_needed: bool,
    /// One that the store does not have, or not the entry at which it would end.
    missing: Option<String>,
}

impl Bases {
    /// The bases of a session, oldest first. If they form a loop, the session itself is among them.
    pub(super) fn of(reader: &SessionReader) -> Result<Self> {
        let family = reader.family();
        let mut bases = Self::default();
        let mut base = family.base(&mut Stored::new(reader.view()))?;
        while let Some(Base { session: id, end }) = base {
            if id == reader.id() || bases.parts.iter().any(|(known, _)| known.id() == id) {
                break;
            }
            bases.are_needed = matches!(end, BaseEnd::Bytes(_));
            let not_found =
                |base: String| SessionError::BaseNotFound { session: reader.id(), base };
            let found = match reader.snapshot().store().reader(&id) {
                Ok(found) if found.id() == id => found,
                Ok(_)
                | Err(Error::Session(
                    SessionError::NotFound { .. } | SessionError::Ambiguous { .. },
                )) => {
                    if bases.are_needed {
                        return Err(not_found(id).into());
                    }
                    bases.missing = Some(id);
                    break;
                }
                Err(error) => return Err(error),
            };
            let lines = match end {
                BaseEnd::Bytes(bytes) => lines_within(&found, bytes)?,
                BaseEnd::Entry(entry) => {
                    let place = Stored::new(found.view()).find(entry.as_bytes())?;
                    let Some(place) = place else {
                        bases.missing = Some(id);
                        break;
                    };
                    place + 1
                }
            };
            base = family.base(&mut Stored::new(found.view()))?;
            bases.parts.push((found, lines));
        }
        bases.parts.reverse();
        Ok(bases)
    }

    /// The same, to look up in.
    pub(super) fn before(&self) -> Vec<Before<Stored<'_>>> {
        let parts = self.parts.iter();
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
        let bases = Bases::of(self)?;
        let needed = bases.parts.iter().filter(|_| bases.are_needed);
        Ok(needed.map(|(reader, _)| reader.id()).collect())
    }

    /// The session with whose conversation a context of this one, an agent's of Claude Code, would begin, if the store does not
    /// have it as far as that. Like the program, a context then begins with what the agent has itself.
    ///
    /// # Errors
    ///
    /// Those of [`Self::build_context`].
    pub fn missing_beginning(&self) -> Result<Option<String>> {
        Ok(Bases::of(self)?.missing)
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
