//! The names of session files.

/// The longest part of a name, in bytes, such that every file system accepts the whole name.
const LONGEST: usize = 200;

/// The facts that a session file's name is made of.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileName<'a> {
    /// The session's id.
    pub id: &'a str,
    /// The working folder.
    pub cwd: Option<&'a str>,
    /// When it was begun, in milliseconds since 1970.
    pub created_ms: Option<i64>,
    /// Whether it came from another session.
    pub has_parent: bool,
    /// The session that started it, if it is an agent's.
    pub agent_of: Option<&'a str>,
    /// The agent's own id, if it is an agent's and states one.
    pub agent: Option<&'a str>,
    /// The header's line, if the family [needs it](crate::format::Format::is_named_by_header).
    pub header: Option<&'a [u8]>,
}

impl FileName<'_> {
    /// The id made safe as a part of a name: it may contain anything, and a name must not lead out of its folder.
    pub(crate) fn plain_id(&self) -> String {
        let id: String = self
            .id
            .chars()
            .map(|character| match character {
                '/' | '\\' | ':' | '\0'..='\u{1f}' => '-',
                other => other,
            })
            .collect();
        shorten(&id).to_owned()
    }

    /// The id with the ending `.jsonl`.
    pub(crate) fn of_id(&self) -> String {
        let id = self.plain_id();
        if id.starts_with('.') { format!("_{id}.jsonl") } else { format!("{id}.jsonl") }
    }
}

/// Shortens a name to a length that every file system accepts.
pub(crate) fn shorten(name: &str) -> &str {
    let mut end = name.len().min(LONGEST);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;

    #[test]
    fn files_are_named_as_their_programs_name_them() {
        let path_of = |family: Family, id: &str, cwd: Option<&str>| {
            let path = family.file_path(&FileName {
                id,
                cwd,
                created_ms: Some(0),
                has_parent: false,
                agent_of: None,
                agent: None,
                header: None,
            });
            path.to_string_lossy().replace('\\', "/")
        };
        assert_eq!(path_of(Family::Pi, "s", Some("/w")), "--w--/1970-01-01T00-00-00-000Z_s.jsonl");
        assert_eq!(path_of(Family::Opal, "3f2a", Some("/w")), "3f2a.jsonl");
        assert_eq!(path_of(Family::Opal, "../x", None), "_..-x.jsonl");
        assert_eq!(path_of(Family::Claude, "4f2e", Some("/home/me")), "-home-me/4f2e.jsonl");
        assert_eq!(path_of(Family::Claude, "agent-a1", None), "-/agent-a1.jsonl");
    }

    #[test]
    fn imported_files_keep_the_places_that_their_programs_gave_them() {
        let rollout = "rollout-2026-02-18T09-00-00-019c6f5a-0023-7c4e-9d21-5a7be0c30023";
        let (dated, archived) = (
            format!("/h/.codex/sessions/2026/02/18/{rollout}.jsonl"),
            format!("/h/.codex/archived_sessions/{rollout}.jsonl"),
        );
        let pi = "/h/sessions/.pi/agent/sessions/--w--/2026-02-18T09-00-00-000Z_s.jsonl";
        for (family, path, expected) in [
            (Family::Pi, pi, Some("sessions/--w--/2026-02-18T09-00-00-000Z_s.jsonl")),
            (Family::Omp, "/h/sessions/-work/1_s.jsonl", Some("sessions/-work/1_s.jsonl")),
            (Family::Omp, "/h/sessions/-work/1_t.jsonl", None),
            (Family::Omp, "/h/sessions/work/1_s.jsonl", None),
            (Family::Pi, "/h/sessions/1_s.jsonl", None),
            (Family::Pi, "/h/elsewhere/--w--/1_s.jsonl", None),
            (Family::Claude, "/h/.claude/projects/-w/s.jsonl", Some("projects/-w/s.jsonl")),
            (
                Family::Claude,
                "/h/projects/-w/p/subagents/deep/s.jsonl",
                Some("projects/-w/p/subagents/deep/s.jsonl"),
            ),
            (Family::Claude, "e:/h/projects/e--w/s.jsonl", Some("projects/e--w/s.jsonl")),
            (Family::Claude, "/h/projects/tide.clock/s.jsonl", None),
            (Family::Claude, "/h/projects/clock/s.jsonl", None),
            (Family::Claude, "/h/projects/-w/backup/s.jsonl", None),
            (Family::Claude, "/h/projects/-w/t.jsonl", None),
            (Family::Opal, "/h/sessions/s.jsonl", Some("sessions/s.jsonl")),
            (Family::Opal, "/h/sessions/old/s.jsonl", None),
            (Family::Codex, &dated, dated.get("/h/.codex/".len()..)),
            (Family::Codex, &archived, archived.get("/h/.codex/".len()..)),
            (Family::Codex, "/h/sessions/2026/02/18/s.jsonl", None),
        ] {
            let name = FileName {
                id: "s",
                cwd: None,
                created_ms: None,
                has_parent: false,
                agent_of: None,
                agent: None,
                header: None,
            };
            let placed = family.placed_path(&name, std::path::Path::new(path));
            let placed = placed.map(|path| path.to_string_lossy().replace('\\', "/"));
            assert_eq!(placed.as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn a_folder_of_exports_is_laid_out_as_the_programs_own() {
        for (family, expected) in [
            (Family::Pi, "sessions/--w--/s.jsonl"),
            (Family::Omp, "sessions/--w--/p/a/b.c.jsonl"),
            (Family::Claude, "projects/-w/p/subagents/s.jsonl"),
            (Family::Opal, "sessions/s.jsonl"),
            (Family::Codex, "sessions/s.jsonl"),
        ] {
            let name = FileName {
                id: "s",
                cwd: Some("/w"),
                created_ms: None,
                has_parent: true,
                agent_of: Some("p"),
                agent: Some("a/b.c"),
                header: None,
            };
            let path = family.program_path(&name);
            assert_eq!(path.to_string_lossy().replace('\\', "/"), expected);
        }
    }

    #[test]
    fn shortening_keeps_characters_whole() {
        let long = "é".repeat(300);
        assert_eq!(shorten(&long).len(), LONGEST);
    }
}
