//! What is kept under the kits' keys: the sessions of a project, and the transcripts of a session's agents.

use std::collections::{BTreeMap, HashSet};

use leafline_import::Family;

use super::key::{self, SessionKey};
use super::session_store::{SessionStore, imported};
use crate::error::Result;
use crate::store::Store;
use crate::store::session_record::SessionRecord;
use crate::store::source_record::NAME;

/// Nanoseconds of a millisecond.
const NANOSECONDS: i128 = 1_000_000;

/// A session of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredSession {
    /// Its id in keys.
    pub session_id: String,
    /// When it was last written, in milliseconds since 1970: the time of its last message, and not before it came into the
    /// store through a kit.
    pub modified: i64,
}

impl SessionStore {
    /// The sessions of a project, without those of agents, in the order of their ids. It costs a look at each session of the
    /// store.
    ///
    /// # Errors
    ///
    /// [`LiveError::InvalidKey`](crate::error::LiveError::InvalidKey); those of the store.
    pub fn list_sessions(&self, project_key: &str) -> Result<Vec<StoredSession>> {
        let beginning = key::beginning(project_key)?;
        let snapshot = self.store().snapshot_to_read()?;
        let mut sessions = BTreeMap::new();
        let mut named = HashSet::new();
        for (name, source) in snapshot.sources_beginning_with(&key::names())? {
            named.insert(source.session);
            let id = name.strip_prefix(beginning.as_slice());
            let Some(id) = id.filter(|id| !id.contains(&NAME)) else { continue };
            if let Some((_, record)) = Store::session_named(&snapshot, &name)? {
                let began = source.modified.and_then(|time| i64::try_from(time / NANOSECONDS).ok());
                let modified = record.modified.max(began).unwrap_or_default();
                sessions.insert(String::from_utf8_lossy(id).into_owned(), modified);
            }
        }
        for row in snapshot.sessions()?.iter()? {
            let row = row?;
            let record = row.listed()?;
            if record.known_family() == Family::Claude
                && record.agent.is_none()
                && record.directory().is_some_and(|cwd| key::is_of(project_key, cwd))
                && !named.contains(&row.key())
            {
                let id = String::from_utf8_lossy(record.external_id).into_owned();
                sessions.entry(id).or_insert(record.modified.unwrap_or_default());
            }
        }
        let listed = |(session_id, modified)| StoredSession { session_id, modified };
        Ok(sessions.into_iter().map(listed).collect())
    }

    /// The subpaths of the transcripts below a session, as in `subagents/agent-a1b2c3`, in order.
    ///
    /// # Errors
    ///
    /// [`LiveError::InvalidKey`](crate::error::LiveError::InvalidKey); those of the store.
    pub fn list_subkeys(&self, project_key: &str, session_id: &str) -> Result<Vec<String>> {
        let below = self.below(&SessionKey::new(project_key, session_id))?;
        Ok(below.into_keys().collect())
    }

    /// The records of the transcripts below a session, by their subpaths.
    pub(super) fn below(&self, key: &SessionKey) -> Result<BTreeMap<String, SessionRecord>> {
        let beginning = key.names_below()?;
        let snapshot = self.store().snapshot_to_read()?;
        let mut below = BTreeMap::new();
        for (name, _) in snapshot.sources_beginning_with(&beginning)? {
            if let Some((_, record)) = Store::session_named(&snapshot, &name)?
                && let Some(subpath) = name.strip_prefix(beginning.as_slice())
            {
                below.insert(String::from_utf8_lossy(subpath).into_owned(), record);
            }
        }
        let main = match Store::session_named(&snapshot, &key.main().name()?)? {
            Some(main) => Some(main),
            None => imported(&snapshot, key)?,
        };
        if let Some((_, main)) = main {
            for agent in snapshot.session_parents()?.started_by(main.id().as_bytes())? {
                if let Some(record) = snapshot.session(agent)?
                    && !key::is_named(&record)
                {
                    below.entry(key::subpath_of(&record)).or_insert(record);
                }
            }
        }
        Ok(below)
    }
}
