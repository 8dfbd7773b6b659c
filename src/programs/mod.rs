//! What each program calls the operations on its sessions: a trait for its writes, and one for its reads.
//!
//! This is the only place outside the formats that names programs. [`crate::session`] has what the families share.

pub(crate) mod omp;
pub(crate) mod opal;
pub(crate) mod pi;

use leafline_import::Family;
use leafline_import::claude::DraftError as ClaudeError;
use leafline_import::opal::WriteError;
use leafline_import::pi_omp::DraftError;
use serde::Serialize;

use crate::error::{Error, LiveError, Result};
use crate::session::{Session, SessionReader};
use crate::store::Store;

/// Limits the programs' traits to the types of this crate, so that they may grow.
pub trait Sealed {}

impl Sealed for Store {}
impl Sealed for Session {}
impl Sealed for SessionReader {}

impl Session {
    /// Fails if the session is not one of this family.
    fn only(&self, family: Family, operation: &'static str) -> Result<()> {
        if self.family() == family { Ok(()) } else { Err(self.wrong_family(operation)) }
    }

    /// Fails if the session is not one of pi or omp.
    fn only_pi_omp(&self, operation: &'static str) -> Result<()> {
        if self.family().is_pi_omp() { Ok(()) } else { Err(self.wrong_family(operation)) }
    }
}

/// The JSON text of an optional value.
fn optional(value: Option<&impl Serialize>) -> Result<Option<String>> {
    value.map(crate::session::live::json).transpose()
}

impl From<DraftError> for Error {
    fn from(error: DraftError) -> Self {
        LiveError::InvalidEntry { problem: error.to_string() }.into()
    }
}

impl From<ClaudeError> for Error {
    fn from(error: ClaudeError) -> Self {
        LiveError::InvalidEntry { problem: error.to_string() }.into()
    }
}

impl From<WriteError> for Error {
    fn from(error: WriteError) -> Self {
        LiveError::InvalidEntry { problem: error.to_string() }.into()
    }
}
