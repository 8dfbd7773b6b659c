//! Which session an agent's file of Claude Code belongs to.

use std::path::Path;

use leafline_import::claude::Detection;

use super::candidate::Candidate;
use crate::store::session_record::SessionRecord;

/// The folder, below one with a session's name, that holds the files of its agents.
const SUBAGENTS: &str = "subagents";

/// An agent's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AgentOf {
    /// The agent's id; empty where neither records nor name tell it.
    pub(super) id: String,
    /// The id of the session that started it.
    pub(super) parent: Option<String>,
}

/// The agent whose file it is; `None` for a session's own file.
///
/// A file in `<session>/subagents`, at any depth below it, belongs to that session; any other whose first records are all
/// on a sidechain, to the session that those name.
pub(super) fn of(candidate: &Candidate, detection: &Detection) -> Option<AgentOf> {
    let folder = session_of_folder(&candidate.path);
    if folder.is_none() && detection.agent.is_none() {
        return None;
    }
    let stem = String::from_utf8_lossy(candidate.external_id()).into_owned();
    let of_name = || stem.strip_prefix("agent-").unwrap_or_default().to_owned();
    let agent = detection.agent.clone();
    let (id, session) = agent.map_or((None, None), |agent| (agent.id, agent.session_id));
    let session = folder.or(session).or_else(|| detection.session_id.clone());
    Some(AgentOf {
        id: id.unwrap_or_else(of_name),
        // A session's own file of which only a sidechain was read is not its own agent.
        parent: session.filter(|session| *session != stem),
    })
}

/// Whether a file stands in a session's folder of agents.
pub(in crate::catalog) fn is_among(path: &Path) -> bool {
    session_of_folder(path).is_some()
}

/// Takes back that a session is an agent's, which its first lines may have shown: an agent's file has no message of its own
/// session's, and only all lines tell. One that `is_among` those in a session's folder of agents is one whatever it holds.
pub(in crate::catalog) fn settle(record: &mut SessionRecord, is_among: bool) {
    if record.agent.is_some() && !is_among && record.last_message.is_some() {
        record.agent = None;
        record.parent_session = None;
    }
}

/// The session in whose folder of agents a file stands.
fn session_of_folder(path: &Path) -> Option<String> {
    let folder = path.ancestors().skip(1).find(|folder| folder.ends_with(SUBAGENTS))?;
    Some(folder.parent()?.file_name()?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_agents() {
        let session = |path: &str| session_of_folder(Path::new(path));
        assert_eq!(session("p/4f2e/subagents/agent-a1.jsonl").as_deref(), Some("4f2e"));
        assert_eq!(session("p/4f2e/subagents/x/y/agent-a1.jsonl").as_deref(), Some("4f2e"));
        assert_eq!(session("p/agent-a1.jsonl"), None);
        assert_eq!(session("p/subagents.jsonl"), None);
    }
}
