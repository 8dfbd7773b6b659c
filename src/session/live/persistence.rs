//! When and how entries are stored: omp's documented rules as values that can be set.

use leafline_import::Family;
use leafline_import::writing::Rules;

/// What is stored of a live session, and when (omp document, persistence; observed behaviour, writing).
///
/// Reads return what is stored: a string that the rules cut is cut from the moment it is appended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Persistence {
    /// Whether nothing is stored before the first assistant message, and then everything at once. Until then the
    /// session is in memory, and a crash loses it. A session that is already stored does not wait.
    pub waits_for_assistant: bool,
    /// The changes made to an entry before it is stored.
    pub rules: Rules,
    /// Whether the first failure to store is kept and returned by each later call that writes, so that nothing is
    /// appended after a gap.
    pub latches_errors: bool,
}

impl Persistence {
    /// As the family's program does. pi and omp wait for the assistant; Opal does not, as its documents have no such
    /// rule. omp cuts strings of more than 500,000 UTF-16 units, drops `partialJson` and `jsonlEvents`, and replaces
    /// images of 1,024 base64 characters or more by references; the others keep everything.
    pub fn documented(family: Family) -> Self {
        let (waits_for_assistant, rules) = (family.waits_for_assistant(), family.rules());
        Self { waits_for_assistant, rules, latches_errors: true }
    }

    /// Stores each entry at once and unchanged.
    pub fn immediate() -> Self {
        Self { waits_for_assistant: false, rules: Rules::keep_everything(), latches_errors: true }
    }
}
