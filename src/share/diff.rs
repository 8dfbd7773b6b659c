//! Changes of texts, their lines marked by what became of them.

use super::html::escape;

/// Whether a text is a diff: it says so, or has the heads of its parts.
pub(super) fn is_diff(text: &str) -> bool {
    let mut lines = text.lines().take(40);
    let begins = |line: &str| line.starts_with("diff --git ") || is_head(line);
    lines.any(begins)
}

fn is_head(line: &str) -> bool {
    line.strip_prefix("@@ -").is_some_and(|rest| rest.contains(" +") && rest.contains("@@"))
}

/// Appends a diff.
pub(super) fn write(text: &str, out: &mut String) {
    out.push_str("<pre class=\"diff\">");
    for line in text.trim_end_matches('\n').split('\n') {
        let mark = match line.as_bytes().first() {
            _ if line.starts_with("+++") || line.starts_with("---") => "",
            Some(b'+') => "ins",
            Some(b'-') => "del",
            Some(b'@') => "i",
            _ => "",
        };
        write_line(line, mark, out);
    }
    out.push_str("</pre>\n");
}

/// Appends the change of one text into another: the lines that both begin and end with as they are, between them those that
/// were removed and those that came.
pub(super) fn write_change(old: &str, new: &str, out: &mut String) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let shorter = old.len().min(new.len());
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let left = shorter - same;
    let ends = old.iter().rev().zip(new.iter().rev());
    let same_end = ends.take(left).take_while(|(old, new)| old == new).count();
    out.push_str("<pre class=\"diff\">");
    let parts = [
        (old.get(..same), " ", ""),
        (old.get(same..old.len() - same_end), "-", "del"),
        (new.get(same..new.len() - same_end), "+", "ins"),
        (old.get(old.len() - same_end..), " ", ""),
    ];
    for (lines, sign, mark) in parts {
        for line in lines.unwrap_or_default() {
            write_line(&format!("{sign}{line}"), mark, out);
        }
    }
    out.push_str("</pre>\n");
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
        write_change("a\nb\nc", "a\nB\nB\nc", &mut out);
        assert_eq!(
            out,
            "<pre class=\"diff\"> a\n<del>-b</del>\n<ins>+B</ins>\n<ins>+B</ins>\n c\n</pre>\n"
        );
        for (old, new) in [("", ""), ("a", ""), ("", "a"), ("a\na", "a"), ("a", "a\na")] {
            write_change(old, new, &mut out);
        }
    }
}
