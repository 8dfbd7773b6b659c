//! The keys under which Claude Code's agent kits keep sessions.

use leafline_import::claude::project_folder_name;

use crate::error::{LiveError, Result};
use crate::store::session_record::SessionRecord;
use crate::store::source_record::{NAME, is_name, path_of_bytes};

/// The name of the kits in the names of sessions.
const KIT: &[u8] = b"claude-agent-sdk";

/// The folder of a session that has the files of its agents.
const SUBAGENTS: &str = "subagents";

/// What the names of agents' files begin with.
const AGENT: &str = "agent-";

/// The key of a session in the kits' `SessionStore` (`SessionKey` of both): the main transcript of a session, or, with a
/// subpath, that of one of its agents.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionKey {
    /// The caller's scope; by default the working directory, as Claude Code names the folder of a project.
    pub project_key: String,
    /// The session's id, a UUID in the sessions of Claude Code.
    pub session_id: String,
    /// Where the file stands in the session's folder, without its ending, as in `subagents/agent-a1b2c3`. `None` for the main
    /// transcript.
    pub subpath: Option<String>,
}

impl SessionKey {
    /// The key of a session's main transcript.
    pub fn new(project_key: impl Into<String>, session_id: impl Into<String>) -> Self {
        Self { project_key: project_key.into(), session_id: session_id.into(), subpath: None }
    }

    /// The key of a transcript below the same session.
    #[must_use]
    pub fn with_subpath(&self, subpath: impl Into<String>) -> Self {
        Self { subpath: Some(subpath.into()), ..self.clone() }
    }

    /// The key of the session itself.
    #[must_use]
    pub(super) fn main(&self) -> Self {
        Self { subpath: None, ..self.clone() }
    }

    /// The session's name in `sources`.
    ///
    /// # Errors
    ///
    /// [`LiveError::InvalidKey`] for a part that is empty or has a NUL.
    pub(super) fn name(&self) -> Result<Vec<u8>> {
        let mut name = beginning(&self.project_key)?;
        name.extend(part(&self.session_id, "session id")?);
        if let Some(subpath) = &self.subpath {
            name.push(NAME);
            name.extend(part(subpath, "subpath")?);
        }
        Ok(name)
    }

    /// The beginning of the names of what is below the session.
    pub(super) fn names_below(&self) -> Result<Vec<u8>> {
        let mut name = self.main().name()?;
        name.push(NAME);
        Ok(name)
    }

    /// The id of the session that is made for the key: the name of the file.
    pub(super) fn file_name(&self) -> &str {
        let Some(subpath) = &self.subpath else { return &self.session_id };
        let name = subpath.rsplit(['/', '\\']).next().unwrap_or_default();
        if name.is_empty() { subpath } else { name }
    }

    /// The id of the agent whose transcript it is.
    pub(super) fn agent(&self) -> Option<String> {
        self.subpath.as_ref()?;
        let name = self.file_name();
        Some(name.strip_prefix(AGENT).unwrap_or(name).to_owned())
    }
}

/// The beginning of all names that kits give.
pub(super) fn names() -> Vec<u8> {
    [&[NAME], KIT, &[NAME]].concat()
}

/// The beginning of the names of a project's sessions.
pub(super) fn beginning(project_key: &str) -> Result<Vec<u8>> {
    let mut name = names();
    name.extend(part(project_key, "project key")?);
    name.push(NAME);
    Ok(name)
}

fn part<'k>(text: &'k str, part: &'static str) -> Result<&'k [u8]> {
    let problem = match text {
        "" => "is empty",
        _ if text.bytes().any(|byte| byte == NAME) => "has a NUL",
        _ => return Ok(text.as_bytes()),
    };
    Err(LiveError::InvalidKey { part, problem }.into())
}

/// Whether kits have names for a session.
pub(super) fn is_named(record: &SessionRecord) -> bool {
    let names = names();
    record.sources.iter().any(|source| source.starts_with(&names))
}

/// Whether a project key is the one that the kits give a working directory.
pub(super) fn is_of(project_key: &str, cwd: &str) -> bool {
    project_folder_name(cwd) == project_key
}

/// The subpath of an agent's session that was imported: where its file stood in the session's folder, or would stand.
pub(super) fn subpath_of(record: &SessionRecord) -> String {
    let paths = record.sources.iter().filter(|source| !is_name(source));
    let stood = paths.filter_map(|source| path_of_bytes(source)).find_map(|path| {
        let path = path.with_extension("");
        let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
        let parts = parts?;
        let at = parts.iter().rposition(|part| *part == SUBAGENTS)?;
        Some(parts.get(at..)?.join("/"))
    });
    stood.unwrap_or_else(|| {
        let id = String::from_utf8_lossy(&record.external_id);
        format!("{SUBAGENTS}/{id}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_not_mixed_up() {
        let key = SessionKey::new("p", "s");
        let other = SessionKey::new("p", "s2");
        assert!(!other.name().unwrap().starts_with(&key.names_below().unwrap()));
        let below = key.with_subpath("subagents/x/agent-1");
        assert!(below.name().unwrap().starts_with(&key.names_below().unwrap()));
        assert_eq!((below.file_name(), below.agent().as_deref()), ("agent-1", Some("1")));
        assert_eq!(below.with_subpath("x/").file_name(), "x/");
        for wrong in [SessionKey::new("", "s"), SessionKey::new("p", "a\0b"), key.with_subpath("")]
        {
            assert!(wrong.name().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn keys_of_working_directories() {
        assert!(is_of("-work-tide-clock", "/work/tide_clock"));
        assert!(!is_of("-work-tide", "/work/tide_clock"));
        let long = format!("/{}", "a".repeat(300));
        assert!(is_of(&project_folder_name(&long), &long));
        assert!(!is_of(&project_folder_name(&format!("{long}b")), &long));
    }
}
