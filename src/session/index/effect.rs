//! What a line changes beside adding itself: settings, labels, the title, the first prompt.

use std::borrow::Cow;

use leafline_import::claude::{self, RecordKind};
use leafline_import::pi_omp::{self, SettingsEffect};
use leafline_import::scan::{Raw, Scan};
use leafline_import::text::one_line;
use leafline_import::{EntryKind, Family, MessageRole};

use super::reading::{Line, LineScan};
use crate::store::pointer_record::PointerKind;
use crate::store::settings_record::{SettingsRecord, UNDEFINED};

/// Characters of the first prompt that a list shows at the most.
const PROMPT_CHARACTERS: usize = 200;

/// The rank of a title that the user gave in Claude Code.
pub(crate) const CUSTOM_TITLE: u8 = 3;

/// The rank of a title that the model gave in Claude Code.
const AI_TITLE: u8 = 2;

/// The rank of a summary's text in Claude Code, where no title was given.
pub(crate) const SUMMARY_TITLE: u8 = 1;

/// One effect of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The settings below this entry differ from those above.
    Settings(SettingsChange),
    /// A label is set on the target, or cleared.
    Label { target: Vec<u8>, label: Option<Vec<u8>> },
    /// The session has this title now, or none; of titles of Claude Code's the one with the higher rank stays.
    Title { title: Option<String>, rank: u8 },
    /// A record that names the leaf, or where the conversation came from.
    Pointer { kind: PointerKind, target: Option<Vec<u8>>, text: Option<String> },
    /// A user message begins with this.
    Prompt(String),
}

/// A change of settings, for the readers of both families. Values are JSON text, but for what is a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SettingsChange {
    /// [`UNDEFINED`] where the entry has no such member.
    ThinkingLevel(String),
    Model {
        provider: Option<String>,
        model_id: Option<String>,
        /// omp's role and model.
        by_role: Option<(String, String)>,
    },
    Assistant {
        provider: Option<String>,
        model: Option<String>,
    },
    Mode {
        /// [`UNDEFINED`] where the entry has no such member.
        mode: String,
        data: Option<String>,
    },
    InjectedRules(Vec<String>),
}

/// The effect of a line.
pub(crate) fn effect_of(line: &Line<'_>) -> Option<Effect> {
    match line.scan() {
        LineScan::PiOmp(scan) => effect_of_entry(line.kind(), line.role(), scan),
        LineScan::Claude(record) => effect_of_record(record),
        LineScan::Opal(opal) if line.role() == MessageRole::User => {
            Some(Effect::Prompt(beginning(&opal.content()?)?))
        }
        LineScan::Opal(_) | LineScan::Recovered(..) => None,
    }
}

fn effect_of_entry(kind: EntryKind, role: MessageRole, scan: &Scan<'_>) -> Option<Effect> {
    let title = |title| Effect::Title { title, rank: 0 };
    Some(match kind {
        EntryKind::Message if role == MessageRole::User => {
            Effect::Prompt(beginning(&pi_omp::user_text(kind, scan)?)?)
        }
        EntryKind::Label => {
            let effect = pi_omp::label_effect(scan)?;
            Effect::Label {
                target: effect.target.into_owned(),
                label: effect.label.map(|label| label.into_owned().into_bytes()),
            }
        }
        EntryKind::SessionInfo => {
            title(pi_omp::session_name(kind, scan).filter(|name| !name.is_empty()))
        }
        // A title line without a title leaves the one that the header tells.
        EntryKind::Title => {
            title(Some(pi_omp::session_name(kind, scan).filter(|name| !name.is_empty())?))
        }
        _ => Effect::Settings(settings_change(kind, scan)?),
    })
}

fn effect_of_record(record: &claude::Record<'_>) -> Option<Effect> {
    let title = |title: Option<Cow<'_, str>>, rank| {
        let title = title?.trim().to_owned();
        (!title.is_empty()).then_some(Effect::Title { title: Some(title), rank })
    };
    if record.is_compact_boundary() {
        let target = record.logical_parent().map(Cow::into_owned);
        return Some(Effect::Pointer { kind: PointerKind::Boundary, target, text: None });
    }
    match record.kind() {
        RecordKind::User => Some(Effect::Prompt(beginning(&record.prompt_text()?)?)),
        RecordKind::CustomTitle => title(record.custom_title(), CUSTOM_TITLE),
        RecordKind::AiTitle => title(record.ai_title(), AI_TITLE),
        kind => {
            let kind = match claude::LeafSource::of(kind)? {
                claude::LeafSource::Summary => PointerKind::Summary,
                _ => PointerKind::LastPrompt,
            };
            let target = Some(record.leaf_uuid()?.into_owned());
            let text = record.summary().and_then(|text| beginning(&text));
            Some(Effect::Pointer {
                kind,
                target,
                text: text.filter(|_| kind == PointerKind::Summary),
            })
        }
    }
}

/// How a line changes the settings of the path that it is on.
pub(crate) fn settings_change(kind: EntryKind, scan: &Scan<'_>) -> Option<SettingsChange> {
    let json = |raw: Option<Raw<'_>>| raw.map(|raw| raw.as_str().to_owned());
    let set = |raw| json(raw).unwrap_or_else(|| UNDEFINED.to_owned());
    Some(match pi_omp::settings_effect(Family::Omp, kind, scan) {
        SettingsEffect::ThinkingLevel(level) => SettingsChange::ThinkingLevel(set(level)),
        SettingsEffect::AssistantModel { provider, model } => {
            SettingsChange::Assistant { provider: json(provider), model: json(model) }
        }
        SettingsEffect::Mode { mode, data } => {
            SettingsChange::Mode { mode: set(mode), data: json(data) }
        }
        SettingsEffect::InjectedRules(rules) => {
            SettingsChange::InjectedRules(rules.into_iter().map(Cow::into_owned).collect())
        }
        omp if kind == EntryKind::ModelChange => SettingsChange::Model {
            provider: json(scan.members.provider),
            model_id: json(scan.members.model_id),
            by_role: match omp {
                SettingsEffect::OmpModel { role, model } => {
                    Some((role.into_owned(), model.into_owned()))
                }
                _ => None,
            },
        },
        _ => return None,
    })
}

/// The beginning of a text, on one line.
fn beginning(text: &str) -> Option<String> {
    Some(one_line(text, PROMPT_CHARACTERS)).filter(|line| !line.is_empty())
}

impl SettingsChange {
    /// Whether it is plain, without making the settings after it, that they are those before.
    pub(crate) fn changes_nothing(&self, before: &SettingsRecord) -> bool {
        match self {
            Self::ThinkingLevel(level) => before.thinking_level.as_ref() == Some(level),
            Self::Assistant { provider, model } => {
                let known = before.model.as_ref();
                known.is_some_and(|known| known.0 == *provider && known.1 == *model)
                    && (before.default_is_explicit
                        || before.models.iter().any(|(role, value)| {
                            role == "default" && is_joined(value, provider, model)
                        }))
            }
            Self::Model { .. } | Self::Mode { .. } | Self::InjectedRules(_) => false,
        }
    }

    /// The settings after the change.
    pub(crate) fn apply(&self, before: &SettingsRecord) -> SettingsRecord {
        let mut after = before.clone();
        match self {
            Self::ThinkingLevel(level) => after.thinking_level = Some(level.clone()),
            Self::Model { provider, model_id, by_role } => {
                after.model = Some((provider.clone(), model_id.clone()));
                if let Some((role, model)) = by_role {
                    set_model(&mut after.models, role, model.clone());
                    after.default_is_explicit |= role == "default";
                }
            }
            Self::Assistant { provider, model } => {
                after.model = Some((provider.clone(), model.clone()));
                if !after.default_is_explicit
                    && let Some(joined) = join_model(provider.as_deref(), model.as_deref())
                {
                    set_model(&mut after.models, "default", joined);
                }
            }
            Self::Mode { mode, data } => {
                after.mode = Some((mode.clone(), data.clone()));
            }
            Self::InjectedRules(rules) => {
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

/// Whether a model's name is provider and model, given as JSON strings without escapes, joined by a slash.
fn is_joined(name: &str, provider: &Option<String>, model: &Option<String>) -> bool {
    fn inside(json: &Option<String>) -> Option<&str> {
        json.as_deref()?.strip_prefix('"')?.strip_suffix('"').filter(|text| !text.contains('\\'))
    }
    let parts = inside(provider).zip(inside(model));
    parts.is_some_and(|(provider, model)| {
        name.strip_prefix(provider).and_then(|rest| rest.strip_prefix('/')) == Some(model)
    })
}

/// omp's name of an assistant message's model: provider and model joined by a slash.
fn join_model(provider: Option<&str>, model: Option<&str>) -> Option<String> {
    let text = |json: Option<&str>| {
        let text = Raw::parse(json?).ok()?.to_string_lossy()?.into_owned();
        Some(text)
    };
    Some(format!("{}/{}", text(provider)?, text(model)?))
}
