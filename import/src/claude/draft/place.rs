//! What is around a new record: the entry above it, and the session.

use crate::claude::scanner::Scanner;
use crate::claude::{Record, RecordKind};
use crate::ecma::restringify;
use crate::scan::Raw;
use crate::text;

use super::layout::SURROUNDINGS;

/// The version of the program whose records are written here, as the first record of a session states it.
pub const VERSION: &str = "2.1.330";

/// Where a record is appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// The new entry's uuid; the program's are of version 4. Records that stand outside the tree have none.
    pub uuid: &'a str,
    /// The uuid of the entry above it as WTF-8 (see [`crate::text`]); `None` for a root.
    pub parent: Option<&'a [u8]>,
    /// The time in milliseconds since 1970.
    pub timestamp: i64,
    /// The session's id as WTF-8.
    pub session_id: &'a [u8],
    /// The line of the entry above it, from which the new one takes over `cwd`, `version`, `gitBranch` and the like. `None`
    /// for the first record.
    pub above: Option<&'a [u8]>,
    /// The session's working directory, where no entry above states one.
    pub cwd: Option<&'a str>,
}

/// What a new entry takes over from the one above it.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    pub(super) is_sidechain: bool,
    /// As JSON text, in the order of [`SURROUNDINGS`].
    values: [Option<String>; SURROUNDINGS.len()],
    pub(super) agent_id: Option<String>,
    /// The message of the API of which the entry above is a part, as JSON text.
    pub(super) message_id: Option<String>,
    /// The ids of the calls in the entry above, as WTF-8.
    calls: Vec<Vec<u8>>,
}

impl Surroundings {
    pub(super) fn of(place: &Place<'_>) -> Self {
        let mut surroundings = match place.above {
            None => Self::default(),
            Some(line) => {
                let decoded = text::decode(line);
                let shown = text::trim_start_of_file(&decoded);
                Self::of_record(&Scanner::new().scan(shown), shown)
            }
        };
        surroundings.fill("userType", || Some("\"external\"".to_owned()));
        surroundings.fill("cwd", || place.cwd.filter(|cwd| !cwd.is_empty()).map(super::quoted));
        surroundings.fill("version", || Some(format!("\"{VERSION}\"")));
        surroundings
    }

    /// Those of a record; of what is none, nothing.
    fn of_record(record: &Record<'_>, text: &str) -> Self {
        if record.kind() == RecordKind::Malformed || Raw::parse(text).is_err() {
            return Self::default();
        }
        let whole = Raw::of_walked(text.trim());
        let string = |value: Option<Raw<'_>>| {
            let value = value.filter(|value| value.is_string())?;
            let mut json = Vec::new();
            restringify(value.as_str(), &mut json).ok()?;
            String::from_utf8(json).ok()
        };
        let values = whole.members(SURROUNDINGS).map(string);
        let [agent_id, message] = whole.members(["agentId", "message"]);
        let is_of_model = record.kind() == RecordKind::Assistant;
        let message = message.filter(|_| is_of_model);
        let [message_id, content] =
            message.map_or([None, None], |message| message.members(["id", "content"]));
        let calls = content.into_iter().flat_map(Raw::elements).filter_map(|block| {
            let [name, id] = block.members(["type", "id"]);
            name.filter(|name| name.is_text("tool_use"))?;
            Some(id?.as_string()?.into_owned())
        });
        Self {
            is_sidechain: record.is_sidechain(),
            values,
            agent_id: string(agent_id),
            message_id: string(message_id),
            calls: calls.collect(),
        }
    }

    fn fill(&mut self, name: &str, value: impl FnOnce() -> Option<String>) {
        if let Some(place) = SURROUNDINGS.iter().position(|known| *known == name)
            && self.values[place].is_none()
        {
            self.values[place] = value();
        }
    }

    /// Whether the entry above calls a tool with this id, given as WTF-8.
    pub(super) fn has_call(&self, id: &[u8]) -> bool {
        self.calls.iter().any(|call| call == id)
    }

    /// The value of a member, as JSON text.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let place = SURROUNDINGS.iter().position(|known| *known == name)?;
        self.values[place].as_deref()
    }
}
