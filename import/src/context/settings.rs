//! The settings in force at an entry, as the programs show them with the messages.

use crate::{Family, JsonText};

/// The settings in force at an entry.
///
/// A program may write any JSON as a setting. `None` means `undefined` in the program, or that the setting belongs to
/// another family. Families other than pi and omp have only a model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextSettings {
    /// Whose context it is.
    pub family: Family,
    /// The thinking level: `"off"` if nothing sets one; `None` if an entry sets it to nothing.
    pub thinking_level: Option<JsonText>,
    /// The model; `None`, and null in JSON, if nothing names one. Claude Code's is that of the last assistant message
    /// that names one, Opal's the one in the header's metadata. omp has [`Self::models`] instead.
    pub model: Option<ContextModel>,
    /// omp: the model of each role, in the order in which the roles were first set.
    pub models: Vec<(String, String)>,
    /// omp: all injected rules, each once, in order.
    pub injected_rules: Vec<String>,
    /// omp: the mode; `"none"` if nothing sets one.
    pub mode: Option<JsonText>,
    /// omp: the mode's data, if it has any.
    pub mode_data: Option<JsonText>,
}

/// A model. A member that the entry lacks is `None`; programs other than pi and omp name no provider.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextModel {
    /// The provider.
    pub provider: Option<JsonText>,
    /// The model's id.
    pub model_id: Option<JsonText>,
}

impl ContextSettings {
    /// None at all.
    pub(crate) fn none(family: Family) -> Self {
        Self {
            family,
            thinking_level: None,
            model: None,
            models: Vec::new(),
            injected_rules: Vec::new(),
            mode: None,
            mode_data: None,
        }
    }

    /// The model alone, for a program that names no provider.
    pub(crate) fn of_model(family: Family, model_id: Option<JsonText>) -> Self {
        let model = model_id.map(|id| ContextModel { provider: None, model_id: Some(id) });
        Self { model, ..Self::none(family) }
    }

    /// Appends the members that follow the messages in a context's JSON, each with a comma before it.
    pub fn append_members(&self, json: &mut String) {
        self.family.append_settings(self, json);
    }

    /// Appends the model's id alone, or null.
    pub(super) fn append_model_id(&self, json: &mut String) {
        let model = self.model.as_ref().and_then(|model| model.model_id.as_ref());
        json.push_str(",\"model\":");
        json.push_str(model.map_or("null", JsonText::as_str));
    }
}
