//! Claude Code's settings file, which is its user's: a hook is put in and taken out, and every other byte stays.
//!
//! The hook is a group of the array `hooks.SessionEnd`. Its command ends with a comment that has a checksum of the command,
//! and how much around the group was made for it.

use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::mark::{has_mark, mark};

/// The event at the end of a session, and the member of the settings that has its hooks.
const EVENT: &str = "SessionEnd";
const HOOKS: &str = "hooks";

/// Seconds that the program waits for the hook: it ends the session only then, or after these.
const PATIENCE: u32 = 60;

/// Indentation where the file has none to follow.
const INDENT: &str = "  ";

/// Why a settings file cannot be edited.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotEditable {
    /// It is not JSON.
    #[error("it is not JSON ({0})")]
    NotJson(#[from] serde_json::Error),
    /// A member is not what the program's documents say.
    #[error("its {0} is not {1}")]
    Unexpected(&'static str, &'static str),
}

/// Text that is to come into a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Insertion {
    /// The byte before which it comes.
    pub(super) at: usize,
    pub(super) text: String,
}

/// What a file has of the hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    /// As it was put in, with its command.
    Own {
        command: String,
    },
    /// One with the mark, but changed since.
    Edited,
}

/// How much was made for the hook: only the group; the array too; `hooks` too; the whole file.
type Made = u32;
const FILE: Made = 3;

/// An object or an array: where it is, and its parts. A part is a member, with its key, or an element.
struct Container<'t> {
    span: Range<usize>,
    parts: Vec<Part<'t>>,
}

struct Part<'t> {
    key: String,
    /// With the key.
    span: Range<usize>,
    value: &'t RawValue,
}

/// The command as it stands in the file.
fn marked_command(command: &str, made: Made) -> String {
    format!("{command} # {} {made}", mark(command))
}

fn group(command: &str) -> Value {
    json!({"hooks": [{"type": "command", "command": command, "timeout": PATIENCE}]})
}

/// The lines to add by hand.
pub(super) fn by_hand(command: &str) -> String {
    let settings = json!({HOOKS: {EVENT: [group(command)]}});
    serde_json::to_string_pretty(&settings).unwrap_or_default()
}

/// The command without its mark, and what was made for it; `None` if it is not as it was put in.
fn read_command(marked: &str) -> Option<(&str, Made)> {
    let (rest, made) = marked.rsplit_once(' ')?;
    let made: Made = made.parse().ok().filter(|&made| made <= FILE)?;
    let (command, _) = rest.rsplit_once(" # ")?;
    (marked_command(command, made) == marked).then_some((command, made))
}

/// What the file has of the hook.
pub(super) fn find(text: &str) -> Result<Found, NotEditable> {
    let Some((array, _)) = hooks_of(text)? else { return Ok(Found::Nothing) };
    for part in &array.parts {
        if let Some((command, _)) = own(part) {
            return Ok(Found::Own { command });
        }
    }
    let is_edited = array.parts.iter().any(|part| has_mark(part.value.get()));
    Ok(if is_edited { Found::Edited } else { Found::Nothing })
}

/// The command of a group that is as it was put in.
fn own(part: &Part<'_>) -> Option<(String, Made)> {
    let value: Value = serde_json::from_str(part.value.get()).ok()?;
    let marked = value.pointer("/hooks/0/command")?.as_str()?;
    let (command, made) = read_command(marked)?;
    (value == group(marked)).then(|| (command.to_owned(), made))
}

/// What puts the hook in. Of a file that is not there, or empty, it is the whole.
pub(super) fn insert(text: &str, command: &str) -> Result<Insertion, NotEditable> {
    if text.trim().is_empty() {
        let whole = json!({HOOKS: {EVENT: [group(&marked_command(command, FILE))]}});
        let text = serde_json::to_string_pretty(&whole)? + "\n";
        return Ok(Insertion { at: 0, text });
    }
    let style = Style::of(text)?;
    let top = style.object(text, "content")?;
    let Some(hooks) = top.last(HOOKS) else {
        let made = json!({EVENT: [group(&marked_command(command, 2))]});
        return style.append(&top, 1, Some(HOOKS), &made);
    };
    let hooks = style.object(hooks.value.get(), HOOKS)?;
    let Some(event) = hooks.last(EVENT) else {
        return style.append(&hooks, 2, Some(EVENT), &json!([group(&marked_command(command, 1))]));
    };
    let array = style.array(event.value.get())?;
    style.append(&array, 3, None, &group(&marked_command(command, 0)))
}

/// The file without the hook: as it was before, if it is as it was after; `None` for one that was made for the hook.
pub(super) fn remove(text: &str) -> Result<Option<String>, NotEditable> {
    let Some((array, containers)) = hooks_of(text)? else { return Ok(Some(text.to_owned())) };
    let found = array
        .parts
        .iter()
        .enumerate()
        .find_map(|(place, part)| own(part).map(|(command, made)| (place, command, made)));
    let Some((place, command, made)) = found else { return Ok(Some(text.to_owned())) };
    if made == FILE && insert("", &command)?.text == text {
        return Ok(None);
    }
    let levels = [(&array, place), containers.event(), containers.hooks()];
    if let Some((container, place)) = levels.get(made as usize)
        && let Some(before) = undo(text, container, *place, &command)
    {
        return Ok(Some(before));
    }
    // It was written anew since: what was made for the hook goes if nothing else is in it.
    let is_alone = |(container, _): &(&Container<'_>, usize)| container.parts.len() == 1;
    let wanted = usize::min(made as usize, 2);
    let outermost = (0..wanted).take_while(|&level| is_alone(&levels[level])).count();
    let (container, place) = levels[outermost];
    let left = without(text, container, place);
    let is_empty = made == FILE && outermost == 2 && is_alone(&levels[2]);
    Ok(if is_empty { None } else { Some(left) })
}

/// The text before an insertion of this part, if what inserts it again gives the same.
fn undo(text: &str, container: &Container<'_>, place: usize, command: &str) -> Option<String> {
    let part = container.parts.get(place)?;
    let begin = match place.checked_sub(1) {
        Some(before) => container.parts.get(before)?.span.end,
        None => container.span.start + 1,
    };
    // Behind the only part is space of its own, and what was between the brackets before.
    let last = if container.parts.len() == 1 { container.span.end - 1 } else { part.span.end };
    (part.span.end..=last).find_map(|end| {
        let before = format!("{}{}", text.get(..begin)?, text.get(end..)?);
        let again = insert(&before, command).ok()?;
        (again.at == begin && again.text == text[begin..end]).then_some(before)
    })
}

/// The text without a part of a container, and without what separates it from the others.
fn without(text: &str, container: &Container<'_>, place: usize) -> String {
    let part = &container.parts[place];
    let cut = match (place.checked_sub(1), container.parts.get(place + 1)) {
        (Some(before), _) => container.parts[before].span.end..part.span.end,
        (None, Some(next)) => part.span.start..next.span.start,
        (None, None) => container.span.start + 1..container.span.end - 1,
    };
    format!("{}{}", &text[..cut.start], &text[cut.end..])
}

/// The containers around the array, each with the place of what leads to it.
struct Around<'t> {
    hooks: Container<'t>,
    event_place: usize,
    top: Container<'t>,
    hooks_place: usize,
}

impl<'t> Around<'t> {
    fn event(&self) -> (&Container<'t>, usize) {
        (&self.hooks, self.event_place)
    }

    fn hooks(&self) -> (&Container<'t>, usize) {
        (&self.top, self.hooks_place)
    }
}

/// The array of the event's hooks, if the file has it.
fn hooks_of(text: &str) -> Result<Option<(Container<'_>, Around<'_>)>, NotEditable> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let style = Style::of(text)?;
    let top = style.object(text, "content")?;
    let Some(hooks_place) = top.place(HOOKS) else { return Ok(None) };
    let hooks = style.object(top.parts[hooks_place].value.get(), HOOKS)?;
    let Some(event_place) = hooks.place(EVENT) else { return Ok(None) };
    let array = style.array(hooks.parts[event_place].value.get())?;
    Ok(Some((array, Around { hooks, event_place, top, hooks_place })))
}

impl<'t> Container<'t> {
    /// The place of a key's last member: of two, the program takes that one.
    fn place(&self, key: &str) -> Option<usize> {
        self.parts.iter().rposition(|part| part.key == key)
    }

    fn last(&self, key: &str) -> Option<&Part<'t>> {
        self.place(key).map(|place| &self.parts[place])
    }
}

/// How a file is written.
struct Style<'t> {
    text: &'t str,
    indent: String,
    line_end: &'static str,
    is_on_one_line: bool,
}

impl<'t> Style<'t> {
    fn of(text: &'t str) -> Result<Self, NotEditable> {
        // All of it is checked before any of it is looked at.
        serde_json::from_str::<serde::de::IgnoredAny>(text)?;
        let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let is_on_one_line = !text.trim().contains('\n');
        let first = text.trim_start().lines().nth(1).unwrap_or_default();
        let indent = &first[..first.len() - first.trim_start().len()];
        let indent = if indent.is_empty() { INDENT } else { indent }.to_owned();
        Ok(Self { text, indent, line_end, is_on_one_line })
    }

    /// Where a part of the text is.
    fn span(&self, part: &str) -> Range<usize> {
        let start = part.as_ptr() as usize - self.text.as_ptr() as usize;
        start..start + part.len()
    }

    fn object(&self, part: &'t str, name: &'static str) -> Result<Container<'t>, NotEditable> {
        let part = part.trim();
        if !part.starts_with('{') {
            return Err(NotEditable::Unexpected(name, "an object"));
        }
        let Members(members) = serde_json::from_str(part)?;
        let span = self.span(part);
        // A key begins after the member before it, or after the bracket.
        let mut from = span.start + 1;
        let mut parts = Vec::new();
        for (key, value) in members {
            let of_value = self.span(value.get());
            let between = &self.text[from..of_value.start];
            let begin = from + between.find('"').unwrap_or_default();
            from = of_value.end;
            parts.push(Part { key, span: begin..of_value.end, value });
        }
        Ok(Container { span, parts })
    }

    fn array(&self, part: &'t str) -> Result<Container<'t>, NotEditable> {
        if !part.starts_with('[') {
            return Err(NotEditable::Unexpected("hooks.SessionEnd", "an array"));
        }
        let elements: Vec<&'t RawValue> = serde_json::from_str(part)?;
        let parts = elements.into_iter().map(|value| {
            let span = self.span(value.get());
            Part { key: String::new(), span, value }
        });
        Ok(Container { span: self.span(part), parts: parts.collect() })
    }

    /// A new last part of a container, whose parts are so deep.
    fn append(
        &self,
        container: &Container<'_>,
        depth: usize,
        key: Option<&str>,
        value: &Value,
    ) -> Result<Insertion, NotEditable> {
        let deep = |depth: usize| format!("{}{}", self.line_end, self.indent.repeat(depth));
        let first = container.parts.first();
        let lead = first.map(|first| &self.text[container.span.start + 1..first.span.start]);
        let is_on_one_line = lead.map_or(self.is_on_one_line, |lead| !lead.contains('\n'));
        let key = key.map(|key| format!("\"{key}\": ")).unwrap_or_default();
        let part = if is_on_one_line {
            format!("{key}{value}")
        } else {
            let mut pretty = Vec::new();
            let format = serde_json::ser::PrettyFormatter::with_indent(self.indent.as_bytes());
            let mut writer = serde_json::Serializer::with_formatter(&mut pretty, format);
            serde::Serialize::serialize(value, &mut writer)?;
            let pretty = String::from_utf8_lossy(&pretty).replace('\n', &deep(depth));
            format!("{key}{pretty}")
        };
        Ok(match (lead, container.parts.last()) {
            (Some(lead), Some(last)) => {
                let between = if is_on_one_line { " " } else { lead };
                Insertion { at: last.span.end, text: format!(",{between}{part}") }
            }
            _ if is_on_one_line => Insertion { at: container.span.start + 1, text: part },
            _ => {
                let text = format!("{}{part}{}", deep(depth), deep(depth - 1));
                Insertion { at: container.span.start + 1, text }
            }
        })
    }
}

/// The members of an object in their order, repeated ones too, each value as it is written.
struct Members<'t>(Vec<(String, &'t RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(All)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const COMMAND: &str = "'/a b/leafline' --store \"/x\" sync # not the mark";

    fn with(text: &str) -> String {
        let Insertion { at, text: new } = insert(text, COMMAND).unwrap();
        format!("{}{new}{}", &text[..at], &text[at..])
    }

    /// JSON with any space that it may have.
    fn written(value: &Value, spaces: &mut impl Iterator<Item = &'static str>) -> String {
        let mut space = || spaces.next().unwrap();
        let (open, close, parts): (_, _, Vec<(String, &Value)>) = match value {
            Value::Object(members) => {
                let members = members.iter();
                ('{', '}', members.map(|(key, value)| (json!(key).to_string(), value)).collect())
            }
            Value::Array(all) => {
                ('[', ']', all.iter().map(|value| (String::new(), value)).collect())
            }
            other => return other.to_string(),
        };
        let mut text = format!("{open}{}", space());
        for (place, (key, value)) in parts.iter().enumerate() {
            if place > 0 {
                text += &format!(",{}", spaces.next().unwrap());
            }
            if !key.is_empty() {
                text += &format!("{key}{}:{}", spaces.next().unwrap(), spaces.next().unwrap());
            }
            text += &written(value, spaces);
            text += spaces.next().unwrap();
        }
        text.push(close);
        text
    }

    fn settings() -> impl Strategy<Value = Value> {
        let group = prop_oneof![
            Just(json!({"matcher": "x", "hooks": []})),
            Just(json!({"hooks": [{"type": "command", "command": "echo \"}], {[\" # \u{e9}"}]})),
            Just(json!({})),
        ];
        let event = vec(group, 0..3).prop_map(Value::Array);
        let event = (prop_oneof![Just("SessionEnd"), Just("Stop"), Just("a\"b")], event);
        let hooks = vec(event, 0..3);
        let other = prop_oneof![
            Just(("env".to_owned(), json!({"A": "{\"hooks\":1}", "B": [1, {"hooks": {}}]}))),
            Just(("model".to_owned(), json!("opus"))),
            Just(("é\\".to_owned(), json!(1.5e300))),
        ];
        (vec(other, 0..3), proptest::option::of(hooks), any::<bool>()).prop_map(
            |(others, hooks, is_first)| {
                let mut members = serde_json::Map::new();
                let hooks = hooks.map(|events| {
                    let events = events.into_iter().map(|(key, value)| (key.to_owned(), value));
                    ("hooks".to_owned(), Value::Object(events.collect()))
                });
                let (before, behind) = if is_first { (hooks, None) } else { (None, hooks) };
                members.extend(before.into_iter().chain(others).chain(behind));
                Value::Object(members)
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_put_in_is_taken_out_and_nothing_else(
            value in settings(),
            spaces in vec(prop_oneof![
                Just(""), Just(" "), Just("\n"), Just("\n  "), Just("\r\n\t"), Just("\n\n"),
            ], 1..40),
        ) {
            let mut spaces = spaces.iter().copied().cycle();
            let text = written(&value, &mut spaces);
            prop_assert_eq!(&serde_json::from_str::<Value>(&text).unwrap(), &value);
            prop_assert_eq!(find(&text).unwrap(), Found::Nothing);
            let changed = with(&text);
            // Only the hook is new.
            let mut after: Value = serde_json::from_str(&changed).unwrap();
            let groups = after.pointer_mut("/hooks/SessionEnd").unwrap().as_array_mut().unwrap();
            let command = groups.pop().unwrap()["hooks"][0]["command"].as_str().unwrap().to_owned();
            prop_assert!(command.starts_with(COMMAND), "{}", command);
            let mut expected = value.clone();
            let members = expected.as_object_mut().unwrap();
            let events = members.entry("hooks").or_insert(json!({})).as_object_mut().unwrap();
            events.entry("SessionEnd").or_insert(json!([]));
            prop_assert_eq!(&after, &expected);
            prop_assert_eq!(find(&changed).unwrap(), Found::Own { command: COMMAND.to_owned() });
            prop_assert_eq!(remove(&changed).unwrap(), Some(text));
            // Also after another program has written all of it anew.
            let anew = serde_json::to_string(&serde_json::from_str::<Value>(&changed).unwrap());
            let left: Value = serde_json::from_str(&remove(&anew.unwrap()).unwrap().unwrap()).unwrap();
            prop_assert_eq!(left, value);
        }
    }

    #[test]
    fn the_file_is_written_as_it_is_written() {
        let text = "{\n\t\"model\": \"opus\"\n}\n";
        let mark = marked_command(COMMAND, 2);
        let command = serde_json::to_string(&mark).unwrap();
        let lines = [
            "{",
            "\t\"model\": \"opus\",",
            "\t\"hooks\": {",
            "\t\t\"SessionEnd\": [",
            "\t\t\t{",
            "\t\t\t\t\"hooks\": [",
            "\t\t\t\t\t{",
            "\t\t\t\t\t\t\"type\": \"command\",",
            &format!("\t\t\t\t\t\t\"command\": {command},"),
            "\t\t\t\t\t\t\"timeout\": 60",
            "\t\t\t\t\t}",
            "\t\t\t\t]",
            "\t\t\t}",
            "\t\t]",
            "\t}",
            "}",
            "",
        ];
        assert_eq!(with(text), lines.join("\n"));
    }

    #[test]
    fn a_file_made_for_the_hook_goes_with_it_and_an_edited_hook_stays() {
        let made = with("");
        assert_eq!(remove(&made).unwrap(), None);
        let anew = serde_json::from_str::<Value>(&made).unwrap().to_string();
        assert_eq!(remove(&anew).unwrap(), None);
        let used = made.replacen('{', "{\n  \"model\": \"opus\",", 1);
        let left: Value = serde_json::from_str(&remove(&used).unwrap().unwrap()).unwrap();
        assert_eq!(left, json!({"model": "opus"}));
        for edited in [made.replace("sync", "import"), made.replace("60", "5")] {
            assert_eq!(find(&edited).unwrap(), Found::Edited);
            assert_eq!(remove(&edited).unwrap(), Some(edited.clone()));
        }
    }

    #[test]
    fn what_is_not_settings_is_refused() {
        for text in ["{// comment\n}", "{\"a\":1,}", "[]", "1", "{\"hooks\":[]}", "{", "\u{feff}{}"]
        {
            assert!(insert(text, COMMAND).is_err(), "{text}");
            assert!(find(text).is_err(), "{text}");
        }
        assert!(insert("{\"hooks\":{\"SessionEnd\":{}}}", COMMAND).is_err());
    }
}
