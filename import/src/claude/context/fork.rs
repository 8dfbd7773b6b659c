//! The conversation of another session with which an agent's context begins.

use super::near::lines;
use crate::conversation::{Base, BaseEnd, Conversation, Images};
use crate::scan::Raw;
use crate::text;

/// Lines at the beginning of an agent's file in which the record is looked for. The program writes it ahead of the agent's first
/// message.
const FIRST_LINES: u64 = 16;

/// What the `fork-context-ref` of an agent's session names; the last one counts.
pub(super) fn base<C: Conversation>(conversation: &mut C) -> Result<Option<Base>, C::Error> {
    if !conversation.is_agent() {
        return Ok(None);
    }
    let mut base = None;
    for place in 0..lines(conversation)?.end.min(FIRST_LINES) {
        if conversation.node_of_line(place)?.is_some() {
            continue;
        }
        let decoded = text::decode(conversation.line(place, Images::Omitted)?);
        base = base_of(text::trim_start_of_file(&decoded).trim()).or(base);
    }
    Ok(base)
}

fn base_of(line: &str) -> Option<Base> {
    let line = Raw::parse(line).ok()?;
    let [kind, session, entry] = line.members(["type", "parentSessionId", "parentLastUuid"]);
    if kind?.to_string_lossy()? != "fork-context-ref" {
        return None;
    }
    let (session, entry) = (session?.to_string_lossy()?, entry?.to_string_lossy()?);
    Some(Base { session: session.into_owned(), end: BaseEnd::Entry(entry.into_owned()) })
}
