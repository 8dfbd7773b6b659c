//! Checks whether the program accepts a member's value.

use crate::codex::item::schema::Form;
use crate::codex::json::{Object, whole_number};
use crate::codex::requirements::{is_passthrough, is_phase};
use crate::scan::Raw;

/// Whether the program accepts a value for a member of a form; `None` stands for missing or null.
pub(super) fn fits(form: Form, value: Option<Raw<'_>>) -> bool {
    let Some(value) = value else {
        return match form {
            Form::Text
            | Form::Content
            | Form::AgentContent
            | Form::Output
            | Form::Summary
            | Form::ShellStatus
            | Form::ShellAction
            | Form::Json
            | Form::List => false,
            Form::Id
            | Form::OptionalText
            | Form::NullableText
            | Form::UnsentText
            | Form::UnsentTexts
            | Form::Unsent
            | Form::Phase
            | Form::Thought
            | Form::WebAction => true,
        };
    };
    match form {
        Form::Id | Form::Text | Form::OptionalText | Form::NullableText | Form::UnsentText => {
            value.is_string()
        }
        Form::UnsentTexts => is_texts(value),
        Form::Unsent => is_passthrough(value),
        Form::Phase => is_phase(value),
        Form::Content => is_list(value, |block| {
            is_block(block, &["input_text", "output_text", "input_image", "input_audio"])
        }),
        Form::AgentContent => {
            is_list(value, |block| is_block(block, &["input_text", "encrypted_content"]))
        }
        Form::Output => {
            value.is_string()
                || is_list(value, |block| {
                    is_block(
                        block,
                        &["input_text", "input_image", "input_audio", "encrypted_content"],
                    )
                })
        }
        Form::Summary => is_list(value, |part| is_block(part, &["summary_text"])),
        Form::Thought => is_list(value, |part| is_block(part, &["reasoning_text", "text"])),
        Form::ShellStatus => is_one_of(value, &["completed", "in_progress", "incomplete"]),
        Form::ShellAction => is_shell_action(value),
        Form::WebAction => value.is_object() && value.member("type").is_some_and(Raw::is_string),
        Form::Json => true,
        Form::List => value.is_array(),
    }
}

/// Whether the program sends an id: something comes before its first `_`, and something after it.
pub(in crate::codex) fn is_sent_id(id: Raw<'_>) -> bool {
    let id = id.to_string_lossy();
    let parts = id.as_deref().and_then(|id| id.split_once('_'));
    parts.is_some_and(|(before, behind)| !before.is_empty() && !behind.is_empty())
}

fn is_one_of(value: Raw<'_>, known: &[&str]) -> bool {
    known.iter().any(|known| value.is_text(known))
}

fn is_list(value: Raw<'_>, is_element: impl Fn(Raw<'_>) -> bool) -> bool {
    value.is_array() && value.elements().all(is_element)
}

fn is_texts(value: Raw<'_>) -> bool {
    is_list(value, |element| element.is_string())
}

/// Whether it is a block of one of the types, with all that the type requires.
fn is_block(block: Raw<'_>, types: &[&str]) -> bool {
    let object = Object::of(block);
    let Some(name) = object.get("type").filter(|name| is_one_of(*name, types)) else {
        return false;
    };
    let is_text = |name| object.get(name).is_some_and(Raw::is_string);
    let is_list_or_nothing = |name| object.value(name).is_none_or(Raw::is_array);
    match name.as_string().as_deref() {
        Some(b"input_image") => {
            (is_text("image_url") || is_text("file_id"))
                && object
                    .value("detail")
                    .is_none_or(|detail| is_one_of(detail, &["auto", "low", "high", "original"]))
        }
        Some(b"input_audio") => is_text("audio_url") || is_text("file_id"),
        Some(b"encrypted_content") => is_text("encrypted_content"),
        Some(b"output_text") => {
            is_text("text") && is_list_or_nothing("annotations") && is_list_or_nothing("logprobs")
        }
        _ => is_text("text"),
    }
}

fn is_shell_action(value: Raw<'_>) -> bool {
    let object = Object::of(value);
    let is_text_or_nothing = |name| object.value(name).is_none_or(Raw::is_string);
    object.get("type").is_some_and(|name| name.is_text("exec"))
        && object.get("command").is_some_and(is_texts)
        && object.value("timeout_ms").is_none_or(|ms| whole_number(ms).is_some())
        && is_text_or_nothing("working_directory")
        && is_text_or_nothing("user")
        && object.value("env").is_none_or(|env| env.is_object())
}
