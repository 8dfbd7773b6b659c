//! The entries around another one in a file.

use super::chunk_lines::{Frames, visit_lines};
use super::page::{Page, PageLimit};
use super::reader::SessionReader;
use super::view::is_entry;
use crate::error::Result;
use crate::store::ordinal::Ordinal;

impl SessionReader {
    /// An entry with up to `before` entries before it in the file and `after` after it, in the order of the file.
    /// `next` is the entry after the last one: continue with [`Self::entries`].
    ///
    /// The entry itself is always returned. If the limit does not suffice for the others, the nearest are kept,
    /// alternately one before and one after; each side ends with the first entry that does not fit.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
    /// # let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples/pi");
    /// # store.import(&[samples], &leafline::import::ImportOptions::default(), &mut ())?;
    /// let reader = store.reader("019c6605")?;
    /// let page = reader.entries_around("588262d5", 2, 2, &leafline::page::PageLimit::default())?;
    /// assert_eq!(page.entries.len(), 5);
    /// assert_eq!(page.entries[2].id().as_deref(), Some("588262d5"));
    /// # Ok::<(), leafline::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::EntryNotFound`](crate::error::SessionError::EntryNotFound).
    pub fn entries_around(
        &self,
        id: &str,
        before: u64,
        after: u64,
        limit: &PageLimit,
    ) -> Result<Page> {
        let entry = self.view().named(id)?;
        let others = limit.entries.saturating_sub(1);
        let own = self.measure(Some(entry), 1, u64::MAX, Ordinal::next)?;
        let room = own.iter().fold(limit.bytes, |room, (_, length)| room.saturating_sub(*length));
        let most = |wanted: u64| usize::try_from(wanted).unwrap_or(usize::MAX).min(others);
        let ahead = self.measure(entry.previous(), most(before), room, Ordinal::previous)?;
        let behind = self.measure(entry.next(), most(after), room, Ordinal::next)?;
        let [ahead_kept, behind_kept] = keep_nearest([&ahead, &behind], others, room);
        let farthest = ahead_kept.checked_sub(1).and_then(|place| ahead.get(place));
        let first = farthest.map_or(entry, |&(ordinal, _)| ordinal);
        let chosen = PageLimit { entries: ahead_kept + 1 + behind_kept, bytes: u64::MAX };
        self.entries(first.raw().., &chosen)
    }

    /// Ordinals and lengths of the entries from a line on, as many as fit by themselves; `step` says which line is next.
    fn measure(
        &self,
        from: Option<Ordinal>,
        most: usize,
        room: u64,
        step: fn(Ordinal) -> Option<Ordinal>,
    ) -> Result<Vec<Measured>> {
        let mut measured = Vec::new();
        let mut left = room;
        let from = from.filter(|_| most > 0);
        visit_lines(self.view(), from, Frames::Cached, |lines, ordinal, node| {
            if is_entry(node) {
                let length = lines.rendered_len(ordinal)?;
                if length > left {
                    return Ok(None);
                }
                left -= length;
                measured.push((ordinal, length));
            }
            Ok(step(ordinal).filter(|_| measured.len() < most))
        })?;
        Ok(measured)
    }
}

/// An entry's ordinal, and the bytes of its line.
type Measured = (Ordinal, u64);

/// How many entries of each side fit, taken alternately, nearest first.
fn keep_nearest(sides: [&[Measured]; 2], most: usize, room: u64) -> [usize; 2] {
    let mut kept = [0, 0];
    let (mut entries_left, mut bytes_left) = (most, room);
    loop {
        let before = entries_left;
        for (side, kept) in sides.iter().zip(&mut kept) {
            // What does not fit now never will: the room only shrinks.
            if let Some(&(_, length)) = side.get(*kept)
                && entries_left > 0
                && length <= bytes_left
            {
                *kept += 1;
                entries_left -= 1;
                bytes_left -= length;
            }
        }
        if entries_left == before {
            return kept;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_are_kept_in_turns() {
        let measured = |(ordinal, length)| (Ordinal::new(ordinal), length);
        let ahead = [(9, 10), (8, 10), (7, 10)].map(measured);
        let behind = [(11, 10), (12, 50), (13, 1)].map(measured);
        let kept = |most, room| keep_nearest([&ahead, &behind], most, room);
        assert_eq!(kept(10, 1000), [3, 3]);
        assert_eq!(kept(0, 1000), [0, 0]);
        assert_eq!(kept(1, 1000), [1, 0]);
        assert_eq!(kept(2, 1000), [1, 1]);
        assert_eq!(kept(10, 9), [0, 0]);
        assert_eq!(kept(10, 15), [1, 0]);
        // The side with the long line ends there; the other goes on.
        assert_eq!(kept(10, 60), [3, 1]);
    }
}
