//! Records to be appended, as an agent passes them: without uuid, parent, time and session.

mod construct;
mod error;
mod layout;
mod message;
mod place;
mod write;

pub use error::DraftError;
pub use place::{Place, VERSION};

use crate::claude::kind::RecordKind;
use crate::ecma::{Document, restringify, write_string};
use crate::kind::MessageRole;
use crate::line::LineFacts;
use crate::scan::Raw;
use layout::Layout;
use message::{Message, Role};
use write::plain;

/// The members that say where a record stands, which [`Draft::write`] writes.
const PLACED: [&str; 4] = ["uuid", "parentUuid", "timestamp", "sessionId"];

/// A record to be appended to a session of Claude Code's: its type and its members, without uuid, parent, time and session.
///
/// It is written as Claude Code 2.1.330 writes its records (observed). Members that are not known pass through.
///
/// ```
/// use leafline_import::claude::{Draft, Place};
///
/// let draft = Draft::from_json(r#"{ "role": "user", "content": "\u0048i" }"#)?;
/// assert_eq!(draft.member("message"), Some(r#"{"role":"user","content":"Hi"}"#));
///
/// let above = br#"{"type":"assistant","uuid":"a","cwd":"/work","version":"2.1.330","gitBranch":"main"}"#;
/// let place = Place {
///     uuid: "6c1b12d0-7f0b-4b55-9a0e-0d8f1d2f3a4b",
///     parent: Some(b"a"),
///     timestamp: 1_733_234_401_500,
///     session_id: b"0b5e8f9a-2f4d-4a4e-8a3c-5d6e7f809102",
///     above: Some(above),
///     cwd: None,
/// };
/// let mut line = Vec::new();
/// draft.write(&place, &mut line);
/// let expected = concat!(
///     r#"{"parentUuid":"a","isSidechain":false,"type":"user","message":{"role":"user","content":"Hi"},"#,
///     r#""uuid":"6c1b12d0-7f0b-4b55-9a0e-0d8f1d2f3a4b","timestamp":"2024-12-03T14:00:01.500Z","#,
///     r#""userType":"external","cwd":"/work","sessionId":"0b5e8f9a-2f4d-4a4e-8a3c-5d6e7f809102","#,
///     r#""version":"2.1.330","gitBranch":"main"}"#,
///     "\n",
/// );
/// assert_eq!(line, expected.as_bytes());
/// # Ok::<(), leafline_import::claude::DraftError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    kind: RecordKind,
    /// As JSON text.
    record_type: String,
    layout: &'static Layout,
    /// Names in quotes and values, as `JSON.stringify` writes them.
    members: Vec<(String, String)>,
    is_entry: bool,
    /// Whether a record outside the tree was given with its session.
    names_session: bool,
    /// Whether it is a further part of the message above it.
    goes_on: bool,
}

impl Draft {
    /// Takes a record, or a message of the API, as a JSON object.
    ///
    /// - An object whose `type` is a non-empty string other than `message` is a record: `uuid`, `parentUuid`, `timestamp` and
    ///   `sessionId` are dropped, and all other members pass through.
    /// - Any other with a `role` is a message, and stays one record however many blocks it has; [`Draft::message`] divides it
    ///   as the program does.
    ///
    /// The model's content is written as blocks, as by the program; a string becomes a text.
    ///
    /// # Errors
    ///
    /// [`DraftError`] if the text is not a JSON object, is neither a record nor a message, or if something that the type needs
    /// is missing or of the wrong type.
    pub fn from_json(text: &str) -> Result<Self, DraftError> {
        let document = Document::parse(text).map_err(DraftError::Malformed)?;
        if !document.is_object() {
            let found = Raw::parse(text).map_err(DraftError::Malformed)?.type_in_words();
            return Err(DraftError::NotAnObject { found });
        }
        let record_type = document.get("type").filter(|name| name.is_string());
        let record_type = record_type.filter(|name| !name.is_text("") && !name.is_text("message"));
        match record_type {
            Some(record_type) => Self::of_record(&document, record_type),
            None if document.get("role").is_some() => {
                let message = Message::new(text, None)?;
                let kind = match message.role {
                    Role::User => RecordKind::User,
                    Role::Assistant => RecordKind::Assistant,
                };
                let mut draft = Self::begin(kind);
                draft.members.push((quoted("message"), message.whole()));
                Ok(draft)
            }
            None => Err(DraftError::NoType),
        }
    }

    /// The same, with a message of the API divided as [`Draft::message`] does.
    ///
    /// # Errors
    ///
    /// Those of [`Draft::from_json`].
    pub fn parts(text: &str) -> Result<Vec<Self>, DraftError> {
        let document = Document::parse(text).map_err(DraftError::Malformed)?;
        let name = document.get("type").filter(|name| name.is_string());
        let is_record = name.is_some_and(|name| !name.is_text("") && !name.is_text("message"));
        if !is_record && document.get("role").is_some() {
            return Self::message(text);
        }
        Ok(vec![Self::from_json(text)?])
    }

    fn of_record(document: &Document<'_>, record_type: Raw<'_>) -> Result<Self, DraftError> {
        let kind = RecordKind::of_type(record_type.as_string().as_deref());
        let mut draft = Self::begin(kind);
        let mut given = Vec::new();
        restringify(record_type.as_str(), &mut given).map_err(DraftError::Malformed)?;
        draft.record_type = text(given);
        draft.is_entry = kind.is_of_tree()
            || document.get("parentUuid").is_some()
            || document.get("uuid").is_some_and(Raw::is_string);
        draft.names_session = document.get("sessionId").is_some();
        let is_entry = draft.is_entry;
        draft.members = document
            .members()
            .filter(|(name, _)| {
                let is_placed = match plain(name) {
                    // Outside the tree a time is not that of the record alone.
                    "timestamp" => is_entry,
                    name => PLACED.contains(&name) || name == "type",
                };
                !is_placed
            })
            .collect();
        draft.check()?;
        draft.arrange_message()?;
        Ok(draft)
    }

    /// Checks the members that the type needs.
    fn check(&self) -> Result<(), DraftError> {
        for needed in self.layout.needed {
            let (name, expected) = (needed.name, needed.expected.in_words());
            let record_type = || self.record_type().into_owned();
            match self.member(name).map(Raw::of_walked) {
                Some(value) if needed.expected.is_met_by(value) => {}
                Some(value) => {
                    let found = value.type_in_words();
                    let record_type = record_type();
                    return Err(DraftError::WrongMember { record_type, name, expected, found });
                }
                // The last prompt need not name a leaf.
                None if self.kind == RecordKind::LastPrompt => {}
                None => {
                    let record_type = record_type();
                    return Err(DraftError::MissingMember { record_type, name, expected });
                }
            }
        }
        Ok(())
    }

    /// Checks the message of a record of the user's or the model's, and writes it as the program does.
    fn arrange_message(&mut self) -> Result<(), DraftError> {
        let role = match self.kind {
            RecordKind::User => Role::User,
            RecordKind::Assistant => Role::Assistant,
            _ => return Ok(()),
        };
        let expected = "an object";
        let place = self.members.iter().position(|(name, _)| plain(name) == "message");
        let Some(place) = place else {
            let record_type = self.record_type().into_owned();
            return Err(DraftError::MissingMember { record_type, name: "message", expected });
        };
        let message = Raw::of_walked(&self.members[place].1);
        if !message.is_object() {
            return Err(DraftError::WrongMember {
                record_type: self.record_type().into_owned(),
                name: "message",
                expected,
                found: message.type_in_words(),
            });
        }
        self.members[place].1 = Message::new(message.as_str(), Some(role))?.whole();
        Ok(())
    }

    fn begin(kind: RecordKind) -> Self {
        Self {
            kind,
            record_type: quoted(kind.name()),
            layout: Layout::of(kind),
            members: Vec::new(),
            is_entry: kind.is_of_tree(),
            names_session: false,
            goes_on: false,
        }
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> RecordKind {
        self.kind
    }

    /// Its type, with U+FFFD for each lone surrogate.
    #[must_use]
    pub fn record_type(&self) -> std::borrow::Cow<'_, str> {
        Raw::of_walked(&self.record_type).to_string_lossy().unwrap_or_default()
    }

    /// Whether it is an entry of the tree; titles, summaries and the like stand outside it.
    #[must_use]
    pub fn is_entry(&self) -> bool {
        self.is_entry
    }

    /// Whose message it is; [`MessageRole::None`] if it is none.
    #[must_use]
    pub fn role(&self) -> MessageRole {
        let mut line = Vec::new();
        let nowhere =
            Place { uuid: "", parent: None, timestamp: 0, session_id: b"", above: None, cwd: None };
        self.write(&nowhere, &mut line);
        let line = String::from_utf8_lossy(&line);
        let mut scanner = crate::claude::Scanner::new();
        let record = scanner.scan(&line);
        let kind = LineFacts::kind(&record);
        LineFacts::role(&record, kind)
    }

    /// The ids of the calls whose results it has, as WTF-8.
    #[must_use]
    pub fn results(&self) -> Vec<Vec<u8>> {
        let message = self.member("message").filter(|_| self.kind == RecordKind::User);
        let content = message.and_then(|message| Raw::of_walked(message).member("content"));
        let blocks = content.into_iter().flat_map(Raw::elements);
        let ids = blocks.filter_map(|block| {
            let [name, id] = block.members(["type", "tool_use_id"]);
            name.filter(|name| name.is_text("tool_result"))?;
            Some(id?.as_string()?.into_owned())
        });
        ids.collect()
    }

    /// The value of a member, as JSON text; `None` if there is none, and always for the type and for what says where the
    /// record stands.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&str> {
        let (_, json) = self.members.iter().find(|(known, _)| plain(known) == name)?;
        Some(json)
    }

    /// Sets a member to a value, as JSON text, such as `toolUseResult`, `isMeta` or `gitBranch`.
    ///
    /// # Errors
    ///
    /// [`DraftError`] if the text is not JSON, if the value has the wrong type for this member, and for the members `type`,
    /// `uuid`, `parentUuid`, `timestamp` and `sessionId`. The draft is then unchanged.
    pub fn set_member(&mut self, name: &str, json: &str) -> Result<(), DraftError> {
        if name == "type" || PLACED.contains(&name) {
            return Err(DraftError::NotAMember { name: name.to_owned() });
        }
        let mut given = Vec::with_capacity(json.len());
        restringify(json, &mut given).map_err(DraftError::Malformed)?;
        let mut changed = self.clone();
        let (name, json) = (quoted(name), text(given));
        match changed.members.iter_mut().find(|(known, _)| *known == name) {
            Some(member) => member.1 = json,
            None => changed.members.push((name, json)),
        }
        changed.check()?;
        changed.arrange_message()?;
        *self = changed;
        Ok(())
    }

    fn is_compact_boundary(&self) -> bool {
        self.kind == RecordKind::System && self.member("subtype") == Some("\"compact_boundary\"")
    }
}

/// The JSON text of a string.
pub(super) fn quoted(text: &str) -> String {
    quoted_wtf8(text.as_bytes())
}

/// The JSON text of a string given as WTF-8.
pub(super) fn quoted_wtf8(value: &[u8]) -> String {
    let mut json = Vec::with_capacity(value.len() + 2);
    write_string(value, &mut json);
    String::from_utf8(json).unwrap_or_else(|error| {
        // Ids in files are any bytes: what is no text is shown as U+FFFD, as a line is decoded.
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    })
}

fn text(json: Vec<u8>) -> String {
    String::from_utf8(json).expect("what is written from text is text: lone surrogates are escapes")
}

#[cfg(test)]
mod tests;
