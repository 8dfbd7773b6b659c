//! Who speaks in an entry, and how much of it is conversation.

use leafline_import::view::{Role, View};
use serde_json::Value;

use super::{command, patch};
use crate::session::Entry;

/// How an entry is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Showing {
    /// As a part of the conversation, under its speaker's name.
    Spoken,
    /// As a line between what is spoken.
    Noted,
    /// Only if everything is to be shown.
    Hidden,
}

impl Showing {
    /// How an entry with this view is shown.
    pub(super) fn of(entry: &Entry, view: &View) -> Self {
        let is_message = entry.kind() == leafline_import::EntryKind::Message;
        match view.role {
            _ if view.is_hidden => Self::Hidden,
            Role::User | Role::Assistant | Role::Tool | Role::Summary | Role::Shell => Self::Spoken,
            Role::Custom => Self::Spoken,
            Role::System if is_message => Self::Spoken,
            Role::Setting => Self::Noted,
            _ => Self::Hidden,
        }
    }
}

/// The speaker's name, for a heading.
pub(super) fn name(view: &View) -> String {
    let name = match view.role {
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::Tool => "Tool",
        Role::System => "System",
        Role::Summary => "Summary",
        Role::Shell => "Shell",
        Role::Custom => return view.type_name.clone().unwrap_or_else(|| "Extension".to_owned()),
        Role::Setting | Role::Other | Role::None => {
            return view.type_name.clone().unwrap_or_else(|| "Line".to_owned());
        }
        _ => "Entry",
    };
    name.to_owned()
}

/// The name of a block, and its title.
pub(super) fn block(type_name: &str, title: Option<&str>) -> String {
    beginning(&format!("{type_name} {}", title.unwrap_or_default()), 100)
}

/// A time as it is shown where no script makes it the reader's: to the minute, in UTC.
pub(super) fn time(milliseconds: i64) -> String {
    let stamp = leafline_import::time::format_timestamp(milliseconds);
    match (stamp.split_once('T'), stamp.get(..16)) {
        (Some((date, _)), Some(_)) if date.len() == 10 => {
            format!("{date} {} UTC", stamp.get(11..16).unwrap_or_default())
        }
        _ => stamp,
    }
}

/// The beginning of a text, on one line of at most so many characters.
pub(super) fn beginning(text: &str, most: usize) -> String {
    // A text may be long, and only its beginning counts.
    let start: String = text.chars().take(most * 4).collect();
    let line = start.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    let cut: String = line.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

/// What a call is about, in a few words: the files that it patches, or the first line of its first text.
pub(super) fn subject(arguments: &str) -> String {
    let value: Result<Value, _> = serde_json::from_str(arguments);
    let Ok(Value::Object(members)) = value else { return subject_of_text(arguments) };
    let mut texts =
        members.iter().filter_map(|(name, value)| command::of(name, value).or(value.as_str()));
    subject_of_text(texts.next().unwrap_or_default())
}

fn subject_of_text(text: &str) -> String {
    if let Some(found) = patch::find(text) {
        return beginning(&patch::subject(found.patch), 100);
    }
    beginning(text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default(), 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_known_by_its_first_text() {
        assert_eq!(subject(r#"{"timeout":5,"command":"\n  npm test\nnpm run x"}"#), "npm test");
        assert_eq!(subject(r#"{"n":5}"#), "");
        assert_eq!(subject("no JSON"), "no JSON");
        assert_eq!(subject(r#"{"command":["bash","-lc","ls -l"]}"#), "ls -l");
        assert_eq!(subject("*** Begin Patch\n*** Update File: a.rs\n@@"), "a.rs");
    }

    #[test]
    fn beginnings_are_cut_at_characters() {
        assert_eq!(beginning("a  b\nc", 10), "a b c");
        assert_eq!(beginning("ééééé", 3), "éé…");
    }

    #[test]
    fn times_are_to_the_minute() {
        assert_eq!(time(1_733_234_401_500), "2024-12-03 14:00 UTC");
        assert!(!time(i64::MAX).is_empty() && !time(-1).is_empty());
    }
}
