//! Checking a session's rows against its lines.

use serde::Serialize;

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
    /// Damage: what the store should say otherwise. An undamaged store has none.
    pub problems: Vec<Finding>,
    /// What is odd in the sessions' files, and is kept as it is.
    pub remarks: Vec<Finding>,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The session's id, where it is about one.
    pub session: Option<String>,
    /// What it is: `malformed`, `orphan`, `duplicate`, `loop`, `unaddressed`, `missing blob`; or the table's name, for damage.
    pub kind: String,
    /// How many there are of the kind in the session.
    pub count: u64,
    /// The first line it is about, counted from 1 as editors do.
    pub line: Option<u64>,
    /// The id of the first entry it is about.
    pub entry: Option<String>,
    /// In words.
    pub text: String,
}

impl crate::store::Store {
    /// Checks every table against the lines, and every blob against its hash.
    ///
    /// # Errors
    ///
    /// Only where reading fails as a whole; damage is a finding.
    pub fn verify(&self) -> crate::Result<Verification> {
        unimplemented!()
    }
}

impl super::Session<'_> {
    /// Checks the session's rows in every table against its lines, and the blobs that it refers to.
    ///
    /// # Errors
    ///
    /// Only where reading fails as a whole; damage is a finding.
    pub fn verify(&self) -> crate::Result<Verification> {
        unimplemented!()
    }
}
