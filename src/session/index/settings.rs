//! Applies a change of settings to those before it.

use leafline_import::{AssistantModel, SettingsChange};

use crate::store::settings_record::SettingsRecord;

impl SettingsRecord {
    /// Whether the settings surely stay the same after a change, decided without computing the new ones.
    pub(crate) fn is_kept_by(&self, change: &SettingsChange) -> bool {
        match change {
            SettingsChange::ThinkingLevel(level) => self.thinking_level.as_ref() == Some(level),
            SettingsChange::Assistant { provider, model } => {
                let known = self.model.as_ref();
                let by_role = AssistantModel::new(provider.as_deref(), model.as_deref());
                known.is_some_and(|known| known.0 == *provider && known.1 == *model)
                    && (self.default_is_explicit
                        || self.models.iter().any(|(role, name)| {
                            role == AssistantModel::ROLE && by_role.is_named(name)
                        }))
            }
            SettingsChange::Model { .. }
            | SettingsChange::Mode { .. }
            | SettingsChange::InjectedRules(_) => false,
        }
    }

    /// The settings after a change.
    pub(crate) fn changed(&self, change: &SettingsChange) -> Self {
        let mut after = self.clone();
        match change {
            SettingsChange::ThinkingLevel(level) => after.thinking_level = Some(level.clone()),
            SettingsChange::Model { provider, model_id, by_role } => {
                after.model = Some((provider.clone(), model_id.clone()));
                if let Some((role, model)) = by_role {
                    set_model(&mut after.models, role, model.clone());
                    after.default_is_explicit |= role == AssistantModel::ROLE;
                }
            }
            SettingsChange::Assistant { provider, model } => {
                after.model = Some((provider.clone(), model.clone()));
                let by_role = AssistantModel::new(provider.as_deref(), model.as_deref());
                if !after.default_is_explicit
                    && let Some(name) = by_role.name()
                {
                    set_model(&mut after.models, AssistantModel::ROLE, name);
                }
            }
            SettingsChange::Mode { mode, data } => {
                after.mode = Some((mode.clone(), data.clone()));
            }
            SettingsChange::InjectedRules(rules) => {
                for rule in rules {
                    if !after.injected_rules.contains(rule) {
                        after.injected_rules.push(rule.clone());
                    }
                }
            }
        }
        after
    }
}

fn set_model(models: &mut Vec<(String, String)>, role: &str, model: String) {
    match models.iter_mut().find(|(known, _)| known == role) {
        Some((_, value)) => *value = model,
        None => models.push((role.to_owned(), model)),
    }
}
