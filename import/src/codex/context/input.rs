//! The context as the `input` of a request.

use crate::codex::context::fact::{Communication, prompt_texts, summary_text};
use crate::codex::context::{ContextItem, Place, Use};
use crate::codex::item::{Item, ItemKind, is_sent_id, write_text_block};
use crate::codex::json::{Object, whole_number};
use crate::codex::kind::RecordKind;
use crate::codex::record::Record;
use crate::codex::scanner::Scanner;
use crate::codex::truncate::{Truncation, cut, tokens};
use crate::ecma::write_string;
use crate::scan::Raw;

/// Bytes that count as one token when a prompt is shortened.
const BYTES_A_TOKEN: u64 = 4;

/// Why a context could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError<E> {
    /// A line could not be read.
    #[error(transparent)]
    Read(E),
    /// A line is not the one that [`ContextBuilder`](crate::codex::ContextBuilder) was given.
    #[error("line {line} does not hold the item that it was said to hold")]
    NotThere {
        /// The line, as it was named to the builder.
        line: u64,
    },
}

/// Appends the context as a JSON array, as the program sends it in a request's `input`: what it takes from the rollout,
/// without what it adds itself (its instructions before it, news of its surroundings after it, the new prompt).
///
/// `text_of` returns a line's decoded text; it is called once for each run of items of one line. `truncation` applies
/// to tool outputs that have no limit of their own; Codex takes it from the model ([`Truncation::UNKNOWN_MODEL`] for
/// one that it does not know).
///
/// # Errors
///
/// [`InputError::Read`] with the error of `text_of`, and [`InputError::NotThere`] if the text is that of another line.
pub fn write_input<T: AsRef<str>, E>(
    items: &[ContextItem],
    mut text_of: impl FnMut(u64) -> Result<T, E>,
    truncation: Truncation,
    out: &mut Vec<u8>,
) -> Result<(), InputError<E>> {
    let mut scanner = Scanner::new();
    out.push(b'[');
    let mut is_first = true;
    for run in items.chunk_by(|one, other| one.place.line == other.place.line) {
        let line = run[0].place.line;
        let text = text_of(line).map_err(InputError::Read)?;
        let record = scanner.scan(text.as_ref());
        let source = Source::of(&record);
        for item in run {
            if !std::mem::replace(&mut is_first, false) {
                out.push(b',');
            }
            source.write(item, truncation, out).ok_or(InputError::NotThere { line })?;
        }
    }
    out.push(b']');
    Ok(())
}

/// Appends one item of the context, given the decoded text of its line; see [`write_input`]. If the line does not hold
/// the item, it returns `None` and appends nothing.
#[must_use]
pub fn render(
    item: &ContextItem,
    line: &str,
    truncation: Truncation,
    out: &mut Vec<u8>,
) -> Option<()> {
    let start = out.len();
    let mut scanner = Scanner::new();
    let record = scanner.scan(line);
    let written = Source::of(&record).write(item, truncation, out);
    if written.is_none() {
        out.truncate(start);
    }
    written
}

/// A line that items are taken from.
pub(super) struct Source<'a> {
    kind: RecordKind,
    payload: Option<Raw<'a>>,
    /// The output's own limit.
    own_limit: Option<Truncation>,
    /// The items of a compaction.
    replacement: Vec<Raw<'a>>,
}

impl<'a> Source<'a> {
    pub(super) fn of(record: &Record<'a>) -> Self {
        let payload = record.payload();
        let kind = record.kind();
        let history = payload.filter(|_| kind == RecordKind::Compacted);
        let history = history.and_then(|payload| payload.member("replacement_history"));
        let limit = record
            .metadata()
            .and_then(|metadata| Object::of(metadata).value("fallback_token_limit_override"));
        Self {
            kind,
            payload,
            own_limit: limit.and_then(whole_number).map(Truncation::Tokens),
            replacement: history.into_iter().flat_map(Raw::elements).collect(),
        }
    }

    fn item(&self, place: Place) -> Option<Item<'a>> {
        let raw = match place.index {
            Some(index) => *self.replacement.get(usize::try_from(index).ok()?)?,
            None => self.payload.filter(|_| self.kind == RecordKind::ResponseItem)?,
        };
        Item::read(raw)
    }

    /// Appends an item of the line; `None` if the line does not hold it.
    pub(super) fn write(
        &self,
        item: &ContextItem,
        truncation: Truncation,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let place = item.place;
        match &item.use_as {
            Use::Item if self.kind == RecordKind::InterAgentCommunication => {
                write_communication(&Communication::read(self.payload?)?, out);
            }
            Use::Item => {
                // What a compaction keeps was shortened when it was made.
                let truncation = match place.index {
                    Some(_) => Truncation::None,
                    None => self.own_limit.unwrap_or(truncation),
                };
                self.item(place)?.write(truncation, out);
            }
            Use::Prompt(limits) => write_prompt(&self.item(place)?, limits, out),
            Use::Summary => {
                let message = self.payload?.member("message")?.to_string_lossy()?;
                write_message(None, &[summary_text(&message)], out);
            }
            Use::Aborted => write_aborted(&self.item(place)?, out)?,
        }
        Some(())
    }
}

/// A user message with these texts.
fn write_message(id: Option<Raw<'_>>, texts: &[&str], out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"type\":\"message\"");
    if let Some(id) = id {
        out.extend_from_slice(b",\"id\":");
        out.extend_from_slice(id.as_str().as_bytes());
    }
    out.extend_from_slice(b",\"role\":\"user\",\"content\":[");
    for (place, text) in texts.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        write_text_block(text, out);
    }
    out.extend_from_slice(b"]}");
}

fn write_prompt(item: &Item<'_>, limits: &[u64], out: &mut Vec<u8>) {
    let mut texts: Vec<String> =
        prompt_texts(item).into_iter().map(|text| text.into_owned()).collect();
    for limit in limits {
        texts = shorten(&texts, *limit);
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    write_message(item.id(), &texts, out);
}

/// Shortens texts as if they were one; a text of its own says what was removed in the middle.
fn shorten(texts: &[String], limit: u64) -> Vec<String> {
    let whole = texts.concat();
    let Some((before, behind)) = cut(&whole, limit.saturating_mul(BYTES_A_TOKEN)) else {
        return texts.to_vec();
    };
    let mut ends = Vec::new();
    let mut starts = Vec::new();
    let mut at = 0;
    for text in texts {
        let end = at + text.len();
        if at < before {
            starts.push(whole[at..end.min(before)].to_owned());
        }
        if end > behind {
            ends.push(whole[at.max(behind)..end].to_owned());
        }
        at = end;
    }
    let removed = tokens((behind - before) as u64);
    starts.push(format!("…{removed} tokens truncated…"));
    starts.append(&mut ends);
    starts
}

/// The output that stands for a missing one. The program gives it an id if the call has one; the id is left out here.
fn write_aborted(call: &Item<'_>, out: &mut Vec<u8>) -> Option<()> {
    let (name, behind): (&str, &[u8]) = match call.kind {
        ItemKind::FunctionCall | ItemKind::LocalShellCall => {
            ("function_call_output", b",\"output\":\"aborted\"}")
        }
        ItemKind::CustomToolCall => ("custom_tool_call_output", b",\"output\":\"aborted\"}"),
        ItemKind::ToolSearchCall => (
            "tool_search_output",
            b",\"status\":\"completed\",\"execution\":\"client\",\"tools\":[]}",
        ),
        _ => return None,
    };
    let call_id = call.call_id()?;
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\",\"call_id\":");
    write_string(&call_id, out);
    out.extend_from_slice(behind);
    Some(())
}

/// A message from one agent to another, as it is sent to the model.
fn write_communication(communication: &Communication<'_>, out: &mut Vec<u8>) {
    let raw = |value: Raw<'_>, out: &mut Vec<u8>| out.extend_from_slice(value.as_str().as_bytes());
    out.extend_from_slice(b"{\"type\":\"agent_message\"");
    if let Some(id) = communication.id.filter(|&id| is_sent_id(id)) {
        out.extend_from_slice(b",\"id\":");
        raw(id, out);
    }
    out.extend_from_slice(b",\"author\":");
    raw(communication.author, out);
    out.extend_from_slice(b",\"recipient\":");
    raw(communication.recipient, out);
    out.extend_from_slice(b",\"content\":[");
    match communication.encrypted_content {
        None => {
            out.extend_from_slice(b"{\"type\":\"input_text\",\"text\":");
            raw(communication.content, out);
            out.push(b'}');
        }
        Some(encrypted) => {
            write_text_block(&envelope(communication), out);
            out.extend_from_slice(b",{\"type\":\"encrypted_content\",\"encrypted_content\":");
            raw(encrypted, out);
            out.push(b'}');
        }
    }
    out.extend_from_slice(b"]}");
}

/// The description of a message whose content only the model can read.
fn envelope(communication: &Communication<'_>) -> String {
    let text = |value: Raw<'_>| value.to_string_lossy().unwrap_or_default().into_owned();
    let kind = if communication.triggers_turn { "NEW_TASK" } else { "MESSAGE" };
    format!(
        "Message Type: {kind}\nTask name: {}\nSender: {}\nPayload:\n",
        text(communication.recipient),
        text(communication.author)
    )
}
