//! What the store already has of a file, and so what an import of the file must do.

use std::io;

use super::candidate::Candidate;
use super::read::Mode;
use super::saved_state::{self, FileState};
use crate::catalog::gone::exists;
use crate::error::Result;
use crate::session::export::{PrefixDigest, current_bytes, exact_bytes};
use crate::session::view::View;
use crate::store::Store;
use crate::store::commit::proof;
use crate::store::removed_record::RemovedRecord;
use crate::store::session_key::SessionKey;
use crate::store::session_record::{SessionRecord, address_bytes};
use crate::store::snapshot::Snapshot;

/// What to do with a file.
#[derive(Debug)]
pub(super) enum Plan {
    /// A session of its own, the n-th with its id. It restores these removed ones.
    New { number: u32, restores: Vec<SessionKey> },
    /// The session has the file's beginning: only the rest is new.
    Grow { session: SessionKey, record: Box<SessionRecord> },
    /// The session has everything; the file may be a source that is not recorded yet.
    Unchanged { session: SessionKey, record: Box<SessionRecord>, ahead: bool },
    /// The session has lost rows, and the file has everything that it ever had.
    Restore { session: SessionKey, record: Box<SessionRecord>, problem: String },
    /// The session has lost rows, and the file lacks a part of what it had.
    Damaged { record: Box<SessionRecord>, problem: String },
    /// The session was removed from the store. If it is restored, it is the n-th with its id.
    Removed { removed: Vec<(SessionKey, RemovedRecord)>, number: u32 },
    /// The file's beginning differs from the session's, which was imported from this path or from another.
    Replace { session: SessionKey, record: Box<SessionRecord>, is_of_path: bool },
}

/// Compares the file with the sessions that have its id.
///
/// The same bytes are the same session, wherever the file is. A file that differs is another state of the session if it
/// begins with all that was imported, if it is at the path that the session was imported from, or if there is no longer a
/// file at that path; otherwise it is another session with the same id. A file of a session that was removed from the store is
/// recognised in the same ways.
///
/// A session's rows are checked before its record is trusted: an import checks each chunk, a sync the first and the
/// last.
pub(super) fn plan(
    store: &Store,
    candidate: &mut Candidate,
    mode: Mode,
) -> Result<io::Result<Plan>> {
    let snapshot = store.snapshot()?;
    let plan = match compare(&snapshot, candidate)? {
        Ok(plan) => plan,
        Err(error) => return Ok(Err(error)),
    };
    let (session, record, has_less) = match plan {
        Plan::Unchanged { session, ref record, ahead } => (session, record.clone(), ahead),
        Plan::Grow { session, ref record } => (session, record.clone(), false),
        other => return Ok(Ok(other)),
    };
    let missing = match mode {
        Mode::Import => proof::as_a_whole(snapshot.rows(session), &record)?,
        Mode::Sync | Mode::Follow => proof::at_its_ends(snapshot.rows(session), &record)?,
    };
    Ok(Ok(match missing {
        None => plan,
        Some(problem) if has_less => Plan::Damaged { record, problem },
        Some(problem) => Plan::Restore { session, record, problem },
    }))
}

/// [`plan`] according to the records.
fn compare(snapshot: &Snapshot, candidate: &mut Candidate) -> Result<io::Result<Plan>> {
    let sessions = snapshot.sessions_with_id(candidate.external_id())?;
    let next_number = sessions.iter().map(|(_, record)| record.number).max().unwrap_or(0) + 1;
    let removed = snapshot.removed_with_id(candidate.external_id())?;
    if sessions.is_empty() && removed.is_empty() {
        return Ok(Ok(Plan::New { number: 1, restores: Vec::new() }));
    }
    let mut lengths: Vec<u64> = sessions
        .iter()
        .map(|(_, record)| record.imported.length)
        .chain(removed.iter().map(|(_, removed)| removed.length))
        .collect();
    lengths.sort_unstable();
    lengths.dedup();
    let digests = match candidate.digests(&lengths) {
        Ok(digests) => digests,
        Err(error) => return Ok(Err(error)),
    };
    // The longest session with which the file begins.
    let begins = sessions
        .iter()
        .filter(|(_, record)| {
            record.imported.length > 0
                && digests.contains(&(record.imported.length, record.imported.digest))
        })
        .max_by_key(|(_, record)| record.imported.length);
    if let Some((session, record)) = begins {
        let (session, record) = (*session, Box::new(record.clone()));
        if record.imported.length == candidate.size {
            let ahead = record.is_ahead();
            return Ok(Ok(Plan::Unchanged { session, record, ahead }));
        }
        if !record.is_ahead() {
            return Ok(Ok(Plan::Grow { session, record }));
        }
    }
    // If lines were appended to the session here, the file may have them as well, and more. A migrated session has
    // other lines than were imported, and a file may have those: an export of the session.
    let has_more =
        |record: &SessionRecord| (record.is_ahead() || record.migrated) && !record.rewritten;
    for (session, record) in sessions.iter().filter(|(_, record)| has_more(record)) {
        if record.bytes > candidate.size {
            continue;
        }
        let has_beginning =
            match has_beginning(View::new(snapshot.rows(*session), record), candidate)? {
                Ok(has_beginning) => has_beginning,
                Err(error) => return Ok(Err(error)),
            };
        if has_beginning {
            let (session, record) = (*session, Box::new(record.clone()));
            return Ok(Ok(if record.bytes == candidate.size {
                Plan::Unchanged { session, record, ahead: false }
            } else {
                Plan::Grow { session, record }
            }));
        }
    }
    let source = candidate.known_source(snapshot)?.map(|source| source.session);
    match rewritten(snapshot, &sessions, source, candidate)? {
        Ok(None) => {}
        Ok(Some(plan)) => return Ok(Ok(plan)),
        Err(error) => return Ok(Err(error)),
    }
    let own = sessions.iter().find(|(session, _)| Some(*session) == source);
    // A file that begins with what was imported belongs to that session, wherever it is; so does a file at the session's path.
    if let Some((session, record)) = begins.or(own) {
        let is_of_path = Some(*session) == source;
        let view = View::new(snapshot.rows(*session), record);
        let is_shorter = record.imported.length > candidate.size;
        let is_beginning = match is_shorter.then(|| is_beginning(view, candidate)).transpose()? {
            Some(Err(error)) => return Ok(Err(error)),
            Some(Ok(is_beginning)) => is_beginning,
            None => false,
        };
        let (session, record) = (*session, Box::new(record.clone()));
        return Ok(Ok(match is_beginning {
            true => Plan::Unchanged { session, record, ahead: true },
            false => Plan::Replace { session, record, is_of_path },
        }));
    }
    let removed = removed_of(removed, (source, &digests), !sessions.is_empty());
    if !removed.is_empty() {
        return Ok(Ok(Plan::Removed { removed, number: next_number }));
    }
    for (session, record) in &sessions {
        if record.imported.length.max(record.bytes) <= candidate.size {
            continue;
        }
        let is_beginning =
            match is_beginning(View::new(snapshot.rows(*session), record), candidate)? {
                Ok(is_beginning) => is_beginning,
                Err(error) => return Ok(Err(error)),
            };
        if is_beginning {
            let (session, record) = (*session, Box::new(record.clone()));
            return Ok(Ok(Plan::Unchanged { session, record, ahead: true }));
        }
    }
    // A file that was moved and rewritten, as omp does, is still that session, if nothing is lost; so is one of a session
    // that was made here and has no source.
    let moved =
        sessions.iter().find(|(_, record)| record.sources.iter().all(|source| !exists(source)));
    Ok(Ok(match moved {
        Some((session, record)) => {
            Plan::Replace { session: *session, record: Box::new(record.clone()), is_of_path: false }
        }
        None => Plan::New { number: next_number, restores: Vec::new() },
    }))
}

/// Returns true if a change in the store gave the session's file other bytes, so that entries have to be compared: the session is
/// exported as its program would save it, or has another name in its header.
pub(in crate::catalog) fn has_other_bytes(record: &SessionRecord) -> bool {
    let is_renamed = record.known_family().names_in_header() && record.imported.length == 0;
    record.rewritten || (is_renamed && !record.migrated)
}

/// The plan for another state of a session that [has other bytes](has_other_bytes); `None` if the file is not such a state.
fn rewritten(
    snapshot: &Snapshot,
    sessions: &[(SessionKey, SessionRecord)],
    source: Option<SessionKey>,
    candidate: &mut Candidate,
) -> Result<io::Result<Option<Plan>>> {
    let mut other = None;
    let mut earlier = None;
    for (session, record) in sessions.iter().filter(|(_, record)| has_other_bytes(record)) {
        let view = View::new(snapshot.rows(*session), record);
        let state = match saved_state::compare(view, candidate)? {
            Ok(state) => state,
            Err(error) => return Ok(Err(error)),
        };
        let (session, record) = (*session, Box::new(record.clone()));
        match state {
            FileState::Same => {
                return Ok(Ok(Some(Plan::Unchanged { session, record, ahead: false })));
            }
            FileState::Earlier => {
                earlier.get_or_insert(Plan::Unchanged { session, record, ahead: true });
            }
            // A file that is a source of another session stays one; a file without a session becomes this one's if
            // nothing is lost.
            FileState::Other if record.rewritten && source.is_none() => {
                other.get_or_insert(Plan::Replace { session, record, is_of_path: false });
            }
            FileState::Other => {}
        }
    }
    Ok(Ok(earlier.or(other)))
}

/// Those of the removed sessions with the file's id that the file is of: those that were imported from its path, or with
/// whose bytes it begins; if there are none, and the store has no session with the id, all of them.
fn removed_of(
    mut removed: Vec<(SessionKey, RemovedRecord)>,
    (source, digests): (Option<SessionKey>, &[(u64, u128)]),
    is_id_in_use: bool,
) -> Vec<(SessionKey, RemovedRecord)> {
    let is_known = |(session, removed): &(SessionKey, RemovedRecord)| {
        source == Some(*session)
            || (removed.length > 0 && digests.contains(&(removed.length, removed.digest)))
    };
    if is_id_in_use || removed.iter().any(is_known) {
        removed.retain(is_known);
    }
    removed
}

/// The lowest number under which a session with this id can be addressed.
pub(crate) fn free_number(store: &Store, id: &[u8], from: u32) -> Result<u32> {
    let snapshot = store.snapshot()?;
    let mut number = from;
    while snapshot.key_of(&address_bytes(id, number))?.is_some() {
        number += 1;
    }
    Ok(number)
}

/// Whether the file begins with all of the session's lines.
fn has_beginning(view: View<'_>, candidate: &mut Candidate) -> Result<io::Result<bool>> {
    let digest = match candidate.digests(&[view.record().bytes]) {
        Ok(digest) => digest,
        Err(error) => return Ok(Err(error)),
    };
    let mut whole = PrefixDigest::new(view.record().bytes);
    current_bytes(view, &mut |bytes| Ok(whole.take(bytes)))?;
    Ok(Ok(digest.first().is_some_and(|(_, digest)| whole.digest() == Some(*digest))))
}

/// Whether the file is the beginning of what was imported as this session, or of its current lines.
fn is_beginning(view: View<'_>, candidate: &mut Candidate) -> Result<io::Result<bool>> {
    let digest = match candidate.digests(&[candidate.size]) {
        Ok(digest) => digest,
        Err(error) => return Ok(Err(error)),
    };
    let is_of = |prefix: &PrefixDigest| {
        digest.first().is_some_and(|(_, digest)| prefix.digest() == Some(*digest))
    };
    let mut imported = PrefixDigest::new(candidate.size);
    exact_bytes(view, &mut |bytes| Ok(imported.take(bytes)))?;
    if is_of(&imported) || !view.record().migrated {
        return Ok(Ok(is_of(&imported)));
    }
    let mut current = PrefixDigest::new(candidate.size);
    current_bytes(view, &mut |bytes| Ok(current.take(bytes)))?;
    Ok(Ok(is_of(&current)))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use leafline_import::Family;

    use super::super::report::Recovery;
    use super::*;
    use crate::session::{ExportMode, NewSession, Persistence};

    #[test]
    fn a_file_that_cannot_be_read_is_not_taken_for_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::in_memory().unwrap();
        let mut new = NewSession::new(Family::Pi, "/work");
        new.id = Some("s".to_owned());
        new.persistence = Some(Persistence::keep_everything());
        let mut session = store.create_session(&new).unwrap();
        session.append_message(&serde_json::json!({"role": "user", "content": "Hi"})).unwrap();
        let mut whole = Vec::new();
        session.reader().unwrap().export(&ExportMode::Current, &mut whole).unwrap();
        let path = folder.path().join("s.jsonl");
        let end_of_header = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        // All of the session and more; its beginning alone.
        for bytes in [[&whole[..], b"{}\n"].concat(), whole[..end_of_header].to_vec()] {
            std::fs::write(&path, &bytes).unwrap();
            let mut candidate = Candidate::open(&path, None, Recovery::Documented).unwrap();
            // Reading a folder fails.
            candidate.file = File::open(folder.path()).unwrap();
            let plan = plan(&store, &mut candidate, Mode::Import).unwrap();
            assert!(plan.is_err(), "{plan:?}");
        }
    }
}
