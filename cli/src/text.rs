//! Makes the text of sessions fit for a terminal.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Marks omitted text.
const ELLIPSIS: char = '…';

/// Replaces a tab in text that is shown whole.
const TAB: &str = "    ";

/// Escapes every character that would control a terminal or change its writing direction, as `\u{1b}` or `\n`: a
/// session's text must not move the cursor, nor look like something else.
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unprintable) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' => escaped.extend(character.escape_default()),
            unprintable if is_unprintable(unprintable) => {
                escaped.extend(unprintable.escape_unicode())
            }
            other => escaped.push(other),
        }
    }
    Cow::Owned(escaped)
}

/// The lines of a text, each fit for a terminal: tabs become spaces, and empty lines at the end are dropped.
pub(super) fn lines(text: &str) -> impl Iterator<Item = String> {
    text.trim_end().lines().map(|line| printable(&line.replace('\t', TAB)).into_owned())
}

/// Control characters, line and paragraph separators, and characters that set the direction of text.
fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
        )
}

/// The beginning of a text, at most this many characters, on one line: white space becomes single spaces.
pub(super) fn one_line(text: &str, most: usize) -> String {
    printable(&leafline_import::text::one_line(text, most)).into_owned()
}

/// The width of a text on a terminal, in columns.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// The text, cut to this many columns.
pub(super) fn fit(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let mut cut = take_columns(text.chars(), columns.saturating_sub(1));
    if columns > 0 {
        cut.push(ELLIPSIS);
    }
    Cow::Owned(cut)
}

/// The end of the text, cut to this many columns.
pub(super) fn fit_end(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let mut backwards = take_columns(text.chars().rev(), columns.saturating_sub(1));
    if columns > 0 {
        backwards.push(ELLIPSIS);
    }
    Cow::Owned(backwards.chars().rev().collect())
}

fn take_columns(characters: impl Iterator<Item = char>, columns: usize) -> String {
    let mut taken = String::new();
    let mut left = columns;
    for character in characters {
        let Some(rest) = left.checked_sub(character.width().unwrap_or(0)) else {
            break;
        };
        left = rest;
        taken.push(character);
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_escaped() {
        assert_eq!(printable("plain, Käse, 🍂"), "plain, Käse, 🍂");
        assert_eq!(
            printable("a\u{1b}[31mb\nc\u{9b}d\u{202e}e"),
            r"a\u{1b}[31mb\nc\u{9b}d\u{202e}e"
        );
    }

    #[test]
    fn lines_are_joined_and_cut() {
        assert_eq!(one_line(" a\n\n b\tc ", 10), "a b c");
        assert_eq!(one_line("abcdef", 6), "abcdef");
        assert_eq!(one_line("abcdef", 5), "abcd…");
        assert_eq!(one_line(&"x ".repeat(1_000_000), 3), "x…");
        assert_eq!(one_line("\u{1b}", 1), r"\u{1b}");
    }

    #[test]
    fn lines_keep_their_indentation() {
        let text = "\tfn\r\n\n  \u{1b}[2Jx\n\n";
        assert_eq!(lines(text).collect::<Vec<_>>(), ["    fn", "", r"  \u{1b}[2Jx"]);
        assert_eq!(lines("").count(), 0);
    }

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(fit("日本語", 6), "日本語");
        assert_eq!(fit("日本語", 5), "日本…");
        assert_eq!(fit("日本語", 4), "日…");
        assert_eq!(fit("abc", 0), "");
    }

    #[test]
    fn a_path_keeps_its_end() {
        assert_eq!(fit_end("/home/robin/work", 16), "/home/robin/work");
        assert_eq!(fit_end("/home/robin/work", 8), "…in/work");
        assert_eq!(fit_end("日本語", 4), "…語");
        assert_eq!(fit_end("abc", 0), "");
    }
}
