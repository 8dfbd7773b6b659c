//! The value of the `settings` table: all settings resolved along a path up to an entry.

use bincode::{Decode, Encode};
#[cfg(doc)]
use leafline_import::UNDEFINED;

use super::record::Record;

/// The settings in force at an entry, for both families. Values are the JSON text of the lines, since a program may
/// write anything there; names (omp's roles, models and rules) are plain text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Encode, Decode)]
pub(crate) struct SettingsRecord {
    /// The last `thinking_level_change`; [`UNDEFINED`](leafline_import::UNDEFINED) if it names none.
    pub(crate) thinking_level: Option<String>,
    /// pi's model: provider and model id of the last `model_change` or assistant message.
    pub(crate) model: Option<(Option<String>, Option<String>)>,
    /// omp's models by role, in the order in which the roles were first set.
    pub(crate) models: Vec<(String, String)>,
    /// Whether a `model_change` set omp's default model, so that assistant messages no longer do.
    pub(crate) default_is_explicit: bool,
    /// The last `mode_change`: mode, [`UNDEFINED`](leafline_import::UNDEFINED) if it names none, and data.
    pub(crate) mode: Option<(String, Option<String>)>,
    /// All injected rules, each once, in order.
    pub(crate) injected_rules: Vec<String>,
}

impl Record for SettingsRecord {
    const TABLE: &'static str = "settings";
}
