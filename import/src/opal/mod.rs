//! Opal's sessions (Opal session document): the header and the messages of a file, its leaf, lines as Opal writes them,
//! and the replacement of a part of the path.
//!
//! A file's first line has the session's metadata, each later line one message. The messages are in no particular
//! order; their `parent_id`s make the tree.
//!
//! ```
//! use leafline_import::opal::{Scanner, detect, leaf};
//! use leafline_import::{lines, text};
//!
//! let file = br#"{"metadata":{"title":"Fix auth bug"}}
//! {"id":"m2","parent_id":"m1","role":"assistant","content":"Which one?","is_error":false}
//! {"id":"m1","parent_id":null,"role":"user","content":"fix the bug","is_error":false}
//! "#;
//!
//! let header = detect(file, true)?;
//! assert_eq!(header.title.as_deref(), Some("Fix auth bug"));
//!
//! let mut scanner = Scanner::new();
//! let first = lines::split(file).nth(1).map(text::decode).expect("it was written above");
//! let message = scanner.scan(&first);
//! assert_eq!(message.id().as_deref(), Some(&b"m2"[..]));
//!
//! // Line 1's parent stands on line 2.
//! let ordinal_of = |_: &[u8]| None;
//! assert_eq!(leaf(&header.current_id, ordinal_of, [(1, Some(2)), (2, None)]), Some(1));
//! # Ok::<(), leafline_import::opal::NotASession>(())
//! ```

mod canonical;
mod context;
mod detect;
mod draft;
mod edit;
mod error;
mod format;
mod header;
mod jason;
mod leaf;
mod line;
mod metadata;
mod reading;
mod replace;
mod scan;
mod write;
mod writing;

pub use crate::pi_omp::ParentId;
pub use detect::{NotASession, detect};
pub use draft::Draft;
pub use edit::{with_metadata, with_parent_id, with_session};
pub use error::WriteError;
pub use format::Opal;
pub use header::{CurrentId, HeaderFacts};
pub use jason::{encode, encode_sorted, write_number, write_string};
pub use leaf::{last_of_longest_path, leaf};
pub use line::{Line, LineKind, Members, Parent};
pub use metadata::Metadata;
pub use reading::PayloadScanner;
pub use replace::{ReplaceError, ReplaceOptions, Replacement, Tree, replace_path_segment};
pub use scan::Scanner;
pub use write::{Header, write_session};
pub use writing::header_facts;
