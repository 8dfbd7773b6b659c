//! Lines of a session's file, which are kept as they are.

use leafline::Session;
use leafline::live::{AppendedLines, RepeatedIds};
use serde_json::json;

use super::super::failure::Failure;
use super::super::output::Output;
use super::stream::{Answer, Batch};

/// Lines that are to be stored together.
pub(super) struct Lines<'a> {
    session: &'a mut Session,
    repeated: RepeatedIds,
    text: Vec<u8>,
    count: usize,
    /// What became of those before.
    total: AppendedLines,
}

impl<'a> Lines<'a> {
    pub(super) fn new(session: &'a mut Session, repeated: RepeatedIds) -> Self {
        let (text, count, total) = (Vec::new(), 0, AppendedLines::default());
        Self { session, repeated, text, count, total }
    }
}

impl Batch for Lines<'_> {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        self.text.extend_from_slice(line);
        self.count += 1;
        Ok(())
    }

    fn len(&self) -> usize {
        self.count
    }

    fn store(&mut self) -> leafline::Result<Vec<Answer>> {
        let appended = self.session.append_lines(&self.text, self.repeated)?;
        self.text.clear();
        self.count = 0;
        self.total.added += appended.added;
        self.total.ignored += appended.ignored;
        Ok(Vec::new())
    }

    fn end(&self) -> Option<Answer> {
        Some(Answer::Lines { added: self.total.added, ignored: self.total.ignored })
    }

    fn stored(&self) -> u64 {
        self.total.added
    }
}

/// Prints how many lines were added, and how many left out.
pub(super) fn print(added: u64, ignored: u64, out: &mut Output) -> Result<(), Failure> {
    if out.is_json() {
        return out.json(&json!({ "added": added, "ignored": ignored }));
    }
    match ignored {
        0 => out.line(format_args!("added {added}")),
        _ => out.line(format_args!("added {added}, left out {ignored}")),
    }
}
