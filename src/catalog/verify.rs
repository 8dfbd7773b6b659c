//! Checking a whole store: its sessions, its blobs, its history, and what no session owns.

use std::collections::{BTreeMap, BTreeSet};

use redb::ReadableTable;

use crate::error::Result;
use crate::session::{Findings, SessionReader, Verification, check_session};
use crate::store::Store;
use crate::store::blobs::{self, BlobRecord, Hash};
use crate::store::chunk::Chunk;
use crate::store::record::Record;
use crate::store::session_record::{SessionRecord, address_bytes};
use crate::store::snapshot::Snapshot;
use crate::store::source_record::SourceRecord;
use crate::store::tables;

impl Store {
    /// Checks every table against the lines, every blob against its hash, and the index of the history against its
    /// prompts.
    ///
    /// # Errors
    ///
    /// Only where the store cannot be read at all; damage is a finding.
    pub fn verify(&self) -> Result<Verification> {
        let mut verification = Verification::default();
        let snapshot = self.snapshot()?;
        let mut sessions = BTreeMap::new();
        for row in snapshot.sessions()?.iter()? {
            let (key, value) = row?;
            let record = SessionRecord::from_bytes(value.value(), || key.value().to_string());
            let mut findings = Findings::new(None, &mut verification);
            if let Some(record) = findings.absorb(record)? {
                sessions.insert(key.value(), record);
            }
        }
        for key in sessions.keys() {
            // Each as it is by now, its record included; somebody may be writing it.
            let current = self.snapshot()?;
            let record = Findings::new(None, &mut verification).absorb(current.session(*key))?;
            let Some(record) = record.flatten() else { continue };
            verification.sessions += 1;
            let session = Some(record.id());
            let reader = SessionReader::new(current, *key, record);
            let reader = Findings::new(session, &mut verification).absorb(reader)?;
            if let Some(reader) = reader {
                check_session(&reader, &mut verification)?;
            }
        }
        let mut findings = Findings::new(None, &mut verification);
        let unfinished = check_owners(self, &snapshot, &sessions, &mut findings)?;
        check_names(&snapshot, &sessions, &mut findings)?;
        check_blobs(&snapshot, &sessions, &unfinished, &mut findings)?;
        crate::history::check(&snapshot, &mut findings)?;
        Ok(verification)
    }
}

/// Rows whose session has no record must belong to an import or a deletion. Answers those sessions.
fn check_owners(
    store: &Store,
    snapshot: &Snapshot<'_>,
    sessions: &BTreeMap<u64, SessionRecord>,
    findings: &mut Findings<'_>,
) -> Result<BTreeSet<u64>> {
    let mut unfinished = BTreeSet::new();
    for row in snapshot.table(tables::UNFINISHED)?.iter()? {
        let (session, token) = row?;
        unfinished.insert(session.value());
        let text = if store.owners().is_alive(token.value()) {
            "an import or a deletion is under way"
        } else {
            "an import or a deletion was cut off; the next one sweeps its rows"
        };
        findings.remark("unfinished", None, None, text);
    }
    let lines = snapshot.table(tables::LINES)?;
    let mut from = 0;
    while let Some(row) = lines.range((from, 0, 0)..)?.next() {
        let (session, _, _) = row?.0.value();
        if !sessions.contains_key(&session) && !unfinished.contains(&session) {
            findings.problem(
                "lines",
                None,
                format!("there are lines of a session {session} that has no record"),
            );
        }
        from = session + 1;
    }
    Ok(unfinished)
}

/// Ids and sources must lead to sessions, and back.
fn check_names(
    snapshot: &Snapshot<'_>,
    sessions: &BTreeMap<u64, SessionRecord>,
    findings: &mut Findings<'_>,
) -> Result<()> {
    let ids = snapshot.table(tables::SESSION_IDS)?;
    let mut count = 0;
    for row in ids.iter()? {
        let (id, session) = row?;
        count += 1;
        let leads_back = sessions
            .get(&session.value())
            .is_some_and(|record| address_bytes(&record.external_id, record.number) == id.value());
        if !leads_back {
            let id = String::from_utf8_lossy(id.value()).into_owned();
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
    for row in snapshot.table(tables::SOURCES)?.iter()? {
        let (path, value) = row?;
        let place = String::from_utf8_lossy(path.value()).into_owned();
        let source = SourceRecord::from_bytes(value.value(), || place.clone());
        let Some(source) = findings.absorb(source)? else {
            continue;
        };
        let leads_back = sessions
            .get(&source.session)
            .is_some_and(|record| record.sources.iter().any(|known| known == path.value()));
        if !leads_back {
            findings.problem(
                "sources",
                None,
                format!("{place} leads to a session that does not name it"),
            );
        }
    }
    Ok(())
}

/// Every blob has its bytes, its hash, and as many references as lines name it.
fn check_blobs(
    snapshot: &Snapshot<'_>,
    sessions: &BTreeMap<u64, SessionRecord>,
    unfinished: &BTreeSet<u64>,
    findings: &mut Findings<'_>,
) -> Result<()> {
    let mut counts = References::new();
    for (&session, record) in sessions {
        let counted = count_references(snapshot, (session, record), &mut counts);
        findings.absorb(counted)?;
    }
    for &session in unfinished {
        let counted = count_left_references(snapshot, session, &mut counts);
        findings.absorb(counted)?;
    }
    for row in snapshot.table(tables::BLOBS)?.iter()? {
        let (hash, value) = row?;
        let hash = *hash.value();
        let record = BlobRecord::from_bytes(value.value(), || blobs::hex(&hash));
        let Some(record) = findings.absorb(record)? else {
            continue;
        };
        let (references, holes) = counts.remove(&hash).unwrap_or_default();
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
    }
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

/// Counts the references of a whole session.
fn count_references(
    snapshot: &Snapshot<'_>,
    (session, record): (u64, &SessionRecord),
    counts: &mut References,
) -> Result<()> {
    let mut next = 0;
    while next < record.lines {
        let bytes = snapshot.chunk_at(session, next)?;
        let chunk = Snapshot::parse(session, next, &bytes)?;
        next += chunk.line_count();
        count_holes(&chunk, counts);
    }
    Ok(())
}

/// Counts the references of a session that is not complete, or partly swept.
fn count_left_references(
    snapshot: &Snapshot<'_>,
    session: u64,
    counts: &mut References,
) -> Result<()> {
    let mut from = 0;
    while let Some((first, bytes)) = snapshot.chunk_from(session, from)? {
        let chunk = Snapshot::parse(session, first, &bytes)?;
        from = first + chunk.line_count();
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
