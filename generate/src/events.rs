//! What happens between turns: settings change, the conversation goes back, places are labelled, extensions speak.

use std::io::{self, Write};

use crate::prose;
use crate::recorder::{Members, text_member};
use crate::session::Session;
use crate::shape::Family;
use crate::template::fill;
use crate::usage::MODELS;

const LEVELS: [&str; 5] = ["off", "minimal", "low", "medium", "high"];

impl<W: Write> Session<'_, W> {
    /// The initial settings of a session.
    pub(crate) fn first_settings(&mut self) -> io::Result<()> {
        if self.shape.version == 1 {
            return Ok(());
        }
        self.model_change()?;
        self.thinking_level("off")
    }

    /// What may happen after a turn.
    pub(crate) fn events(&mut self) -> io::Result<()> {
        if self.random.chance(80) {
            for _ in 0..self.random.between(1, 5) {
                if self.done() {
                    return Ok(());
                }
                self.pause(600.0, 1.6);
                let level = *self.random.pick(&LEVELS);
                self.thinking_level(level)?;
            }
        }
        type Event<'a, W> = fn(&mut Session<'a, W>) -> io::Result<()>;
        let common: [(usize, Event<'_, W>); 2] =
            [(40, Self::change_model), (30, Self::own_command)];
        let with_ids: [(usize, Event<'_, W>); 6] = [
            (60, Self::label),
            (60, Self::custom),
            (40, Self::custom_message),
            (15, Self::session_name),
            (40, Self::omp_entry),
            (70, Self::branch),
        ];
        let later = if self.shape.version > 1 { &with_ids[..] } else { &[] };
        for (per_mille, event) in common.iter().chain(later) {
            if !self.done() && self.random.chance(*per_mille) {
                self.pause(2_000.0, 2.0);
                event(self)?;
            }
        }
        Ok(())
    }

    fn thinking_level(&mut self, level: &str) -> io::Result<()> {
        self.begin(b"");
        text_member(&mut self.body, "thinkingLevel", level.as_bytes());
        self.recorder.entry("thinking_level_change", Members::AfterIds, &self.body)
    }

    fn change_model(&mut self) -> io::Result<()> {
        self.model = self.random.pick(&MODELS);
        self.model_change()
    }

    fn model_change(&mut self) -> io::Result<()> {
        self.begin(b"");
        if self.shape.family == Family::Omp {
            let model = format!("{}/{}", self.model.provider, self.model.id);
            text_member(&mut self.body, "model", model.as_bytes());
            text_member(&mut self.body, "role", b"default");
        } else {
            text_member(&mut self.body, "provider", self.model.provider.as_bytes());
            text_member(&mut self.body, "modelId", self.model.id.as_bytes());
        }
        self.recorder.entry("model_change", Members::AfterIds, &self.body)
    }

    fn label(&mut self) -> io::Result<()> {
        let back = self.random.between(0, 60);
        let Some(target) = self.recorder.ancestor(back) else {
            return Ok(());
        };
        self.begin(b",\"targetId\":\"");
        self.recorder.write_id(&mut self.body, target);
        self.body.push(b'"');
        // A label without a text clears it.
        if self.random.chance(800) {
            self.body.extend_from_slice(b",\"label\":\"");
            let scope = self.project.scope(self.place());
            fill(&mut self.body, "$w-$w", scope, &mut self.random);
            self.body.push(b'"');
        }
        self.recorder.entry("label", Members::AfterIds, &self.body)
    }

    fn custom(&mut self) -> io::Result<()> {
        self.begin(b",\"customType\":\"plan-keeper\",\"data\":{");
        let scope = self.project.scope(self.place());
        self.body.extend_from_slice(b"\"step\":");
        fill(&mut self.body, "$n", scope, &mut self.random);
        self.body.extend_from_slice(b",\"note\":\"");
        fill(&mut self.body, "$c", scope, &mut self.random);
        self.body.extend_from_slice(b"\"}");
        self.recorder.entry("custom", Members::BeforeIds, &self.body)
    }

    /// A message of an extension; up to version 2 a message of the role `hookMessage`.
    fn custom_message(&mut self) -> io::Result<()> {
        let old = self.shape.version < 3;
        self.begin(if old {
            b",\"message\":{\"role\":\"hookMessage\",\"customType\":\"plan-keeper\",\"content\":\""
        } else {
            b",\"customType\":\"plan-keeper\",\"content\":\""
        });
        let size = self.random.size(150.0, 2.0);
        let scope = self.project.scope(self.place());
        prose::prose(&mut self.body, size, scope, &mut self.random);
        self.body.extend_from_slice(b"\",\"display\":true");
        if old {
            return self.message(0);
        }
        self.recorder.entry("custom_message", Members::BeforeIds, &self.body)
    }

    fn session_name(&mut self) -> io::Result<()> {
        self.begin(b",\"name\":\"");
        let scope = self.project.scope(self.place());
        fill(&mut self.body, "$s $s", scope, &mut self.random);
        self.body.push(b'"');
        self.recorder.entry("session_info", Members::AfterIds, &self.body)
    }

    /// One of the entries that only omp writes.
    fn omp_entry(&mut self) -> io::Result<()> {
        if self.shape.family != Family::Omp {
            return Ok(());
        }
        let (kind, members): (&str, &[u8]) = match self.random.below(3) {
            0 => ("mode_change", b",\"mode\":\"plan\",\"data\":{\"planFile\":\"plan.md\"}"),
            1 => ("mode_change", b",\"mode\":\"none\""),
            _ => ("ttsr_injection", b",\"injectedRules\":[\"no-shortcuts\",\"tests-first\"]"),
        };
        self.recorder.entry(kind, Members::AfterIds, members)
    }

    /// Goes back and starts over from there, half of the time with a summary of the abandoned branch.
    fn branch(&mut self) -> io::Result<()> {
        if !self.shape.branches {
            return Ok(());
        }
        self.recorder.branch(&mut self.random);
        let Some(target) = self.recorder.ancestor(0).filter(|_| self.random.chance(500)) else {
            return Ok(());
        };
        self.begin(b",\"fromId\":\"");
        self.recorder.write_id(&mut self.body, target);
        self.body.extend_from_slice(b"\",\"summary\":\"");
        let size = self.random.size(1_200.0, 1.5);
        let scope = self.project.scope(self.place());
        prose::summary(&mut self.body, size, scope, &mut self.random);
        self.body.extend_from_slice(b"\",\"details\":{\"readFiles\":[\"");
        let file = self.project.file(self.place());
        self.body.extend_from_slice(file.path.as_bytes());
        self.body.extend_from_slice(b"\"],\"modifiedFiles\":[]}");
        self.tokens.context = self.tokens.context * 2 / 3;
        self.recorder.entry("branch_summary", Members::AfterIds, &self.body)
    }
}
