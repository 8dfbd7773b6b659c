//! A JSON value as text.

use std::fmt;

use crate::scan::Raw;
use crate::{Malformed, ecma};

/// A JSON value as the text that `JSON.stringify` returns for it.
///
/// A program may write any value anywhere, and only text can hold some of them, such as lone surrogates.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JsonText(String);

impl JsonText {
    /// The text of a value, given as JSON in any form.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if it is not JSON.
    pub fn of_raw(raw: &str) -> Result<Self, Malformed> {
        let mut written = Vec::with_capacity(raw.len());
        ecma::restringify(raw, &mut written)?;
        Ok(Self::of_written(written))
    }

    /// Takes the output of a [context](crate::Family::context), which is already such a text.
    ///
    /// # Panics
    ///
    /// If the bytes are not UTF-8.
    #[must_use]
    pub fn of_written(bytes: Vec<u8>) -> Self {
        Self(
            String::from_utf8(bytes).expect("JSON is written from text, and surrogates as escapes"),
        )
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value of a string, with U+FFFD for each lone surrogate; `None` for any other value.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        Some(Raw::parse(&self.0).ok()?.to_string_lossy()?.into_owned())
    }

    /// The value.
    ///
    /// # Errors
    ///
    /// The error of the JSON reader, for what it refuses although JavaScript accepts it: lone surrogates, and nesting
    /// deeper than 128.
    pub fn value(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::from_str(&self.0)
    }
}

impl fmt::Display for JsonText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
