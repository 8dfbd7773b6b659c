//! JSON text as ECMAScript's `JSON.stringify(JSON.parse(text))` returns it, and edits of such text.
//!
//! The programs that own the formats rewrite a file this way when they migrate it, so a migrated file has: no spaces;
//! shortest round-trip numbers; escapes only for quotes, backslashes, controls and lone surrogates; for repeated
//! members the first place and the last value; members whose names are array indices first, in numeric order (observed
//! behaviour, migration).

mod arrange;
mod build;
mod dialect;
mod document;
mod value;
mod write;

pub use crate::grammar::Malformed;
pub(crate) use arrange::{Order, array_index};
pub(crate) use build::{Builder, Memory};
pub(crate) use dialect::Dialect;
pub use document::Document;
pub(crate) use value::Value;
pub(crate) use write::write_string_with;
pub use write::{write_number, write_string};

/// Appends the result of `JSON.stringify(JSON.parse(text))`, as UTF-8. Nothing is appended on an error.
///
/// Nesting is bounded by memory alone, where JavaScript engines run out of stack.
///
/// ```
/// let mut out = Vec::new();
/// leafline_import::ecma::restringify(r#" {"b": 1.0, "a": "\/\u00e9", "1": -0} "#, &mut out)?;
/// assert_eq!(out, r#"{"1":0,"b":1,"a":"/é"}"#.as_bytes());
/// # Ok::<(), leafline_import::Malformed>(())
/// ```
///
/// # Errors
///
/// [`Malformed`] if `JSON.parse` would throw.
pub fn restringify(text: &str, out: &mut Vec<u8>) -> Result<(), Malformed> {
    Document::parse(text)?.write(out);
    Ok(())
}
