//! Sessions that are begun, grown, named, forked and extracted in a store: the real Claude Code resumes their exported files, and
//! sends what their contexts say.
//!
//! The program is run by `tests/claude-judge`, which says how to install it; without it these tests say that they are skipped,
//! unless `LEAFLINE_REQUIRE_CLAUDE` is set. `LEAFLINE_CLAUDE_WRITTEN` is the number of random sequences, instead of a few.

use leafline::claude::Draft;
use leafline::context::ContextLeaf;
use leafline::export::ExportMode;
use leafline::import::ImportOptions;
use leafline::pi::PiSession;
use leafline::{EntryKind, Family, NewSession, Session, Store};
use leafline_judges::{Resumed, Script, claude, difference, with_strings};
use serde_json::{Value, json};

const MODEL: &str = "claude-opus-5-5";

/// Numbers, always the same after a seed (xorshift).
struct Numbers(u64);

impl Numbers {
    fn new(seed: u64) -> Self {
        let mut numbers = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..20 {
            numbers.below(2);
        }
        numbers
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }
}

/// A store in which sessions grow.
struct Scene {
    numbers: Numbers,
    store: Store,
    sessions: Vec<String>,
    names: u64,
}

impl Scene {
    /// A store with a new session, or with one that the program wrote.
    fn new(seed: u64, file: Option<&str>) -> Self {
        let store = Store::in_memory().unwrap();
        let mut sessions = Vec::new();
        match file {
            None => {
                let new = NewSession::new(Family::Claude, "/work");
                sessions.push(store.create_session(&new).unwrap().id().to_owned());
            }
            Some(file) => {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join(format!("0b5e8f9a-2f4d-4a4e-8a3c-{seed:012}.jsonl"));
                std::fs::write(&path, file).unwrap();
                store.import(&[&path], &ImportOptions::default(), &mut ()).unwrap();
                sessions.push(store.sessions().unwrap()[0].id.to_string());
            }
        }
        Self { numbers: Numbers::new(seed), store, sessions, names: 0 }
    }

    fn name(&mut self) -> u64 {
        self.names += 1;
        self.names
    }

    fn some_session(&mut self) -> Session {
        let place = self.numbers.below(self.sessions.len());
        self.store.session(&self.sessions[place]).unwrap()
    }

    /// The entries to which one can go back: the program reads nothing that stands before a compaction.
    fn places(session: &Session) -> Vec<String> {
        let mut places = Vec::new();
        session
            .reader()
            .unwrap()
            .lines(0, |entry| {
                if entry.kind() == EntryKind::Compaction {
                    places.clear();
                }
                if entry.kind() == EntryKind::Message {
                    places.extend(entry.id());
                }
                Ok(true)
            })
            .unwrap();
        places
    }

    fn step(&mut self) {
        let mut session = self.some_session();
        let places = Self::places(&session);
        match self.numbers.below(8) {
            0 | 1 if !places.is_empty() => {
                let place = self.numbers.below(places.len() + 1);
                match places.get(place) {
                    Some(entry) => session.branch(entry).unwrap(),
                    None => session.reset_leaf().unwrap(),
                }
                self.turn(&mut session);
            }
            2 => {
                let title = format!("Title {}", self.name());
                session.set_session_name(&title).unwrap();
                assert_eq!(self::title(&session), Some(title));
            }
            3 if !places.is_empty() => {
                let fork = self.store.fork_from(session.id(), "/work").unwrap();
                assert_eq!(context(&fork), context(&session), "a fork");
                assert_eq!(title(&fork), title(&session));
                self.go_on(fork);
            }
            4 if !places.is_empty() => {
                let entry = &places[self.numbers.below(places.len())];
                let extracted = session.create_branched_session(entry).unwrap();
                let reader = session.reader().unwrap();
                let at = reader.build_context(ContextLeaf::Entry(entry), None).unwrap();
                assert_eq!(context(&extracted), at.to_json(), "an extract");
                self.go_on(extracted);
            }
            _ => self.turn(&mut session),
        }
    }

    /// Keeps a new session, grown or not.
    fn go_on(&mut self, mut session: Session) {
        if self.numbers.below(2) == 0 {
            self.turn(&mut session);
        }
        self.sessions.push(session.id().to_owned());
    }

    /// A prompt and its answers, one entry at a time or several at once.
    fn turn(&mut self, session: &mut Session) {
        let number = self.name();
        session
            .append_message(&json!({"role": "user", "content": format!("Prompt {number}")}))
            .unwrap();
        for _ in 0..self.numbers.below(3) {
            self.tools(session);
        }
        if self.numbers.below(6) > 0 {
            let content = format!("Answer {number}");
            session
                .append_message(&json!({"role": "assistant", "model": MODEL, "content": content}))
                .unwrap();
        }
    }

    fn tools(&mut self, session: &mut Session) {
        let number = self.name();
        let mut blocks = Vec::new();
        if self.numbers.below(3) == 0 {
            blocks.push(json!({"type": "thinking", "thinking": "Hm.", "signature": "sig"}));
        }
        if self.numbers.below(2) == 0 {
            blocks.push(json!({"type": "text", "text": "I look."}));
        }
        // The program takes an id that goes on behind another's, as `toolu_4_0` behind `toolu_4`, for that of the other call.
        let calls: Vec<String> =
            (0..=self.numbers.below(3)).map(|call| format!("toolu_ours_{number}_{call}")).collect();
        let uses = calls.iter().map(
            |id| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}}),
        );
        blocks.extend(uses);
        let message = json!({"role": "assistant", "model": MODEL, "content": blocks}).to_string();
        let mut drafts = Draft::assistant(&message).unwrap();
        let mut pending = calls;
        let mut results = Vec::new();
        while !pending.is_empty() {
            let id = pending.remove(self.numbers.below(pending.len()));
            let is_error = self.numbers.below(4) == 0;
            results.push(Draft::tool_result(&id, &format!("result of {id}"), is_error));
        }
        if self.numbers.below(2) == 0 {
            drafts.extend(results);
            session.append_all(drafts).unwrap();
        } else {
            session.append_all(drafts).unwrap();
            for result in results {
                session.append(result).unwrap();
            }
        }
    }
}

fn context(session: &Session) -> String {
    session.reader().unwrap().build_context(ContextLeaf::Current, None).unwrap().to_json()
}

fn title(session: &Session) -> Option<String> {
    session.reader().unwrap().facts().title.map(|title| title.to_string())
}

/// A session in an exported file, and what the store says of it.
struct Exported {
    name: String,
    id: String,
    file: String,
    leaf: Option<String>,
    messages: Vec<Value>,
}

fn exported(scene: &Scene, seed: u64) -> Vec<Exported> {
    let mut exported = Vec::new();
    for id in &scene.sessions {
        let reader = scene.store.reader(id).unwrap();
        let Some(leaf) = reader.get_leaf_id().unwrap() else { continue };
        let mut file = Vec::new();
        reader.export(&ExportMode::Current, &mut file).unwrap();
        let context = reader.build_context(ContextLeaf::Current, None).unwrap();
        let messages = context.messages.iter().map(|message| message.value().unwrap()).collect();
        let file = String::from_utf8(file).unwrap();
        exported.push(Exported {
            name: format!("{seed}, {id}"),
            id: id.clone(),
            file,
            leaf: Some(leaf),
            messages: with_strings(messages),
        });
    }
    exported
}

/// What an import of the file says is what the store says.
fn check_import(exported: &Exported) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("{}.jsonl", exported.id));
    std::fs::write(&path, &exported.file).unwrap();
    let store = Store::in_memory().unwrap();
    store.import(&[&path], &ImportOptions::default(), &mut ()).unwrap();
    let reader = store.reader(&exported.id).unwrap();
    assert_eq!(reader.get_leaf_id().unwrap(), exported.leaf, "{}", exported.name);
    assert_eq!(reader.family(), Family::Claude);
    let context = reader.build_context(ContextLeaf::Current, None).unwrap();
    let messages: Vec<Value> =
        context.messages.iter().map(|message| message.value().unwrap()).collect();
    assert_eq!(with_strings(messages), exported.messages, "{}", exported.name);
}

fn sequences(usual: u64) -> u64 {
    std::env::var("LEAFLINE_CLAUDE_WRITTEN").map_or(usual, |count| count.parse().unwrap())
}

fn scenes(seeds: std::ops::Range<u64>, file: impl Fn(u64) -> Option<String>) -> Vec<Exported> {
    let mut all = Vec::new();
    for seed in seeds {
        let mut scene = Scene::new(seed, file(seed).as_deref());
        for _ in 0..=scene.numbers.below(6) {
            scene.step();
        }
        all.extend(exported(&scene, seed));
    }
    all.iter().for_each(check_import);
    all
}

fn compare(judge: &Script, all: &[Exported]) {
    let jobs: Vec<Value> = all
        .iter()
        .map(|session| json!({"op": "resume", "id": session.id, "file": session.file}))
        .collect();
    let mut differences = Vec::new();
    for (session, answer) in all.iter().zip(judge.ask(&jobs)) {
        let answer = Resumed::of(&answer);
        let Some(theirs) = answer.messages else {
            differences.push(format!("{}: {:?}", session.name, answer.error));
            continue;
        };
        differences.extend(difference("Claude Code", &session.name, &session.messages, &theirs));
        // Where the program adds results nothing tells at which record it goes on.
        if answer.leaf.is_some() && answer.leaf != session.leaf {
            let leaf = answer.leaf;
            differences.push(format!("{}: leaf {leaf:?}, not {:?}", session.name, session.leaf));
        }
    }
    println!("{} sessions resumed, {} differences", all.len(), differences.len());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn an_import_of_what_was_written_says_the_same() {
    assert!(scenes(0..60, |_| None).len() > 60);
}

#[test]
fn the_program_resumes_what_was_begun_here() {
    let Some(judge) = claude() else { return };
    compare(&judge, &scenes(0..sequences(6), |_| None));
}

#[test]
fn the_program_resumes_its_own_sessions_that_were_changed_here() {
    let Some(judge) = claude() else { return };
    let plays = sequences(8) / 2;
    let jobs: Vec<Value> = (0..plays).map(|seed| json!({"op": "play", "seed": seed})).collect();
    let answers = judge.ask(&jobs);
    let file = |seed: u64| {
        let answer = &answers[usize::try_from(seed).unwrap()];
        Some(answer["file"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned())
    };
    compare(&judge, &scenes(0..plays, file));
}
