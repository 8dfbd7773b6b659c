//! Rollouts of every kind: one for each rule.

mod compactions;
mod compactions_taken_back;
pub(crate) mod damage;
mod items;
mod lines;
mod requirements;
mod rollbacks;

use serde_json::{Value, json};

const TIME: &str = "2026-11-20T10:00:00.000Z";
/// The beginning of the summaries that Codex writes.
const SUMMARY: &str = "Another language model started to solve this problem and produced a summary of its thinking process. You also have access to the state of the tools that were used by that language model. Use this to build on the work that has already been done and avoid duplicating work. Here is the summary produced by the other language model, use the information in this summary to assist with your own analysis:\n";
const PICTURE: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A rollout and what it is about.
pub(crate) struct Case {
    pub(crate) name: String,
    lines: Vec<String>,
    is_paginated: bool,
    /// The seed of its damage.
    damage: Option<u64>,
    pub(crate) is_of_known_model: bool,
}

impl Case {
    pub(crate) fn new(name: impl Into<String>, lines: Vec<String>) -> Self {
        Self {
            name: name.into(),
            lines,
            is_paginated: false,
            damage: None,
            is_of_known_model: false,
        }
    }

    pub(crate) fn paginated(mut self) -> Self {
        self.is_paginated = true;
        self
    }

    pub(crate) fn is_damaged(&self) -> bool {
        self.damage.is_some()
    }

    pub(crate) fn damaged(mut self, seed: u64) -> Self {
        self.name = format!("{}, damaged {seed}", self.name);
        self.damage = Some(seed);
        self
    }

    fn of_known_model(mut self) -> Self {
        self.is_of_known_model = true;
        self
    }

    pub(crate) fn file(&self, id: &str) -> String {
        let mut header = json!({
            "id": id, "timestamp": TIME, "cwd": "/tmp", "originator": "codex_cli_rs", "cli_version": "0.60.0",
            "source": "cli", "instructions": null,
        });
        if self.is_paginated {
            header["history_mode"] = json!("paginated");
        }
        let mut file = String::new();
        for (ordinal, line) in
            std::iter::once(&line("session_meta", header)).chain(&self.lines).enumerate()
        {
            if self.is_paginated {
                file.push_str(&line.replacen(
                    "{\"timestamp\"",
                    &format!("{{\"ordinal\":{ordinal},\"timestamp\""),
                    1,
                ));
            } else {
                file.push_str(line);
            }
            file.push('\n');
        }
        self.damage.map_or_else(|| file.clone(), |seed| damage::damaged(&file, seed))
    }
}

pub(crate) fn line(kind: &str, payload: Value) -> String {
    json!({"timestamp": TIME, "type": kind, "payload": payload}).to_string()
}

pub(crate) fn item(payload: Value) -> String {
    line("response_item", payload)
}

pub(crate) fn event(payload: Value) -> String {
    line("event_msg", payload)
}

pub(crate) fn message(role: &str, text: &str) -> Value {
    let block = if role == "assistant" { "output_text" } else { "input_text" };
    json!({"type": "message", "role": role, "content": [{"type": block, "text": text}]})
}

pub(crate) fn user(text: &str) -> String {
    item(message("user", text))
}

pub(crate) fn developer(text: &str) -> String {
    item(message("developer", text))
}

pub(crate) fn assistant(text: &str) -> String {
    item(message("assistant", text))
}

pub(crate) fn rolled_back(turns: u64) -> String {
    event(json!({"type": "thread_rolled_back", "num_turns": turns}))
}

/// How much it has of what lets a compaction stand alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alone {
    No,
    Window,
    Whole,
}

pub(crate) fn compacted(summary: &str, replacement: Option<Vec<Value>>, alone: Alone) -> String {
    let mut payload = json!({"message": summary});
    if let Some(replacement) = replacement {
        payload["replacement_history"] = Value::Array(replacement);
    }
    if alone != Alone::No {
        payload["window_number"] = json!(1);
    }
    if alone == Alone::Whole {
        payload["resume_metadata"] = json!({"multi_agent_version": "v1", "last_started_turn_id": null, "previous_turn_settings": null});
    }
    line("compacted", payload)
}

/// What happens in a turn, with its boundaries.
pub(crate) fn turn(number: u32, within: Vec<String>) -> Vec<String> {
    let id = format!("t{number}");
    let mut lines =
        vec![event(json!({"type": "task_started", "turn_id": id, "model_context_window": 1000}))];
    lines.extend(within);
    lines.push(event(json!({"type": "task_complete", "turn_id": id, "last_agent_message": null})));
    lines
}

/// A turn with a prompt and an answer.
pub(crate) fn talk(number: u32) -> Vec<String> {
    turn(number, vec![user(&format!("u{number}")), assistant(&format!("a{number}"))])
}

/// The same, with something before the prompt.
fn talk_behind(number: u32, ahead: String) -> Vec<String> {
    let mut within = vec![ahead];
    within.extend([user(&format!("u{number}")), assistant(&format!("a{number}"))]);
    turn(number, within)
}

fn replacement(texts: &[&str]) -> Option<Vec<Value>> {
    Some(texts.iter().map(|text| message("user", text)).collect())
}

fn of_user(members: Value) -> String {
    let mut payload = message("user", "x");
    for (name, value) in members.as_object().unwrap() {
        payload[name] = value.clone();
    }
    item(payload)
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "name": "f", "arguments": "{}", "call_id": id})
}

fn output(id: &str, output: Value) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": output})
}

pub(crate) fn all() -> Vec<Case> {
    let mut cases = of_the_history();
    cases.extend(requirements::requirements());
    cases
}

/// Those about what the history is, and not about what Codex requires of its own data.
pub(crate) fn of_the_history() -> Vec<Case> {
    let mut cases = lines::lines_of_all_kinds();
    cases.extend(items::items());
    cases.extend(items::outputs());
    cases.extend(rollbacks::rollbacks());
    cases.extend(rollbacks::ahead_of_turns());
    cases.extend(compactions::compactions());
    cases.extend(compactions::early_compactions());
    cases.extend(compactions_taken_back::compactions_taken_back());
    cases
}
