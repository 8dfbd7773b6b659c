//! Records that are appended to the sessions of the real Claude Code: it resumes them, and sends what Leafline says.
//!
//! The sessions are played by `tests/claude-judge`; without the program the tests say that they are skipped. See `judge.rs`
//! for the variables.

use leafline_import::claude::{Draft, Place};
use leafline_judges::{Resumed, Script, claude, with_strings};
use serde_json::{Value, json};

use crate::conversation::{MODEL, conversation, leaf, messages};
use crate::judge::{count, difference};
use crate::made::Numbers;

/// A session that is appended to.
struct Session {
    numbers: Numbers,
    file: String,
    id: String,
    names: u64,
    /// The uuid and the line of each entry that was appended or is a message.
    entries: Vec<(String, String)>,
    leaf: Option<usize>,
    /// The first entry to which one can go back: the program reads nothing that stands before a compaction.
    first: usize,
}

fn uuid(number: u64, kind: u64) -> String {
    format!("00000000-0000-4000-8000-{kind:04}{number:08}")
}

impl Session {
    /// A session with the file that the program wrote, or without any record.
    fn new(seed: u64, file: String) -> Self {
        let mut entries = Vec::new();
        let mut id = None;
        let at = leaf(file.as_bytes());
        let mut place = None;
        let mut first = 0;
        for (number, line) in (0..).zip(file.lines()) {
            let record: Value = serde_json::from_str(line).unwrap();
            id = id.or(record["sessionId"].as_str().map(str::to_owned));
            let is_message = record["type"] == "user" || record["type"] == "assistant";
            if record["subtype"] == "compact_boundary" {
                first = entries.len();
            }
            if at == Some(number) {
                place = Some(entries.len());
            }
            if is_message || at == Some(number) {
                let uuid = record["uuid"].as_str().unwrap().to_owned();
                entries.push((uuid, format!("{line}\n")));
            }
        }
        let id = id.unwrap_or_else(|| uuid(seed, 1));
        Self { numbers: Numbers::new(seed), file, id, names: 0, entries, leaf: place, first }
    }

    fn name(&mut self) -> u64 {
        self.names += 1;
        self.names
    }

    /// Appends below an entry, and gives the place of the last entry.
    fn append(&mut self, draft: &Draft, above: Option<usize>) -> Option<usize> {
        let number = self.name();
        let new = uuid(number, 2);
        let (parent, line) = above.map(|above| &self.entries[above]).cloned().unzip();
        let place = Place {
            uuid: &new,
            parent: parent.as_deref().map(str::as_bytes),
            timestamp: 4_000_000_000_000 + i64::try_from(number).unwrap(),
            session_id: self.id.as_bytes(),
            above: line.as_deref().map(str::as_bytes),
            cwd: Some("/work"),
        };
        let mut out = Vec::new();
        draft.write(&place, &mut out);
        let line = String::from_utf8(out).unwrap();
        self.file.push_str(&line);
        if draft.is_entry() {
            self.entries.push((new, line));
        }
        self.entries.len().checked_sub(1)
    }

    fn go_on(&mut self, draft: &Draft) {
        self.leaf = self.append(draft, self.leaf);
    }

    /// A prompt and its answers, with tools side by side whose results come in any order.
    fn turn(&mut self) {
        let number = self.name();
        match self.numbers.below(3) {
            0 => {
                let image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
                let blocks = json!([
                    {"type": "text", "text": format!("Look at this {number}")},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": image}},
                ]);
                self.go_on(&Draft::user_blocks(&blocks.to_string()).unwrap());
            }
            _ => self.go_on(&Draft::user(&format!("Prompt {number}"))),
        }
        for _ in 0..self.numbers.below(3) {
            self.tools();
        }
        let number = self.name();
        let mut message = json!({"role": "assistant", "content": format!("Answer {number}")});
        if self.numbers.one_in(2) {
            message["model"] = json!(MODEL);
            message["id"] = json!(format!("msg_ours_{number}"));
        }
        for draft in Draft::message(&message.to_string()).unwrap() {
            self.go_on(&draft);
        }
    }

    fn tools(&mut self) {
        let number = self.name();
        let mut blocks = Vec::new();
        if self.numbers.one_in(3) {
            blocks.push(json!({"type": "thinking", "thinking": "Hm.", "signature": "sig"}));
        }
        if self.numbers.one_in(2) {
            blocks.push(json!({"type": "text", "text": "I look."}));
        }
        for call in 0..=self.numbers.below(3) {
            let id = format!("toolu_ours_{number}_{call}");
            blocks.push(
                json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}}),
            );
        }
        let message = json!({"role": "assistant", "model": MODEL, "content": blocks}).to_string();
        let mut pending = Vec::new();
        for draft in Draft::assistant(&message).unwrap() {
            self.go_on(&draft);
            let message: Value = serde_json::from_str(draft.member("message").unwrap()).unwrap();
            if let Some(id) = message["content"][0]["id"].as_str() {
                pending.push((id.to_owned(), self.leaf));
            }
        }
        while !pending.is_empty() {
            let (id, above) = pending.remove(self.numbers.index(pending.len()));
            let is_error = self.numbers.one_in(4);
            let draft = match self.numbers.below(3) {
                0 => {
                    let blocks = r#"[{"type":"text","text":"in a block"}]"#;
                    Draft::tool_result_blocks(&id, blocks, is_error).unwrap()
                }
                _ => Draft::tool_result(&id, &format!("result of {id}"), is_error),
            };
            assert_eq!(draft.results(), [id.as_bytes()]);
            self.leaf = self.append(&draft, above);
        }
    }

    /// Goes back to an earlier entry, or before all, and on from there. The file needs a record that says so: without one the
    /// program stays where it was.
    fn branch(&mut self) {
        let places = self.entries.len();
        let place = self.first + self.numbers.index(places + 1 - self.first);
        self.leaf = Some(place).filter(|place| *place < places);
        self.turn();
        let (leaf, _) = &self.entries[self.leaf.unwrap()];
        let pointer = Draft::last_prompt(Some("Prompt"), leaf.as_bytes());
        self.append(&pointer, None);
    }

    fn step(&mut self) {
        match self.numbers.below(5) {
            0 | 1 if !self.entries.is_empty() => self.branch(),
            2 => {
                let name = format!("Title {}", self.names);
                self.append(&Draft::custom_title(&name), None);
                self.append(&Draft::agent_name(&name), None);
                self.turn();
            }
            _ => self.turn(),
        }
    }
}

/// What Leafline says of a file: its messages, and the uuid of its leaf.
fn ours(file: &str) -> (Vec<Value>, String) {
    let at = leaf(file.as_bytes()).unwrap();
    let mut session = conversation(file.as_bytes());
    let line: Value =
        serde_json::from_str(file.lines().nth(usize::try_from(at).unwrap()).unwrap()).unwrap();
    let uuid = line["uuid"].as_str().unwrap().to_owned();
    (with_strings(messages(&mut session, at).0), uuid)
}

fn compare(judge: &Script, files: impl Iterator<Item = String>) {
    let sessions: Vec<Session> = (0..)
        .zip(files)
        .map(|(seed, file)| {
            let mut session = Session::new(seed, file);
            for _ in 0..=session.numbers.below(4) {
                session.step();
            }
            session
        })
        .collect();
    let jobs: Vec<Value> = (0..)
        .zip(&sessions)
        .map(|(number, session)| json!({"op": "resume", "id": uuid(number, 3), "file": session.file}))
        .collect();
    let mut differences = Vec::new();
    for ((seed, session), answer) in (0..).zip(&sessions).zip(judge.ask(&jobs)) {
        let answer = Resumed::of(&answer);
        let theirs = answer.messages.unwrap_or_else(|| panic!("{seed}: {:?}", answer.error));
        let (ours, at) = ours(&session.file);
        let (last, _) = &session.entries[session.leaf.unwrap()];
        // Where the program adds results nothing tells at which record it goes on.
        if &at != last || answer.leaf.as_ref().is_some_and(|leaf| leaf != last) {
            differences.push(format!("{seed}: {last} was appended, {at} {:?}", answer.leaf));
        }
        let name = format!("appended {seed}");
        differences.extend(difference(&name, &ours, &theirs));
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    println!("{} sessions that were appended to were resumed", sessions.len());
}

#[test]
fn sessions_of_claude_code_go_on() {
    let Some(judge) = claude() else { return };
    let plays = count(6).min(200);
    let jobs: Vec<Value> = (0..plays).map(|seed| json!({"op": "play", "seed": seed})).collect();
    let file =
        |answer: Value| answer["file"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    compare(&judge, judge.ask(&jobs).into_iter().map(file));
}

#[test]
fn sessions_that_are_begun_here() {
    let Some(judge) = claude() else { return };
    compare(&judge, (0..count(6)).map(|_| String::new()));
}
