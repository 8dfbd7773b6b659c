//! A JSON value as text.

use std::fmt;

use crate::scan::Raw;
use crate::{Malformed, ecma};

/// A JSON value as the text that `JSON.stringify` gives for it.
///
/// A program may write any value anywhere, and some of them, such as lone surrogates, only text can hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JsonText(String);

impl JsonText {
    /// The text of a value, given as JSON of whatever form.
    ///
    /// # Errors
    ///
    /// [`Malformed`] where it is no JSON.
    pub fn of_raw(raw: &str) -> Result<Self, Malformed> {
        let mut written = Vec::with_capacity(raw.len());
        ecma::restringify(raw, &mut written)?;
        Ok(Self::of_written(written))
    }

    /// What a [context](crate::Family::context) hands out, which is such a text already.
    ///
    /// # Panics
    ///
    /// Where the bytes are no UTF-8.
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

    /// What the value says where it is a string, with U+FFFD for each lone surrogate; `None` for any other value.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        Some(Raw::parse(&self.0).ok()?.to_string_lossy()?.into_owned())
    }

    /// The value.
    ///
    /// # Errors
    ///
    /// That of the JSON reader, for what it refuses and JavaScript takes: lone surrogates, and nesting deeper than
    /// 128.
    pub fn value(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::from_str(&self.0)
    }
}

impl fmt::Display for JsonText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
