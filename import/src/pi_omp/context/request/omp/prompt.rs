//! Texts that omp makes of its templates: what is filled in is put in shape with them.

use super::super::words;
use crate::scan::Raw;
use crate::text::is_white_space;

const COMPACTION: [&str; 2] = [
    "Prior model work/tool state available.\nMUST build on prior work; NEVER duplicate prior work.\n\n<summary>\n",
    "\n</summary>\n",
];
const HANDOFF: [&str; 2] = [
    concat!(
        "Context replaced. The <handoff> below is a handoff document a prior instance of you wrote from the full conversation. It is your own working memory, not user input.\n",
        "- First person inside it refers to you (the prior instance).\n",
        "- \"Next Steps\" is your own resumed plan; re-check it against the latest user message before acting.\n",
        "- The handoff already exists and is complete: NEVER write another handoff document unless the user explicitly asks.\n",
        "MUST build on prior work; NEVER duplicate prior work.\n\n<handoff>\n",
    ),
    "\n</handoff>\n",
];
const BRANCH: [&str; 2] = ["Branch-return summary:\n\n<summary>\n", "\n</summary>\n"];
const INTERJECTION: [&str; 2] = [
    "<system-notice>\nUser interjection during work: priority; supersedes conflicting prior instructions. Re-read; ensure current work reflects user intent.\n</system-notice>\n",
    "\n",
];

/// The text of a compaction's summary, as WTF-8.
pub(super) fn compaction_summary(summary: Option<Raw<'_>>) -> Vec<u8> {
    filled_in(COMPACTION, &value(summary))
}

/// The text of a summary with which another instance of the model handed its work over.
pub(super) fn handoff_summary(summary: Option<Raw<'_>>) -> Vec<u8> {
    filled_in(HANDOFF, &value(summary))
}

/// The text of a branch's summary.
pub(super) fn branch_summary(summary: Option<Raw<'_>>) -> Vec<u8> {
    filled_in(BRANCH, &value(summary))
}

/// The text of what the user says while the model works.
pub(super) fn interjection(said: &[u8]) -> Vec<u8> {
    filled_in(INTERJECTION, said)
}

/// What a template makes of a value: nothing of null.
fn value(value: Option<Raw<'_>>) -> Vec<u8> {
    value.filter(|value| !value.is_null()).map_or_else(Vec::new, |value| words::of(Some(value)))
}

fn filled_in([before, after]: [&str; 2], value: &[u8]) -> Vec<u8> {
    formatted(&[before.as_bytes(), value, after.as_bytes()].concat())
}

/// A text without white space at the ends of lines, without blank lines where there are several or before a closing tag,
/// and with narrow tables. Blocks of code stay as they are, but for the ends of their lines.
fn formatted(text: &[u8]) -> Vec<u8> {
    let mut out: Vec<Vec<u8>> = Vec::new();
    let mut in_code = false;
    let mut lines = text.split(|&byte| byte == b'\n').peekable();
    while let Some(raw) = lines.next() {
        let line = trim_end(raw);
        let indent = indent(line);
        let (space, said) = line.split_at(indent);
        if said.starts_with(b"```") || said.starts_with(b"~~~") {
            in_code = !in_code;
            out.push(line.to_vec());
        } else if in_code {
            out.push(line.to_vec());
        } else if said.is_empty() {
            if lines.peek().is_none_or(|next| is_blank(next)) {
                drop_blank_lines(&mut out);
                while lines.next_if(|next| is_blank(next)).is_some() {}
            } else if out.last().is_some_and(|last| !last.is_empty()) {
                out.push(Vec::new());
            }
        } else if said.starts_with(b"|") {
            out.push([space, &narrow(said)].concat());
        } else {
            if is_closing_tag(said) {
                drop_blank_lines(&mut out);
            }
            out.push(line.to_vec());
        }
    }
    drop_blank_lines(&mut out);
    out.join(&b'\n')
}

fn drop_blank_lines(out: &mut Vec<Vec<u8>>) {
    while out.last().is_some_and(Vec::is_empty) {
        out.pop();
    }
}

/// How long the white space is with which a line begins: of ASCII only spaces and tabs, unless other white space is there.
fn indent(line: &[u8]) -> usize {
    let plain = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    if line.get(plain).is_none_or(u8::is_ascii) {
        return plain;
    }
    let first = line.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    first.len() - first.trim_start_matches(is_white_space).len()
}

fn trim_end(line: &[u8]) -> &[u8] {
    // What is not UTF-8 is no white space.
    let last = line.utf8_chunks().last().filter(|chunk| chunk.invalid().is_empty());
    let last = last.map_or("", |chunk| chunk.valid());
    &line[..line.len() - (last.len() - last.trim_end_matches(is_white_space).len())]
}

fn is_blank(line: &[u8]) -> bool {
    trim_end(line).is_empty()
}

/// Whether a line is `</name>`, with a name of small letters, `_` and `-`.
fn is_closing_tag(line: &[u8]) -> bool {
    let name = line.strip_prefix(b"</").and_then(|line| line.strip_suffix(b">"));
    name.is_some_and(|name| {
        !name.is_empty() && name.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'_' | b'-'))
    })
}

/// A row of a table without space around its cells; any other line as it is.
fn narrow(row: &[u8]) -> Vec<u8> {
    let Some(inner) = row.strip_prefix(b"|").and_then(|row| row.strip_suffix(b"|")) else {
        return row.to_vec();
    };
    let cells = row.split(|&byte| byte == b'|').map(crate::text::trim_wtf8);
    let is_rule = !inner.is_empty()
        && inner.utf8_chunks().all(|chunk| {
            let is_of_rule = |it: char| matches!(it, '-' | ':' | '|') || is_white_space(it);
            chunk.invalid().is_empty() && chunk.valid().chars().all(is_of_rule)
        });
    if is_rule {
        let rules = cells.filter(|cell| !cell.is_empty()).map(|cell| {
            match (cell.starts_with(b":"), cell.ends_with(b":")) {
                (true, true) => &b":---:"[..],
                (true, false) => b":---",
                (false, true) => b"---:",
                (false, false) => b"---",
            }
        });
        let rules: Vec<&[u8]> = rules.collect();
        return [b"|", &rules.join(&b'|')[..], b"|"].concat();
    }
    let ends_lines = |text: &[u8]| {
        text.contains(&b'\r') || text.windows(3).any(|it| matches!(it, [0xe2, 0x80, 0xa8 | 0xa9]))
    };
    if ends_lines(inner) {
        return row.to_vec();
    }
    let cells: Vec<&[u8]> = cells.collect();
    cells.join(&b'|')
}

#[cfg(test)]
mod tests {
    fn formatted(text: &str) -> String {
        String::from_utf8(super::formatted(text.as_bytes())).unwrap()
    }

    #[test]
    fn texts_are_put_in_shape() {
        for (text, expected) in [
            ("a  \n\nb\n\n\n\nc\n", "a\n\nb\nc"),
            ("<x>\na\n\n</x>\n", "<x>\na\n</x>"),
            ("<x>\na\n\n</X>", "<x>\na\n\n</X>"),
            ("```\na  \n\n\nb\n```\n\n\nc", "```\na\n\n\nb\n```\nc"),
            ("\n\na", "a"),
            ("| a  |  b|\n|:--|--:|:-:| - |", "|a|b|\n|:---|---:|:---:|---|"),
            ("  | a |\n| b", "  |a|\n| b"),
            ("||\n|", "||\n|"),
            ("a\u{a0}\n\u{3000}| b |", "a\n\u{3000}|b|"),
            ("|a\rb |", "|a\rb |"),
        ] {
            assert_eq!(formatted(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_character_stays() {
        let text = b"\xed\xa0\x80 \n|\xed\xa0\x80 |";
        assert_eq!(super::formatted(text), b"\xed\xa0\x80\n|\xed\xa0\x80|");
    }
}
