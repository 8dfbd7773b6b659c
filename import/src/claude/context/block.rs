//! Blocks: what the content of a message is made of.

use crate::claude::uuid_key::UuidKey;
use crate::ecma::{self, Document, Value};
use crate::scan::Raw;
use crate::text;

/// What the program sends in place of a content that is empty.
const NO_CONTENT: &[u8] = b"(no content)";

/// Names that tools had in earlier versions, and those by which the program sends their calls (observed).
const RENAMED_TOOLS: [(&str, &str); 2] = [("Task", "Agent"), ("ListPeers", "ListAgents")];

/// The id of a call, in a fixed number of bytes. What is missing or no string is a name as well, as in the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum CallKey {
    /// An id that is not long, as the programs' are, and its length; behind it are zeros.
    Short([u8; SHORT], u8),
    Long(UuidKey),
}

/// The bytes of an id that is kept as it is, at most: those of the API are 30 long.
const SHORT: usize = 30;

impl CallKey {
    fn of(id: Option<Raw<'_>>) -> Self {
        match id.and_then(Raw::as_string) {
            Some(name) => Self::named(&name),
            // No string can begin with this byte.
            None => Self::named(&[b"\xff", id.map_or("", Raw::as_str).as_bytes()].concat()),
        }
    }

    fn named(name: &[u8]) -> Self {
        let mut short = [0; SHORT];
        match (short.get_mut(..name.len()), u8::try_from(name.len())) {
            (Some(begin), Ok(length)) => {
                begin.copy_from_slice(name);
                Self::Short(short, length)
            }
            _ => Self::Long(UuidKey::of(name)),
        }
    }
}

/// What a block is, as far as the rules ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// A text; whether it is only white space.
    Text { is_blank: bool },
    /// A thought, readable or not.
    Thought,
    /// A tool's call.
    Call(CallKey),
    /// A tool's result.
    Result(CallKey),
    /// A call of a tool that the API runs itself.
    ServerCall(CallKey),
    /// Its result.
    ServerResult(CallKey),
    /// What stands for a content that is empty.
    Nothing,
    /// Any other.
    Other,
}

/// A block of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) kind: BlockKind,
    /// As it is sent.
    pub(super) json: Vec<u8>,
    /// Whether it is the result of a search for tools, which the program announces.
    pub(super) loads_tools: bool,
}

impl Block {
    /// Reads a block of a message's content; `None` of what is none. The content is edited as it is sent.
    pub(super) fn read(content: &mut Document<'_>, block: Value) -> Option<Self> {
        let block_type = content.get_of(block, "type")?.as_string()?;
        let id = |name| CallKey::of(content.get_of(block, name));
        let kind = match &*block_type {
            b"text" => BlockKind::Text { is_blank: is_blank(content.get_of(block, "text")?)? },
            b"thinking" | b"redacted_thinking" => BlockKind::Thought,
            b"tool_use" => BlockKind::Call(id("id")),
            b"tool_result" => BlockKind::Result(id("tool_use_id")),
            b"server_tool_use" => BlockKind::ServerCall(id("id")),
            other if other.ends_with(b"_tool_result") => BlockKind::ServerResult(id("tool_use_id")),
            _ => BlockKind::Other,
        };
        let length = content.raw_of(block).map_or(0, |raw| raw.as_str().len());
        content.remove_of(block, "cache_control");
        let mut loads_tools = false;
        match kind {
            BlockKind::Call(_) => rename_tool(content, block),
            BlockKind::Result(_) => loads_tools = edit_result(content, block),
            _ => {}
        }
        let mut json = Vec::with_capacity(length);
        content.write_value(block, &mut json);
        Some(Self { kind, json, loads_tools })
    }

    /// The call whose result a block is.
    pub(super) fn result_of(content: &Document<'_>, block: Value) -> Option<CallKey> {
        let is_result = content.get_of(block, "type")?.is_text("tool_result");
        is_result.then(|| CallKey::of(content.get_of(block, "tool_use_id")))
    }

    /// A text, given as a JSON string.
    pub(super) fn text(string: &[u8]) -> Self {
        let json = [b"{\"type\":\"text\",\"text\":", string, b"}"].concat();
        let is_blank = std::str::from_utf8(string)
            .ok()
            .and_then(|string| is_blank(Raw::parse(string).ok()?))
            .unwrap_or(false);
        Self { kind: BlockKind::Text { is_blank }, json, loads_tools: false }
    }

    fn of_json(kind: BlockKind, json: &[u8]) -> Self {
        Self { kind, json: json.to_vec(), loads_tools: false }
    }

    /// What stands for a message of the user's that would be empty.
    pub(super) fn no_content() -> Self {
        Self::text(&[b"\"", NO_CONTENT, b"\""].concat())
    }

    /// What stands for a message of the model's that is empty.
    pub(super) fn nothing_said() -> Self {
        Self { kind: BlockKind::Nothing, ..Self::said_instead(NO_CONTENT) }
    }

    /// What stands for a message of the model's of which only calls were left that are not sent.
    pub(super) fn interrupted_use() -> Self {
        Self::said_instead(b"[Tool use interrupted]")
    }

    /// What stands for a call between thoughts that is not sent.
    pub(super) fn removed_use() -> Self {
        Self::said_instead(b"[Tool use removed]")
    }

    /// What stands for an empty text between thoughts.
    pub(super) fn empty_text() -> Self {
        Self::said_instead(b"[Empty text removed]")
    }

    fn said_instead(text: &[u8]) -> Self {
        let json = [b"{\"type\":\"text\",\"text\":\"", text, b"\",\"citations\":[]}"].concat();
        Self::of_json(BlockKind::Text { is_blank: false }, &json)
    }

    /// What stands for results at the beginning of a conversation whose calls are not there.
    pub(super) fn orphaned_result() -> Self {
        Self::text(b"\"[Orphaned tool result removed due to conversation resume]\"")
    }

    /// What follows the result of a search for tools.
    pub(super) fn tool_loaded() -> Self {
        Self::text(b"\"Tool loaded.\"")
    }

    /// The result of a call that has none although the conversation went on.
    pub(super) fn missing_result(&self) -> Option<Self> {
        let content = "\"[Tool result missing due to internal error]\"";
        let (key, id) = self.call()?;
        let json = format!(
            "{{\"type\":\"tool_result\"{},\"content\":{content},\"is_error\":true}}",
            member("tool_use_id", id.as_deref())
        );
        Some(Self::of_json(BlockKind::Result(key), json.as_bytes()))
    }

    /// The result of a call during which the session ended.
    pub(super) fn interrupted_result(&self) -> Option<Self> {
        let content = "\"[Tool call interrupted: the session ended before this call's result was \
                       recorded, so its outcome is unknown. Check whether it took effect before \
                       relying on it or running it again.]\"";
        let (key, id) = self.call()?;
        let json = format!(
            "{{\"type\":\"tool_result\",\"content\":{content},\"is_error\":true{}}}",
            member("tool_use_id", id.as_deref())
        );
        Some(Self::of_json(BlockKind::Result(key), json.as_bytes()))
    }

    /// Of a call, its key and its id as it is written.
    fn call(&self) -> Option<(CallKey, Option<String>)> {
        let BlockKind::Call(key) = self.kind else { return None };
        let text = std::str::from_utf8(&self.json).ok()?;
        let id = Raw::parse(text).ok()?.member("id");
        Some((key, id.map(|id| id.as_str().to_owned())))
    }

    /// Of a text, adds a line's end.
    pub(super) fn end_line(&mut self) {
        let Ok(json) = std::str::from_utf8(&self.json) else { return };
        let Ok(mut document) = Document::parse(json) else { return };
        let Some(text) = document.get("text").and_then(Raw::as_string) else { return };
        let mut ended = Vec::new();
        ecma::write_string(&[&*text, b"\n"].concat(), &mut ended);
        let Ok(ended) = String::from_utf8(ended) else { return };
        document.set("text", ended);
        let mut written = Vec::new();
        document.write(&mut written);
        self.json = written;
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind, BlockKind::Text { .. })
    }

    pub(super) fn is_blank(&self) -> bool {
        self.kind == BlockKind::Text { is_blank: true }
    }

    /// Whether it is a text of no characters at all.
    pub(super) fn is_empty_text(&self) -> bool {
        let text = || Raw::parse(std::str::from_utf8(&self.json).ok()?).ok()?.member("text");
        self.is_blank() && text().is_some_and(|text| text.is_text(""))
    }

    pub(super) fn is_result(&self) -> bool {
        matches!(self.kind, BlockKind::Result(_))
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.kind == BlockKind::Nothing
    }

    pub(super) fn is_call(&self) -> bool {
        matches!(self.kind, BlockKind::Call(_))
    }
}

/// A member with a comma before it; nothing where there is no value.
fn member(name: &str, value: Option<&str>) -> String {
    value.map_or_else(String::new, |value| format!(",\"{name}\":{value}"))
}

/// Whether a string is only white space; `None` of what is no string.
fn is_blank(string: Raw<'_>) -> Option<bool> {
    // Most begin with a letter, and need not be decoded.
    let is_plain = |first: &u8| first.is_ascii_graphic() && !matches!(first, b'\\' | b'"');
    if string.is_string() && string.as_str().as_bytes().get(1).is_some_and(is_plain) {
        return Some(false);
    }
    Some(text::is_blank(&string.to_string_lossy()?))
}

fn rename_tool(content: &mut Document<'_>, call: Value) {
    let Some(name) = content.get_of(call, "name") else { return };
    let renamed = RENAMED_TOOLS.iter().find(|(old, _)| name.is_text(old));
    if let Some((_, new)) = renamed {
        content.set_of(call, "name", format!("\"{new}\""));
    }
}

/// Leaves of an error only texts; says whether the result is one of a search for tools.
fn edit_result(content: &mut Document<'_>, result: Value) -> bool {
    let Some(told) = content.member_of(result, "content") else { return false };
    let is_of = |block, name| content.get_of(block, "type").is_some_and(|kind| kind.is_text(name));
    let is_error = content.get_of(result, "is_error");
    if is_error.is_none_or(|is_error| is_error.as_str() != "true") {
        return content.elements(told).any(|block| is_of(block, "tool_reference"));
    }
    if content.raw_of(told).is_some_and(Raw::is_array) {
        let mut texts = vec![b'['];
        for text in content.elements(told).filter(|&block| is_of(block, "text")) {
            if texts.len() > 1 {
                texts.push(b',');
            }
            content.write_value(text, &mut texts);
        }
        texts.push(b']');
        if let Ok(texts) = String::from_utf8(texts) {
            content.set_of(result, "content", texts);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_calls_stay_apart() {
        let long = "x".repeat(SHORT + 1);
        let ids = ["", "a", "a\\u0000", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", &long, "null", "1"];
        let texts = ids.map(|id| format!("\"{id}\""));
        let others = ["null", "1", "[]"].map(str::to_owned);
        let mut keys: Vec<CallKey> = texts
            .iter()
            .chain(&others)
            .map(|text| CallKey::of(Some(Raw::parse(text).unwrap())))
            .chain([CallKey::of(None)])
            .collect();
        assert_eq!(keys[1], CallKey::of(Some(Raw::parse("\"\\u0061\"").unwrap())));
        assert!(matches!(keys[3..5], [CallKey::Short(..), CallKey::Long(_)]));
        while let Some(key) = keys.pop() {
            assert!(!keys.contains(&key), "{key:?}");
        }
    }
}
