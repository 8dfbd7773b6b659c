//! A session's metadata: the contents of its header besides the ids.

use std::collections::BTreeMap;

use crate::ecma::Document;
use crate::opal::draft::write_object;
use crate::opal::jason::JASON;
use crate::opal::{WriteError, encode};
use crate::scan::Raw;
use crate::text::unescape;

/// The metadata of a session: an object with any members, among them `title` and `created_at` (Opal session document).
///
/// Values are JSON text as [`encode`] writes it; members are sorted by name.
///
/// ```
/// use leafline_import::opal::Metadata;
///
/// let mut metadata = Metadata::from_json(r#"{ "title": "Fix auth bug", "turns": 1e3 }"#)?;
/// assert_eq!(metadata.get("turns"), Some("1.0e3"));
/// metadata.set("created_at", r#""2026-02-12T00:00:00Z""#)?;
/// metadata.remove("turns");
/// let expected = r#"{"created_at":"2026-02-12T00:00:00Z","title":"Fix auth bug"}"#;
/// assert_eq!(metadata.to_json(), expected);
/// # Ok::<(), leafline_import::opal::WriteError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// By name as WTF-8: JSON text as Jason writes it.
    members: BTreeMap<Vec<u8>, String>,
}

impl Metadata {
    /// Takes a JSON object. The last of repeated members counts.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if the text is not a JSON object.
    pub fn from_json(text: &str) -> Result<Self, WriteError> {
        let document = Document::parse_as(text, &JASON)?;
        if !document.is_object() {
            return Err(WriteError::WrongMember {
                name: "metadata",
                expected: "an object",
                found: Raw::parse(text)?.type_in_words(),
            });
        }
        let member = |(name, json): (String, String)| {
            (unescape(&name[1..name.len() - 1]).into_owned(), json)
        };
        Ok(Self { members: document.members().map(member).collect() })
    }

    /// The value of a member, as JSON text.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.members.get(name.as_bytes()).map(String::as_str)
    }

    /// Sets a member to a value, as JSON text.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if the text is not JSON; the metadata is then unchanged.
    pub fn set(&mut self, name: &str, json: &str) -> Result<(), WriteError> {
        let mut encoded = Vec::with_capacity(json.len());
        encode(json, &mut encoded).map_err(|malformed| WriteError::MalformedMember {
            name: name.to_owned(),
            malformed,
        })?;
        self.members.insert(name.into(), text(encoded));
        Ok(())
    }

    /// Removes a member. Returns whether it existed.
    pub fn remove(&mut self, name: &str) -> bool {
        self.members.remove(name.as_bytes()).is_some()
    }

    /// The object as JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut json = Vec::new();
        write_object(
            self.members.iter().map(|(name, value)| (&**name, value.as_bytes())),
            &mut json,
        );
        text(json)
    }
}

fn text(json: Vec<u8>) -> String {
    String::from_utf8(json).expect("what is written from text is text: lone surrogates are escapes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_changed_one_by_one() {
        let mut metadata =
            Metadata::from_json(r#"{"b":{"y":1,"x":2},"a":12345678901234567890,"b":[1.0]}"#)
                .unwrap();
        assert_eq!(metadata.to_json(), r#"{"a":12345678901234567890,"b":[1.0]}"#);
        metadata.set("t\u{e9}\"", "\"\\u00e9\\ud800\"").unwrap();
        assert_eq!(metadata.get("t\u{e9}\""), Some("\"\u{e9}\\uD800\""));
        assert!(metadata.remove("a") && !metadata.remove("a"));
        assert_eq!(metadata.to_json(), "{\"b\":[1.0],\"t\u{e9}\\\"\":\"\u{e9}\\uD800\"}");
        assert_eq!(Metadata::default().to_json(), "{}");
    }

    #[test]
    fn what_is_no_object_is_refused() {
        let reason = |text| Metadata::from_json(text).unwrap_err().to_string();
        assert_eq!(reason("[]"), "metadata is an array: an object is needed");
        assert!(reason("{").starts_with("the record cannot be read"));
        let mut metadata = Metadata::from_json(r#"{"a":1}"#).unwrap();
        assert!(metadata.set("a", "{").is_err());
        assert_eq!(metadata.get("a"), Some("1"));
    }
}
