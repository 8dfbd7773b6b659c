//! What a file's beginning tells of its session, before its lines are read.

use leafline_import::Detection;

use super::agents;
use super::candidate::Candidate;
use crate::store::session_record::{SessionRecord, SessionRest};

/// The record of a session, the `number`-th with its id, as far as its file's beginning tells.
pub(in crate::catalog) fn record_of(candidate: &Candidate, number: u32) -> SessionRecord {
    let reading = candidate.reading();
    let record = SessionRecord {
        external_id: candidate.external_id().to_vec(),
        number,
        family: reading.family.code(),
        migrated: candidate.needs_migration(),
        rest: SessionRest { recovers: reading.recovers, ..SessionRest::default() },
        ..SessionRecord::default()
    };
    let record = match &candidate.detection {
        Detection::PiOmp(detection) => {
            let header = &detection.header;
            SessionRecord {
                imported_version: detection.version.number().to_string(),
                cwd: header.cwd.clone(),
                title: header.title.clone(),
                parent_session: header.parent_session.clone(),
                created: header.timestamp_ms,
                ..record
            }
        }
        Detection::Claude(detection) => {
            let agent = agents::of(candidate, detection);
            SessionRecord {
                imported_version: detection.version.clone().unwrap_or_default(),
                cwd: detection.cwd.clone(),
                parent_session: agent.as_ref().and_then(|agent| agent.parent.clone()),
                agent: agent.map(|agent| agent.id),
                created: detection.timestamp_ms,
                ..record
            }
        }
        Detection::Opal(header) => SessionRecord {
            cwd: header.cwd.clone(),
            title: header.title.clone(),
            created: header.created_at_ms,
            ..record
        },
    };
    SessionRecord { modified: record.created.or(candidate.modified_milliseconds()), ..record }
}
