//! Files that a program keeps of a session elsewhere in its home, in folders that have a folder for each session, named by its id.
//!
//! Of a session at `<home>/projects/<project>/<id>.jsonl` Claude Code keeps the files in `<home>/file-history/<id>/`, for one.
//! Paths are bytes, as they are in the store's keys.

use leafline_import::Family;
use uuid::Uuid;

use super::beside::{ENDING, SEPARATOR};

/// The folder of the home that has the sessions, each in the folder of its project.
const SESSIONS: &[u8] = b"projects";

/// The length of an id.
const ID: usize = 36;

/// A session in a home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InHome<'p> {
    /// The home's path, without a separator behind it.
    home: &'p [u8],
    pub(crate) id: &'p [u8],
}

impl<'p> InHome<'p> {
    /// The session whose file this is; `None` if the file is in no home, or its name is no id.
    pub(crate) fn of_file(file: &'p [u8]) -> Option<Self> {
        let mut parts = file.rsplitn(4, is_separator);
        let id = parts.next()?.strip_suffix(ENDING.as_bytes())?;
        let _project = parts.next()?;
        (parts.next()? == SESSIONS && is_id(id)).then_some(())?;
        Some(Self { home: parts.next()?, id })
    }

    /// The home's folder that has the sessions.
    pub(crate) fn sessions(self) -> Vec<u8> {
        [self.home, &[SEPARATOR], SESSIONS, &[SEPARATOR]].concat()
    }

    /// The folder for this session in a folder of the home, with a separator behind it.
    pub(crate) fn folder(self, name: &[u8]) -> Vec<u8> {
        [self.home, &[SEPARATOR], name, &[SEPARATOR], self.id, &[SEPARATOR]].concat()
    }

    /// The folders that a program may have for this session, whether they are there or not: for each the name of the folder of
    /// the home that it is in, and its path with a separator behind it.
    pub(crate) fn folders(self) -> impl Iterator<Item = (&'static str, Vec<u8>)> {
        names().map(move |name| (name, self.folder(name.as_bytes())))
    }

    /// Where the paths below the home begin in a path of a file there.
    pub(crate) fn below(self) -> usize {
        self.home.len() + 1
    }
}

/// A path in a folder for a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kept<'p> {
    /// The session, if there is one.
    pub(crate) session: InHome<'p>,
    /// The name of the folder of the home.
    pub(crate) folder: &'p [u8],
}

/// The sessions whose a path may be by the folders that it is in, the nearest folder first. The path may be the folder for the
/// session itself.
pub(crate) fn places(path: &[u8]) -> impl Iterator<Item = Kept<'_>> {
    let ends = path.iter().enumerate().filter(|(_, byte)| is_separator(byte)).map(|(at, _)| at);
    let ends: Vec<usize> = ends.chain([path.len()]).collect();
    ends.into_iter().rev().filter_map(|end| {
        let mut parts = path.get(..end)?.rsplitn(3, is_separator);
        let (id, folder, home) = (parts.next()?, parts.next()?, parts.next()?);
        let is_one = is_id(id) && names().any(|name| name.as_bytes() == folder);
        is_one.then_some(Kept { session: InHome { home, id }, folder })
    })
}

/// The names of the folders that have a folder for each session.
fn names() -> impl Iterator<Item = &'static str> {
    Family::ALL.iter().flat_map(|family| family.folders_by_id()).copied()
}

fn is_separator(byte: &u8) -> bool {
    *byte == SEPARATOR || *byte == b'/'
}

fn is_id(name: &[u8]) -> bool {
    name.len() == ID && Uuid::try_parse_ascii(name).is_ok()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    const FILE: &[u8] = b"/h/.claude/projects/-w/5b0c7a52-9d1e-4c3f-8a64-0f2e6d7b1c90.jsonl";

    fn text(bytes: &[u8]) -> &str {
        std::str::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_session_is_in_the_home_above_its_projects() {
        let session = InHome::of_file(FILE).unwrap();
        assert_eq!(text(session.home), "/h/.claude");
        assert_eq!(text(&session.sessions()), "/h/.claude/projects/");
        let folders: Vec<_> = session.folders().map(|(name, _)| name).collect();
        assert_eq!(folders, ["file-history", "image-cache", "tasks", "uploads"]);
        let (_, folder) = session.folders().next().unwrap();
        assert_eq!(text(&folder), format!("/h/.claude/file-history/{}/", text(session.id)));
        let id = text(session.id);
        for other in [
            format!("/h/.claude/projects/{id}.jsonl"),
            format!("/h/.claude/projects/-w/{id}"),
            format!("/h/.claude/projects/-w/{id}/subagents/agent-1.jsonl"),
            format!("/h/.claude/sessions/-w/{id}.jsonl"),
            "/h/.claude/projects/-w/notes.jsonl".to_owned(),
            format!("projects/-w/{id}.jsonl"),
        ] {
            assert_eq!(InHome::of_file(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn a_path_is_in_the_folder_for_a_session() {
        let id = "5b0c7a52-9d1e-4c3f-8a64-0f2e6d7b1c90";
        let session = InHome::of_file(FILE).unwrap();
        let below = session.folder(b"tasks");
        for path in ["", "1.json", "a/b/1.json"] {
            let path = [&below, path.as_bytes()].concat();
            let found: Vec<_> = places(&path).collect();
            assert_eq!(found, [Kept { session, folder: b"tasks" }], "{}", text(&path));
        }
        // The nearest comes first.
        let deep = format!("/h/.claude/uploads/{id}/.claude/tasks/{id}/1.json");
        let homes: Vec<_> = places(deep.as_bytes()).map(|kept| text(kept.session.home)).collect();
        assert_eq!(homes, [format!("/h/.claude/uploads/{id}/.claude").as_str(), "/h/.claude"]);
        for other in ["/h/.claude/tasks/other/1.json", "/h/.claude/other/{id}/1.json", "", "/"] {
            assert_eq!(places(other.replace("{id}", id).as_bytes()).next(), None, "{other}");
        }
    }
}
