//! A reader that releases the store between reads.

use super::reader::SessionReader;
use crate::error::{Result, SessionError};
use crate::store::Store;
use crate::store::session_key::SessionKey;

/// A [`SessionReader`] that has released its state of the store until it is resumed. It keeps the store open, but holds back none
/// of its space, however long it is kept.
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
    /// The last revision that changed lines; as long as it is the same, lines are only added.
    changed_at: u64,
}

impl SessionReader {
    /// Releases the state of the store. Lines that were read stay valid unless [`PausedReader::resume`] fails.
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

    /// A reader of the session as it is now. It has all lines that the paused reader had, with the same ordinals and ids. Lines
    /// may have been added after them, and the leaf, labels and names may have changed.
    ///
    /// # Errors
    ///
    /// [`SessionError::NotFound`] if the session was deleted; [`SessionError::Rewritten`] if its lines were changed, or an import
    /// replaced it.
    pub fn resume(&self) -> Result<SessionReader> {
        let reader = SessionReader::open(self.store.snapshot_to_read()?, (self.session, &self.id))?;
        let now = (reader.key(), reader.record().changed_at);
        if now != (self.session, self.changed_at) {
            return Err(SessionError::Rewritten { session: self.id.clone() }.into());
        }
        Ok(reader)
    }
}
