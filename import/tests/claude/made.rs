//! Sessions made at random, some of them damaged: messages in several records, tools side by side, results that are lost,
//! that come late or twice, branches, compactions, sidechains.

use serde_json::{Value, json};

use crate::conversation::MODEL;

/// Numbers, always the same after a seed (xorshift).
pub(crate) struct Numbers(u64);

impl Numbers {
    /// The numbers after a seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut numbers = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..20 {
            numbers.below(2);
        }
        numbers
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    pub(crate) fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }

    pub(crate) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }
}

/// A session on its way.
struct Session {
    numbers: Numbers,
    records: Vec<Value>,
    /// What the next record hangs on.
    parent: Option<String>,
    names: u64,
}

/// A file by its seed. One of two is damaged.
pub(crate) fn session(seed: u64) -> String {
    let numbers = Numbers::new(seed);
    let mut session = Session { numbers, records: Vec::new(), parent: None, names: 0 };
    for _ in 0..=session.numbers.below(6) {
        session.step();
    }
    let mut lines: Vec<Vec<u8>> =
        session.records.iter().map(|record| record.to_string().into_bytes()).collect();
    if seed % 2 == 1 {
        for _ in 0..=session.numbers.below(3) {
            damage(&mut lines, &mut session.numbers);
        }
    }
    let text: Vec<u8> = lines.into_iter().flat_map(|line| [line, vec![b'\n']].concat()).collect();
    String::from_utf8_lossy(&text).into_owned()
}

/// What happens to a line: it is lost, torn, there twice, or in another place.
fn damage(lines: &mut Vec<Vec<u8>>, numbers: &mut Numbers) {
    if lines.len() < 2 {
        return;
    }
    let place = numbers.index(lines.len());
    match numbers.below(5) {
        0 | 1 => drop(lines.remove(place)),
        2 => {
            let length = numbers.index(lines[place].len());
            lines[place].truncate(length);
        }
        3 => {
            let line = lines[place].clone();
            let other = numbers.index(lines.len());
            lines.insert(other, line);
        }
        _ => {
            let other = numbers.index(lines.len());
            lines.swap(place, other);
        }
    }
}

impl Session {
    fn name(&mut self) -> u64 {
        self.names += 1;
        self.names
    }

    /// Adds a record below another; gives its uuid.
    fn add(&mut self, parent: Option<String>, mut record: Value) -> String {
        let number = self.name();
        let uuid = format!("00000000-0000-4000-8000-{number:012}");
        let members = record.as_object_mut().unwrap();
        members.insert("uuid".into(), json!(uuid));
        members.insert("parentUuid".into(), json!(parent));
        members.insert("sessionId".into(), json!("00000000-0000-4000-8000-000000000000"));
        members.entry("isSidechain").or_insert(json!(false));
        let time = format!("2026-01-05T10:{:02}:{:02}.000Z", number / 60, number % 60);
        members.insert("timestamp".into(), json!(time));
        self.records.push(record);
        uuid
    }

    fn go_on(&mut self, record: Value) {
        let parent = self.parent.take();
        self.parent = Some(self.add(parent, record));
    }

    fn words(&mut self) -> String {
        let number = self.name();
        match self.numbers.below(12) {
            0 => "  ".to_owned(),
            1 => String::new(),
            _ => format!("words {number}"),
        }
    }

    fn prompt(&mut self) {
        let words = self.words();
        let content = match self.numbers.below(4) {
            0 => json!([{"type": "text", "text": words}]),
            1 => json!([{"type": "text", "text": words}, {"type": "text", "text": "more"}]),
            _ => json!(words),
        };
        let mut record = json!({"type": "user", "message": {"role": "user", "content": content}});
        if self.numbers.one_in(6) {
            record["isMeta"] = json!(true);
        }
        self.go_on(record);
    }

    fn step(&mut self) {
        match self.numbers.below(16) {
            0 => self.command(),
            1 => self.compact(),
            2 => self.go_back(),
            3 => self.error(),
            4 => self.sidechain(),
            _ => {
                if !self.numbers.one_in(8) {
                    self.prompt();
                }
                for _ in 0..=self.numbers.below(3) {
                    self.answer();
                }
            }
        }
    }

    fn command(&mut self) {
        for text in [
            "<command-name>/model</command-name>",
            "<local-command-stdout>Set</local-command-stdout>",
        ] {
            self.go_on(json!({"type": "system", "subtype": "local_command", "content": text, "level": "info", "isMeta": false}));
        }
    }

    fn compact(&mut self) {
        let last = self.parent.take();
        self.go_on(json!({
            "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "isMeta": false,
            "level": "info", "logicalParentUuid": last, "compactMetadata": {"trigger": "auto", "preTokens": 1000},
        }));
        self.go_on(json!({
            "type": "user", "isCompactSummary": true, "isVisibleInTranscriptOnly": true,
            "message": {"role": "user", "content": "Summary: all of it"},
        }));
    }

    /// Goes on at an earlier record.
    fn go_back(&mut self) {
        if self.records.is_empty() {
            return;
        }
        let place = self.numbers.index(self.records.len());
        self.parent = self.records[place]["uuid"].as_str().map(str::to_owned);
        self.prompt();
        self.answer();
    }

    fn error(&mut self) {
        self.go_on(json!({
            "type": "assistant", "isApiErrorMessage": true,
            "message": {"id": "error", "role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error"}]},
        }));
    }

    fn sidechain(&mut self) {
        let number = self.name();
        let side = self.add(None, json!({"type": "user", "isSidechain": true, "message": {"role": "user", "content": format!("task {number}")}}));
        self.add(
            Some(side),
            said(&format!("side-{number}"), MODEL, json!([{"type": "text", "text": "done"}]), true),
        );
    }

    /// A message of the model's in several records, and what its tools gave.
    fn answer(&mut self) {
        let number = self.name();
        let id = format!("msg-{number}");
        let model = if self.numbers.one_in(8) { "claude-sonnet-4-5-20250929" } else { MODEL };
        let mut calls: Vec<(String, String)> = Vec::new();
        let mut pending: Vec<(String, String)> = Vec::new();
        for _ in 0..=self.numbers.below(4) {
            let mut blocks = vec![self.block(&id, &mut calls)];
            if self.numbers.one_in(6) {
                blocks.push(self.block(&id, &mut calls));
            }
            let before = self.parent.clone();
            self.go_on(said(&id, model, json!(blocks), false));
            let record = self.parent.clone().unwrap();
            pending.extend(calls.drain(..).map(|(call, _)| (call, record.clone())));
            match self.numbers.below(10) {
                // Tools may run before the message is complete, and records may hang on one parent.
                0 => self.results(&mut pending),
                1 => self.parent = before,
                2 => self.go_on(json!({"type": "progress", "toolUseID": "x", "parentToolUseID": "x", "data": {"type": "hook_progress"}})),
                3 => self.go_on(json!({"type": "attachment", "attachment": {"type": "date", "currentDate": "2026-01-05"}})),
                _ => {}
            }
        }
        self.results(&mut pending);
        if self.numbers.one_in(8) {
            self.go_on(json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]}}));
        }
    }

    fn block(&mut self, id: &str, calls: &mut Vec<(String, String)>) -> Value {
        match self.numbers.below(10) {
            0..=4 => {
                let number = self.name();
                let call = if self.numbers.one_in(30) {
                    "call-again".to_owned()
                } else {
                    format!("call-{number}")
                };
                calls.push((call.clone(), id.to_owned()));
                let name = if self.numbers.one_in(5) { "Task" } else { "Bash" };
                json!({"type": "tool_use", "id": call, "name": name, "input": {"command": "ls"}})
            }
            5 | 6 => {
                let number = self.name();
                json!({"type": "thinking", "thinking": format!("thought {number}"), "signature": "sig"})
            }
            _ => {
                let words = self.words();
                json!({"type": "text", "text": words})
            }
        }
    }

    /// The results of calls, in any order; some are lost.
    fn results(&mut self, pending: &mut Vec<(String, String)>) {
        let last = self.parent.clone();
        let mut ends: Vec<String> = Vec::new();
        while !pending.is_empty() {
            let (call, record) = pending.remove(if self.numbers.one_in(3) {
                self.numbers.index(pending.len())
            } else {
                0
            });
            if self.numbers.one_in(10) {
                continue;
            }
            let times = if self.numbers.one_in(15) { 2 } else { 1 };
            for _ in 0..times {
                let number = self.name();
                let call = if self.numbers.one_in(25) { "lost".to_owned() } else { call.clone() };
                let mut result = json!({"tool_use_id": call, "type": "tool_result", "content": format!("result {number}")});
                if self.numbers.one_in(8) {
                    result["is_error"] = json!(true);
                }
                let mut content = vec![result];
                if self.numbers.one_in(12) {
                    content.push(json!({"type": "text", "text": "beside a result"}));
                }
                // Earlier versions hung a result on the one before.
                let parent = if self.numbers.one_in(5) {
                    ends.last().cloned().or(last.clone())
                } else {
                    Some(record.clone())
                };
                ends.push(self.add(
                    parent,
                    json!({"type": "user", "message": {"role": "user", "content": content}}),
                ));
            }
        }
        if !ends.is_empty() {
            let place = if self.numbers.one_in(4) {
                self.numbers.index(ends.len())
            } else {
                ends.len() - 1
            };
            self.parent = Some(ends.swap_remove(place));
        }
    }
}

fn said(id: &str, model: &str, content: Value, is_sidechain: bool) -> Value {
    json!({
        "type": "assistant", "isSidechain": is_sidechain,
        "message": {"id": id, "type": "message", "role": "assistant", "model": model, "content": content},
    })
}
