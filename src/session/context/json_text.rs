//! A JSON value as text.

use std::fmt;

use leafline_import::scan::Raw;
use leafline_import::{Malformed, ecma};
use serde_json::Value;

/// A JSON value as the text that `JSON.stringify` gives for it.
///
/// A program may write any value anywhere, and some of them, such as lone surrogates, only text can hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JsonText(String);

impl JsonText {
    /// The text of a value that stands in a line.
    pub(super) fn of_raw(raw: &str) -> Result<Self, Malformed> {
        let mut written = Vec::with_capacity(raw.len());
        ecma::restringify(raw, &mut written)?;
        Ok(Self::of_written(written))
    }

    /// What the writer of JSON has written.
    pub(super) fn of_written(bytes: Vec<u8>) -> Self {
        Self(
            String::from_utf8(bytes).expect("JSON is written from text, and surrogates as escapes"),
        )
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What the value says where it is a string, with U+FFFD for each lone surrogate; `None` for any other value.
    pub fn text(&self) -> Option<String> {
        Some(Raw::parse(&self.0).ok()?.to_string_lossy()?.into_owned())
    }

    /// The value.
    ///
    /// # Errors
    ///
    /// That of the JSON reader, for what it refuses and JavaScript takes: lone surrogates, and nesting deeper than
    /// 128.
    pub fn value(&self) -> serde_json::Result<Value> {
        serde_json::from_str(&self.0)
    }
}

impl fmt::Display for JsonText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
