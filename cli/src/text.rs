//! Makes the text of sessions fit for a terminal.

use std::borrow::Cow;
use std::io::Write;

use anstream::adapter::strip_str;
use serde_json::ser::Formatter;
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

/// JSON as serde writes it, with the same characters of strings as `\u` escapes. The values are the same. JSON that is
/// passed on as it is, is not changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct PrintableJson;

impl Formatter for PrintableJson {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> std::io::Result<()> {
        writer.write_all(escaped_as_json(fragment, is_unprintable).as_bytes())
    }
}

/// Lines of a session for a terminal: the same characters as `\u` escapes, except for tabs and ends of lines.
pub(super) fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped_as_json(text, |character| {
        !matches!(character, '\n' | '\t') && is_unprintable(character)
    })
}

/// Writes some characters as JSON's escapes.
fn escaped_as_json(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_escaped(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
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

/// The text in lines of at most this many columns, broken between words; the lines after the first are indented like
/// it. A word that is wider than a line is left whole. Styles take no columns.
pub(super) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let indent = &text[..text.len() - text.trim_start_matches(' ').len()];
    wrapped_between(text[indent.len()..].split(' '), indent, columns)
}

/// The same for a message that may name commands between backticks: such a command is one word, to be copied whole.
pub(super) fn wrapped_around_commands(text: &str, columns: usize) -> Vec<String> {
    let mut is_command = false;
    let words = text.split(|character| {
        is_command ^= character == '`';
        character == ' ' && !is_command
    });
    wrapped_between(words, "", columns)
}

fn wrapped_between<'t>(
    words: impl Iterator<Item = &'t str>,
    indent: &str,
    columns: usize,
) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = indent.to_owned();
    let (mut taken, mut is_empty) = (indent.len(), true);
    for word in words {
        let word_width = width(&strip_str(word).to_string());
        if !is_empty && taken + 1 + word_width > columns {
            let full = std::mem::replace(&mut line, indent.to_owned());
            lines.push(full.trim_end_matches(' ').to_owned());
            (taken, is_empty) = (indent.len(), true);
        }
        // The rest of a wide space, at which the line was broken.
        if is_empty && word.is_empty() {
            continue;
        }
        if !is_empty {
            line.push(' ');
            taken += 1;
        }
        line.push_str(word);
        taken += word_width;
        is_empty = false;
    }
    lines.push(line);
    lines
}

/// A line in pieces of at most this many columns, one at least, wherever that breaks it. Styles take no columns.
pub(super) fn pieces(line: &str, columns: usize) -> Vec<String> {
    let (mut pieces, mut taken, mut is_style) = (vec![String::new()], 0, false);
    for character in line.chars() {
        is_style |= character == '\u{1b}';
        let width = if is_style { 0 } else { character.width().unwrap_or(0) };
        if taken > 0 && taken + width > columns {
            pieces.push(String::new());
            taken = 0;
        }
        taken += width;
        pieces.last_mut().expect("there is one from the beginning").push(character);
        is_style &= character != 'm';
    }
    pieces
}

/// The text with isolates around it if it has characters that are written from right to left: those must not move what
/// stands beside it.
pub(super) fn isolated(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_right_to_left) {
        Cow::Owned(format!("\u{2068}{text}\u{2069}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The blocks of Hebrew, Arabic, Syriac, Thaana, N'Ko and their like, and of their presentation forms.
fn is_right_to_left(character: char) -> bool {
    matches!(
        character,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}'
    )
}

/// The same columns in ASCII: the command's own signs as similar ones, any other character as a question mark for each
/// of its columns.
pub(super) fn ascii(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            ascii if ascii.is_ascii() => plain.push(ascii),
            '…' => plain.push('~'),
            '│' | '├' => plain.push('|'),
            '─' => plain.push('-'),
            '┊' => plain.push(':'),
            '◆' | '●' => plain.push('*'),
            '◇' => plain.push('o'),
            '→' => plain.push('>'),
            '←' | '◀' => plain.push('<'),
            '·' => plain.push('.'),
            other => plain.extend(std::iter::repeat_n('?', other.width().unwrap_or(0))),
        }
    }
    plain
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
    fn json_is_printable_and_the_same() {
        use serde::Serialize;
        let value = serde_json::json!({"a\u{9b}b": ["plain, Käse, 🍂", "\u{1b}[2J\n\u{7f}\u{202e}x\u{feff}"]});
        let mut written = Vec::new();
        let mut serializer = serde_json::Serializer::with_formatter(&mut written, PrintableJson);
        value.serialize(&mut serializer).unwrap();
        let text = String::from_utf8(written).unwrap();
        assert_eq!(text, r#"{"a\u009bb":["plain, Käse, 🍂","\u001b[2J\n\u007f\u202ex\ufeff"]}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
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
    fn lines_break_between_words() {
        assert_eq!(wrapped("  one two three", 9), ["  one two", "  three"]);
        assert_eq!(wrapped("日本 日本 a", 9), ["日本 日本", "a"]);
        assert_eq!(wrapped("a longestword b", 5), ["a", "longestword", "b"]);
        assert_eq!(wrapped("a \u{1b}[1mbold\u{1b}[0m c", 8), ["a \u{1b}[1mbold\u{1b}[0m c"]);
        assert_eq!(wrapped("", 8), [""]);
        assert_eq!(wrapped("a  b", 8), ["a  b"]);
        assert_eq!(wrapped("one  two", 5), ["one", "two"]);
        assert_eq!(wrapped("longest  b", 5), ["longest", "b"]);
        let told = "say `a b c` or d";
        assert_eq!(wrapped_around_commands(told, 9), ["say", "`a b c`", "or d"]);
        assert_eq!(wrapped_around_commands("an odd ` here", 6), ["an odd", "` here"]);
    }

    #[test]
    fn long_words_are_cut_into_pieces() {
        assert_eq!(pieces("abcdefg", 3), ["abc", "def", "g"]);
        assert_eq!(pieces("abc", 3), ["abc"]);
        assert_eq!(pieces("", 3), [""]);
        assert_eq!(pieces("日本語", 5), ["日本", "語"]);
        assert_eq!(pieces("日本", 1), ["日", "本"]);
        assert_eq!(pieces("e\u{301}e\u{301}", 1), ["e\u{301}", "e\u{301}"]);
        assert_eq!(pieces("\u{1b}[1mabcd\u{1b}[0m", 2), ["\u{1b}[1mab", "cd\u{1b}[0m"]);
    }

    #[test]
    fn text_from_right_to_left_stays_in_its_cell() {
        assert_eq!(isolated("plain"), "plain");
        assert_eq!(isolated("שלום a"), "\u{2068}שלום a\u{2069}");
        assert_eq!(width(&isolated("שלום")), 4);
    }

    #[test]
    fn ascii_keeps_the_columns() {
        assert_eq!(ascii("├─● Käse 日 … e\u{301}"), "|-* K?se ?? ~ e");
    }

    #[test]
    fn a_path_keeps_its_end() {
        assert_eq!(fit_end("/home/robin/work", 16), "/home/robin/work");
        assert_eq!(fit_end("/home/robin/work", 8), "…in/work");
        assert_eq!(fit_end("日本語", 4), "…語");
        assert_eq!(fit_end("abc", 0), "");
    }
}
