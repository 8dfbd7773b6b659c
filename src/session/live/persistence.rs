//! How entries are stored: the documented rules of omp and pi as values that can be set.

use leafline_import::writing::Rules;
use leafline_import::{Family, ProgramVersion};

/// What is stored of the entries of a live session (omp document, persistence). Each entry is on disk when the call that
/// appends it returns.
///
/// Reads return what is stored: a string that the rules cut is cut from the moment it is appended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Persistence {
    /// The changes made to an entry before it is stored.
    pub rules: Rules,
    /// Whether the first failure to store is kept and returned by each later call that writes, so that nothing is
    /// appended after a gap.
    pub latches_errors: bool,
    /// The version of pi that says which message stores a [deferred session](crate::pi::PiStore); `None` is the newest one.
    pub as_of: Option<ProgramVersion>,
}

impl Persistence {
    /// The rules of the family's program. omp cuts strings of more than 500,000 UTF-16 units, drops `partialJson` and
    /// `jsonlEvents`, replaces images of 1,024 base64 characters or more by references, and writes nothing after a failure; the
    /// others keep everything, and try again.
    pub fn documented(family: Family) -> Self {
        Self { rules: family.rules(), latches_errors: family.latches_errors(), as_of: None }
    }

    /// Stores each entry unchanged, also in a session of omp's.
    pub fn keep_everything() -> Self {
        Self { rules: Rules::keep_everything(), latches_errors: false, as_of: None }
    }
}
