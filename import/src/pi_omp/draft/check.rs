//! Checks that a draft has what its type needs, each value of the right type.

use super::error::{DraftError, Expected};
use super::{Draft, quoted_wtf8};
use crate::ecma::restringify;
use crate::kind::EntryKind;
use crate::scan::Raw;
use crate::text::trim_wtf8;

impl Draft {
    /// Checks every member that the documents name for the type.
    pub(super) fn check(&self) -> Result<(), DraftError> {
        for own in self.layout.own {
            match self.member(own.name) {
                Some(json) => self.check_value(own.name, Raw::of_walked(json))?,
                None if own.required => {
                    return Err(DraftError::MissingMember {
                        entry_type: self.entry_type().into_owned(),
                        name: own.name,
                        expected: own.expected,
                    });
                }
                None => {}
            }
        }
        Ok(())
    }

    pub(super) fn check_value(&self, name: &str, value: Raw<'_>) -> Result<(), DraftError> {
        let Some(place) = self.layout.place_of(name) else {
            return Ok(());
        };
        let own = &self.layout.own[place];
        if own.expected.is_met_by(value) {
            return Ok(());
        }
        Err(DraftError::WrongMember {
            entry_type: self.entry_type().into_owned(),
            name: own.name,
            expected: own.expected,
            found: match own.expected {
                Expected::Message if value.is_object() => {
                    "an object without a role that is a string"
                }
                _ => value.type_in_words(),
            },
        })
    }

    /// The value of a member, given as JSON text, as `JSON.stringify` writes it.
    pub(super) fn stringified(&self, name: &str, json: &str) -> Result<String, DraftError> {
        let mut text = Vec::with_capacity(json.len());
        restringify(json, &mut text).map_err(|malformed| DraftError::MalformedMember {
            entry_type: self.entry_type().into_owned(),
            name: name.to_owned(),
            malformed,
        })?;
        Ok(String::from_utf8(text)
            .expect("what is written from text is text: lone surrogates are escapes"))
    }

    /// Trims a session's name, as both programs do before they write it.
    pub(super) fn trim_name(&mut self) {
        if self.kind == EntryKind::SessionInfo
            && let Some(place) = self.place_of("\"name\"")
            && let Some(name) = Raw::of_walked(&self.members[place].json).as_string()
        {
            self.members[place].json = quoted_wtf8(trim_wtf8(&name));
        }
    }
}

impl Expected {
    fn is_met_by(self, value: Raw<'_>) -> bool {
        match self {
            Self::Anything => true,
            Self::Text => value.is_string(),
            Self::TextOrNull => value.is_string() || value.is_null(),
            Self::Number => value.is_number(),
            Self::Boolean => matches!(value.as_str(), "true" | "false"),
            Self::TextOrArray => value.is_string() || value.is_array(),
            Self::Texts => value.is_array() && value.elements().all(Raw::is_string),
            Self::Message => value.member("role").is_some_and(Raw::is_string),
        }
    }
}
