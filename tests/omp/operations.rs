//! Random operations on a session, as omp's SessionManager has them.

use serde_json::{Value, json};

use super::random::Random;
use super::trees::Parts;

/// A random sequence of operations, each as `tests/omp-judge` takes it.
pub(crate) struct Sequence {
    parts: Parts,
    /// How many entries there are at least.
    entries: usize,
}

impl Sequence {
    /// On a session with so many entries.
    pub(crate) fn new(seed: u64, entries: usize) -> Self {
        Self { parts: Parts::new(Random::new(seed)), entries }
    }

    /// The next operation, of those that are done at once on both sides if `is_common`.
    pub(crate) fn next(&mut self, is_common: bool) -> Value {
        let kinds = if is_common { 17 } else { 24 };
        let kind = self.parts.random.below(kinds);
        let mut adds = true;
        let operation = match kind {
            0..=2 => {
                json!({"do": "append_message", "message": {"role": "user", "content": "Please", "timestamp": 1}})
            }
            3..=6 => json!({"do": "append_message", "message": self.parts.turn()}),
            7..=9 => json!({"do": "append_message", "message": self.parts.result()}),
            10 => {
                json!({"do": "append_custom_message_entry", "customType": self.parts.custom_type(), "content": "c", "display": self.parts.random.once_in(2), "details": {"d": 1}})
            }
            11 if self.entries > 0 => {
                json!({"do": "append_compaction", "summary": "s", "shortSummary": "t", "firstKept": self.place(), "tokensBefore": 9})
            }
            12 if self.entries > 0 => {
                json!({"do": "append_label_change", "target": self.place(), "label": "l"})
            }
            13 if self.entries > 0 => {
                json!({"do": "branch_with_summary", "entry": self.place(), "summary": self.parts.random.one(&["", "b"])})
            }
            14 if self.entries > 0 => {
                adds = false;
                json!({"do": "branch", "entry": self.place()})
            }
            15 => json!({"do": "append_mode_change", "mode": "plan", "data": {"file": "x"}}),
            16 => json!({"do": "append_ttsr_injection", "rules": ["a", "b"]}),
            17 => json!({"do": "append_reset_boundary"}),
            18 => {
                json!({"do": "append_thinking_level_change", "level": self.parts.random.one(&[Some("high"), None]), "configured": "auto"})
            }
            19 => {
                json!({"do": "append_model_change", "model": "p/other", "role": self.parts.random.one(&["default", "smol"])})
            }
            20 => json!({"do": "append_service_tier_change", "tier": {"openai": "flex"}}),
            21 if self.entries > 0 => {
                json!({"do": "append_message_to_branch", "message": self.parts.result(), "parent": self.place()})
            }
            22 => {
                json!({"do": "set_session_name", "name": self.parts.random.one(&["One", "Two"]), "source": self.parts.random.one(&["auto", "user"])})
            }
            23 if self.entries > 0 => {
                let options = self.parts.compaction_options();
                json!({"do": "append_compaction", "summary": "s", "firstKept": self.place(), "tokensBefore": 9, "options": options})
            }
            _ => json!({"do": "append_custom_entry", "customType": "state", "data": [1]}),
        };
        // A name may be refused.
        if adds && kind != 22 {
            self.entries += 1;
        }
        operation
    }

    /// The place of an entry, often one of the last.
    fn place(&mut self) -> usize {
        let back = 1 + self.parts.random.below(self.entries.min(12));
        self.entries - back
    }

    /// How many entries there are at least.
    pub(crate) fn entries(&self) -> usize {
        self.entries
    }
}
