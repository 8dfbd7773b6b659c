//! What is resolved along a path.

/// The settings in force at an entry, for the readers of both pi and omp. Values are JSON text as it stands in the lines,
/// since a program may write anything there, but for names: omp's roles, models and rules are plain text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathSettings {
    /// The last thinking level that was set; [`UNDEFINED`](crate::UNDEFINED) where that is none.
    pub thinking_level: Option<String>,
    /// pi's model: provider and model id.
    pub model: Option<(Option<String>, Option<String>)>,
    /// omp's models by role, in the order of their first setting.
    pub models: Vec<(String, String)>,
    /// The last mode that was set, [`UNDEFINED`](crate::UNDEFINED) where that is none, and its data.
    pub mode: Option<(String, Option<String>)>,
    /// All injected rules, each once, in order.
    pub injected_rules: Vec<String>,
}
