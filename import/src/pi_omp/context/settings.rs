//! pi's and omp's settings.

use crate::conversation::PathSettings;
use crate::effect::UNDEFINED;
use crate::{ContextModel, ContextSettings, Family, JsonText, ecma};

/// The settings of pi's context.
pub(super) fn of_pi(settings: &PathSettings) -> ContextSettings {
    ContextSettings {
        model: settings.model.as_ref().map(|(provider, model_id)| ContextModel {
            provider: provider.as_deref().and_then(value),
            model_id: model_id.as_deref().and_then(value),
        }),
        thinking_level: value_or(settings.thinking_level.as_deref(), "\"off\""),
        ..ContextSettings::none(Family::Pi)
    }
}

/// The settings of omp's context.
pub(super) fn of_omp(settings: &PathSettings) -> ContextSettings {
    let mode = settings.mode.as_ref();
    // An assignment to this name sets an object's prototype, and a string is none.
    let models = settings.models.iter().filter(|(role, _)| role != "__proto__");
    let level = settings.thinking_level.as_deref();
    ContextSettings {
        // A level of null, and none, is the default.
        thinking_level: value_or(
            level.filter(|&level| level != "null" && level != UNDEFINED),
            "\"off\"",
        ),
        models: models.cloned().collect(),
        injected_rules: settings.injected_rules.clone(),
        mode: value_or(mode.map(|(mode, _)| &**mode), "\"none\""),
        mode_data: mode.and_then(|(_, data)| value(data.as_deref()?)),
        ..ContextSettings::none(Family::Omp)
    }
}

/// Appends the members `thinkingLevel` and `model`.
pub(super) fn append_of_pi(settings: &ContextSettings, json: &mut String) {
    append_member(json, "thinkingLevel", settings.thinking_level.as_ref());
    json.push_str(",\"model\":");
    match &settings.model {
        Some(model) => append_model(model, json),
        None => json.push_str("null"),
    }
}

/// Appends the members `thinkingLevel`, `models`, `injectedTtsrRules`, `mode` and `modeData`.
pub(super) fn append_of_omp(settings: &ContextSettings, json: &mut String) {
    append_member(json, "thinkingLevel", settings.thinking_level.as_ref());
    json.push_str(",\"models\":");
    json.push_str(models_text(&settings.models).as_str());
    let rules: Vec<String> = settings.injected_rules.iter().map(|rule| quoted(rule)).collect();
    json.push_str(",\"injectedTtsrRules\":[");
    json.push_str(&rules.join(","));
    json.push(']');
    append_member(json, "mode", settings.mode.as_ref());
    append_member(json, "modeData", settings.mode_data.as_ref());
}

fn append_model(model: &ContextModel, json: &mut String) {
    let mut members = String::new();
    append_member(&mut members, "provider", model.provider.as_ref());
    append_member(&mut members, "modelId", model.model_id.as_ref());
    json.push('{');
    json.push_str(members.strip_prefix(',').unwrap_or_default());
    json.push('}');
}

/// Appends a member with a comma before it; nothing where it is undefined.
fn append_member(json: &mut String, name: &str, value: Option<&JsonText>) {
    if let Some(value) = value {
        json.push_str(",\"");
        json.push_str(name);
        json.push_str("\":");
        json.push_str(value.as_str());
    }
}

/// The value that the record has, the default where it has none, and `None` for undefined.
fn value_or(set: Option<&str>, default: &str) -> Option<JsonText> {
    value(set.unwrap_or(default))
}

fn value(raw: &str) -> Option<JsonText> {
    // What a record holds is JSON but for this word: the scan of the line has proved it.
    if raw == UNDEFINED { None } else { JsonText::of_raw(raw).ok() }
}

/// The models in the order of a JavaScript object: members whose names are array indices come first.
fn models_text(models: &[(String, String)]) -> JsonText {
    let members: Vec<String> =
        models.iter().map(|(role, model)| format!("{}:{}", quoted(role), quoted(model))).collect();
    JsonText::of_raw(&format!("{{{}}}", members.join(",")))
        .expect("members of quoted strings are an object")
}

fn quoted(text: &str) -> String {
    let mut written = Vec::with_capacity(text.len() + 2);
    ecma::write_string(text.as_bytes(), &mut written);
    String::from_utf8(written).expect("a string of text is text")
}
