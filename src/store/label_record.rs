//! The value of the `labels` table: a label, and where it was set.

use bincode::{Decode, Encode};

use super::ordinal::Ordinal;
use super::record::Record;

/// The label that is set on an entry.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct LabelRecord {
    /// The label's text, WTF-8.
    pub(crate) label: Vec<u8>,
    /// The line that set it last.
    pub(crate) line: Ordinal,
    /// The line that first set the target's label after it was last cleared: programs list labels in this order.
    pub(crate) place: Ordinal,
}

impl Record for LabelRecord {
    const TABLE: &'static str = "labels";
}
