//! The settings in force, on the last line of a context.

use leafline::context::{ContextSettings, JsonText};

use crate::number::counted;
use crate::text;

/// The number of messages, and the settings.
pub(super) fn summary(messages: u64, settings: &ContextSettings) -> String {
    let mut facts = vec![counted(messages, "message", "messages"), models(settings)];
    if settings.family.is_pi_omp() {
        let level = settings.thinking_level.as_ref().map_or_else(|| "none".to_owned(), plain);
        facts.push(format!("thinking level {level}"));
    }
    let mode = settings.mode.as_ref().map(plain).filter(|mode| mode != "none");
    facts.extend(mode.map(|mode| format!("mode {mode}")));
    if !settings.injected_rules.is_empty() {
        facts.push(format!("rules {}", printable(&settings.injected_rules.join(", "))));
    }
    facts.join("; ")
}

/// The model, or those of omp's roles.
fn models(settings: &ContextSettings) -> String {
    let model = settings.model.iter().flat_map(|model| [&model.provider, &model.model_id]);
    let model: Vec<String> = model.flatten().map(plain).collect();
    if !model.is_empty() {
        return format!("model {}", model.join("/"));
    }
    let models = settings.models.iter().map(|(role, model)| match role.as_str() {
        "default" => format!("model {}", printable(model)),
        role => format!("{} {}", printable(role), printable(model)),
    });
    let models: Vec<String> = models.collect();
    if models.is_empty() { "no model".to_owned() } else { models.join(", ") }
}

/// A setting; its value can be any JSON.
fn plain(value: &JsonText) -> String {
    printable(&value.text().unwrap_or_else(|| value.as_str().to_owned()))
}

fn printable(text: &str) -> String {
    text::one_line(text, usize::MAX)
}
