//! Settings that are resolved along a path.

/// The settings in force at an entry, of both pi and omp. Values are the JSON text of the lines, since a program may
/// write anything there; names (omp's roles, models and rules) are plain text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathSettings {
    /// The last thinking level that was set; [`UNDEFINED`](crate::UNDEFINED) if it was set to nothing.
    pub thinking_level: Option<String>,
    /// pi's model: provider and model id.
    pub model: Option<(Option<String>, Option<String>)>,
    /// omp's models by role, in the order of their first setting.
    pub models: Vec<(String, String)>,
    /// The last mode that was set, [`UNDEFINED`](crate::UNDEFINED) if it was set to nothing, and its data.
    pub mode: Option<(String, Option<String>)>,
    /// All injected rules, each once, in order.
    pub injected_rules: Vec<String>,
}
