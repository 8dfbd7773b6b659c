//! Random sessions with everything that omp writes, and much that it does not.

use serde_json::{Value, json};

use super::Case;
use super::random::Random;

const TYPES: [&str; 24] = [
    "user",
    "user",
    "user",
    "assistant",
    "assistant",
    "assistant",
    "assistant",
    "toolResult",
    "toolResult",
    "toolResult",
    "custom_message",
    "custom_message",
    "role_custom",
    "compaction",
    "branch_summary",
    "reset_boundary",
    "model_change",
    "thinking_level_change",
    "mode_change",
    "ttsr_injection",
    "label",
    "custom",
    "service_tier_change",
    "other",
];

/// A session that is being made up.
struct Tree {
    parts: Parts,
    ids: Vec<String>,
    lines: Vec<String>,
}

/// Messages that are made up, whose calls and results are those of one session.
pub(crate) struct Parts {
    pub(crate) random: Random,
    calls: Vec<String>,
}

/// The random session of a number.
pub(crate) fn case(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let length = 2 + random.below(40);
    let mut tree = Tree { parts: Parts::new(random), ids: Vec::new(), lines: Vec::new() };
    tree.begin(seed);
    for number in 0..length {
        tree.add(number);
    }
    Case { name: format!("random {seed}"), text: tree.lines.join("\n") + "\n" }
}

impl Tree {
    fn begin(&mut self, seed: u64) {
        if self.parts.random.once_in(2) {
            let title = self.parts.random.one(&["", "A title"]);
            let slot =
                json!({"type": "title", "v": 1, "title": title, "updatedAt": time(0), "pad": "  "});
            self.lines.push(slot.to_string());
        }
        let mut header = json!({"type": "session", "version": 3, "id": format!("session-{seed}"), "timestamp": time(0), "cwd": "/work"});
        if self.parts.random.once_in(3) {
            header["title"] = json!("The header's title");
        }
        self.lines.push(header.to_string());
    }

    fn add(&mut self, number: usize) {
        let name = self.parts.random.one(&TYPES);
        let mut entry = json!({"id": format!("{number:08x}"), "timestamp": time(number)});
        let members = self.entry(name);
        entry.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        let parent = match self.parts.random.below(30) {
            0 => json!("nowhere"),
            1 => Value::Null,
            2..=5 if !self.ids.is_empty() => json!(self.any_id()),
            _ => self.ids.last().map_or(Value::Null, |id| json!(id)),
        };
        entry["parentId"] = parent;
        if !self.ids.is_empty() && self.parts.random.once_in(60) {
            entry["id"] = json!(self.any_id());
        }
        if self.parts.random.once_in(40) {
            entry["timestamp"] =
                self.parts.random.one(&[&json!(null), &json!(5), &json!("then")]).clone();
        }
        self.ids.push(entry["id"].as_str().unwrap().to_owned());
        self.lines.push(entry.to_string());
    }

    fn any_id(&mut self) -> String {
        let place = self.parts.random.below(self.ids.len());
        self.ids[place].clone()
    }

    /// The members of an entry but for its place.
    fn entry(&mut self, name: &str) -> Value {
        let message = |message: Value| json!({"type": "message", "message": message});
        match name {
            "user" => message(json!({"role": "user", "content": "Please", "timestamp": 1})),
            "assistant" => message(self.parts.turn()),
            "toolResult" => message(self.parts.result()),
            "role_custom" => message(
                json!({"role": "custom", "customType": self.parts.custom_type(), "content": "c", "display": true}),
            ),
            "custom_message" => self.custom_message(),
            "compaction" => self.compaction(),
            "branch_summary" => {
                let summary = self.parts.random.one(&["", "It went elsewhere"]);
                json!({"type": name, "fromId": "root", "summary": summary, "details": {"a": 1}})
            }
            "reset_boundary" => {
                let name =
                    self.parts.random.one(&["reset_boundary", "reset_boundary", "credential_pin"]);
                json!({"type": name, "provider": "p", "hash": "h"})
            }
            "model_change" => {
                let role = self.parts.random.one(&["default", "smol", "7"]);
                let mut change = json!({"type": name, "model": "p/m2", "role": role});
                if self.parts.random.once_in(3) {
                    change.as_object_mut().unwrap().remove("role");
                }
                change
            }
            "thinking_level_change" => self.thinking_level(),
            "mode_change" => {
                let mode = self.parts.random.one(&["plan", "none"]);
                json!({"type": name, "mode": mode, "data": {"file": "x"}})
            }
            "ttsr_injection" => json!({"type": name, "injectedRules": ["b", "a"]}),
            "label" => json!({"type": name, "targetId": self.ids.last(), "label": "here"}),
            "custom" => json!({"type": name, "customType": "state", "data": [1]}),
            "service_tier_change" => {
                let tier = self.parts.random.one(&[
                    r#"null"#,
                    r#"{"openai":"flex","x":1}"#,
                    r#""priority""#,
                    r#""claude-only""#,
                    r#""none""#,
                ]);
                json!({"type": name, "serviceTier": serde_json::from_str::<Value>(tier).unwrap()})
            }
            _ => {
                let name =
                    self.parts.random.one(&["title_change", "model_usage", "session_init", "leaf"]);
                match name {
                    "model_usage" => json!({"type": name, "purpose": "title", "usage": usage()}),
                    _ => json!({"type": name, "title": "t", "source": "auto"}),
                }
            }
        }
    }

    fn custom_message(&mut self) -> Value {
        let content = self.parts.random.one(&[
            r#""c""#,
            r#"[{"type":"text","text":"c"}]"#,
            r#""""#,
            "null",
            "5",
        ]);
        let mut entry = json!({
            "type": "custom_message", "customType": self.parts.custom_type(),
            "content": serde_json::from_str::<Value>(content).unwrap(), "display": self.parts.random.once_in(2),
        });
        match self.parts.random.below(5) {
            0 => entry["attribution"] = json!("user"),
            1 => entry["attribution"] = json!("agent"),
            2 => entry["attribution"] = Value::Null,
            3 => entry["details"] = json!({"d": 1.5}),
            _ => entry["display"] = json!("yes"),
        }
        entry
    }

    fn thinking_level(&mut self) -> Value {
        let level = self.parts.random.one(&[r#""high""#, "null", r#""low""#]);
        let mut entry = json!({"type": "thinking_level_change", "thinkingLevel": serde_json::from_str::<Value>(level).unwrap()});
        match self.parts.random.below(4) {
            0 => entry["configured"] = json!("auto"),
            1 => entry["configured"] = Value::Null,
            2 if self.parts.random.once_in(3) => {
                entry.as_object_mut().unwrap().remove("thinkingLevel");
            }
            _ => {}
        }
        entry
    }

    fn compaction(&mut self) -> Value {
        let kept = if self.ids.is_empty() || self.parts.random.once_in(10) {
            "nowhere".to_owned()
        } else {
            self.any_id()
        };
        let mut entry = json!({
            "type": "compaction", "summary": "What was said", "firstKeptEntryId": kept, "tokensBefore": 9000,
        });
        if self.parts.random.once_in(2) {
            entry["shortSummary"] = json!("Short");
        }
        if self.parts.random.once_in(2) {
            entry["tokensAfter"] = json!(100);
            entry["method"] = json!(self.parts.random.one(&["remote", "soft", "handoff"]));
        }
        if self.parts.random.once_in(6) {
            entry["warning"] = json!("Too little was freed");
        }
        let anthropic = json!({"anthropicCompaction": {"provider": "anthropic", "content": "Native", "encryptedContent": self.parts.random.one(&["", "AAAA"]), "model": "m"}});
        let openai = json!({"openaiRemoteCompaction": {"provider": "openai", "replacementHistory": [{"type": "reasoning", "2": 0, "1": 0}]}});
        match self.parts.random.below(10) {
            0 => entry["preserveData"] = anthropic,
            1 => {
                entry["preserveData"] = openai;
                if !self.ids.is_empty() && self.parts.random.once_in(2) {
                    entry["providerReplayThroughEntryId"] = json!(self.any_id());
                }
            }
            2 => {
                entry["preserveData"] = json!({"anthropicCompaction": {"provider": "", "content": "x"}, "openaiRemoteCompaction": {"provider": "p", "replacementHistory": [1]}})
            }
            3 | 4 => entry["details"] = json!({"kind": "experimental-context-rollover"}),
            _ => {}
        }
        entry
    }
}

impl Parts {
    pub(crate) fn new(random: Random) -> Self {
        Self { random, calls: Vec::new() }
    }

    /// What a compaction has beside its summary.
    pub(crate) fn compaction_options(&mut self) -> Value {
        match self.random.below(4) {
            0 => json!({"tokensAfter": 5, "method": "soft", "details": {"a": 1}}),
            1 => {
                json!({"preserveData": {"anthropicCompaction": {"provider": "anthropic", "content": "Native"}}})
            }
            2 => {
                json!({"preserveData": {"openaiRemoteCompaction": {"provider": "openai", "replacementHistory": [{}]}}})
            }
            _ => {
                json!({"details": {"kind": "experimental-context-rollover"}, "fromExtension": true})
            }
        }
    }

    pub(crate) fn turn(&mut self) -> Value {
        let mut content = Vec::new();
        for _ in 0..self.random.below(4) {
            content.push(match self.random.below(9) {
                0 | 1 => json!({"type": "text", "text": self.random.one(&["Yes", " \n", ""])}),
                2 => json!({"type": "thinking", "thinking": self.random.one(&["Hm", ""]), "thinkingSignature": self.random.one(&["c2ln", ""]), "more": 1}),
                3 => json!({"type": "redactedThinking", "data": self.random.one(&["AAAA", " "])}),
                4 if self.random.once_in(3) => json!({"type": "fallback"}),
                5 if self.random.once_in(3) => json!({"type": "image", "data": "AAAA", "mimeType": "image/png"}),
                _ => {
                    let id = format!("call-{}", self.calls.len() + 1 - self.random.below(2));
                    self.calls.push(id.clone());
                    let mut call = json!({"type": "toolCall", "id": id, "name": "read", "arguments": {"2": 1, "1": 2}});
                    if self.random.once_in(40) {
                        call["id"] = self.random.one(&[&json!(null), &json!(1.0), &json!({})]).clone();
                    }
                    call
                }
            });
        }
        let reason = self.random.one(&["stop", "stop", "toolUse", "aborted", "error", "length"]);
        let mut turn = json!({
            "role": "assistant", "content": content, "provider": "p", "model": "m", "usage": usage(),
            "stopReason": reason, "timestamp": 2,
        });
        if self.random.once_in(12) {
            turn["retryRecovery"] =
                self.random.one(&[&json!({"attempt": 1}), &json!(false)]).clone();
        }
        turn
    }

    pub(crate) fn result(&mut self) -> Value {
        let call = match self.random.below(12) {
            0 => json!("call-0"),
            1 => self.random.one(&[&json!(null), &json!(1), &json!({})]).clone(),
            2..=4 if !self.calls.is_empty() => {
                let place = self.random.below(self.calls.len());
                json!(self.calls[place])
            }
            _ => json!(self.calls.last()),
        };
        json!({"role": "toolResult", "toolCallId": call, "toolName": "read", "content": [{"type": "text", "text": "r"}], "isError": false})
    }

    pub(crate) fn custom_type(&mut self) -> &'static str {
        self.random.one(&[
            "interrupted-thinking",
            "interrupted-thinking",
            "prewalk-plan",
            "vibe-mode-context",
            "skill-prompt",
            "collab-prompt",
            "reminder",
            "",
        ])
    }
}

fn usage() -> Value {
    json!({"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 3, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0.5}})
}

fn time(number: usize) -> String {
    format!("2026-03-01T08:{:02}:{:02}.000Z", number / 60, number % 60)
}
