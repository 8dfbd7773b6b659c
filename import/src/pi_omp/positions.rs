//! Counts records as the programs do: the header is 0, and only lines that parse count.

use serde::{Deserialize, Serialize};

use crate::kind::EntryKind;
use crate::scan::Raw;
use crate::text::{is_blank, trim_end_of_file, trim_start_of_file};

/// How many of a file's records have been read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Positions {
    /// Whether a line that is not blank was met.
    started: bool,
    /// The header has been met.
    in_session: bool,
    /// The position of the next record.
    next: u64,
    /// A line that is JSON only if it is the last of the file; rarely present.
    held: Option<String>,
}

impl Positions {
    /// The line's text as the programs parse it; `None` if the line is blank.
    ///
    /// White space before the first record is trimmed with the file, even if it would make a later line malformed.
    pub(super) fn text<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        if is_blank(text) {
            return None;
        }
        self.held = None;
        let first = !std::mem::replace(&mut self.started, true);
        Some(if first { trim_start_of_file(text) } else { text })
    }

    /// Notes a line that does not parse, in case it is the last.
    pub(super) fn reject(&mut self, text: &str) {
        let trimmed = trim_end_of_file(text);
        // Checked here, so that few malformed lines are copied.
        if trimmed.len() < text.trim_ascii_end().len() && Raw::parse(trimmed).is_ok() {
            self.held = Some(trimmed.to_owned());
        }
    }

    /// The last line of the file, if it parses only because the programs trim a file's end as they trim its start.
    pub(super) fn last(&mut self) -> Option<String> {
        self.held.take()
    }

    /// The position of a record that parsed; `None` for omp's title lines before the header, which are not counted.
    pub(super) fn count(&mut self, kind: EntryKind) -> Option<u64> {
        if !self.in_session {
            if kind == EntryKind::Title {
                return None;
            }
            self.in_session = true;
        }
        let position = self.next;
        self.next += 1;
        Some(position)
    }
}
