//! A context as a person reads it.

use leafline::{ContextSettings, JsonText};

use super::super::failure::Failure;
use super::super::number::counted;
use super::super::output::{BAD, FAINT, KIND, Output};
use super::super::{text, time};
use super::told_message::{Told, told};

/// What stands ahead of what a message says.
const INDENT: &str = "  ";

/// Writes messages one after the other.
pub(super) struct Transcript<'o> {
    out: &'o mut Output,
    messages: u64,
}

impl<'o> Transcript<'o> {
    /// A transcript without messages yet.
    pub(super) fn new(out: &'o mut Output) -> Self {
        Self { out, messages: 0 }
    }

    /// Writes a message. Its time is its own, or that of its entry.
    pub(super) fn message(
        &mut self,
        json: &JsonText,
        entry_time: impl FnOnce() -> Result<Option<i64>, leafline::Error>,
    ) -> Result<(), Failure> {
        let message = told(json);
        if let Some(role) = &message.role {
            let time = match message.time {
                Some(time) => Some(time),
                None => entry_time()?,
            };
            self.heading(role, time.and_then(time::local))?;
        }
        for part in &message.parts {
            self.part(part)?;
        }
        self.messages += 1;
        Ok(())
    }

    /// Writes the settings in force.
    pub(super) fn finish(self, settings: &ContextSettings) -> Result<(), Failure> {
        if self.messages > 0 {
            self.out.line(format_args!(""))?;
        }
        let mut facts = vec![counted(self.messages, "message", "messages"), models(settings)];
        if settings.family.is_pi_omp() {
            let level = settings.thinking_level.as_ref().map_or_else(|| "none".to_owned(), plain);
            facts.push(format!("thinking level {level}"));
        }
        let mode = settings.mode.as_ref().map(plain).filter(|mode| mode != "none");
        facts.extend(mode.map(|mode| format!("mode {mode}")));
        if !settings.injected_rules.is_empty() {
            facts.push(format!("rules {}", printable(&settings.injected_rules.join(", "))));
        }
        self.out.line(format_args!("{}", facts.join("; ")))
    }

    fn heading(&mut self, role: &str, time: Option<String>) -> Result<(), Failure> {
        if self.messages > 0 {
            self.out.line(format_args!(""))?;
        }
        let role = self.out.paint(KIND, role);
        let time = time.map(|time| format!("  {}", self.out.paint(FAINT, &time)));
        self.out.line(format_args!("{role}{}", time.unwrap_or_default()))
    }

    fn part(&mut self, part: &Told) -> Result<(), Failure> {
        match part {
            Told::Text(text) => {
                for line in text::lines(text) {
                    let line = format!("{INDENT}{line}");
                    self.out.line(format_args!("{}", line.trim_end()))?;
                }
                Ok(())
            }
            Told::Line { sign, words, is_error } => {
                let room = self.out.width().unwrap_or(usize::MAX);
                let room = room.saturating_sub(INDENT.len() + text::width(sign) + 1);
                let words = text::fit(words, room);
                let style = if *is_error { BAD } else { FAINT };
                let line = self.out.paint(style, &format!("{sign} {words}"));
                self.out.line(format_args!("{INDENT}{line}"))
            }
        }
    }
}

/// The model, or those of omp's roles.
fn models(settings: &ContextSettings) -> String {
    let model = settings.model.iter().flat_map(|model| [&model.provider, &model.model_id]);
    let model: Vec<String> = model.flatten().map(plain).collect();
    if !model.is_empty() {
        return format!("model {}", model.join("/"));
    }
    let models = settings.models.iter().map(|(role, model)| match role.as_str() {
        "default" => format!("model {}", printable(model)),
        role => format!("{} {}", printable(role), printable(model)),
    });
    let models: Vec<String> = models.collect();
    if models.is_empty() { "no model".to_owned() } else { models.join(", ") }
}

/// A setting: any value may stand there.
fn plain(value: &JsonText) -> String {
    printable(&value.text().unwrap_or_else(|| value.as_str().to_owned()))
}

fn printable(text: &str) -> String {
    text::one_line(text, usize::MAX)
}
