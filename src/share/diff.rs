//! Changes of texts, their lines marked by what became of them, and told in what language they are.

use super::html::escape;
use super::{language, patch};

/// Whether a text is a diff: it says so, or has the heads of its parts.
pub(super) fn is_diff(text: &str) -> bool {
    let mut lines = text.lines().take(40);
    let begins =
        |line: &str| line.starts_with("diff --git ") || line == "*** Begin Patch" || is_head(line);
    lines.any(begins)
}

fn is_head(line: &str) -> bool {
    line.strip_prefix("@@ -").is_some_and(|rest| rest.contains(" +") && rest.contains("@@"))
}

/// Appends a diff, or a patch. The lines of each file are in its language.
pub(super) fn write(text: &str, out: &mut String) {
    let mut file = File { language: None, is_open: false };
    let lines: Vec<&str> = text.trim_end_matches('\n').split('\n').collect();
    let begins = |place: usize, sign: &str| {
        lines.get(place).is_some_and(|line: &&str| line.starts_with(sign))
    };
    // Where the two lines are that name a file: lines that were removed and that came may look like them.
    let are_names = |place: usize| {
        begins(place, "--- ") && begins(place + 1, "+++ ") && begins(place + 2, "@@")
    };
    out.push_str("<pre class=\"diff\">");
    for (place, &line) in lines.iter().enumerate() {
        let old = line.strip_prefix("--- ").filter(|_| are_names(place));
        let new = line.strip_prefix("+++ ").filter(|_| place > 0 && are_names(place - 1));
        let is_head = line.starts_with("*** ");
        if let Some(path) = patch::file_of(line).or(old).or(new) {
            // A time may follow, behind a tab.
            file.begin(path.split('\t').next().unwrap_or_default(), new.is_some(), out);
        } else if is_head || line.starts_with("diff --git ") {
            file.end(out);
            file.language = None;
        } else {
            file.line(out);
        }
        if is_head || old.is_some() || new.is_some() {
            write_line(line, if is_head { "i" } else { "" }, out);
            continue;
        }
        let mark = match line.as_bytes().first() {
            Some(b'+') => "ins",
            Some(b'-') => "del",
            Some(b'@') => "i",
            _ => "",
        };
        write_line(line, mark, out);
    }
    file.end(out);
    out.push_str("</pre>\n");
}

/// The file whose lines follow.
struct File {
    language: Option<&'static str>,
    is_open: bool,
}

impl File {
    /// Begins the lines of a file; of one that only has a new name, those go on.
    fn begin(&mut self, path: &str, is_new_name: bool, out: &mut String) {
        self.end(out);
        let known = language::of_path(path);
        // A file that is removed has no new name.
        self.language = if is_new_name { known.or(self.language) } else { known };
    }

    fn line(&mut self, out: &mut String) {
        if let Some(language) = self.language.filter(|_| !self.is_open) {
            self.is_open = true;
            open(language, out);
        }
    }

    fn end(&mut self, out: &mut String) {
        if std::mem::take(&mut self.is_open) {
            out.push_str("</span>");
        }
    }
}

/// Begins lines in a language.
fn open(language: &str, out: &mut String) {
    out.push_str(&format!("<span data-language=\"{language}\">"));
}

/// Appends the change of one text into another: the lines that both begin and end with as they are, between them those that
/// were removed and those that came.
pub(super) fn write_change(old: &str, new: &str, language: Option<&str>, out: &mut String) {
    out.push_str("<pre class=\"diff\">");
    if let Some(language) = language {
        open(language, out);
    }
    each_line_of_change(old, new, |sign, line| {
        let mark = match sign {
            '-' => "del",
            '+' => "ins",
            _ => "",
        };
        write_line(&format!("{sign}{line}"), mark, out);
    });
    out.push_str(if language.is_some() { "</span></pre>\n" } else { "</pre>\n" });
}

/// The lines of such a change, each with its sign.
pub(super) fn each_line_of_change(old: &str, new: &str, mut each: impl FnMut(char, &str)) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let shorter = old.len().min(new.len());
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let left = shorter - same;
    let ends = old.iter().rev().zip(new.iter().rev());
    let same_end = ends.take(left).take_while(|(old, new)| old == new).count();
    let parts = [
        (old.get(..same), ' '),
        (old.get(same..old.len() - same_end), '-'),
        (new.get(same..new.len() - same_end), '+'),
        (old.get(old.len() - same_end..), ' '),
    ];
    for (lines, sign) in parts {
        lines.unwrap_or_default().iter().for_each(|line| each(sign, line));
    }
}

fn write_line(line: &str, mark: &str, out: &mut String) {
    if mark.is_empty() {
        escape(line, out);
    } else {
        out.push_str(&format!("<{mark}>"));
        escape(line, out);
        out.push_str(&format!("</{mark}>"));
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_marked() {
        let mut out = String::new();
        let text = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n x\n-<y>\n+z\n";
        assert!(is_diff(text) && !is_diff("- a\n- b"));
        write(text, &mut out);
        assert_eq!(
            out,
            "<pre class=\"diff\">--- a\n+++ b\n<i>@@ -1,2 +1,2 @@</i>\n x\n<del>-&lt;y&gt;</del>\n<ins>+z</ins>\n</pre>\n"
        );
    }

    #[test]
    fn what_both_texts_have_stays() {
        let mut out = String::new();
        write_change("a\nb\nc", "a\nB\nB\nc", None, &mut out);
        assert_eq!(
            out,
            "<pre class=\"diff\"> a\n<del>-b</del>\n<ins>+B</ins>\n<ins>+B</ins>\n c\n</pre>\n"
        );
        for (old, new) in [("", ""), ("a", ""), ("", "a"), ("a\na", "a"), ("a", "a\na")] {
            write_change(old, new, Some("rust"), &mut out);
        }
    }

    #[test]
    fn each_file_of_a_diff_is_in_its_language() {
        let mut out = String::new();
        write(
            "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n--- x\n+++ y\ndiff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -0,0 +1 @@\n+c",
            &mut out,
        );
        assert_eq!(
            out,
            "<pre class=\"diff\">diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n\
             <span data-language=\"rust\"><i>@@ -1 +1 @@</i>\n<del>--- x</del>\n<ins>+++ y</ins>\n</span>\
             diff --git a/b b/b\n--- a/b\n+++ b/b\n<i>@@ -0,0 +1 @@</i>\n<ins>+c</ins>\n</pre>\n"
        );
        let mut out = String::new();
        let text = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@ def f():\n-x\n+y\n*** End Patch\n";
        assert!(is_diff(text));
        write(text, &mut out);
        assert_eq!(
            out,
            "<pre class=\"diff\"><i>*** Begin Patch</i>\n<i>*** Update File: a.py</i>\n<i>*** Move to: b.py</i>\n\
             <span data-language=\"python\"><i>@@ def f():</i>\n<del>-x</del>\n<ins>+y</ins>\n</span><i>*** End Patch</i>\n</pre>\n"
        );
    }
}
