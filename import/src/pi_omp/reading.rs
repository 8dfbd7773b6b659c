//! The facts of a line of pi or omp.

use std::borrow::Cow;

use crate::effect::{Effect, SPARE_TITLE, SettingsChange, UNDEFINED};
use crate::family::Family;
use crate::kind::{EntryKind, MessageRole};
use crate::line::{LineFacts, LineScanner, ParentLink, RecoveredLine};
use crate::omp;
use crate::pi_omp::{
    SettingsEffect, label_effect, message_text, message_timestamp, milliseconds, session_name,
    settings_effect, usage, user_text,
};
use crate::recover::Recovered;
use crate::scan::{Payload, Raw, Scan, Scanner, Shape};
use crate::text::trim;
use crate::time::parse_timestamp;
use crate::usage::UsageReport;

impl LineScanner for Scanner {
    type Scan<'a> = Scan<'a>;

    fn scan<'a>(&mut self, text: &'a str) -> Scan<'a> {
        Self::scan(self, text)
    }

    fn payloads(&self, _: &str) -> &[Payload] {
        Self::payloads(self)
    }
}

impl<'a> LineFacts<'a> for Scan<'a> {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn kind(&self) -> EntryKind {
        match EntryKind::of(self) {
            // Only a title line is outside the tree; a record of that type with an id is an entry.
            EntryKind::Title if self.members.id.is_some_and(Raw::is_string) => EntryKind::Unknown,
            kind => kind,
        }
    }

    fn role(&self, kind: EntryKind) -> MessageRole {
        match kind {
            EntryKind::Message => MessageRole::of(self),
            _ => MessageRole::None,
        }
    }

    fn type_name(&self) -> Option<Cow<'a, str>> {
        self.members.entry_type.and_then(Raw::to_string_lossy)
    }

    fn time(&self) -> Option<i64> {
        let timestamp = self.members.timestamp?;
        match timestamp.to_string_lossy() {
            Some(text) => parse_timestamp(&text),
            // A header's is text alone.
            None if LineFacts::kind(self).is_entry() => milliseconds(timestamp),
            None => None,
        }
    }

    fn activity(&self, role: MessageRole) -> Option<i64> {
        match role {
            MessageRole::User | MessageRole::Assistant => {
                message_timestamp(self).or_else(|| self.time())
            }
            _ => None,
        }
    }

    fn id(&self) -> Option<Cow<'a, [u8]>> {
        self.members.id.and_then(Raw::as_string)
    }

    fn parent(&self) -> ParentLink<'a> {
        match self.members.parent_id.filter(|parent| parent.is_truthy()) {
            None => ParentLink::None,
            Some(raw) => raw.as_string().map_or(ParentLink::NoId, ParentLink::Id),
        }
    }

    fn header_title(&self) -> Option<Cow<'a, str>> {
        // A record without an id is not a header.
        self.members.id.and_then(Raw::as_string)?;
        self.members.title.and_then(Raw::to_string_lossy)
    }

    fn message_text(&self) -> Option<String> {
        message_text(self)
    }

    fn usage(&self, kind: EntryKind, role: MessageRole) -> Vec<UsageReport> {
        usage(self, kind, role).into_iter().collect()
    }

    fn effect(&self, kind: EntryKind, role: MessageRole) -> Option<Effect> {
        let title = |title| Effect::Title { title, rank: 0 };
        Some(match kind {
            EntryKind::Message if role == MessageRole::User => {
                Effect::prompt(&user_text(kind, self)?)?
            }
            EntryKind::Label => {
                let effect = label_effect(self)?;
                Effect::Label {
                    target: effect.target.into_owned(),
                    label: effect.label.map(|label| label.into_owned().into_bytes()),
                }
            }
            EntryKind::SessionInfo => {
                title(session_name(kind, self).filter(|name| !name.is_empty()))
            }
            EntryKind::Title => title(omp::title_of_slot(self)?),
            EntryKind::Compaction => {
                let summary = self.members.short_summary?.to_string_lossy()?;
                let title = Some(trim(&summary).to_owned()).filter(|title| !title.is_empty());
                Effect::Title { title, rank: SPARE_TITLE }
            }
            _ => Effect::Settings(settings_change(kind, self)?),
        })
    }
}

/// How a line changes the settings of its path, for both families.
fn settings_change(kind: EntryKind, scan: &Scan<'_>) -> Option<SettingsChange> {
    let json = |raw: Option<Raw<'_>>| raw.map(|raw| raw.as_str().to_owned());
    let set = |raw| json(raw).unwrap_or_else(|| UNDEFINED.to_owned());
    Some(match settings_effect(Family::Omp, kind, scan) {
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

/// A record that is not JSON: an entry if its id could be read.
pub(crate) fn recovered(recovered: Recovered<'_>) -> RecoveredLine<'_> {
    if recovered.id.is_none() {
        return RecoveredLine::no_entry(recovered);
    }
    let name = recovered.record_type.as_deref();
    let kind = name.and_then(EntryKind::of_name).filter(|kind| kind.is_entry());
    let (id, parent) = (recovered.id.clone(), recovered.parent_id.clone());
    RecoveredLine::entry(recovered, kind.unwrap_or(EntryKind::Unknown), id, parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_entries_are_text_or_numbers() {
        let time = |line: &str| LineFacts::time(&Scanner::new().scan(line));
        assert_eq!(time(r#"{"type":"label","timestamp":"1970-01-01T00:00:02Z"}"#), Some(2_000));
        assert_eq!(time(r#"{"type":"label","timestamp":-1.5e3}"#), Some(-1_500));
        assert_eq!(time(r#"{"timestamp":7.9}"#), Some(7));
        for other in ["null", "true", "8.65e15", "[5]", "\"5\""] {
            assert_eq!(
                time(&format!(r#"{{"type":"label","timestamp":{other}}}"#)),
                None,
                "{other}"
            );
        }
        assert_eq!(time(r#"{"type":"session","id":"s","timestamp":5}"#), None);
    }
}
