//! Output that may fit the terminal, held back until that is known.

use anstream::adapter::strip_bytes;

use super::text;

/// The longest line that is measured: one that has more bytes does not fit any terminal.
const LONGEST: usize = 64 << 10;

/// The beginning of the output, for a terminal of this size.
#[derive(Debug)]
pub(super) struct Screen {
    bytes: Vec<u8>,
    /// Where its last line begins, which may not have its end.
    last_line: usize,
    /// The rows that the lines before that take.
    taken: usize,
    rows: usize,
    columns: usize,
}

impl Screen {
    /// An empty one of so many rows and columns. The last row is the prompt's.
    pub(super) fn new(rows: usize, columns: usize) -> Self {
        Self { bytes: Vec::new(), last_line: 0, taken: 0, rows, columns: columns.max(1) }
    }

    /// Adds output.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.bytes.extend_from_slice(line);
            if line.ends_with(b"\n") {
                self.taken += self.rows_of_last();
                self.last_line = self.bytes.len();
            }
        }
    }

    /// Whether it has more than the terminal shows.
    pub(super) fn is_full(&self) -> bool {
        let open = self.bytes.len() - self.last_line;
        self.taken >= self.rows
            || open > LONGEST
            || (open > 0 && self.taken + self.rows_of_last() >= self.rows)
    }

    /// What it has.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The rows of the last line. Styles take no columns.
    fn rows_of_last(&self) -> usize {
        let line = self.bytes.get(self.last_line..).unwrap_or_default();
        if line.len() > LONGEST {
            return self.rows;
        }
        let plain = strip_bytes(line).into_vec();
        let width = text::width(String::from_utf8_lossy(&plain).trim_end_matches('\n'));
        width.div_ceil(self.columns).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a terminal of four rows and ten columns is too small for this, in pieces of any size.
    fn is_too_much(text: &str) -> bool {
        let found: Vec<bool> = [1, 3, 1000]
            .into_iter()
            .map(|size| {
                let mut screen = Screen::new(4, 10);
                text.as_bytes().chunks(size).for_each(|piece| screen.add(piece));
                assert_eq!(screen.bytes(), text.as_bytes());
                screen.is_full()
            })
            .collect();
        assert!(found.iter().all(|one| *one == found[0]), "{text:?}: {found:?}");
        found[0]
    }

    #[test]
    fn a_screen_is_full_when_a_row_is_missing() {
        assert!(!is_too_much(""));
        assert!(!is_too_much("a\nb\nc\n"));
        assert!(is_too_much("a\nb\nc\nd"));
        assert!(is_too_much("a\nb\nc\nd\n"));
        assert!(!is_too_much("\n\n\n"));
        assert!(is_too_much("\n\n\n\n"));
    }

    #[test]
    fn long_lines_take_several_rows() {
        assert!(!is_too_much(&format!("{}\nb\n", "x".repeat(20))));
        assert!(is_too_much(&format!("{}\nb\n", "x".repeat(21))));
        assert!(is_too_much(&"x".repeat(31)));
        assert!(is_too_much(&"日".repeat(16)));
        assert!(!is_too_much(&"\u{1b}[1mx\u{1b}[0m".repeat(30)));
        assert!(is_too_much(&"x".repeat(LONGEST + 1)));
    }
}
