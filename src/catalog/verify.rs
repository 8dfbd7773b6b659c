//! Checks a whole store: its sessions, its blobs, its history, and rows that no session owns.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::session::view::View;
use crate::session::{Findings, Verification, check_session};
use crate::store::blobs::{self, Hash};
use crate::store::chunk::Chunk;
use crate::store::chunks::Chunks;
use crate::store::file_record::FileContent;
use crate::store::session_index::{bucket, starter};
use crate::store::session_key::SessionKey;
use crate::store::session_record::{SessionRecord, address_bytes};
use crate::store::snapshot::Snapshot;
use crate::store::{DamagedPage, Store};

impl Store {
    /// Checks every table against the lines, every blob against its hash, and the index of the history against its
    /// prompts.
    ///
    /// # Errors
    ///
    /// If the store cannot be read at all; damage is a finding.
    pub fn verify(&self) -> Result<Verification> {
        let mut verification = Verification::default();
        let mut sessions = BTreeMap::new();
        let mut unreadable = BTreeSet::new();
        let mut findings = Findings::new(None, &mut verification);
        for page in self.damaged_pages()? {
            let table = page.table.as_deref().unwrap_or("names of tables");
            let DamagedPage { at, length, .. } = page;
            let text =
                format!("the page of {length} bytes at byte {at} is not what was written there");
            findings.problem(table, None, text);
        }
        let Some(snapshot) = findings.absorb(self.snapshot())? else { return Ok(verification) };
        let listed = snapshot.each_session(|row| {
            let (key, record) = match row {
                Ok(row) => (row.key(), row.record()),
                Err(unreadable) => (unreadable.key, Err(unreadable.error)),
            };
            match findings.absorb(record)? {
                Some(record) => {
                    sessions.insert(key, record);
                }
                None => {
                    unreadable.insert(key);
                }
            }
            Ok(())
        });
        findings.absorb(listed)?;
        for key in sessions.keys() {
            // Each in its current state, including its record; another process may be writing it.
            let current = self.snapshot()?;
            let mut findings = Findings::new(None, &mut verification);
            let record = findings.absorb(current.session(*key))?;
            let Some(record) = record.flatten() else { continue };
            findings.counts().sessions += 1;
            let checked = check_session(View::new(current.rows(*key), &record), findings.counts());
            findings.absorb(checked)?;
        }
        let mut findings = Findings::new(None, &mut verification);
        let open = self.open_to_others();
        if !open.is_empty() {
            let open: Vec<String> = open.iter().map(|path| path.display().to_string()).collect();
            let text = format!("other users may open {}", open.join(" and "));
            findings.remark("permissions", None, None, text);
        }
        let checked = check_unfolded(&snapshot, &sessions, &mut findings);
        findings.absorb(checked)?;
        let unfinished = check_owners(self, &snapshot, (&sessions, &unreadable), &mut findings);
        let unfinished = findings.absorb(unfinished)?.unwrap_or_default();
        let checked = check_names(&snapshot, &sessions, &mut findings);
        findings.absorb(checked)?;
        let checked = check_files(&snapshot, (&sessions, &unreadable), &mut findings);
        findings.absorb(checked)?;
        let checked = check_removed(&snapshot, &sessions, &mut findings);
        findings.absorb(checked)?;
        let checked = check_times(&snapshot, (&sessions, &unreadable), &mut findings);
        findings.absorb(checked)?;
        let checked = check_parents(&snapshot, (&sessions, &unreadable), &mut findings);
        findings.absorb(checked)?;
        let checked = check_blobs(&snapshot, &sessions, &unfinished, &mut findings);
        findings.absorb(checked)?;
        let checked = crate::history::check(&snapshot, &mut findings);
        findings.absorb(checked)?;
        Ok(verification)
    }
}

/// Changes that the journal had and that the tables of their session could not take.
fn check_unfolded(
    snapshot: &Snapshot,
    sessions: &BTreeMap<SessionKey, SessionRecord>,
    findings: &mut Findings<'_>,
) -> Result<()> {
    let mut counts: BTreeMap<SessionKey, u64> = BTreeMap::new();
    snapshot.each_unfolded(|session| *counts.entry(session).or_default() += 1)?;
    for (session, count) in counts {
        let record = sessions.get(&session);
        let id = record.map(|record| address_bytes(&record.external_id, record.number));
        let id =
            id.map_or_else(|| session.to_string(), |id| String::from_utf8_lossy(&id).into_owned());
        let text = format!(
            "{count} changes of session {id} are kept apart: they were appended, and its tables, which are damaged, could not \
             take them"
        );
        findings.problem("unfolded", None, text);
    }
    Ok(())
}

/// Rows whose session has no record must belong to an import or a deletion. Returns those sessions.
fn check_owners(
    store: &Store,
    snapshot: &Snapshot,
    (sessions, unreadable): Known<'_>,
    findings: &mut Findings<'_>,
) -> Result<BTreeSet<SessionKey>> {
    let mut unfinished = BTreeSet::new();
    for (session, token) in snapshot.unfinished()? {
        unfinished.insert(session);
        let text = if store.owners().is_alive(token) {
            "an import or a deletion is under way"
        } else {
            "an import or a deletion was cut off; the next one sweeps its rows"
        };
        findings.remark("unfinished", None, None, text);
    }
    let known = sessions.keys().chain(unreadable).chain(&unfinished).copied().collect();
    for (session, table) in snapshot.stray_sessions(&known)? {
        let text = format!("there are rows of a session {session} that has no record");
        findings.problem(table, None, text);
    }
    Ok(unfinished)
}

/// Ids and sources must lead to sessions, and back.
fn check_names(
    snapshot: &Snapshot,
    sessions: &BTreeMap<SessionKey, SessionRecord>,
    findings: &mut Findings<'_>,
) -> Result<()> {
    let mut count = 0;
    for row in snapshot.addresses()?.beginning_with(b"")? {
        let (id, session) = row?;
        count += 1;
        let leads_back = sessions
            .get(&session)
            .is_some_and(|record| address_bytes(&record.external_id, record.number) == id);
        if !leads_back {
            let id = String::from_utf8_lossy(&id);
            findings.problem(
                "session_ids",
                None,
                format!("the id {id} leads to no session of that id"),
            );
        }
    }
    if count != sessions.len() {
        findings.problem(
            "session_ids",
            None,
            format!("there are {count} ids for {} sessions", sessions.len()),
        );
    }
    snapshot.each_source(|path, source| {
        let Some(source) = findings.absorb(source)? else {
            return Ok(());
        };
        let leads_back = match sessions.get(&source.session) {
            Some(record) => record.sources.iter().any(|known| known == path),
            None => {
                let removed = findings.absorb(snapshot.removed(source.session))?.flatten();
                removed.is_some_and(|removed| removed.sources.iter().any(|known| known == path))
            }
        };
        if !leads_back {
            let place = String::from_utf8_lossy(path);
            findings.problem(
                "sources",
                None,
                format!("{place} leads to a session that does not name it"),
            );
        }
        Ok(())
    })
}

/// Every file that is a session leads to one that leads back to it, and every other one has its bytes, which are no other's.
fn check_files(
    snapshot: &Snapshot,
    (sessions, unreadable): Known<'_>,
    findings: &mut Findings<'_>,
) -> Result<()> {
    let mut paths = BTreeMap::new();
    snapshot.each_session_file(|session, path| drop(paths.insert(session, path.to_vec())))?;
    let mut parts: BTreeMap<u64, u64> = BTreeMap::new();
    snapshot.each_file_part(|number, bytes| *parts.entry(number).or_default() += bytes)?;
    snapshot.each_file(|path, record| {
        let Some(record) = findings.absorb(record)? else { return Ok(()) };
        let problem = match record.content {
            FileContent::Session(session) => {
                let leads_back = paths.remove(&session).is_some_and(|known| known == path);
                let is_there = sessions.contains_key(&session) || unreadable.contains(&session);
                let problem = || format!("is session {session}, which does not lead back to it");
                (!leads_back || !is_there).then(problem)
            }
            FileContent::Bytes { number, size } => {
                let found = parts.remove(&number).unwrap_or_default();
                (found != size).then(|| format!("has {found} bytes of {size}"))
            }
        };
        if let Some(problem) = problem {
            let place = String::from_utf8_lossy(path);
            findings.problem("files", None, format!("{place} {problem}"));
        }
        Ok(())
    })?;
    for (session, path) in paths {
        let path = String::from_utf8_lossy(&path);
        let problem = format!("session {session} leads to {path}, which is another file or none");
        findings.problem("session_files", None, problem);
    }
    for (number, bytes) in parts {
        let problem = format!("{bytes} bytes of file {number} belong to no path");
        findings.problem("file_parts", None, problem);
    }
    Ok(())
}

/// What is kept of a removed session is found by its id, and the session is gone.
fn check_removed(
    snapshot: &Snapshot,
    sessions: &BTreeMap<SessionKey, SessionRecord>,
    findings: &mut Findings<'_>,
) -> Result<()> {
    let mut expected = BTreeSet::new();
    let mut unreadable = BTreeSet::new();
    snapshot.each_removed(|session, removed| {
        match findings.absorb(removed)? {
            Some(removed) => expected.insert((removed.external_id, session)),
            None => unreadable.insert(session),
        };
        if sessions.contains_key(&session) {
            findings.problem("removed", None, format!("session {session} is in the store"));
        }
        Ok(())
    })?;
    snapshot.each_removed_id(|id, session| {
        if !expected.remove(&(id.to_vec(), session)) && !unreadable.contains(&session) {
            let id = String::from_utf8_lossy(id);
            let problem = format!("the id {id} leads to no removed session of that id");
            findings.problem("removed_ids", None, problem);
        }
    })?;
    for (_, session) in expected {
        findings.problem("removed_ids", None, format!("removed session {session} has no row"));
    }
    Ok(())
}

/// The sessions whose records can be read, and those whose records cannot: it is unknown which rows the latter should
/// have.
type Known<'s> = (&'s BTreeMap<SessionKey, SessionRecord>, &'s BTreeSet<SessionKey>);

/// The index by time has a row for each session, in the hour that its record says, and no other.
fn check_times(
    snapshot: &Snapshot,
    (sessions, unreadable): Known<'_>,
    findings: &mut Findings<'_>,
) -> Result<()> {
    let times = snapshot.session_times()?;
    let mut missing: BTreeSet<SessionKey> = sessions.keys().copied().collect();
    for row in times.iter()? {
        let (hour, session) = row?;
        let is_right = sessions.get(&session).is_some_and(|record| bucket(record.modified) == hour);
        if is_right {
            missing.remove(&session);
        } else if !unreadable.contains(&session) {
            let problem = format!("a row of session {session} is of another hour than its record");
            findings.problem("session_times", None, problem);
        }
    }
    for session in missing {
        findings.problem("session_times", None, format!("session {session} has no row"));
    }
    Ok(())
}

/// The index by parent has a row for each agent's session, under the parent that its record names, and no other.
fn check_parents(
    snapshot: &Snapshot,
    (sessions, unreadable): Known<'_>,
    findings: &mut Findings<'_>,
) -> Result<()> {
    let parents = snapshot.session_parents()?;
    let agents = sessions.iter().filter(|(_, record)| starter(record).is_some());
    let mut missing: BTreeSet<SessionKey> = agents.map(|(&session, _)| session).collect();
    parents.each(|parent, session| {
        if sessions.get(&session).and_then(starter) == Some(parent) {
            missing.remove(&session);
        } else if !unreadable.contains(&session) {
            let parent = String::from_utf8_lossy(parent);
            let problem =
                format!("{parent} has a row for session {session}, which is not an agent of it");
            findings.problem("session_parents", None, problem);
        }
    })?;
    for session in missing {
        findings.problem("session_parents", None, format!("session {session} has no row"));
    }
    Ok(())
}

/// Every blob has its bytes, its hash, and as many references as lines name it.
fn check_blobs(
    snapshot: &Snapshot,
    sessions: &BTreeMap<SessionKey, SessionRecord>,
    unfinished: &BTreeSet<SessionKey>,
    findings: &mut Findings<'_>,
) -> Result<()> {
    let mut counts = References::new();
    for (&session, record) in sessions {
        let counted = count_references(snapshot.rows(session).chunks(record.lines), &mut counts);
        findings.absorb(counted)?;
    }
    for &session in unfinished {
        let counted = count_references(snapshot.rows(session).chunks_left(), &mut counts);
        findings.absorb(counted)?;
    }
    snapshot.each_blob(|hash, record| {
        // A blob that no line names is not among the counts.
        let (references, holes) = counts.remove(&hash).unwrap_or((0, 0));
        let Some(record) = findings.absorb(record)? else {
            return Ok(());
        };
        if (record.references, record.holes) != (references, holes) {
            findings.problem(
                "blobs",
                None,
                format!(
                    "{} is counted {} times ({} cut out), lines name it {references} ({holes})",
                    blobs::hex(&hash),
                    record.references,
                    record.holes
                ),
            );
        }
        if record.size.is_none() && holes > 0 {
            findings.problem(
                "blobs",
                None,
                format!("{} is cut out of lines and not there", blobs::hex(&hash)),
            );
        }
        if record.size.is_some() {
            findings.counts().blobs += 1;
            let read = snapshot.blob(&hash);
            findings.absorb(read)?;
        }
        Ok(())
    })?;
    for hash in counts.keys() {
        findings.problem(
            "blobs",
            None,
            format!("lines name {}, which has no record", blobs::hex(hash)),
        );
    }
    Ok(())
}

/// How often lines name each blob, and how often it was cut out of them.
type References = BTreeMap<Hash, (u64, u64)>;

/// Counts the references of a session's chunks.
fn count_references(mut chunks: Chunks<'_>, counts: &mut References) -> Result<()> {
    while let Some(chunk) = chunks.next()? {
        count_holes(&chunk, counts);
    }
    Ok(())
}

fn count_holes(chunk: &Chunk<'_>, counts: &mut References) {
    for hole in chunk.holes() {
        let count = counts.entry(hole.hash).or_default();
        count.0 += 1;
        count.1 += u64::from(hole.kind.is_cut());
    }
}
