//! Messages of omp's contexts as omp hands them to its model layer: `wrapSteeringForModel`, `convertToLlm` and
//! `filterProviderReplayMessages` (observed).

mod custom;
mod mention;
mod notice;
mod prompt;
mod steering;
mod turn;

pub(super) use self::turn::is_turn;

use super::execution;
use super::object::{self, Object, is_nullish, is_text, is_truthy};
use crate::context::TakeMessage;
use crate::ecma::Document;
use crate::scan::Raw;

/// A message of a request's conversation, and where it goes.
struct Output<'o, 't, E> {
    places: &'o [u64],
    out: &'o mut Vec<u8>,
    take: TakeMessage<'t, E>,
}

impl<E> Output<'_, '_, E> {
    fn made(&mut self, role: &str, make: impl FnOnce(Object<'_>) -> Object<'_>) -> Result<(), E> {
        self.out.clear();
        make(Object::of_role(role, self.out)).end();
        (self.take)(self.places, self.out)
    }

    /// The message itself, after a change.
    fn changed(
        &mut self,
        message: Raw<'_>,
        change: impl FnOnce(&mut Document<'_>),
    ) -> Result<(), E> {
        // A message is JSON.
        let Ok(mut document) = Document::parse(message.as_str()) else { return Ok(()) };
        change(&mut document);
        self.out.clear();
        document.write(self.out);
        (self.take)(self.places, self.out)
    }
}

/// Makes messages one after the other.
#[derive(Default)]
pub(super) struct Conversion {
    out: Vec<u8>,
}

impl Conversion {
    /// Passes on what omp makes of a turn of the model's, which the next message follows.
    pub(super) fn turn<E>(
        &mut self,
        places: &[u64],
        message: Raw<'_>,
        next: Option<Raw<'_>>,
        take: TakeMessage<'_, E>,
    ) -> Result<(), E> {
        turn::convert(message, next, &mut Output { places, out: &mut self.out, take })
    }

    /// Passes on what omp makes of any other message.
    pub(super) fn message<E>(
        &mut self,
        places: &[u64],
        message: Raw<'_>,
        take: TakeMessage<'_, E>,
    ) -> Result<(), E> {
        let [role, time, excluded] = message.members(["role", "timestamp", "excludeFromContext"]);
        let Some(role) = role.and_then(Raw::to_string_lossy) else { return Ok(()) };
        let mut out = Output { places, out: &mut self.out, take };
        match &*role {
            "bashExecution" | "pythonExecution" if is_truthy(excluded) => Ok(()),
            "bashExecution" => {
                let text = execution::of_command(message);
                by_user(message, text, message.member("images"), time, &mut out)
            }
            "pythonExecution" => {
                by_user(message, execution::of_python(message), None, time, &mut out)
            }
            "fileMention" => mention::convert(message, &mut out),
            "custom" | "hookMessage" => custom::convert(&role, message, &mut out),
            "branchSummary" => {
                let text = prompt::branch_summary(message.member("summary"));
                summary(&object::list([&object::text_block(&text)[..]]), message, &mut out)
            }
            "compactionSummary" => {
                let content = compacted(message);
                summary(&content, message, &mut out)
            }
            "user" => user(message, &mut out),
            "developer" => attributed(message, "\"agent\"", None, &mut out),
            "toolResult" => attributed(message, "\"agent\"", pruned_content(message), &mut out),
            _ => Ok(()),
        }
    }
}

/// What the user ran, with what omp notes on its output.
fn by_user<E>(
    message: Raw<'_>,
    mut text: Vec<u8>,
    images: Option<Raw<'_>>,
    time: Option<Raw<'_>>,
    out: &mut Output<'_, '_, E>,
) -> Result<(), E> {
    notice::push(message.member("meta"), &mut text);
    let block = object::text_block(&text);
    let images = images.into_iter().flat_map(Raw::elements);
    let content = object::list(
        std::iter::once(&block[..]).chain(images.map(|image| image.as_str().as_bytes())),
    );
    out.made("user", |made| {
        made.json("content", &content).text("attribution", b"user").member("timestamp", time)
    })
}

fn summary<E>(content: &[u8], message: Raw<'_>, out: &mut Output<'_, '_, E>) -> Result<(), E> {
    let [payload, time, rewritten] =
        message.members(["providerPayload", "timestamp", "historyRewriteAt"]);
    out.made("user", |made| {
        made.json("content", content)
            .text("attribution", b"agent")
            .member("historyRewriteAt", rewritten.or(time))
            .member("providerPayload", payload)
            .member("timestamp", time)
    })
}

/// The content of a compaction's summary. A message may bring blocks or images of its own.
fn compacted(message: Raw<'_>) -> Vec<u8> {
    let [summary, method, blocks, images] =
        message.members(["summary", "method", "blocks", "images"]);
    let (first, others) = match blocks {
        Some(blocks) => (object::block_of(summary), Some(blocks)),
        None => {
            let text = if is_text(method, "handoff") {
                prompt::handoff_summary(summary)
            } else {
                prompt::compaction_summary(summary)
            };
            (object::text_block(&text), images)
        }
    };
    let others = others.into_iter().flat_map(Raw::elements);
    object::list(std::iter::once(&first[..]).chain(others.map(|block| block.as_str().as_bytes())))
}

fn user<E>(message: Raw<'_>, out: &mut Output<'_, '_, E>) -> Result<(), E> {
    let [steering, content] = message.members(["steering", "content"]);
    let wrapped = match steering {
        Some(steering) if steering.as_str() == "true" => steering::wrapped(content),
        _ => None,
    };
    let Some(wrapped) = wrapped else { return attributed(message, "\"user\"", None, out) };
    out.changed(message, |document| {
        document.remove("steering");
        document.set("content", wrapped);
        attribute(message, "\"user\"", document);
    })
}

/// A message with an attribution, its own or this one, and with this content where it is given.
fn attributed<E>(
    message: Raw<'_>,
    by: &str,
    content: Option<String>,
    out: &mut Output<'_, '_, E>,
) -> Result<(), E> {
    out.changed(message, |document| {
        if let Some(content) = content {
            document.set("content", content);
        }
        attribute(message, by, document);
    })
}

fn attribute(message: Raw<'_>, by: &str, document: &mut Document<'_>) {
    if is_nullish(message.member("attribution")) {
        document.set("attribution", by.to_owned());
    }
}

/// The content of a tool's result of which omp has taken text out: one text, where the first one was.
fn pruned_content(message: Raw<'_>) -> Option<String> {
    let [pruned, content] = message.members(["prunedAt", "content"]);
    let content = content.filter(|content| pruned.is_some() && content.is_array())?;
    let is_block_of_text = |block: &Raw<'_>| is_text(block.member("type"), "text");
    let mut text = Vec::new();
    for block in content.elements().filter(is_block_of_text) {
        if let Some(part) = block.member("text").filter(|part| !part.is_null()) {
            super::words::push(Some(part), &mut text);
        }
    }
    if text.is_empty() {
        text.extend_from_slice(b"[Output truncated]");
    }
    let joined = object::text_block(&text);
    let mut joined = Some(&joined[..]);
    let mut blocks = Vec::new();
    if !content.elements().any(|block| is_block_of_text(&block)) {
        blocks.extend(joined.take());
    }
    for block in content.elements() {
        if is_block_of_text(&block) {
            blocks.extend(joined.take());
        } else {
            blocks.push(block.as_str().as_bytes());
        }
    }
    Some(String::from_utf8(object::list(blocks)).expect("what is written of text is text"))
}
