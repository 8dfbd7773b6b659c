//! A reader that has let go of the store, for one who waits between reads.

use super::reader::SessionReader;
use crate::error::{Result, SessionError};
use crate::store::Store;
use crate::store::session_key::SessionKey;

/// A [`SessionReader`] that has let go of the store until it is read again. It keeps the store open, but holds back none of its
/// space, however long it is kept.
///
/// ```
/// use leafline::{Family, NewSession, Store};
/// use leafline::opal::Draft;
///
/// # fn main() -> leafline::Result<()> {
/// let store = Store::in_memory()?;
/// let mut session = store.create_session(&NewSession::new(Family::Opal, "/work"))?;
/// session.append(Draft::user("Why is the build slow?"))?;
/// let paused = session.reader()?.pause();
/// session.append(Draft::user("Profile the linker"))?;
/// assert_eq!(paused.resume()?.facts().entries, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct PausedReader {
    store: Store,
    session: SessionKey,
    id: String,
    /// The revision that last changed lines: until there is another one, lines are only added.
    changed_at: u64,
}

impl SessionReader {
    /// Lets go of the store. What was read of the session stays true until [`PausedReader::resume`] says otherwise.
    pub fn pause(self) -> PausedReader {
        PausedReader {
            store: self.store().clone(),
            session: self.key(),
            id: self.id(),
            changed_at: self.record().changed_at,
        }
    }
}

impl PausedReader {
    /// The id by which the session is addressed.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// A reader of the session as it is now. All lines that it had are there, with the same ordinals and ids; others may have been
    /// added after them, and the leaf, labels and names may be others.
    ///
    /// # Errors
    ///
    /// [`SessionError::NotFound`] if it was deleted, [`SessionError::Rewritten`] if lines of it were changed or another import took
    /// its place.
    pub fn resume(&self) -> Result<SessionReader> {
        let reader = SessionReader::open(self.store.snapshot_to_read()?, (self.session, &self.id))?;
        let now = (reader.key(), reader.record().changed_at);
        if now != (self.session, self.changed_at) {
            return Err(SessionError::Rewritten { session: self.id.clone() }.into());
        }
        Ok(reader)
    }
}
