//! The pages of the store's file, and what proves that they are whole.
//!
//! redb keeps its tables in a tree of checksums: the header has those of the two roots, a branch has those of its children,
//! and a table's root is in a leaf of the tree of names. It compares them when it recovers a file, not when it reads one.
//! [`Checked`] stands between redb and the file and compares them at each read. So a bit that flipped, a write that was
//! lost, a row that is missing, and a page that belongs to another place are noticed before redb sees them.

mod checked;
mod layout;
mod reading;
mod salvaging;
mod survey;
#[cfg(test)]
mod tests;
mod walk;

pub(crate) use self::checked::{Checked, Damage, Pages, Problem, contained, guarded};
pub(crate) use self::layout::{HEADER, PAGE, has_commit, length, takes_more, without_rest};
pub(crate) use self::reading::{Range, ReadOnlyTable, ReadTransaction, ReadableTable, Row};
pub(crate) use self::salvaging::{Found, Reached, Shape, reach, scan};
pub(crate) use self::survey::{Free, Leaf, State};
pub(crate) use self::walk::{DamagedPage, Root, engine_pages, read_header, tables_root, walk};
