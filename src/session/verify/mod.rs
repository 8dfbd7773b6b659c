//! Checks a session's rows against its lines.

mod lines;
mod loops;
mod rows;

use serde::Serialize;

use super::Session;
use crate::error::{Error, Result};
use crate::store::ordinal::Ordinal;

pub(crate) use self::lines::check;

/// What a check has found.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct Verification {
    /// Sessions that were checked.
    pub sessions: u64,
    /// Lines that were checked.
    pub lines: u64,
    /// Blobs that were checked.
    pub blobs: u64,
    /// Prompts of the history that were checked.
    pub prompts: u64,
    /// Damage: contradictions within the store. An undamaged store has none.
    pub problems: Vec<Finding>,
    /// Oddities in the sessions' files, which are kept unchanged.
    pub remarks: Vec<Finding>,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The session's id, if it is about one.
    pub session: Option<String>,
    /// What it is: `malformed`, `recovered`, `orphan`, `duplicate`, `loop`, `unaddressed`, `dropped`, `missing blob`;
    /// for damage, the table's name.
    pub kind: String,
    /// How many of the kind there are in the session.
    pub count: u64,
    /// The first line it is about, counted from 1 as editors do.
    pub line: Option<u64>,
    /// The id of the first entry it is about.
    pub entry: Option<String>,
    /// In words.
    pub text: String,
}

impl Session {
    /// Checks the session's rows in every table against its lines, and the blobs that it refers to.
    ///
    /// # Errors
    ///
    /// If the store cannot be read at all; damage is a finding.
    pub fn verify(&self) -> Result<Verification> {
        let mut verification = Verification { sessions: 1, ..Verification::default() };
        check(self.reader()?.view(), &mut verification)?;
        Ok(verification)
    }
}

/// Findings of one session: the first of each kind in full, the others counted.
pub(crate) struct Findings<'v> {
    session: Option<String>,
    verification: &'v mut Verification,
    /// Records that end before their line does.
    splits: Vec<Ordinal>,
}

impl<'v> Findings<'v> {
    pub(crate) fn new(session: Option<String>, verification: &'v mut Verification) -> Self {
        Self { session, verification, splits: Vec::new() }
    }

    /// Notes the records that end before their line does, in order.
    pub(crate) fn number_lines(&mut self, splits: Vec<Ordinal>) {
        self.splits = splits;
    }

    /// The number of a record's line, from 1.
    pub(crate) fn line_number(&self, ordinal: Ordinal) -> u64 {
        ordinal.number() - self.splits.partition_point(|&split| split < ordinal) as u64
    }

    /// Damage in a table.
    pub(crate) fn problem(&mut self, table: &str, line: Option<Ordinal>, text: impl Into<String>) {
        let finding = self.finding(table, line, None, text.into());
        add(&mut self.verification.problems, finding);
    }

    /// Something odd in the file.
    pub(crate) fn remark(
        &mut self,
        kind: &str,
        line: Option<Ordinal>,
        entry: Option<String>,
        text: impl Into<String>,
    ) {
        let finding = self.finding(kind, line, entry, text.into());
        add(&mut self.verification.remarks, finding);
    }

    /// Turns damage that stopped a part of the check into a finding; other errors are returned.
    pub(crate) fn absorb<T>(&mut self, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Error::Corrupted(damage)) => {
                self.problem(damage.table, None, format!("{}: {}", damage.place, damage.problem));
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }

    pub(crate) fn counts(&mut self) -> &mut Verification {
        self.verification
    }

    fn finding(
        &self,
        kind: &str,
        line: Option<Ordinal>,
        entry: Option<String>,
        text: String,
    ) -> Finding {
        Finding {
            session: self.session.clone(),
            kind: kind.to_owned(),
            count: 1,
            line: line.map(|ordinal| self.line_number(ordinal)),
            entry,
            text,
        }
    }
}

/// Adds a finding, or counts it with the one of the same kind.
fn add(findings: &mut Vec<Finding>, finding: Finding) {
    let same =
        |known: &&mut Finding| known.session == finding.session && known.kind == finding.kind;
    match findings.iter_mut().rev().take(64).find(same) {
        Some(known) => known.count += 1,
        None => findings.push(finding),
    }
}
