//! The documented names of session files and of their folders.

use leafline_import::time::format_timestamp;

use crate::session::SessionFacts;

/// Bytes of a name that every file system takes, less what is put around it.
const LONGEST: usize = 200;

/// The folder of a session: its working directory without the leading slash, with `/`, `\` and `:` as `-`,
/// between two dashes (pi and omp documents, file location).
pub(crate) fn folder_name(cwd: Option<&str>) -> String {
    let cwd = cwd.unwrap_or_default();
    let inner = cwd.strip_prefix(['/', '\\']).unwrap_or(cwd);
    let encoded = inner.replace(['/', '\\', ':'], "-");
    format!("--{}--", shorten(&printable(&encoded)))
}

/// The file name of a session: the header's time with `:` and `.` as `-`, `_`, and the id; the id alone
/// where the header tells no time.
pub(crate) fn file_name(facts: &SessionFacts) -> String {
    // An id may hold anything, and a name must not lead out of its folder.
    let id: String = facts
        .id
        .chars()
        .map(|character| match character {
            '/' | '\\' | ':' | '\0'..='\u{1f}' => '-',
            other => other,
        })
        .collect();
    let id = shorten(&id);
    match facts.created {
        Some(time) => {
            let time = format_timestamp(time).replace([':', '.'], "-");
            format!("{time}_{id}.jsonl")
        }
        None if id.starts_with('.') => format!("_{id}.jsonl"),
        None => format!("{id}.jsonl"),
    }
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

    #[test]
    fn folders_are_the_documents() {
        assert_eq!(folder_name(Some("/home/me/project")), "--home-me-project--");
        assert_eq!(folder_name(Some("C:\\work")), "--C--work--");
        assert_eq!(folder_name(None), "----");
        assert_eq!(folder_name(Some("/../../etc")), "--..-..-etc--");
    }

    #[test]
    fn shortening_keeps_characters_whole() {
        let long = "é".repeat(300);
        assert_eq!(shorten(&long).len(), LONGEST);
    }
}
