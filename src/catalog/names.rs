//! The documented names of session files and of their folders.

use std::path::PathBuf;

use leafline_import::Family;
use leafline_import::claude::project_folder_name;
use leafline_import::time::format_timestamp;

use crate::session::SessionFacts;

/// Bytes of a name that every file system takes, less what is put around it.
const LONGEST: usize = 200;

/// Where a session's file stands below the folder that holds all of its family's.
///
/// pi and omp: `--<cwd>--/<time>_<id>.jsonl` (pi and omp documents, file location). Claude Code: the project's folder, and in it
/// `<id>.jsonl`, which is `agent-<id>.jsonl` for an agent's (Claude Code document; observed). Opal: `<id>.jsonl` (observed).
pub(crate) fn path(facts: &SessionFacts) -> PathBuf {
    let alone = || with_ending(&plain(&facts.id));
    match facts.family {
        Family::Opal => PathBuf::from(alone()),
        Family::Claude => {
            let folder = project_folder_name(facts.cwd.as_deref().unwrap_or_default());
            // A session that tells no working directory has no project: its folder is that of the root.
            let folder = if folder.is_empty() { "-" } else { shorten(&folder) };
            PathBuf::from(folder).join(alone())
        }
        _ => PathBuf::from(folder_name(facts.cwd.as_deref())).join(file_name(facts)),
    }
}

/// The folder of a session: its working directory without the leading slash, with `/`, `\` and `:` as `-`,
/// between two dashes (pi and omp documents, file location).
fn folder_name(cwd: Option<&str>) -> String {
    let cwd = cwd.unwrap_or_default();
    let inner = cwd.strip_prefix(['/', '\\']).unwrap_or(cwd);
    let encoded = inner.replace(['/', '\\', ':'], "-");
    format!("--{}--", shorten(&printable(&encoded)))
}

/// The file name of a session: the header's time with `:` and `.` as `-`, `_`, and the id; the id alone
/// where the header tells no time.
fn file_name(facts: &SessionFacts) -> String {
    let id = plain(&facts.id);
    match facts.created {
        Some(time) => {
            let time = format_timestamp(time).replace([':', '.'], "-");
            format!("{time}_{id}.jsonl")
        }
        None => with_ending(&id),
    }
}

/// The id as a part of a name: it may hold anything, and a name must not lead out of its folder.
fn plain(id: &str) -> String {
    let id: String = id
        .chars()
        .map(|character| match character {
            '/' | '\\' | ':' | '\0'..='\u{1f}' => '-',
            other => other,
        })
        .collect();
    shorten(&id).to_owned()
}

fn with_ending(id: &str) -> String {
    if id.starts_with('.') { format!("_{id}.jsonl") } else { format!("{id}.jsonl") }
}

fn printable(name: &str) -> String {
    name.replace(|character: char| character.is_control(), "-")
}

fn shorten(name: &str) -> &str {
    let mut end = name.len().min(LONGEST);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::session_record::SessionRecord;

    #[test]
    fn folders_are_the_documents() {
        assert_eq!(folder_name(Some("/home/me/project")), "--home-me-project--");
        assert_eq!(folder_name(Some("C:\\work")), "--C--work--");
        assert_eq!(folder_name(None), "----");
        assert_eq!(folder_name(Some("/../../etc")), "--..-..-etc--");
    }

    #[test]
    fn files_are_named_as_their_programs_name_them() {
        let path_of = |family: Family, id: &str, cwd: Option<&str>| {
            let record = SessionRecord {
                external_id: id.into(),
                family: family.code(),
                cwd: cwd.map(str::to_owned),
                created: Some(0),
                ..SessionRecord::default()
            };
            path(&SessionFacts::of(&record)).to_string_lossy().replace('\\', "/")
        };
        assert_eq!(path_of(Family::Pi, "s", Some("/w")), "--w--/1970-01-01T00-00-00-000Z_s.jsonl");
        assert_eq!(path_of(Family::Opal, "3f2a", Some("/w")), "3f2a.jsonl");
        assert_eq!(path_of(Family::Opal, "../x", None), "_..-x.jsonl");
        assert_eq!(path_of(Family::Claude, "4f2e", Some("/home/me")), "-home-me/4f2e.jsonl");
        assert_eq!(path_of(Family::Claude, "agent-a1", None), "-/agent-a1.jsonl");
    }

    #[test]
    fn shortening_keeps_characters_whole() {
        let long = "é".repeat(300);
        assert_eq!(shorten(&long).len(), LONGEST);
    }
}
