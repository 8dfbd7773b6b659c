//! Files of agents, in the folder beside their session's file (observed of omp 18.2.3).

use std::path::{Component, Path, PathBuf};

use crate::file_name::FileName;
use crate::start::{Agent, Start};

/// The time in a file's name, a digit for each 0.
const TIME: &[u8] = b"0000-00-00T00-00-00-000Z";

/// Adds the agent and its session, if the file is in the folder of a session, `<time>_<id>`, at any depth: the agents of
/// an agent have theirs in a folder below. An agent's name is its path in the session's folder.
pub(super) fn placed(start: Start, path: &Path) -> Start {
    let Some((session, agent)) = agent_at(path) else { return start };
    Start {
        agent: Some(Agent { id: Some(agent), is_certain: true }),
        parent_session: Some(session),
        ..start
    }
}

fn agent_at(path: &Path) -> Option<(String, String)> {
    let path = path.with_extension("");
    let names: Vec<&str> = path
        .components()
        .rev()
        .map_while(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    let (depth, session) = (1..)
        .zip(names.get(1..)?)
        .find_map(|(depth, name)| Some((depth, session_of_folder(name)?)))?;
    let agent: Vec<&str> = names.get(..depth)?.iter().rev().copied().collect();
    Some((session.to_owned(), agent.join("/")))
}

/// The id in the name of a session's folder.
fn session_of_folder(name: &str) -> Option<&str> {
    let (time, id) = name.split_at_checked(TIME.len())?;
    let is_time = time.bytes().zip(TIME).all(|(byte, pattern)| match pattern {
        b'0' => byte.is_ascii_digit(),
        other => byte == *other,
    });
    id.strip_prefix('_').filter(|id| is_time && !id.is_empty())
}

/// The path of an agent's file in its session's folder.
pub(super) fn file(agent: &str) -> PathBuf {
    let parts = agent.split('/').filter(|part| !matches!(*part, "" | "." | ".."));
    let parts = parts.map(|id| FileName { id, ..FileName::default() }.plain_id());
    let mut path: PathBuf = parts.collect();
    path.as_mut_os_string().push(".jsonl");
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_named_by_its_place_in_the_folder_of_its_session() {
        let folder = "/h/.omp/agent/sessions/-w/2026-02-01T10-00-00-000Z_o1";
        for (path, agent) in [
            ("0-Task.jsonl", "0-Task"),
            ("Tide Clock.v2.jsonl", "Tide Clock.v2"),
            ("Oak/Oak.Elm.jsonl", "Oak/Oak.Elm"),
            ("__advisor.jsonl", "__advisor"),
        ] {
            let found = agent_at(&Path::new(folder).join(path));
            assert_eq!(found, Some(("o1".to_owned(), agent.to_owned())));
            assert_eq!(file(agent), Path::new(path));
        }
        for other in [
            "/h/.omp/agent/sessions/-w/2026-02-01T10-00-00-000Z_o1.jsonl",
            "/h/-w/2026-02-01_o1/0-Task.jsonl",
            "/h/-w/2026-02-01T10-00-00-000Z_/0-Task.jsonl",
            "/h/-w/o1/0-Task.jsonl",
        ] {
            assert_eq!(agent_at(Path::new(other)), None, "{other}");
        }
        assert_eq!(file("../../x"), Path::new("x.jsonl"));
    }
}
