//! Patches as Codex's `apply_patch` takes them: by itself, or in the script of a shell.

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// A text with a patch in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found<'t> {
    /// What stands before it, and behind it.
    pub(super) before: &'t str,
    pub(super) behind: &'t str,
    /// From its first line to its last one.
    pub(super) patch: &'t str,
}

/// The patch in a text, if there is one. One that has no last line goes to the end.
pub(super) fn find(text: &str) -> Option<Found<'_>> {
    let begin = if text.starts_with(BEGIN) { 0 } else { text.find(&format!("\n{BEGIN}"))? + 1 };
    let (before, rest) = text.split_at_checked(begin)?;
    let end = rest.find(&format!("\n{END}")).map_or(rest.len(), |at| at + 1 + END.len());
    let (patch, behind) = rest.split_at_checked(end)?;
    Some(Found { before, behind, patch })
}

/// The file that a line of a patch names.
pub(super) fn file_of(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("*** ")?;
    ["Add File: ", "Update File: ", "Delete File: ", "Move to: "]
        .into_iter()
        .find_map(|head| rest.strip_prefix(head))
}

/// What a patch changes, in a few words: its files' names.
pub(super) fn subject(patch: &str) -> String {
    patch.lines().filter_map(file_of).take(5).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_are_found_in_scripts() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-a\n+b\n*** Add File: b.rs\n+c\n*** End Patch";
        let script = format!("apply_patch <<'EOF'\n{patch}\nEOF\n");
        let found = find(&script).unwrap();
        assert_eq!(
            (found.before, found.patch, found.behind),
            ("apply_patch <<'EOF'\n", patch, "\nEOF\n")
        );
        assert_eq!(subject(found.patch), "a.rs, b.rs");
        assert_eq!(find(patch).unwrap().before, "");
        assert_eq!(find("*** Begin Patch\n+a").unwrap().patch, "*** Begin Patch\n+a");
        assert_eq!(find("say *** Begin Patch"), None);
    }
}
