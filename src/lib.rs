//! Leafline keeps coding agents' sessions in one file.

mod catalog;
mod error;
mod session;
mod store;

pub use catalog::export::ExportReport;
pub use catalog::import::{FileReport, ImportObserver, ImportOptions, ImportStatus, ImportTotals};
pub use catalog::remove::Removed;
pub use catalog::statistics::{BlobStatistics, SessionStatistics, Statistics, TableStatistics};
pub use error::{Corruption, Error, Result};
pub use leafline_import::{EntryKind, Family, MessageRole};
pub use session::{
    Entry, ExportMode, Finding, Session, SessionFacts, SessionReader, Tree, TreeNode, TypeFacts,
    Verification,
};
pub use store::{Store, StoreOptions};
