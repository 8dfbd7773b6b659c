//! The folders of projects, and of agents in them.

use std::path::Path;

/// The folder, below one with a session's name, that holds the files of its agents.
pub(super) const SUBAGENTS: &str = "subagents";

/// The session in whose folder of agents a file stands (observed): it is in `<session>/subagents`, at any depth below it.
pub(super) fn session_of_agents_folder(path: &Path) -> Option<String> {
    let folder = path.ancestors().skip(1).find(|folder| folder.ends_with(SUBAGENTS))?;
    Some(folder.parent()?.file_name()?.to_string_lossy().into_owned())
}

/// The longest name of a project's folder that is not shortened, in characters (observed).
const LONGEST: usize = 200;

/// The name of the folder that holds the sessions of a working folder: the cwd with every UTF-16 unit that is not an ASCII
/// letter or digit as `-`. Of a longer name the first 200 characters are followed by a hash of the cwd. (observed)
///
/// Two working folders can share a name; so the cwd of a session is what its records say, never what its folder is
/// called.
///
/// ```
/// use leafline_import::claude::project_folder_name;
///
/// assert_eq!(project_folder_name("/home/robin/tide_clock.v2"), "-home-robin-tide-clock-v2");
/// assert_eq!(project_folder_name("e:\\Work"), "e--Work");
/// ```
#[must_use]
pub fn project_folder_name(cwd: &str) -> String {
    let folded = cwd.encode_utf16().map(|unit| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
        _ => '-',
    });
    let mut name: String = folded.collect();
    if name.len() > LONGEST {
        name.truncate(LONGEST);
        name.push('-');
        name.push_str(&base_36(hash(cwd).unsigned_abs()));
    }
    name
}

/// The hash by which the names of long paths differ: 31 times that of what is before, and the UTF-16 unit (observed).
fn hash(cwd: &str) -> i32 {
    cwd.encode_utf16()
        .fold(0, |hash: i32, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

fn base_36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
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
        // Not composed first.
        assert_eq!(project_folder_name("/e\u{301}"), "-e-");
    }

    #[test]
    fn long_names_end_in_a_hash() {
        let a = "a".repeat(199);
        assert_eq!(project_folder_name(&format!("/{a}")), format!("-{a}"));
        // As Claude Code 2.1.332 named them.
        let (a, b) = ("a".repeat(120), "b".repeat(120));
        let name = project_folder_name(&format!("/tmp/longpath/{a}/{b}"));
        assert_eq!(name, format!("-tmp-longpath-{a}-{}-77yjq0", "b".repeat(65)));
        let name = project_folder_name(&format!("/tmp/longpath/é{0}/{0}", "🍃".repeat(59)));
        assert_eq!(name, format!("-tmp-longpath-{}-xulydv", "-".repeat(186)));
        assert!(is_project_folder(&name));
        assert_eq!((base_36(0), base_36(i32::MIN.unsigned_abs())), ("0".into(), "zik0zk".into()));
    }
}
