//! Messages of the API, as they are passed: checked, and divided into what the program makes records of.

use super::error::DraftError;
use crate::ecma::Document;
use crate::scan::Raw;

/// Whose message it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
}

impl Role {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }

    /// The role of a message, which a record's type may give as well.
    fn of(role: Option<Raw<'_>>, of_record: Option<Self>) -> Result<Self, DraftError> {
        let named = [Self::User, Self::Assistant]
            .into_iter()
            .find(|named| role.is_some_and(|role| role.is_text(named.name())));
        match (named, of_record) {
            (Some(named), None) => Ok(named),
            (Some(named), Some(of_record)) if named == of_record => Ok(named),
            (None, Some(of_record)) if role.is_none() => Ok(of_record),
            _ => Err(DraftError::UnknownRole {
                role: role.map_or("missing", Raw::as_str).to_owned(),
            }),
        }
    }
}

/// A message, its values as `JSON.stringify` writes them.
pub(super) struct Message {
    pub(super) role: Role,
    /// All members but the content, in the given order.
    members: Vec<(String, String)>,
    /// Its content, a string or an array.
    content: String,
}

impl Message {
    /// Takes a message of a record of this type, or of none.
    pub(super) fn new(json: &str, of_record: Option<Role>) -> Result<Self, DraftError> {
        let document = Document::parse(json).map_err(DraftError::Malformed)?;
        let mut members: Vec<(String, String)> = document.members().collect();
        let find = |members: &[(String, String)], name: &str| {
            members.iter().position(|(known, _)| known.get(1..known.len() - 1) == Some(name))
        };
        let role = find(&members, "role").map(|place| Raw::of_walked(&members[place].1));
        let role = Role::of(role, of_record)?;
        let Some(place) = find(&members, "content") else {
            return Err(DraftError::MissingMember {
                record_type: "message".to_owned(),
                name: "content",
                expected: "a string or an array",
            });
        };
        let (_, mut content) = members.remove(place);
        check_content(role, Raw::of_walked(&content))?;
        if role == Role::Assistant {
            if Raw::of_walked(&content).is_string() {
                // The program writes the model's texts as blocks.
                content = format!(r#"[{{"type":"text","text":{content}}}]"#);
            }
            if find(&members, "type").is_none() {
                let place = find(&members, "id").map_or(0, |place| place + 1);
                members.insert(place, ("\"type\"".to_owned(), "\"message\"".to_owned()));
            }
        }
        if find(&members, "role").is_none() {
            members.insert(0, ("\"role\"".to_owned(), format!("\"{}\"", role.name())));
        }
        Ok(Self { role, members, content })
    }

    /// The message with all its content.
    pub(super) fn whole(&self) -> String {
        self.with(&self.content)
    }

    /// One message for each of the model's blocks, and for each of the user's results; what else the user says comes last,
    /// together.
    pub(super) fn parts(&self) -> Vec<String> {
        let content = Raw::of_walked(&self.content);
        let blocks: Vec<Raw<'_>> = content.elements().collect();
        if blocks.len() < 2 {
            return vec![self.whole()];
        }
        let is_alone = |block: &Raw<'_>| match self.role {
            Role::Assistant => true,
            Role::User => block.member("type").is_some_and(|name| name.is_text("tool_result")),
        };
        let (alone, together): (Vec<Raw<'_>>, Vec<Raw<'_>>) =
            blocks.into_iter().partition(is_alone);
        let mut parts: Vec<String> =
            alone.iter().map(|block| self.with(&format!("[{}]", block.as_str()))).collect();
        if !together.is_empty() {
            let blocks: Vec<&str> = together.iter().map(|block| block.as_str()).collect();
            parts.push(self.with(&format!("[{}]", blocks.join(","))));
        }
        parts
    }

    /// The message with this content. The program writes it behind the role, and behind the model.
    fn with(&self, content: &str) -> String {
        let is = |name: &str, known: &str| known.get(1..known.len() - 1) == Some(name);
        let after = |name: &str| self.members.iter().position(|(known, _)| is(name, known));
        let place = after("role").max(after("model")).map_or(0, |place| place + 1);
        let mut json = String::with_capacity(content.len() + 64);
        json.push('{');
        let mut push = |name: &str, value: &str| {
            if json.len() > 1 {
                json.push(',');
            }
            json.push_str(name);
            json.push(':');
            json.push_str(value);
        };
        for (name, value) in &self.members[..place] {
            push(name, value);
        }
        push("\"content\"", content);
        for (name, value) in &self.members[place..] {
            push(name, value);
        }
        json.push('}');
        json
    }
}

/// Checks that a content is what the API takes: a string, or blocks that each have a type.
fn check_content(role: Role, content: Raw<'_>) -> Result<(), DraftError> {
    if content.is_string() {
        return Ok(());
    }
    if !content.is_array() {
        return Err(DraftError::WrongMember {
            record_type: "message".to_owned(),
            name: "content",
            expected: "a string or an array",
            found: content.type_in_words(),
        });
    }
    for (number, block) in (1..).zip(content.elements()) {
        check_block(role, number, block)?;
    }
    Ok(())
}

fn check_block(role: Role, number: usize, block: Raw<'_>) -> Result<(), DraftError> {
    let wrong = |found: String, expected| Err(DraftError::WrongBlock { number, found, expected });
    if !block.is_object() {
        return wrong(block.type_in_words().to_owned(), "an object");
    }
    let Some(name) = block.member("type").and_then(Raw::to_string_lossy) else {
        return wrong("an object without a type".to_owned(), "a type that is a string");
    };
    let needed: &[&str] = match (&*name, role) {
        ("text", _) => &["text"],
        ("tool_use", Role::Assistant) => &["id", "name"],
        ("tool_result", Role::User) => &["tool_use_id"],
        ("tool_use", Role::User) => {
            return Err(DraftError::ForeignBlock { number, block: "tool_use", role: role.name() });
        }
        ("tool_result", Role::Assistant) => {
            return Err(DraftError::ForeignBlock {
                number,
                block: "tool_result",
                role: role.name(),
            });
        }
        _ => &[],
    };
    for needed in needed {
        if !block.member(needed).is_some_and(Raw::is_string) {
            return wrong(format!("a {name} without {needed}"), "a string of that name");
        }
    }
    if name == "tool_use" && !block.member("input").is_some_and(Raw::is_object) {
        return wrong("a tool_use without input".to_owned(), "an object of that name");
    }
    Ok(())
}
