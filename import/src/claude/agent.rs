//! Files of agents: conversations that another session started.

use crate::claude::record::Record;

/// What an agent's file says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// `agentId`, of the first entry that has one; older files have none.
    pub id: Option<String>,
    /// `sessionId`, of the first entry that has one: the session that started the agent (observed). Some tools write
    /// `<session>#agent-<agent>` there; then it is the part before `#` (ours, after published files).
    pub session_id: Option<String>,
}

/// Decides whether a file is an agent's, from its records.
///
/// It is when every entry of it is on a sidechain (`isSidechain`), and there is one. A session's own file may hold
/// sidechains as well, beside entries that are on none; so an answer from a file's first records is not yet final. An
/// `agentId` alone decides nothing. (observed: in an agent's file all records have both; ours: `isSidechain` decides,
/// as older files lack `agentId`.)
///
/// ```
/// use leafline_import::claude::{AgentFile, Scanner};
///
/// let mut file = AgentFile::new();
/// let mut scanner = Scanner::new();
/// file.observe(&scanner.scan(
///     r#"{"type":"user","uuid":"a","isSidechain":true,"agentId":"3430b97e","sessionId":"s"}"#,
/// ));
/// let agent = file.agent().expect("its only entry is on a sidechain");
/// assert_eq!(agent.id.as_deref(), Some("3430b97e"));
/// assert_eq!(agent.session_id.as_deref(), Some("s"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct AgentFile {
    entries: u64,
    others: u64,
    id: Option<String>,
    session_id: Option<String>,
}

impl AgentFile {
    /// Nothing is known yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes note of the next record; one that is no entry says nothing.
    pub fn observe(&mut self, record: &Record<'_>) {
        if !record.is_entry() {
            return;
        }
        self.entries += 1;
        self.others += u64::from(!record.is_sidechain());
        if self.id.is_none() {
            self.id = record.agent_id().map(String::from);
        }
        if self.session_id.is_none() {
            let id = record.session_id();
            self.session_id = id.map(|id| String::from_utf8_lossy(&id).into_owned());
        }
    }

    /// The agent whose file it is, by what was observed; `None` for a session's own file.
    #[must_use]
    pub fn agent(&self) -> Option<Agent> {
        if self.entries == 0 || self.others > 0 {
            return None;
        }
        let session_id = self.session_id.as_deref().map(|session_id| match &self.id {
            None => session_id,
            Some(id) => session_id.strip_suffix(&format!("#agent-{id}")).unwrap_or(session_id),
        });
        Some(Agent { id: self.id.clone(), session_id: session_id.map(String::from) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude::Scanner;

    fn agent(lines: &[&str]) -> Option<Agent> {
        let mut file = AgentFile::new();
        let mut scanner = Scanner::new();
        for line in lines {
            file.observe(&scanner.scan(line));
        }
        file.agent()
    }

    #[test]
    fn one_entry_of_its_own_makes_it_a_session() {
        let side = r#"{"type":"user","isSidechain":true,"sessionId":"s"}"#;
        let main = r#"{"type":"user","isSidechain":false,"agentId":"x"}"#;
        let outside = r#"{"type":"summary","summary":"x","leafUuid":"y"}"#;
        assert_eq!(agent(&[outside, side]).unwrap().session_id.as_deref(), Some("s"));
        let marked = r#"{"type":"user","isSidechain":true,"agentId":"a","sessionId":"s#agent-a"}"#;
        assert_eq!(agent(&[marked]).unwrap().session_id.as_deref(), Some("s"));
        assert_eq!(agent(&[side, main]), None);
        assert_eq!(agent(&[outside]), None);
        assert_eq!(agent(&[]), None);
    }
}
