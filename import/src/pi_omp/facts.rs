//! The facts of an entry that an index needs: settings, labels, names, text. Each is read from a scan, and only for the
//! kinds of entry that have it.

use std::borrow::Cow;

use crate::family::Family;
use crate::kind::{EntryKind, MessageRole};
use crate::scan::{Raw, Scan};
use crate::text::trim;
use crate::{omp, pi};

/// The change that an entry makes to the settings in force (pi and omp documents, context building).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingsEffect<'a> {
    /// Nothing.
    None,
    /// The thinking level as in the entry; absent or not a string in a faulty file.
    ThinkingLevel(Option<Raw<'a>>),
    /// pi: the model, with its parts as in the entry.
    PiModel {
        /// `provider`.
        provider: Option<Raw<'a>>,
        /// `modelId`.
        model_id: Option<Raw<'a>>,
    },
    /// omp: the model of a role.
    OmpModel {
        /// The role; `default` if none is named.
        role: Cow<'a, str>,
        /// Provider and model as one string.
        model: Cow<'a, str>,
    },
    /// An assistant message's provider and model: pi takes them as the model, omp as the model of the default role
    /// unless a `model_change` has set it.
    AssistantModel {
        /// `message.provider`.
        provider: Option<Raw<'a>>,
        /// `message.model`.
        model: Option<Raw<'a>>,
    },
    /// omp: the mode.
    Mode {
        /// `mode`.
        mode: Option<Raw<'a>>,
        /// `data`.
        data: Option<Raw<'a>>,
    },
    /// omp: rules to add to those already injected; only elements that are strings.
    InjectedRules(Vec<Cow<'a, str>>),
}

/// The change of settings by an entry of a kind.
#[must_use]
pub fn settings_effect<'a>(family: Family, kind: EntryKind, scan: &Scan<'a>) -> SettingsEffect<'a> {
    let members = &scan.members;
    match kind {
        EntryKind::ThinkingLevelChange => SettingsEffect::ThinkingLevel(members.thinking_level),
        EntryKind::ModelChange => match family {
            Family::Omp => omp::model_change(scan),
            _ => pi::model_change(scan),
        },
        EntryKind::Message if MessageRole::of(scan) == MessageRole::Assistant => {
            SettingsEffect::AssistantModel {
                provider: members.message_provider,
                model: members.message_model,
            }
        }
        EntryKind::ModeChange if family == Family::Omp => {
            SettingsEffect::Mode { mode: members.mode, data: members.data }
        }
        EntryKind::TtsrInjection if family == Family::Omp => {
            let rules = members.injected_rules.into_iter().flat_map(Raw::elements);
            SettingsEffect::InjectedRules(rules.filter_map(Raw::to_string_lossy).collect())
        }
        _ => SettingsEffect::None,
    }
}

/// What a `label` entry does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelEffect<'a> {
    /// The labelled entry, as WTF-8.
    pub target: Cow<'a, [u8]>,
    /// The label to set; `None` clears it. A label that is truthy but not a string is its JSON text.
    pub label: Option<Cow<'a, str>>,
}

/// The effect of a `label` entry; `None` if its target is not a string.
#[must_use]
pub fn label_effect<'a>(scan: &Scan<'a>) -> Option<LabelEffect<'a>> {
    let label = scan.members.label.filter(|label| label.is_truthy());
    Some(LabelEffect {
        target: scan.members.target_id?.as_string()?,
        label: label.map(|label| {
            let text = label.to_string_lossy();
            text.unwrap_or(Cow::Borrowed(label.as_str()))
        }),
    })
}

/// The session's name that an entry sets, trimmed; `None` if it sets none, and `Some("")` if it clears it.
///
/// In both families a `session_info` names the session; omp's title lines do as well.
#[must_use]
pub fn session_name(kind: EntryKind, scan: &Scan<'_>) -> Option<String> {
    let name = match kind {
        EntryKind::SessionInfo => scan.members.name,
        EntryKind::Title => scan.members.title,
        _ => return None,
    };
    let name = name.and_then(Raw::to_string_lossy);
    Some(name.map_or_else(String::new, |name| trim(&name).to_owned()))
}

/// The text of a message's content: its string, or its text blocks joined by spaces, as pi lists sessions. `None` if
/// there is no text.
#[must_use]
pub fn message_text(scan: &Scan<'_>) -> Option<String> {
    let content = scan.members.message_content?;
    if let Some(text) = content.to_string_lossy() {
        return (!text.is_empty()).then(|| text.into_owned());
    }
    let is_text = |block: &Raw<'_>| block.member("type").is_some_and(|name| name.is_text("text"));
    let mut joined = String::new();
    for (place, block) in content.elements().filter(is_text).enumerate() {
        if place > 0 {
            joined.push(' ');
        }
        if let Some(text) = block.member("text").and_then(Raw::to_string_lossy) {
            joined.push_str(&text);
        }
    }
    (!joined.is_empty()).then_some(joined)
}

/// The text of a user message; `None` for any other entry, and if there is no text. pi shows a session's first one if
/// the session has no name.
#[must_use]
pub fn user_text(kind: EntryKind, scan: &Scan<'_>) -> Option<String> {
    let is_user = kind == EntryKind::Message && MessageRole::of(scan) == MessageRole::User;
    if is_user { message_text(scan) } else { None }
}

/// `message.timestamp`: milliseconds since 1970, without a fraction; `None` if it is not a number or out of range.
#[must_use]
pub fn message_timestamp(scan: &Scan<'_>) -> Option<i64> {
    milliseconds(scan.members.message_timestamp?)
}

/// A number as milliseconds since 1970, without its fraction; `None` if it is not a number or out of range.
pub(super) fn milliseconds(value: Raw<'_>) -> Option<i64> {
    /// The furthest a JavaScript date can be from 1970.
    const FURTHEST: f64 = 8.64e15;
    let number = value.as_f64()?;
    #[expect(clippy::cast_possible_truncation, reason = "checked to be in range")]
    let milliseconds = number as i64;
    (number.abs() <= FURTHEST).then_some(milliseconds)
}

/// The first entry that a compaction keeps, as WTF-8; `None` if it names none.
#[must_use]
pub fn first_kept_entry_id<'a>(scan: &Scan<'a>) -> Option<Cow<'a, [u8]>> {
    scan.members.first_kept_entry_id?.as_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Scanner;

    fn scan(text: &str) -> Scan<'_> {
        Scanner::new().scan(text)
    }

    fn effect(family: Family, text: &str) -> SettingsEffect<'_> {
        let scan = scan(text);
        settings_effect(family, EntryKind::of(&scan), &scan)
    }

    #[test]
    fn models_of_both_families() {
        let pi = r#"{"type":"model_change","provider":"openai","modelId":"gpt-4o"}"#;
        let omp = r#"{"type":"model_change","model":"openai/gpt-4o","role":"smol"}"#;
        assert!(matches!(
            effect(Family::Pi, pi),
            SettingsEffect::PiModel { provider: Some(provider), .. } if provider.is_text("openai")
        ));
        let sets = |role: &'static str| SettingsEffect::OmpModel {
            role: role.into(),
            model: "openai/gpt-4o".into(),
        };
        assert_eq!(effect(Family::Omp, omp), sets("smol"));
        assert_eq!(effect(Family::Omp, pi), sets("default"));
        assert_eq!(effect(Family::Omp, r#"{"type":"model_change"}"#), SettingsEffect::None);
    }

    #[test]
    fn labels_are_cleared_by_what_is_false() {
        let label = |text| label_effect(&scan(text)).unwrap().label.map(Cow::into_owned);
        assert_eq!(label(r#"{"targetId":"a","label":"x"}"#).as_deref(), Some("x"));
        assert_eq!(label(r#"{"targetId":"a","label":""}"#), None);
        assert_eq!(label(r#"{"targetId":"a"}"#), None);
        assert!(label_effect(&scan(r#"{"label":"x"}"#)).is_none());
    }

    #[test]
    fn names_are_trimmed() {
        let name = |text| {
            let scan = scan(text);
            session_name(EntryKind::of(&scan), &scan)
        };
        assert_eq!(
            name(r#"{"type":"session_info","name":"\ufeff a b \n"}"#).as_deref(),
            Some("a b")
        );
        assert_eq!(name(r#"{"type":"session_info"}"#).as_deref(), Some(""));
        assert_eq!(name(r#"{"type":"title","title":"T"}"#).as_deref(), Some("T"));
        assert_eq!(name(r#"{"type":"label","name":"T"}"#), None);
    }

    #[test]
    fn text_blocks_are_joined() {
        let text = |text| {
            let scan = scan(text);
            user_text(EntryKind::of(&scan), &scan)
        };
        assert_eq!(
            text(r#"{"type":"message","message":{"role":"user","content":"a"}}"#).as_deref(),
            Some("a")
        );
        assert_eq!(
            text(r#"{"type":"message","message":{"role":"user","content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}}"#).as_deref(),
            Some("a b")
        );
        assert_eq!(
            text(r#"{"type":"message","message":{"role":"assistant","content":"a"}}"#),
            None
        );
    }
}
