//! The differences between programs that write JSON.

use crate::ecma::arrange::Order;
use crate::ecma::write::{write_number, write_string};

/// How a program writes values that it has read. None of them writes white space.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// The order of an object's members.
    pub(crate) order: Order,
    /// Appends a number, given as the text that was read.
    pub(crate) write_number: fn(&str, &mut Vec<u8>),
    /// Appends a string with its quotes, given as WTF-8 (see [`crate::text`]).
    pub(crate) write_string: fn(&[u8], &mut Vec<u8>),
}

/// As `JSON.stringify` writes.
pub(super) static ECMASCRIPT: Dialect =
    Dialect { order: Order::IndicesFirst, write_number, write_string };
