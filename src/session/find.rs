//! Finding a session by its id, by the beginning of it, or by the id in its records.

use leafline_import::{Family, claude};

use super::export::exact_bytes;
use super::view::View;
use crate::error::{Error, Result, SessionError};
use crate::store::session_key::SessionKey;
use crate::store::snapshot::Snapshot;

/// Ambiguous ids that an error names.
const EXAMPLES: usize = 3;

/// Bytes of a session in which the id in its records is looked for: as many as identify a file.
const PREFIX_BYTES: usize = 256 << 10;

/// Sessions that an id may stand for.
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

/// The session's key by its id, or by the beginning of it; else by the id that its records name.
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

/// The session of Claude Code's whose file has another name than its id, and whose records name this id or one that begins
/// so. There are few such files, so they are looked at; agents' files name the session that started the agent.
fn by_records(snapshot: &Snapshot, id: &str) -> Result<Option<SessionKey>> {
    let (mut same, mut beginning) = (Found::default(), Found::default());
    for row in snapshot.sessions()?.iter()? {
        let row = row?;
        // A damaged record fails its own session alone.
        let Ok(listed) = row.listed() else { continue };
        if listed.known_family() != Family::Claude
            || listed.agent.is_some()
            || is_uuid(listed.external_id)
        {
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

/// The id that a session's records name: that of the first one that names any.
fn named_id(snapshot: &Snapshot, key: SessionKey) -> Result<Option<String>> {
    let Some(record) = snapshot.session(key)? else { return Ok(None) };
    let mut beginning = Vec::new();
    let read = exact_bytes(View::new(snapshot.rows(key), &record), &mut |bytes| {
        beginning.extend_from_slice(bytes);
        Ok(beginning.len() < PREFIX_BYTES)
    });
    match read {
        // What is lost of this session does not keep another one from being found.
        Err(Error::Corrupted(_)) => return Ok(None),
        read => read?,
    };
    Ok(claude::detect(&beginning, true).ok().and_then(|detection| detection.session_id))
}

/// Whether a file's name is an id as the program makes them.
fn is_uuid(name: &[u8]) -> bool {
    let is_hyphen = |place: usize| matches!(place, 8 | 13 | 18 | 23);
    name.len() == 36
        && name.iter().enumerate().all(|(place, byte)| match is_hyphen(place) {
            true => *byte == b'-',
            false => byte.is_ascii_hexdigit(),
        })
}
