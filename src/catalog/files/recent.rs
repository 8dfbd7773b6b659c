//! The newest session files, by their beginnings.

use std::path::PathBuf;

use leafline_import::Family;
use serde::Serialize;

use super::reading::FileReader;
use super::torn::made_whole;
use super::{FileList, SessionFiles};
use crate::catalog::filter::{SessionFilter, Sieve};
use crate::catalog::import::candidate::{Candidate, PREFIX_BYTES};
use crate::catalog::import::report::{FileReport, Recovery};
use crate::catalog::import::{FoundFile, beginning};
use crate::catalog::path_text;
use crate::store::session_record::SessionRecord;

/// Bytes of a file that are read for its facts (omp session storage document).
const RECENT_PREFIX_BYTES: u64 = 4096;

/// The facts in the first 4,096 bytes of a session's file, made by [`SessionFiles::recent`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RecentSession {
    /// The file.
    #[serde(serialize_with = "path_text")]
    pub path: PathBuf,
    /// When the file was modified, in milliseconds since 1970.
    pub file_modified: Option<i64>,
    /// The session's id: the header's; if the family has none, the file's name without its extension.
    pub id: String,
    /// The family of its format. An omp session whose prefix shows nothing that only omp writes counts as pi's, unless
    /// it is in omp's folder.
    pub family: Family,
    /// The working directory that the header names.
    pub cwd: Option<String>,
    /// Its title or name at the end of the prefix.
    pub title: Option<String>,
    /// The beginning of the first user message, on one line, if it begins in the prefix; it ends in `…` if the prefix
    /// cuts it off.
    pub first_prompt: Option<String>,
    /// The lineage in the header; for an agent's conversation the id of the session that started it.
    pub parent_session: Option<String>,
    /// The agent whose conversation it is, if the session `parent_session` started it (Claude Code).
    pub agent: Option<String>,
    /// When it was created, in milliseconds since 1970.
    pub created: Option<i64>,
    /// Bytes of the file.
    pub bytes: u64,
}

impl RecentSession {
    /// Its display name: its title, or else its first prompt, or else its id.
    #[must_use]
    pub fn name(&self) -> &str {
        self.title.as_deref().or(self.first_prompt.as_deref()).unwrap_or(&self.id)
    }
}

impl SessionFiles {
    /// The sessions whose files were modified last, newest first, at most `limit` (omp session storage document,
    /// `getRecentSessions`). It uses the time of the file, and reads only the first 4,096 bytes of the newest files
    /// until it has enough.
    ///
    /// It reads more only if these bytes show nothing: if the first line is longer, or if the working directory of a
    /// Claude Code session comes later (ours).
    #[must_use]
    pub fn get_recent_sessions(&self, limit: usize) -> FileList<RecentSession> {
        self.recent(&SessionFilter { limit: Some(limit), ..SessionFilter::default() })
    }

    /// The session whose file was modified last, of those that a filter accepts as [`Self::recent`] does (omp session
    /// storage document, `findMostRecentSession`). A file that cannot be read is skipped.
    #[must_use]
    pub fn find_most_recent(&self, filter: &SessionFilter) -> Option<RecentSession> {
        self.recent(&SessionFilter { limit: Some(1), ..filter.clone() }).sessions.pop()
    }

    /// [`Self::get_recent_sessions`] with a filter. The filter is applied to what the prefix shows: `since` and `until`
    /// to the file's time, and `without_agents` excludes all agents. `order` has no effect: the order is that of the
    /// files.
    #[must_use]
    pub fn recent(&self, filter: &SessionFilter) -> FileList<RecentSession> {
        let (mut files, mut unreadable) = self.find();
        files.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
        let limit = filter.limit.unwrap_or(usize::MAX);
        let sieve = Sieve::new(filter);
        let mut reader = FileReader::new();
        let mut sessions = Vec::new();
        for file in files {
            if sessions.len() >= limit {
                break;
            }
            match read_prefix(&file, &mut reader) {
                Ok((session, record)) => {
                    let is_agent = filter.without_agents && session.agent.is_some();
                    if !is_agent && sieve.takes(&record) {
                        sessions.push(session);
                    }
                }
                Err(report) => unreadable.extend(super::unreadable(*report)),
            }
        }
        FileList { sessions, unreadable }
    }
}

fn read_prefix(
    file: &FoundFile,
    reader: &mut FileReader,
) -> Result<(RecentSession, SessionRecord), Box<FileReport>> {
    let open = |bytes| Candidate::open_by_prefix(&file.path, None, Recovery::Documented, bytes);
    let (mut candidate, mut prefix) = open(RECENT_PREFIX_BYTES)?;
    let is_cut = (prefix.len() as u64) < candidate.size;
    if is_cut && candidate.start.may_tell_more {
        (candidate, prefix) = open(PREFIX_BYTES)?;
    }
    let whole = match candidate.size > prefix.len() as u64 {
        true => prefix.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1),
        false => prefix.len(),
    };
    let (lines, rest) = prefix.split_at(whole);
    let shows_prompt = candidate.start.family.prefix_shows_prompt();
    let torn = if shows_prompt { made_whole(rest) } else { None };
    let record = beginning::record_of(&candidate, 1);
    let mut record = reader.read_prefix(&candidate, record, lines, torn.as_deref());
    record.modified = candidate.modified_milliseconds();
    let session = RecentSession {
        path: file.path.clone(),
        file_modified: record.modified,
        id: record.id(),
        family: candidate.start.family,
        cwd: record.cwd.clone(),
        title: record.title.clone(),
        first_prompt: record.first_prompt.clone(),
        parent_session: record.parent_session.clone(),
        agent: record.agent.clone(),
        created: record.created,
        bytes: candidate.size,
    };
    Ok((session, record))
}
