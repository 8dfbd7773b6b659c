//! What tells a text that `keep on` wrote from one that was edited since: a mark with a checksum of the rest.

use sha2::{Digest, Sha256};

/// What each mark begins with.
const MARK: &str = "leafline keep ";

/// Hexadecimal digits of a checksum: enough against accidents, which is all that it is for.
const DIGITS: usize = 16;

/// The mark of a text.
pub(super) fn mark(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{MARK}{digits:.DIGITS$}")
}

/// Whether a text has a mark, of whatever rest.
pub(super) fn has_mark(text: &str) -> bool {
    text.contains(MARK)
}

/// The text with its mark in a line of its own, before the line number `at` (from 0), between these.
pub(super) fn marked(text: &str, at: usize, (before, behind): (&str, &str)) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let line = format!("{before}{}{behind}\n", mark(text));
    lines.insert(at.min(lines.len()), &line);
    lines.concat()
}

/// Whether a text is as [`marked`] made it.
pub(super) fn is_as_marked(text: &str, at: usize, around: (&str, &str)) -> bool {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    if at >= lines.len() {
        return false;
    }
    lines.remove(at);
    marked(&lines.concat(), at, around) == text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_is_noticed() {
        let text = marked("one\ntwo\n", 1, ("<!-- ", " -->"));
        assert!(text.starts_with("one\n<!-- leafline keep ") && text.ends_with(" -->\ntwo\n"));
        assert!(is_as_marked(&text, 1, ("<!-- ", " -->")));
        assert!(!is_as_marked(&text.replace("two", "tow"), 1, ("<!-- ", " -->")));
        assert!(
            !is_as_marked("one\ntwo\n", 1, ("<!-- ", " -->")) && !is_as_marked("", 1, ("", ""))
        );
    }
}
