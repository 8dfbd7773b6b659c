//! Opal's contexts: the messages of the path. What a compaction replaced is no longer in the session.

use super::{HeaderFacts, Line, Opal, Scanner};
use crate::context::{Contexts, TakeMessage};
use crate::conversation::{Before, Conversation, History, HistoryScope, Images};
use crate::recover::whole_record;
use crate::scan::{Raw, Shape};
use crate::{ContextSettings, Family, JsonText, ecma, text};

impl Contexts for Opal {
    fn context_name() -> &'static str {
        "context of Opal"
    }

    fn history<C: Conversation>(
        conversation: &mut C,
        _: &mut [Before<C>],
        leaf: u64,
        _: HistoryScope,
    ) -> Result<History, C::Error> {
        History::of_path(conversation, leaf)
    }

    fn context<C: Conversation>(
        conversation: &mut C,
        _: &mut [Before<C>],
        leaf: Option<u64>,
        scope: HistoryScope,
        take: TakeMessage<'_, C::Error>,
    ) -> Result<ContextSettings, C::Error> {
        let settings = ContextSettings::of_model(Family::Opal, model(conversation)?);
        let Some(leaf) = leaf else { return Ok(settings) };
        let mut scanner = Scanner::new();
        let mut message = Vec::new();
        for entry in Self::history(conversation, &mut [], leaf, scope)?.ordinals() {
            let recovers = conversation.recovers();
            let decoded = text::decode(conversation.line(entry, Images::AsWritten)?);
            let text = text::trim_start_of_file(&decoded);
            let mut line = scanner.scan(text);
            if line.shape == Shape::Malformed
                && recovers
                && let Some(whole) = whole_record(text)
            {
                line = scanner.scan(whole);
            }
            message.clear();
            if append_message(&line, &mut message) {
                take(&[entry], &message)?;
            }
        }
        Ok(settings)
    }
}

/// Appends the content of a message, without its place in the session. Returns whether it has a role.
fn append_message(line: &Line<'_>, out: &mut Vec<u8>) -> bool {
    let members = &line.members;
    let role = members.role.filter(|role| role.is_string());
    if role.is_none() {
        return false;
    }
    let mut separator = b'{';
    for (name, value) in [
        ("role", role),
        ("content", members.content),
        ("thinking", members.thinking),
        ("tool_calls", members.tool_calls),
        ("call_id", members.call_id),
        ("name", members.name),
        ("is_error", members.is_error),
    ] {
        let is_content = name == "content";
        let value = value.map_or("null", Raw::as_str);
        if value == "null" && !is_content {
            continue;
        }
        out.push(separator);
        separator = b',';
        out.extend_from_slice(format!("\"{name}\":").as_bytes());
        ecma::restringify(value, out).expect("what a scan gives is JSON");
    }
    out.push(b'}');
    true
}

/// The model in the header's metadata.
fn model<C: Conversation>(conversation: &mut C) -> Result<Option<JsonText>, C::Error> {
    let Some(header) = conversation.header()? else {
        return Ok(None);
    };
    let decoded = text::decode(conversation.line(header, Images::AsWritten)?);
    let mut scanner = Scanner::new();
    let line = scanner.scan(text::trim_start_of_file(&decoded));
    let model = HeaderFacts::of(&line, header).and_then(|facts| facts.model);
    Ok(model.and_then(|model| JsonText::of_raw(&model).ok()))
}
