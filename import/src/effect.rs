//! What a line changes besides adding itself: settings, labels, the title, the first prompt.

use crate::omp::DEFAULT_ROLE;
use crate::scan::Raw;
use crate::text::one_line;

/// The most characters of the first prompt that a list shows.
const PROMPT_CHARACTERS: usize = 200;

/// The value of a setting whose entry names none: JavaScript sets `undefined` then, which is not JSON and not the
/// default.
pub const UNDEFINED: &str = "undefined";

/// The text of a [`PointerKind::LastPrompt`] that holds whatever hangs below the entry that it names; without an entry the
/// conversation begins anew.
pub const EXPLICIT: &str = "explicit";

/// The text of a [`PointerKind::Boundary`] of a compaction that keeps messages.
pub const KEEPS_MESSAGES: &str = "keeps messages";

/// The rank of the title from a [`PointerKind::Summary`], used if no line gives a title of a higher rank.
pub const SUMMARY_TITLE: u8 = 1;

/// The rank of a title that counts only while nothing else gives one, whatever the order: the short summary of omp's last
/// compaction that has one. Of two such titles the later one counts.
pub const SPARE_TITLE: u8 = u8::MAX - 1;

/// The rank of a title that no line of the session gives: it comes from another file beside the sessions.
pub const TITLE_BESIDE: u8 = u8::MAX;

/// One effect of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// The settings below this entry differ from those above.
    Settings(SettingsChange),
    /// A label is set on an entry, or cleared.
    Label {
        /// The entry's id, as WTF-8 (see [`crate::text`]).
        target: Vec<u8>,
        /// The label, as WTF-8; `None` clears it.
        label: Option<Vec<u8>>,
    },
    /// The session has this title now, or none.
    Title {
        /// The title; never empty.
        title: Option<String>,
        /// Of two titles the one with the higher rank wins; of equal ranks, the later one. [`SPARE_TITLE`] is below all
        /// others.
        rank: u8,
    },
    /// A record that names the leaf, or where the conversation came from.
    Pointer {
        /// Which of them it is.
        kind: PointerKind,
        /// The id of the entry that it names, as WTF-8.
        target: Option<Vec<u8>>,
        /// Of a summary, the beginning of its text; of a last prompt that is explicit, [`EXPLICIT`]; of a compaction that
        /// keeps messages, [`KEEPS_MESSAGES`].
        text: Option<String>,
    },
    /// A user message begins with this text.
    Prompt(String),
    /// The session has moved to this working folder.
    Moved(String),
}

impl Effect {
    /// The effect of a user message: the beginning of its text, on one line; `None` if that is empty.
    #[must_use]
    pub fn prompt(text: &str) -> Option<Self> {
        beginning(text).map(Self::Prompt)
    }
}

/// The beginning of a text, on one line; `None` if that is empty.
pub(crate) fn beginning(text: &str) -> Option<String> {
    Some(one_line(text, PROMPT_CHARACTERS)).filter(|line| !line.is_empty())
}

/// What kind of record points to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointerKind {
    /// It describes the session, and names its leaf.
    Summary,
    /// It names the leaf.
    LastPrompt,
    /// The conversation was compacted here, and continues from the entry that it names.
    Boundary,
}

/// A change of settings, for all families. Values are JSON text, except names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingsChange {
    /// A thinking level; [`UNDEFINED`] if the entry has no such member.
    ThinkingLevel(String),
    /// A model.
    Model {
        /// The provider.
        provider: Option<String>,
        /// The model's id.
        model_id: Option<String>,
        /// The role that a model is for, and the model with its provider (omp).
        by_role: Option<(String, String)>,
    },
    /// An assistant message names the model.
    Assistant {
        /// The provider.
        provider: Option<String>,
        /// The model.
        model: Option<String>,
    },
    /// A mode.
    Mode {
        /// Its name; [`UNDEFINED`] if the entry has no such member.
        mode: String,
        /// The mode's data.
        data: Option<String>,
    },
    /// Rules to add to those that were injected.
    InjectedRules(Vec<String>),
}

/// The model that an assistant message sets, as omp reads it: that of the default role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AssistantModel<'a> {
    provider: Option<&'a str>,
    model: Option<&'a str>,
}

impl<'a> AssistantModel<'a> {
    /// The role whose model it is.
    pub const ROLE: &'static str = DEFAULT_ROLE;

    /// Of a provider and a model as JSON text.
    #[must_use]
    pub fn new(provider: Option<&'a str>, model: Option<&'a str>) -> Self {
        Self { provider, model }
    }

    /// omp's name of the model: provider and model joined by a slash; `None` unless both are strings.
    #[must_use]
    pub fn name(self) -> Option<String> {
        let text =
            |json: Option<&str>| Some(Raw::parse(json?).ok()?.to_string_lossy()?.into_owned());
        Some(format!("{}/{}", text(self.provider)?, text(self.model)?))
    }

    /// Whether it has this name; it can also be false if the JSON strings contain escapes.
    #[must_use]
    pub fn is_named(self, name: &str) -> bool {
        fn inside(json: Option<&str>) -> Option<&str> {
            let text = json?.strip_prefix('"')?.strip_suffix('"')?;
            Some(text).filter(|text| !text.contains('\\'))
        }
        let parts = inside(self.provider).zip(inside(self.model));
        parts.is_some_and(|(provider, model)| {
            name.strip_prefix(provider).and_then(|rest| rest.strip_prefix('/')) == Some(model)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assistants_model_by_name() {
        let model = AssistantModel::new(Some("\"openai\""), Some("\"gpt-4o\""));
        assert_eq!(model.name().as_deref(), Some("openai/gpt-4o"));
        assert!(model.is_named("openai/gpt-4o") && !model.is_named("openai/gpt-4"));
        let escaped = AssistantModel::new(Some("\"a\""), Some(r#""\u0062""#));
        assert_eq!(escaped.name().as_deref(), Some("a/b"));
        assert!(!escaped.is_named("a/b"));
        assert_eq!(AssistantModel::new(Some("5"), Some("\"b\"")).name(), None);
        assert_eq!(AssistantModel::new(None, Some("\"b\"")).name(), None);
    }
}
