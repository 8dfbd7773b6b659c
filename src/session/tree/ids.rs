//! The ids of a session's entries by their ordinals.

use crate::error::Result;
use crate::session::view::View;
use crate::store::ordinal::Ordinal;

/// The most memory that the ids may take, in bytes: enough for two million entries with short ids, and for a million with
/// UUIDs.
const MOST_BYTES: usize = 64 << 20;

/// The bytes of an ordinal's place.
const PLACE: usize = size_of::<u32>();

/// The ids of a session's entries. The index has them by id; reading each from its line would mean reading the whole
/// session.
#[derive(Debug, Default)]
pub(super) struct Ids {
    /// By ordinal: where its id begins, plus 1; 0 for none.
    places: Vec<u32>,
    /// Each id after its length, in 4 bytes.
    ids: Vec<u8>,
}

impl Ids {
    /// The ids that the index has, each with U+FFFD for lone surrogates; `None` if they would take too much memory.
    pub(super) fn of(view: View<'_>) -> Result<Option<Self>> {
        Self::within(view, MOST_BYTES)
    }

    fn within(view: View<'_>, most: usize) -> Result<Option<Self>> {
        let lines = usize::try_from(view.record().lines).unwrap_or(usize::MAX);
        if lines > most / PLACE {
            return Ok(None);
        }
        let mut found = Self { places: vec![0; lines], ids: Vec::new() };
        let room = most - lines * PLACE;
        let mut fits = true;
        view.rows().each_entry(|id, record| {
            let (ordinal, start) = (record.ordinal, found.ids.len());
            let place = usize::try_from(ordinal.raw()).ok();
            let Some(place) = place.and_then(|place| found.places.get_mut(place)) else {
                let problem = format!("line {ordinal} has an id, but is not an entry");
                return Err(view.order().damage(ordinal, problem));
            };
            fits = fits && start + PLACE + id.len() <= room;
            if fits
                && let (Ok(start), Ok(length)) = (u32::try_from(start + 1), u32::try_from(id.len()))
            {
                *place = start;
                found.ids.extend_from_slice(&length.to_le_bytes());
                found.ids.extend_from_slice(id);
            }
            Ok(())
        })?;
        Ok(fits.then_some(found))
    }

    /// The id of the entry on a line, as WTF-8; `None` if the index has none: the entry has none, or a later one has the
    /// same.
    pub(super) fn get(&self, ordinal: Ordinal) -> Option<&[u8]> {
        let place = *self.places.get(usize::try_from(ordinal.raw()).ok()?)?;
        let start = usize::try_from(place.checked_sub(1)?).ok()?;
        let (length, rest) = self.ids.get(start..)?.split_first_chunk()?;
        rest.get(..u32::from_le_bytes(*length) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::ImportOptions;
    use crate::{Session, Store};

    fn session() -> (tempfile::TempDir, Session) {
        let folder = tempfile::tempdir().unwrap();
        let lines = concat!(
            r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#,
            "\n",
            r#"{"type":"label","id":"a","parentId":null}"#,
            "\n",
            r#"{"type":"label","id":"b\ud800","parentId":"a"}"#,
            "\n",
            r#"{"type":"label","id":"a","parentId":"a"}"#,
            "\n",
            r#"{"type":"label","id":5,"parentId":"a"}"#,
            "\n",
        );
        std::fs::write(folder.path().join("s.jsonl"), lines).unwrap();
        let store = Store::in_memory().unwrap();
        store.import(&[folder.path()], &ImportOptions::default(), &mut ()).unwrap();
        (folder, store.session("s").unwrap())
    }

    #[test]
    fn ids_are_those_of_the_index() {
        let reader = session().1.reader().unwrap();
        let ids = Ids::of(reader.view()).unwrap().unwrap();
        let of = |ordinal| ids.get(Ordinal::new(ordinal));
        assert_eq!((of(0), of(1), of(4), of(9)), (None, None, None, None));
        assert_eq!((of(2), of(3)), (Some(&b"b\xed\xa0\x80"[..]), Some(&b"a"[..])));
    }

    #[test]
    fn ids_that_take_too_much_are_not_kept() {
        let reader = session().1.reader().unwrap();
        let needed = 5 * PLACE + (PLACE + 1) + (PLACE + 4);
        assert!(Ids::within(reader.view(), needed).unwrap().is_some());
        assert!(Ids::within(reader.view(), needed - 1).unwrap().is_none());
        assert!(Ids::within(reader.view(), 5 * PLACE - 1).unwrap().is_none());
    }
}
