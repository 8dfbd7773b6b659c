//! What a damaged journal may make of the answers.

use crate::damage::{Image, PAGE};
use crate::sample::Files;

/// What is to be expected beside a whole store's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// All answers, as they were behind so many appends: of what came later nothing is there that says so.
    Answers { appends: usize },
    /// Errors alone: acknowledged appends are missing, and it is known.
    Errors,
}

/// The damage of a journal that a killed process has left.
#[derive(Debug)]
pub(crate) struct JournalDamage {
    pub(crate) expected: Expected,
    /// Of each append, whether its record is whole.
    pub(crate) is_whole: Vec<bool>,
    /// Whether the file is of another length, or has another first page.
    pub(crate) is_other_file: bool,
}

impl JournalDamage {
    /// Compares a journal with what it was.
    pub(crate) fn of(files: &Files, damaged: &Image) -> Self {
        let whole = files.journals.last().expect("a process that appends has a journal");
        let is_same = |(from, to)| damaged.range(from, to) == whole.range(from, to);
        let is_whole: Vec<bool> =
            files.records.iter().map(|record| is_same(record.range)).collect();
        let is_other_file = damaged.length != whole.length || !is_same((0, PAGE));
        let first = is_whole.iter().position(|is_whole| !is_whole).unwrap_or(is_whole.len());
        // A record behind the damaged one says that it was on the disk.
        let is_told = is_whole.iter().skip(first).any(|is_whole| *is_whole);
        let expected = match is_other_file || is_told {
            true => Expected::Errors,
            false => Expected::Answers { appends: first },
        };
        Self { expected, is_whole, is_other_file }
    }

    /// Whether all records of a session are whole.
    pub(crate) fn spares(&self, files: &Files, session: &str) -> bool {
        let mut of_session = files.records.iter().zip(&self.is_whole);
        of_session.all(|(record, is_whole)| *is_whole || record.session != session)
    }
}
