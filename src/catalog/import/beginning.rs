//! What a file's beginning shows of its session, before its lines are read.

use leafline_import::{Reading, Start, TITLE_BESIDE};

use super::candidate::Candidate;
use crate::store::session_record::{SessionRecord, SessionRest};

/// The record of a session, the `number`-th with its id, from the beginning of its file.
pub(in crate::catalog) fn record_of(candidate: &Candidate, number: u32) -> SessionRecord {
    let id = (candidate.external_id(), number);
    record_of_start(&candidate.start, id, candidate.reading(), candidate.modified_milliseconds())
}

/// The same of what the beginning shows, and of the time of the file, in milliseconds since 1970.
pub(crate) fn record_of_start(
    start: &Start,
    (external_id, number): (&[u8], u32),
    reading: Reading,
    modified: Option<i64>,
) -> SessionRecord {
    SessionRecord {
        external_id: external_id.to_vec(),
        number,
        family: reading.family.code(),
        migrated: start.migration.is_some(),
        imported_version: start.version.clone(),
        cwd: start.cwd.clone(),
        title: start.title.clone(),
        parent_session: start.parent_session.clone(),
        agent: start.agent.as_ref().map(|agent| agent.id.clone().unwrap_or_default()),
        created: start.created_ms,
        modified: start.created_ms.or(modified),
        rest: SessionRest {
            recovers: reading.recovers,
            title_rank: start.title_rank,
            ..SessionRest::default()
        },
        ..SessionRecord::default()
    }
}

/// Takes the title that another file currently gives the session: it may have changed without a change of the session's
/// file. If there is none any longer, the title stays.
pub(super) fn take_title_beside(record: &mut SessionRecord, candidate: &Candidate) {
    let start = &candidate.start;
    if start.title_rank == TITLE_BESIDE {
        record.title.clone_from(&start.title);
        record.title_rank = start.title_rank;
    }
}
