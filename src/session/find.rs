//! Finds a session by its id, by a unique beginning of it, or by the id in its records.

use leafline_import::detect;

use super::export::exact_bytes;
use super::view::View;
use crate::error::{Error, Result, SessionError};
use crate::store::session_key::SessionKey;
use crate::store::snapshot::Snapshot;

/// How many ambiguous ids an error names.
const EXAMPLES: usize = 3;

/// The bytes of a session that are searched for the id in its records: as many as a file's family is detected from.
const PREFIX_BYTES: usize = 256 << 10;

/// The sessions that an id may mean.
#[derive(Default)]
struct Found {
    key: Option<SessionKey>,
    count: usize,
    examples: Vec<String>,
}

impl Found {
    fn add(&mut self, key: SessionKey, address: impl FnOnce() -> String) {
        self.count += 1;
        self.key = Some(key);
        if self.examples.len() < EXAMPLES {
            self.examples.push(address());
        }
    }

    /// The only one; `None` if there is none.
    fn only(self, id: &str) -> Result<Option<SessionKey>> {
        let Self { key, count, examples } = self;
        if count > 1 {
            let prefix = id.to_owned();
            return Err(Error::Session(SessionError::Ambiguous { prefix, count, examples }));
        }
        Ok(key)
    }
}

/// The session's key by its id, or by a unique beginning of it; otherwise by the id that its records state.
pub(crate) fn find(snapshot: &Snapshot, id: &str) -> Result<SessionKey> {
    let addresses = snapshot.addresses()?;
    if let Some(key) = addresses.key_of(id.as_bytes())? {
        return Ok(key);
    }
    let absent = || Error::Session(SessionError::NotFound { id: id.to_owned() });
    if id.is_empty() {
        return Err(absent());
    }
    let mut found = Found::default();
    for row in addresses.beginning_with(id.as_bytes())? {
        let (known, key) = row?;
        found.add(key, || String::from_utf8_lossy(&known).into_owned());
    }
    match found.only(id)? {
        Some(key) => Ok(key),
        None => by_records(snapshot, id)?.ok_or_else(absent),
    }
}

/// The session whose id is not one of its program's, such as a copy under another file name, and whose records state
/// this id or one that begins with it. Only such sessions are read; an agent's file states the id of the session that
/// started it.
fn by_records(snapshot: &Snapshot, id: &str) -> Result<Option<SessionKey>> {
    let (mut same, mut beginning) = (Found::default(), Found::default());
    for row in snapshot.sessions()?.iter()? {
        let row = row?;
        // A damaged record fails only its own session.
        let Ok(listed) = row.listed() else { continue };
        if listed.agent.is_some() || listed.known_family().is_usual_id(listed.external_id) {
            continue;
        }
        let Some(named) = named_id(snapshot, row.key())? else { continue };
        if named == id {
            same.add(row.key(), || listed.id());
        } else if named.starts_with(id) {
            beginning.add(row.key(), || listed.id());
        }
    }
    match same.only(id)? {
        Some(key) => Ok(Some(key)),
        None => beginning.only(id),
    }
}

/// The id that a session's records state: that of the first record that states one.
fn named_id(snapshot: &Snapshot, key: SessionKey) -> Result<Option<String>> {
    let Some(record) = snapshot.session(key)? else { return Ok(None) };
    let mut beginning = Vec::new();
    let read = exact_bytes(View::new(snapshot.rows(key), &record), &mut |bytes| {
        beginning.extend_from_slice(bytes);
        Ok(beginning.len() < PREFIX_BYTES)
    });
    match read {
        // Damage of this session does not prevent another one from being found.
        Err(Error::Corrupted(_)) => return Ok(None),
        read => read?,
    };
    let family = Some(record.known_family());
    Ok(detect(&beginning, family, true).ok().and_then(|start| start.named_session))
}
