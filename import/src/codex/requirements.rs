//! What the program requires of its own data beside the items: it does not send them, and it ignores the line if they are
//! not as it writes them (observed, Codex 0.169.0, by changing each member of what it wrote).

use crate::codex::json::{Object, whole_number};
use crate::scan::Raw;

/// Whether the program accepts an item's `metadata`.
pub(super) fn is_metadata(metadata: Raw<'_>) -> bool {
    let object = Object::of(metadata);
    metadata.is_object()
        && ["client_authored", "compaction_output"]
            .iter()
            .all(|name| object.get(name).is_none_or(is_flag))
        && [
            "history_sequence",
            "sampled_through_sequence",
            "user_input_order",
            "fallback_token_limit_override",
        ]
        .iter()
        .all(|name| object.value(name).is_none_or(is_count))
        && object.value("retained_source").is_none_or(is_retained_source)
}

fn is_retained_source(source: Raw<'_>) -> bool {
    let object = Object::of(source);
    let is_id = |id| {
        let object = Object::of(id);
        let is_role = |role: Raw<'_>| role.is_text("user") || role.is_text("assistant");
        is_text_of(&object, "message_id")
            && is_text_of(&object, "turn_id")
            && object.get("role").is_some_and(is_role)
    };
    object.get("id").is_some_and(is_id)
        && is_text_of(&object, "revision")
        && object.get("complete").is_some_and(is_flag)
}

/// Whether it accepts an item's `internal_chat_message_metadata_passthrough`.
pub(super) fn is_passthrough(passthrough: Raw<'_>) -> bool {
    let object = Object::of(passthrough);
    passthrough.is_object()
        && is_text_or_nothing(&object, "turn_id")
        && object.value("create_time").is_none_or(Raw::is_number)
}

/// The modes in which users work with the program.
const MODES: [&str; 6] = ["default", "plan", "pair_programming", "execute", "code", "custom"];

/// Whether it accepts what is beside `turn_id` in the beginning of a turn.
pub(super) fn is_turn_started(payload: Raw<'_>) -> bool {
    let object = Object::of(payload);
    let is_mode = |mode: Raw<'_>| MODES.iter().any(|known| mode.is_text(known));
    is_text_or_nothing(&object, "root_turn_id")
        && object.value("started_at").is_none_or(is_integer)
        && object.value("model_context_window").is_none_or(is_integer)
        && object.get("collaboration_mode_kind").is_none_or(is_mode)
        && object.value("turn_attribution").is_none_or(is_turn_attribution)
}

/// Whether it accepts what is beside `message` and `replacement_history` in a compaction.
pub(super) fn is_compaction(payload: &Object<'_>) -> bool {
    let texts = ["first_window_id", "previous_window_id", "compaction_response_id"];
    are_texts_or_nothing(payload, &texts)
        && payload.value("window_number").is_none_or(is_count)
        && payload.value("window_id").is_none_or(|id| id.is_string() || is_count(id))
        && payload.value("resume_metadata").is_none_or(is_resume_metadata)
        && payload.value("retained_context").is_none_or(is_retained_context)
        && payload.value("latest_token_usage_record").is_none_or(is_token_usage_record)
}

fn is_resume_metadata(metadata: Raw<'_>) -> bool {
    let object = Object::of(metadata);
    let is_version =
        |version: Raw<'_>| ["v1", "v2", "disabled"].iter().any(|known| version.is_text(known));
    metadata.is_object()
        && is_text_or_nothing(&object, "last_started_turn_id")
        && object.value("multi_agent_version").is_none_or(is_version)
        && object.value("turn_attribution").is_none_or(is_turn_attribution)
        && object.value("previous_turn_settings").is_none_or(is_turn_settings)
        && object.value("dynamic_tools").is_none_or(are_dynamic_tools)
}

fn is_turn_settings(settings: Raw<'_>) -> bool {
    let object = Object::of(settings);
    is_text_of(&object, "model")
        && is_text_or_nothing(&object, "comp_hash")
        && object.value("realtime_active").is_none_or(is_flag)
}

/// What a tool has to be is not known.
fn are_dynamic_tools(tools: Raw<'_>) -> bool {
    let object = Object::of(tools);
    object.get("thread_id").is_some_and(is_uuid) && object.get("tools").is_some_and(Raw::is_array)
}

fn is_retained_context(context: Raw<'_>) -> bool {
    let object = Object::of(context);
    let are_messages = |list: Raw<'_>| list.is_array() && list.elements().all(is_retained_message);
    // What an answer has to be is not known.
    object.get("verified_answers").is_some_and(Raw::is_array)
        && object.get("incomplete").is_some_and(is_flag)
        && ["user_messages_incomplete", "assistant_messages_incomplete"]
            .iter()
            .all(|name| object.get(name).is_none_or(is_flag))
        && ["user_messages", "assistant_messages"]
            .iter()
            .all(|name| object.get(name).is_none_or(are_messages))
        && object.get("next_order").is_none_or(is_count)
}

fn is_retained_message(message: Raw<'_>) -> bool {
    let object = Object::of(message);
    is_text_of(&object, "turn_id")
        && is_text_of(&object, "text")
        && object.get("complete").is_some_and(is_flag)
        && are_texts_or_nothing(&object, &["revision", "message_id"])
        && object.get("order").is_none_or(is_count)
        && object.value("phase").is_none_or(is_phase)
}

pub(super) fn is_phase(phase: Raw<'_>) -> bool {
    ["commentary", "partial_answer", "final_answer"].iter().any(|known| phase.is_text(known))
}

fn is_token_usage_record(record: Raw<'_>) -> bool {
    let object = Object::of(record);
    let is_id = |name| object.get(name).is_some_and(is_uuid);
    let is_usage = |name| object.get(name).is_some_and(is_token_usage);
    is_id("thread_id")
        && is_id("session_id")
        && ["turn_id", "root_turn_id", "response_id"].iter().all(|name| is_text_of(&object, name))
        && is_usage("usage")
        && is_usage("turn_token_usage")
        && is_usage("thread_token_usage")
}

fn is_token_usage(usage: Raw<'_>) -> bool {
    let object = Object::of(usage);
    let names = [
        "input_tokens",
        "cached_input_tokens",
        "output_tokens",
        "reasoning_output_tokens",
        "total_tokens",
    ];
    names.iter().all(|name| object.get(name).is_some_and(is_integer))
        && object.get("cache_write_input_tokens").is_none_or(is_integer)
}

fn is_turn_attribution(attribution: Raw<'_>) -> bool {
    let object = Object::of(attribution);
    is_text_of(&object, "turn_id")
        && are_texts_or_nothing(&object, &["turn_trigger", "parent_turn_id", "root_turn_id"])
        && object.value("initiating_agent_path").is_none_or(is_agent)
}

fn is_flag(value: Raw<'_>) -> bool {
    matches!(value.as_str(), "true" | "false")
}

/// A whole number that is not negative.
fn is_count(value: Raw<'_>) -> bool {
    whole_number(value).is_some()
}

fn is_integer(value: Raw<'_>) -> bool {
    value.is_number() && value.as_str().parse::<i64>().is_ok()
}

fn is_text_of(object: &Object<'_>, name: &str) -> bool {
    object.get(name).is_some_and(Raw::is_string)
}

fn are_texts_or_nothing(object: &Object<'_>, names: &[&str]) -> bool {
    names.iter().all(|name| is_text_or_nothing(object, name))
}

/// A UUID, with hyphens or without.
fn is_uuid(value: Raw<'_>) -> bool {
    let Some(text) = value.to_string_lossy().filter(|_| value.is_string()) else { return false };
    let text = text.trim_start_matches('{').trim_end_matches('}');
    let is_hyphen = |(at, byte): (usize, u8)| (byte == b'-') == matches!(at, 8 | 13 | 18 | 23);
    let is_hyphenated = text.len() == 36 && text.bytes().enumerate().all(is_hyphen);
    let mut digits = text.bytes().filter(|&byte| byte != b'-');
    (is_hyphenated || text.len() == 32 && !text.contains('-'))
        && digits.all(|byte| byte.is_ascii_hexdigit())
}

fn is_text_or_nothing(object: &Object<'_>, name: &str) -> bool {
    object.value(name).is_none_or(Raw::is_string)
}

/// Whether a value is an agent's path: `/root`, and the names below it.
pub(super) fn is_agent(value: Raw<'_>) -> bool {
    value.is_string() && value.to_string_lossy().is_some_and(|text| is_path(&text))
}

fn is_path(text: &str) -> bool {
    let is_name = |name: &str| {
        let is_of_name =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        !name.is_empty() && name.bytes().all(is_of_name)
    };
    let below = text.strip_prefix("/root");
    below.is_some_and(|below| {
        below.is_empty()
            || below.strip_prefix('/').is_some_and(|names| names.split('/').all(is_name))
    })
}
