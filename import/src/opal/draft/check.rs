//! Checks that a draft has what every message has, and members of the right types.

use super::Draft;
use crate::opal::WriteError;
use crate::scan::Raw;

/// The types of value that Opal allows for its members.
struct Known {
    name: &'static str,
    expected: &'static str,
    accepts: fn(Raw<'_>) -> bool,
    /// Whether Opal omits the member if its value says nothing.
    left_out: bool,
}

static KNOWN: [Known; 8] = [
    Known {
        name: "role",
        expected: "a non-empty string",
        accepts: |value| value.is_string() && value.is_truthy(),
        left_out: false,
    },
    Known { name: "content", expected: "a string or null", accepts: is_text, left_out: false },
    Known {
        name: "is_error",
        expected: "true or false",
        accepts: |value| matches!(value.as_str(), "true" | "false"),
        left_out: false,
    },
    Known {
        name: "tool_calls",
        expected: "an array of objects",
        accepts: |value| {
            value.is_null() || (value.is_array() && value.elements().all(Raw::is_object))
        },
        left_out: true,
    },
    Known { name: "call_id", expected: "a string", accepts: is_text, left_out: true },
    Known { name: "name", expected: "a string", accepts: is_text, left_out: true },
    Known { name: "thinking", expected: "a string", accepts: is_text, left_out: true },
    Known {
        name: "metadata",
        expected: "an object",
        accepts: |value| value.is_null() || value.is_object(),
        left_out: true,
    },
];

fn is_text(value: Raw<'_>) -> bool {
    value.is_string() || value.is_null()
}

impl Draft {
    /// Sets a member to a value, as Jason writes it, or removes it if Opal would omit it.
    pub(super) fn put(&mut self, name: Vec<u8>, json: String) -> Result<(), WriteError> {
        if let Some(known) = KNOWN.iter().find(|known| known.name.as_bytes() == name) {
            let value = Raw::of_walked(&json);
            if !(known.accepts)(value) {
                return Err(WriteError::WrongMember {
                    name: known.name,
                    expected: known.expected,
                    found: value.type_in_words(),
                });
            }
            if known.left_out && matches!(&*json, "null" | "[]") {
                self.members.remove(&name);
                return Ok(());
            }
        }
        self.members.insert(name, json);
        Ok(())
    }

    /// Adds what every message has.
    pub(super) fn complete(mut self) -> Result<Self, WriteError> {
        let role = &KNOWN[0];
        if self.member(role.name).is_none() {
            return Err(WriteError::MissingMember { name: role.name, expected: role.expected });
        }
        for (name, json) in [("content", "null"), ("is_error", "false")] {
            self.members.entry(name.into()).or_insert_with(|| json.to_owned());
        }
        Ok(self)
    }
}
