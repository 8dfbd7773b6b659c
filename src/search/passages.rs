//! The parts of an entry that are searched.

use leafline_import::scan::Raw;
use leafline_import::text::unescape;
use leafline_import::view::{Part, Role, View};

/// The roles whose entries are searched: settings and the programs' own records say nothing, or repeat a message.
pub(super) const SEARCHED: &[Role] = &[
    Role::User,
    Role::Assistant,
    Role::Tool,
    Role::System,
    Role::Summary,
    Role::Shell,
    Role::Custom,
];

/// The most bytes of an entry's text that are searched: one entry may say a gigabyte, and its words have to fit in memory.
const MOST_SEARCHED: usize = 16 << 20;

/// The passages of an entry, as far as they are searched: text and reasoning, tool calls and their output, the titles and
/// texts of other blocks, and errors.
pub(super) fn passages(view: View) -> Vec<String> {
    let mut passages = Vec::with_capacity(view.parts.len());
    for part in view.parts {
        match part {
            Part::Text(text) | Part::Thinking(text) | Part::ToolResult { text, .. } => {
                passages.push(text);
            }
            Part::ToolCall { name, arguments, .. } => {
                passages.push(format!("{name} {}", plain(&arguments)));
            }
            Part::Other { title, text, .. } => {
                passages.extend(title);
                passages.push(text);
            }
            _ => {}
        }
    }
    passages.extend(view.error);
    shorten(&mut passages, MOST_SEARCHED);
    passages.retain(|passage| !passage.is_empty());
    passages
}

/// Drops what comes after the first `left` bytes, as much as is whole characters.
fn shorten(passages: &mut [String], mut left: usize) {
    for passage in passages {
        if passage.len() > left {
            let is_end = |end: &usize| passage.is_char_boundary(*end);
            passage.truncate((0..=left).rev().find(is_end).unwrap_or(0));
            passage.shrink_to_fit();
            left = 0;
        } else {
            left -= passage.len();
        }
    }
}

/// JSON as a person reads it: its strings without quotes and escapes.
fn plain(json: &str) -> String {
    if json.starts_with('"')
        && let Ok(string) = Raw::parse(json)
    {
        return string.to_string_lossy().unwrap_or_default().into_owned();
    }
    let mut plain = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, string)) = rest.split_once('"') {
        plain.push_str(before);
        let end = end_of_string(string);
        let inside = string.get(..end).unwrap_or_default();
        plain.push_str(&String::from_utf8_lossy(&unescape(inside)));
        rest = string.get(end + 1..).unwrap_or_default();
    }
    plain.push_str(rest);
    plain
}

/// The end of a string at its closing quote, given the text after its opening quote.
fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return place,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_without_escapes() {
        assert_eq!(plain(r#"{"path":"a\nb","n":12}"#), "{path:a\nb,n:12}");
        assert_eq!(plain(r#"{"quote":"say \"hi\" \\"}"#), r#"{quote:say "hi" \}"#);
        assert_eq!(plain(r#""ls\t-l""#), "ls\t-l");
        assert_eq!(plain(r#"{"torn":"a"#), "{torn:a");
        assert_eq!(plain(""), "");
    }

    #[test]
    fn what_is_searched_of_an_entry_has_a_bound() {
        let all = ["abc", "dé€f", "g"].map(str::to_owned);
        let of = |left: usize| {
            let mut passages = all.clone();
            shorten(&mut passages, left);
            passages
        };
        assert_eq!(of(100), all);
        assert_eq!(of(11), all);
        assert_eq!(of(10), ["abc", "dé€f", ""]);
        assert_eq!(of(8), ["abc", "dé", ""]);
        assert_eq!(of(5), ["abc", "d", ""]);
        assert_eq!(of(2), ["ab", "", ""]);
        assert_eq!(of(0), ["", "", ""]);
    }

    #[test]
    fn everything_that_is_said_is_a_passage() {
        let view = leafline_import::view::claude(
            r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}"#,
        );
        assert!(SEARCHED.contains(&view.role));
        assert_eq!(passages(view), ["Hm.", "I look.", "Bash {command:ls}"]);
    }
}
