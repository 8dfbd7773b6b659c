//! The folders of projects, and of agents in them.

use std::path::Path;

/// The folder, below one with a session's name, that holds the files of its agents.
pub(super) const SUBAGENTS: &str = "subagents";

/// The session in whose folder of agents a file stands (observed): it is in `<session>/subagents`, at any depth below it.
pub(super) fn session_of_agents_folder(path: &Path) -> Option<String> {
    let folder = path.ancestors().skip(1).find(|folder| folder.ends_with(SUBAGENTS))?;
    Some(folder.parent()?.file_name()?.to_string_lossy().into_owned())
}

/// The name of the folder that holds the sessions of a working folder: the cwd with every character that is not an ASCII
/// letter or digit as `-` (observed).
///
/// A character outside the basic plane is two dashes, as the program replaces UTF-16 units. (ours: the documents name
/// no such case, and JavaScript's regular expressions work so.) Two working folders can share a name; so the cwd of a
/// session is what its records say, never what its folder is called.
///
/// ```
/// use leafline_import::claude::project_folder_name;
///
/// assert_eq!(project_folder_name("/home/robin/tide_clock.v2"), "-home-robin-tide-clock-v2");
/// assert_eq!(project_folder_name("e:\\Work"), "e--Work");
/// ```
#[must_use]
pub fn project_folder_name(cwd: &str) -> String {
    cwd.encode_utf16()
        .map(|unit| match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
            _ => '-',
        })
        .collect()
}

/// Whether a name is one that [`project_folder_name`] gives an absolute path: other folders are called `projects` too.
pub(super) fn is_project_folder(name: &str) -> bool {
    let after_drive = name.get(1..).is_some_and(|rest| rest.starts_with("--"));
    (name.starts_with('-') || after_drive)
        && name.bytes().all(|byte| byte == b'-' || byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_agents() {
        let session = |path: &str| session_of_agents_folder(Path::new(path));
        assert_eq!(session("p/4f2e/subagents/agent-a1.jsonl").as_deref(), Some("4f2e"));
        assert_eq!(session("p/4f2e/subagents/x/y/agent-a1.jsonl").as_deref(), Some("4f2e"));
        assert_eq!(session("p/agent-a1.jsonl"), None);
        assert_eq!(session("p/subagents.jsonl"), None);
    }

    #[test]
    fn characters_that_are_no_ascii_letters() {
        assert_eq!(project_folder_name("/é/🍃-a_b"), "------a-b");
        assert_eq!(project_folder_name(""), "");
    }
}
