//! The documented members of each type of entry, in the order in which the programs write them (observed behaviour,
//! writing).

use super::error::Expected;
use crate::family::Family;
use crate::kind::EntryKind;

/// The layout of an entry of one type.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The members that only this type has, in order.
    pub(super) own: &'static [Own],
    /// Whether they come before id, parent and time, as in the entries that extensions append.
    pub(super) own_first: bool,
}

/// A documented member.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Own {
    pub(super) name: &'static str,
    pub(super) expected: Expected,
    pub(super) required: bool,
}

impl Layout {
    /// The layout of a type. The families differ only if both have a type and write it differently; a type of only one
    /// family means the same in a file of the other.
    pub(super) fn of(kind: EntryKind, family: Family) -> &'static Self {
        match (kind, family) {
            (EntryKind::Message, _) => &MESSAGE,
            (EntryKind::ThinkingLevelChange, _) => &THINKING_LEVEL_CHANGE,
            (EntryKind::ModelChange, Family::Pi) => &PI_MODEL_CHANGE,
            (EntryKind::ModelChange, Family::Omp) => &OMP_MODEL_CHANGE,
            (EntryKind::Compaction, Family::Pi) => &PI_COMPACTION,
            (EntryKind::Compaction, Family::Omp) => &OMP_COMPACTION,
            (EntryKind::BranchSummary, Family::Pi) => &PI_BRANCH_SUMMARY,
            (EntryKind::BranchSummary, Family::Omp) => &OMP_BRANCH_SUMMARY,
            (EntryKind::Custom, _) => &CUSTOM,
            (EntryKind::CustomMessage, _) => &CUSTOM_MESSAGE,
            (EntryKind::Label, _) => &LABEL,
            (EntryKind::SessionInfo, _) => &SESSION_INFO,
            (EntryKind::TtsrInjection, _) => &TTSR_INJECTION,
            (EntryKind::SessionInit, _) => &SESSION_INIT,
            (EntryKind::ModeChange, _) => &MODE_CHANGE,
            _ => &UNKNOWN,
        }
    }

    /// The index of a member among the type's own.
    pub(super) fn place_of(&self, name: &str) -> Option<usize> {
        self.own.iter().position(|own| own.name == name)
    }
}

const fn after_time(own: &'static [Own]) -> Layout {
    Layout { own, own_first: false }
}

const fn before_id(own: &'static [Own]) -> Layout {
    Layout { own, own_first: true }
}

const fn required(name: &'static str, expected: Expected) -> Own {
    Own { name, expected, required: true }
}

const fn optional(name: &'static str, expected: Expected) -> Own {
    Own { name, expected, required: false }
}

static UNKNOWN: Layout = after_time(&[]);

static MESSAGE: Layout = after_time(&[required("message", Expected::Message)]);

static THINKING_LEVEL_CHANGE: Layout = after_time(&[required("thinkingLevel", Expected::Text)]);

static PI_MODEL_CHANGE: Layout =
    after_time(&[required("provider", Expected::Text), required("modelId", Expected::Text)]);

static OMP_MODEL_CHANGE: Layout =
    after_time(&[required("model", Expected::Text), optional("role", Expected::Text)]);

static PI_COMPACTION: Layout = after_time(&[
    required("summary", Expected::Text),
    optional("firstKeptEntryId", Expected::TextOrNull),
    required("tokensBefore", Expected::Number),
    optional("details", Expected::Anything),
    optional("usage", Expected::Anything),
    optional("fromHook", Expected::Anything),
    optional("systemMessage", Expected::Anything),
]);

static OMP_COMPACTION: Layout = after_time(&[
    required("summary", Expected::Text),
    optional("shortSummary", Expected::Anything),
    optional("firstKeptEntryId", Expected::TextOrNull),
    required("tokensBefore", Expected::Number),
    optional("details", Expected::Anything),
    optional("fromExtension", Expected::Anything),
    optional("preserveData", Expected::Anything),
]);

static PI_BRANCH_SUMMARY: Layout = after_time(&[
    required("fromId", Expected::Text),
    required("summary", Expected::Text),
    optional("details", Expected::Anything),
    optional("fromHook", Expected::Anything),
]);

static OMP_BRANCH_SUMMARY: Layout = after_time(&[
    required("fromId", Expected::Text),
    required("summary", Expected::Text),
    optional("details", Expected::Anything),
    optional("fromExtension", Expected::Anything),
]);

static CUSTOM: Layout =
    before_id(&[required("customType", Expected::Text), optional("data", Expected::Anything)]);

static CUSTOM_MESSAGE: Layout = before_id(&[
    required("customType", Expected::Text),
    required("content", Expected::TextOrArray),
    required("display", Expected::Boolean),
    optional("details", Expected::Anything),
]);

static LABEL: Layout =
    after_time(&[required("targetId", Expected::Text), optional("label", Expected::TextOrNull)]);

static SESSION_INFO: Layout = after_time(&[required("name", Expected::Text)]);

static TTSR_INJECTION: Layout = after_time(&[required("injectedRules", Expected::Texts)]);

static SESSION_INIT: Layout = after_time(&[
    required("systemPrompt", Expected::Text),
    required("task", Expected::Text),
    required("tools", Expected::Texts),
    optional("outputSchema", Expected::Anything),
]);

static MODE_CHANGE: Layout =
    after_time(&[required("mode", Expected::Text), optional("data", Expected::Anything)]);
