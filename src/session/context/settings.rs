//! The settings in force at an entry, as the programs show them beside the messages.

use leafline_import::{Family, ecma};

use super::json_text::JsonText;
use crate::store::settings_record::{SettingsRecord, UNDEFINED};

/// The settings in force at an entry.
///
/// A program may write any JSON where a setting is named. What is `None` here is `undefined` in the program, or
/// belongs to another family. Of Claude Code and Opal only the model is known.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextSettings {
    /// Whose context it is.
    pub family: Family,
    /// The thinking level: `"off"` where nothing sets one; `None` where an entry sets it to nothing.
    pub thinking_level: Option<JsonText>,
    /// pi, Claude Code and Opal: the model; `None`, and null in JSON, where nothing names one. Claude Code's is that of the
    /// last message of the model's that names one, Opal's the one that the header's metadata name.
    pub model: Option<ContextModel>,
    /// omp: the model of each role, in the order in which the roles were first set.
    pub models: Vec<(String, String)>,
    /// omp: all injected rules, each once, in order.
    pub injected_rules: Vec<String>,
    /// omp: the mode, `"none"` where nothing sets one.
    pub mode: Option<JsonText>,
    /// omp: the mode's data, where it has any.
    pub mode_data: Option<JsonText>,
}

/// A model. A member that the entry lacks is `None`; Claude Code and Opal name no provider.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextModel {
    /// The provider.
    pub provider: Option<JsonText>,
    /// The model's id.
    pub model_id: Option<JsonText>,
}

impl ContextSettings {
    /// What a family's program makes of the settings.
    pub(super) fn of(record: &SettingsRecord, family: Family) -> Self {
        let mut settings = Self {
            family,
            thinking_level: value_or(record.thinking_level.as_deref(), "\"off\""),
            model: None,
            models: Vec::new(),
            injected_rules: Vec::new(),
            mode: None,
            mode_data: None,
        };
        if family == Family::Omp {
            let mode = record.mode.as_ref();
            // An assignment to this name sets an object's prototype, and a string is none.
            let models = record.models.iter().filter(|(role, _)| role != "__proto__");
            settings.models = models.cloned().collect();
            settings.injected_rules.clone_from(&record.injected_rules);
            settings.mode = value_or(mode.map(|(mode, _)| &**mode), "\"none\"");
            settings.mode_data = mode.and_then(|(_, data)| value(data.as_deref()?));
        } else {
            settings.model = record.model.as_ref().map(|(provider, model_id)| ContextModel {
                provider: provider.as_deref().and_then(value),
                model_id: model_id.as_deref().and_then(value),
            });
        }
        settings
    }

    /// Those of a family that has no settings but the model, which is still to be set.
    pub(super) fn without_path(family: Family) -> Self {
        Self { thinking_level: None, ..Self::of(&SettingsRecord::default(), family) }
    }

    /// Sets the model of a family that names no providers.
    pub(super) fn set_model(&mut self, model_id: Option<JsonText>) {
        self.model =
            model_id.map(|model_id| ContextModel { provider: None, model_id: Some(model_id) });
    }

    /// Appends the members that follow the messages, each with a comma before it.
    pub(super) fn append_members(&self, json: &mut String) {
        if !self.family.is_pi_omp() {
            let model = self.model.as_ref().and_then(|model| model.model_id.as_ref());
            json.push_str(",\"model\":");
            json.push_str(model.map_or("null", JsonText::as_str));
            return;
        }
        append_member(json, "thinkingLevel", self.thinking_level.as_ref());
        if self.family != Family::Omp {
            json.push_str(",\"model\":");
            match &self.model {
                Some(model) => model.append(json),
                None => json.push_str("null"),
            }
            return;
        }
        json.push_str(",\"models\":");
        json.push_str(models_text(&self.models).as_str());
        let rules: Vec<String> = self.injected_rules.iter().map(|rule| quoted(rule)).collect();
        json.push_str(",\"injectedTtsrRules\":[");
        json.push_str(&rules.join(","));
        json.push(']');
        append_member(json, "mode", self.mode.as_ref());
        append_member(json, "modeData", self.mode_data.as_ref());
    }
}

impl ContextModel {
    fn append(&self, json: &mut String) {
        let mut members = String::new();
        append_member(&mut members, "provider", self.provider.as_ref());
        append_member(&mut members, "modelId", self.model_id.as_ref());
        json.push('{');
        json.push_str(members.strip_prefix(',').unwrap_or_default());
        json.push('}');
    }
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

/// The models as an object of JavaScript, which has members with the names of array indices first.
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
