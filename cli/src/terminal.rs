//! Bytes of sessions on their way to a terminal: an export, the lines of a path, JSON of the library.

use super::text::printable_lines;

/// Makes bytes fit for a terminal, in pieces as they come. Into a pipe or a file they go as they are.
#[derive(Debug, Default)]
pub(super) struct TerminalText {
    /// The beginning of a character that the next piece completes.
    open: Vec<u8>,
}

impl TerminalText {
    /// The text of the next bytes: characters that would control the terminal as `\u` escapes, which JSON reads as the
    /// same characters, and bytes that are not UTF-8 as U+FFFD.
    pub(super) fn of(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.open);
        all.extend_from_slice(bytes);
        let mut text = String::with_capacity(all.len());
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(&printable_lines(chunk.valid()));
            let invalid = chunk.invalid();
            let is_open = std::str::from_utf8(invalid)
                .is_err_and(|error| error.error_len().is_none() && chunks.peek().is_none());
            if is_open {
                self.open = invalid.to_vec();
            } else if !invalid.is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        text
    }

    /// The text of what no piece has completed.
    pub(super) fn rest(&mut self) -> &'static str {
        let is_open = !std::mem::take(&mut self.open).is_empty();
        if is_open { "\u{fffd}" } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_the_same_text_wherever_they_are_cut() {
        let bytes = b"{\"a\":\"\x1b[2J \xc2\x9b31m \xe2\x80\xaex K\xc3\xa4se \xf0\x9f\x8d\x82\"}\r\n\t\xff\xc3";
        let expected =
            "{\"a\":\"\\u001b[2J \\u009b31m \\u202ex Käse 🍂\"}\\u000d\n\t\u{fffd}\u{fffd}";
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let mut terminal = TerminalText::default();
                let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                let mut text: String = pieces.iter().map(|piece| terminal.of(piece)).collect();
                text.push_str(terminal.rest());
                assert_eq!(text, expected, "{first} {second}");
            }
        }
    }
}
