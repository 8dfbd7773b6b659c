//! Texts of others in a file of Markdown: none of them ends what it stands in, or is markup of the file's own.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use super::diff;
use super::html::{escaped, visible};

/// A longer text is shown as it is: nobody reads it, and its structure costs more than it says.
const LONGEST: usize = 1 << 20;

/// How often what is left of HTML is looked for: text may become a tag when what was before it is none any more.
const MOST_PASSES: usize = 16;

/// How many ways of reading Markdown are asked what is HTML.
const READERS: usize = 2;

/// A text that is folded where Markdown is shown, with a heading of one line.
pub(super) fn folded(heading: &str, text: &str) -> String {
    let heading = escaped(heading.trim());
    format!("<details><summary>{heading}</summary>\n\n{text}\n\n</details>")
}

/// A text between fences that are longer than those in it. One in no language may be seen to be a diff.
pub(super) fn fenced(text: &str, language: &str) -> String {
    let language = if language.is_empty() && diff::is_diff(text) { "diff" } else { language };
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// A text as code within a line.
pub(super) fn code(text: &str) -> String {
    let line = text.split(['\r', '\n']).collect::<Vec<_>>().join(" ");
    let fence = "`".repeat(longest_run(&line) + 1);
    // A space beside a fence belongs to that, and one that has nothing else is lost.
    let is_beside = |letter: char| letter == '`' || letter == ' ';
    let pad = if line.is_empty() || line.starts_with(is_beside) || line.ends_with(is_beside) {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{line}{pad}{fence}")
}

fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

/// Words in which nothing is Markdown.
pub(super) fn plain(words: &str) -> String {
    let mut plain = String::with_capacity(words.len());
    for character in visible(words).chars() {
        if "\\`*_[]<>#|&~$".contains(character) {
            plain.push('\\');
        }
        plain.push(character);
    }
    plain
}

/// A text of Markdown that stays what it is: HTML in it is shown, as on a page, and what it opens does not go on behind it.
pub(super) fn prose(text: &str) -> String {
    let said = visible(text);
    if said.len() > LONGEST {
        return fenced(&said, "");
    }
    match without_html(said.clone()).map(closed) {
        Some(text) if is_ended(&text) => text,
        _ => fenced(&said, ""),
    }
}

/// The text with each `<` escaped that is HTML; `None` if that has no end.
fn without_html(mut text: String) -> Option<String> {
    for _ in 0..MOST_PASSES {
        let mut tags = tags(&text);
        if tags.is_empty() {
            return Some(text);
        }
        tags.sort_unstable();
        tags.dedup();
        let mut escaped = String::with_capacity(text.len() + tags.len());
        let mut done = 0;
        for at in tags {
            escaped.push_str(text.get(done..at).unwrap_or_default());
            escaped.push('\\');
            done = at;
        }
        escaped.push_str(text.get(done..).unwrap_or_default());
        text = escaped;
    }
    None
}

/// Whether what follows the text is not in anything that it has begun.
fn is_ended(text: &str) -> bool {
    let behind = format!("{text}\n\n<hr>\n");
    tags(&behind) == [text.len() + 2; READERS]
}

/// Where the text has a `<` that is HTML for a reader of Markdown: with footnotes, as GitHub, or without.
fn tags(text: &str) -> Vec<usize> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let readers: [Options; READERS] = [options, options | Options::ENABLE_FOOTNOTES];
    let mut tags = Vec::new();
    for options in readers {
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            if let Event::Html(_) | Event::InlineHtml(_) = event {
                let begin = range.start;
                let html = text.get(range).unwrap_or_default();
                tags.extend(html.match_indices('<').map(|(at, _)| begin + at));
            }
        }
    }
    tags
}

/// A text whose last fence is closed, so that what follows is not in it.
fn closed(text: String) -> String {
    let behind = format!("{}\n\nx", text.trim_end());
    for (event, range) in Parser::new_ext(&behind, Options::empty()).into_offset_iter() {
        if let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) = event
            && range.end == behind.len()
        {
            let opened = behind.get(range.start..).unwrap_or_default();
            let mark = if opened.starts_with('~') { '~' } else { '`' };
            let fence: String = opened.chars().take_while(|letter| *letter == mark).collect();
            return format!("{}\n{fence}", text.trim_end());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_hold_what_is_in_them() {
        assert_eq!(fenced("a\n", "sh"), "```sh\na\n```");
        assert_eq!(fenced("a ``` b", ""), "````\na ``` b\n````");
        assert_eq!(fenced("@@ -1 +1 @@\n-a\n+b", ""), "```diff\n@@ -1 +1 @@\n-a\n+b\n```");
        assert_eq!(closed("a\n```rust\nfn".to_owned()), "a\n```rust\nfn\n```");
        assert_eq!(closed("~~~~\n```\n~~~~".to_owned()), "~~~~\n```\n~~~~");
        assert_eq!(closed("```\nx\n```".to_owned()), "```\nx\n```");
        assert_eq!(closed("```\n    ```\nx".to_owned()), "```\n    ```\nx\n```");
        // What ends with its list is not open.
        assert_eq!(closed("- a\n  ```\n  b".to_owned()), "- a\n  ```\n  b");
        assert_eq!(
            ["a", "a`b", "``", " a", ""].map(code),
            ["`a`", "``a`b``", "``` `` ```", "`  a `", "`  `"]
        );
    }

    #[test]
    fn what_is_folded_cannot_end_its_heading() {
        let folded = folded("</summary><b>", "x");
        assert!(folded.starts_with("<details><summary>&lt;/summary&gt;&lt;b&gt;</summary>"));
        assert_eq!(plain("a_*<b"), "a\\_\\*\\<b");
        assert_eq!(plain("&lt;\u{202e}"), "\\&lt;\\[U+202E\\]");
    }

    #[test]
    fn html_in_a_text_is_shown() {
        for (text, expected) in [
            ("</details>", "\\</details>"),
            ("a `</b>` and </b>", "a `</b>` and \\</b>"),
            ("Vec<T> of `Vec<T>`", "Vec\\<T> of `Vec<T>`"),
            ("1 < 2 <3", "1 < 2 <3"),
            ("```\n</details>\n```", "```\n</details>\n```"),
            ("    ```\n</details>", "    ```\n\\</details>"),
            ("- a\n  ```\n</details>", "- a\n  ```\n\\</details>"),
            ("  ```\n```\n</details>", "  ```\n```\n\\</details>"),
            ("\\</details>", "\\</details>"),
            ("\\\\</details>", "\\\\\\</details>"),
            ("<!-- a", "\\<!-- a"),
            ("<https://a.b>", "<https://a.b>"),
            ("[^1]: </details>", "[^1]: \\</details>"),
            ("a\u{1b}[1m\0\u{202e}", "a\u{241b}[1m\u{2400}[U+202E]"),
        ] {
            assert_eq!(prose(text), expected, "{text}");
        }
    }

    #[test]
    fn nothing_that_is_put_together_is_html() {
        let words = [
            "</details>",
            "<details>",
            "<!--",
            "-->",
            "<pre>",
            "`",
            "``",
            "```",
            "~~~",
            "\n",
            "\n\n",
            "- ",
            "  ",
            "    ",
            "> ",
            "a",
            "\\",
            "<a href=\"`\">",
            "|",
            "<?",
            "1. ",
            "\t",
            "[^1]: ",
            "[x]: ",
            "<script>",
            "\r",
        ];
        let mut state = 1_u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..12 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                text.push_str(words[(state >> 33) as usize % words.len()]);
            }
            let text = prose(&text);
            assert!(tags(&text).is_empty(), "{text:?}");
            assert!(is_ended(&text), "{text:?}");
        }
    }
}
