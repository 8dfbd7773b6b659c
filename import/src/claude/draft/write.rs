//! The line of a draft.

use super::layout::{SURROUNDINGS, names_session};
use super::place::{Place, Surroundings};
use super::{Draft, quoted};
use crate::claude::kind::RecordKind;
use crate::claude::uuid_key::bits_of_usual;
use crate::ecma::write_string;
use crate::scan::Raw;
use crate::time::format_timestamp;

impl Draft {
    /// Appends the record's line, ended by `\n`, with the members in the order in which the program writes them.
    ///
    /// An entry takes over `isSidechain`, `agentId`, `userType`, `entrypoint`, `cwd`, `version`, `gitBranch` and `slug`
    /// from the entry above it, unless the draft states them. A message of the model's without an id gets one: that of the
    /// message above, if it is a further part of that, otherwise one made of its uuid.
    ///
    /// A parent or a session id that is not WTF-8 makes a line that is not UTF-8.
    pub fn write(&self, place: &Place<'_>, out: &mut Vec<u8>) {
        let mut line = Line { out, is_begun: false };
        if self.is_entry {
            self.write_entry(place, &mut line);
        } else {
            line.json("type", &self.record_type);
            for (name, json) in &self.members {
                line.member(name, json);
            }
            if self.names_session || names_session(self.kind) {
                line.string("sessionId", place.session_id);
            }
        }
        out.extend_from_slice(b"}\n");
    }

    fn write_entry(&self, place: &Place<'_>, line: &mut Line<'_>) {
        let around = Surroundings::of(place);
        self.write_parents(place, line);
        let is_sidechain = if around.is_sidechain { "true" } else { "false" };
        line.json("isSidechain", self.member("isSidechain").unwrap_or(is_sidechain));
        let agent_id = self.member("agentId").or(around.agent_id.as_deref());
        self.write_named(&["promptId"], line);
        if let Some(agent_id) = agent_id {
            line.json("agentId", agent_id);
        }
        self.write_laid_out(self.layout.before_type, place, &around, line);
        line.json("type", &self.record_type);
        self.write_laid_out(self.layout.after_type, place, &around, line);
        line.string("uuid", place.uuid.as_bytes());
        line.string("timestamp", format_timestamp(place.timestamp).as_bytes());
        for (name, json) in &self.members {
            let plain = plain(name);
            let stands_elsewhere = self.layout.has(plain)
                || SURROUNDINGS.contains(&plain)
                || matches!(plain, "isSidechain" | "agentId" | "promptId" | "logicalParentUuid");
            if !stands_elsewhere {
                line.member(name, json);
            }
        }
        if let Some(parent) = place.parent
            && self.member("sourceToolAssistantUUID").is_none()
            && self.results().iter().any(|call| around.has_call(call))
        {
            line.string("sourceToolAssistantUUID", parent);
        }
        let is_of_records = around.is_sidechain || bits_of_usual(place.session_id).is_none();
        for name in SURROUNDINGS {
            match self.member(name).or(around.value(name)) {
                // An agent's records have that of the session that started it, and a session that is not named by a UUID
                // has one in its records.
                Some(json) if name == "sessionId" && is_of_records => line.json(name, json),
                _ if name == "sessionId" => line.string(name, place.session_id),
                Some(json) => line.json(name, json),
                None => {}
            }
        }
    }

    /// A compact boundary has no parent; what it goes on from is its logical parent.
    fn write_parents(&self, place: &Place<'_>, line: &mut Line<'_>) {
        let parent = |name, line: &mut Line<'_>| match place.parent {
            Some(parent) => line.string(name, parent),
            None => line.json(name, "null"),
        };
        if !self.is_compact_boundary() {
            return parent("parentUuid", line);
        }
        line.json("parentUuid", "null");
        match self.member("logicalParentUuid").filter(|json| *json != "null") {
            Some(json) => line.json("logicalParentUuid", json),
            None => parent("logicalParentUuid", line),
        }
    }

    fn write_laid_out(
        &self,
        names: &[&'static str],
        place: &Place<'_>,
        around: &Surroundings,
        line: &mut Line<'_>,
    ) {
        for name in names.iter().filter(|name| **name != "promptId") {
            match self.member(name) {
                Some(message) if *name == "message" => {
                    line.json(name, &self.named_message(message, place, around));
                }
                Some(json) => line.json(name, json),
                None => {}
            }
        }
    }

    fn write_named(&self, names: &[&str], line: &mut Line<'_>) {
        for name in names {
            if let Some(json) = self.member(name) {
                line.json(name, json);
            }
        }
    }

    /// The message with an id, if it is the model's.
    fn named_message(&self, message: &str, place: &Place<'_>, around: &Surroundings) -> String {
        let has_id = Raw::of_walked(message).member("id").is_some();
        if self.kind != RecordKind::Assistant || has_id {
            return message.to_owned();
        }
        let id = match &around.message_id {
            Some(id) if self.goes_on => id.clone(),
            _ => quoted(&format!("msg_{}", place.uuid.replace('-', ""))),
        };
        message.replacen('{', &format!("{{\"id\":{id},"), 1)
    }
}

/// The name between its quotes; this is the name itself if nothing in it needs an escape.
pub(super) fn plain(quoted: &str) -> &str {
    quoted.get(1..quoted.len() - 1).unwrap_or("")
}

/// A line that is being written.
struct Line<'o> {
    out: &'o mut Vec<u8>,
    is_begun: bool,
}

impl Line<'_> {
    fn begin_member(&mut self) {
        self.out.push(if self.is_begun { b',' } else { b'{' });
        self.is_begun = true;
    }

    /// A member whose name is in quotes.
    fn member(&mut self, name: &str, json: &str) {
        self.begin_member();
        self.out.extend_from_slice(name.as_bytes());
        self.out.push(b':');
        self.out.extend_from_slice(json.as_bytes());
    }

    fn json(&mut self, name: &str, json: &str) {
        self.begin_member();
        write_string(name.as_bytes(), self.out);
        self.out.push(b':');
        self.out.extend_from_slice(json.as_bytes());
    }

    /// A string given as WTF-8.
    fn string(&mut self, name: &str, value: &[u8]) {
        self.json(name, "");
        write_string(value, self.out);
    }
}
