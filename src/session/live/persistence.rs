//! What is done to entries before they are stored: omp's documented rules as values that can be set.

use leafline_import::Family;
use leafline_import::writing::Rules;

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
}

impl Persistence {
    /// The rules of the family's program. omp cuts strings of more than 500,000 UTF-16 units, drops `partialJson` and
    /// `jsonlEvents`, and replaces images of 1,024 base64 characters or more by references; the others keep everything.
    pub fn documented(family: Family) -> Self {
        Self { rules: family.rules(), latches_errors: true }
    }

    /// Stores each entry unchanged, also in a session of omp's.
    pub fn keep_everything() -> Self {
        Self { rules: Rules::keep_everything(), latches_errors: true }
    }
}
