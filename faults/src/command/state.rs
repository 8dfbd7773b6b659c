//! What a folder holds: the sessions and prompts of its stores, and files that were exported.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use leafline::export::ExportMode;
use leafline::{Result, SessionReader, Store};
use serde_json::Value;

use super::folder;
use crate::answers::{Opening, open};

/// Members of lines that differ each time a line is made.
const CHANCE: [&str; 14] = [
    "id",
    "parentId",
    "timestamp",
    "uuid",
    "parentUuid",
    "sessionId",
    "session_id",
    "updatedAt",
    "updated_at",
    "createdAt",
    "created_at",
    "titleUpdatedAt",
    "leafUuid",
    "forkedFrom",
];

/// A session's lines, and what is told of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Session {
    /// As they are stored; what was made by a command without ids and times.
    pub lines: Vec<String>,
    /// The leaf's ordinal.
    pub leaf: Option<u64>,
    /// Title, directory, and the reason why it cannot be read.
    pub facts: Vec<Option<String>>,
}

/// What a store holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stored {
    /// By their ids.
    pub sessions: BTreeMap<String, Session>,
    /// The oldest first.
    pub prompts: Vec<String>,
    /// The ids of entries, session by session in the order of lines.
    pub entries: BTreeMap<String, Vec<String>>,
}

/// What a folder holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct State {
    /// Of the store that commands work on, unless there is none.
    pub store: Option<Stored>,
    /// The other stores in the folder, by their names.
    pub others: BTreeMap<String, Stored>,
    /// Files of sessions, and those in the home folder.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Manual pages, which are written piece by piece.
    pub pages: BTreeMap<String, Vec<u8>>,
}

/// Lines that are kept as they are; all others lose what is chance in them.
pub type Known = HashSet<String>;

impl State {
    /// Reads what is in a folder, and verifies its stores if that is asked for.
    ///
    /// # Errors
    ///
    /// In words, what cannot be read, and what `verify` finds.
    pub fn of(
        folder: &Path,
        known: &Known,
        opening: Opening,
        verifies: bool,
    ) -> std::result::Result<Self, String> {
        let mut state = Self::default();
        for name in folder::names(folder).map_err(|error| error.to_string())? {
            let path = folder.join(&name);
            // Lines that a repair could not make a session of.
            if name.contains(".lines/") {
                continue;
            }
            let is_of_home = name.starts_with("home/") && !name.contains(".leafline-tmp-");
            if is_of_home || name.ends_with(".jsonl") || name.ends_with(".1") {
                let bytes = std::fs::read(&path).map_err(|error| format!("{name}: {error}"))?;
                let is_page = name.ends_with(".1");
                if is_page { &mut state.pages } else { &mut state.files }.insert(name, bytes);
            } else if name.ends_with(".leafline") {
                let stored = stored(&path, known, opening, verifies)
                    .map_err(|problem| format!("{name}: {problem}"))?;
                if name == "store.leafline" {
                    state.store = Some(stored);
                } else {
                    state.others.insert(name, stored);
                }
            }
        }
        Ok(state)
    }
}

/// All lines of the session files below a folder.
#[must_use]
pub fn lines_of(files: &BTreeMap<String, Vec<u8>>) -> Known {
    let text = files.values().map(|bytes| String::from_utf8_lossy(bytes));
    text.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

fn stored(
    path: &Path,
    known: &Known,
    opening: Opening,
    verifies: bool,
) -> std::result::Result<Stored, String> {
    let store = open(path, opening).map_err(|error| format!("it cannot be opened: {error}"))?;
    let stored = all(&store, known).map_err(|error| format!("it cannot be read: {error}"))?;
    if verifies {
        let verification =
            store.verify().map_err(|error| format!("it cannot be verified: {error}"))?;
        if let Some(problem) = verification.problems.first() {
            let count = verification.problems.len();
            return Err(format!("`verify` finds {count} problems, the first: {problem:?}"));
        }
    }
    Ok(stored)
}

fn all(store: &Store, known: &Known) -> Result<Stored> {
    let mut stored = Stored::default();
    for facts in store.sessions()? {
        let id = facts.id.to_string();
        let mut entries = Vec::new();
        let read = store.reader(&id).and_then(|reader| {
            Ok((
                lines(&reader, known, &mut entries)?,
                reader.get_leaf()?.map(|leaf| leaf.ordinal()),
            ))
        });
        let text = |text: &Option<_>| text.as_ref().map(ToString::to_string);
        let mut told = vec![text(&facts.title), text(&facts.cwd)];
        // A session that a test has damaged.
        let (lines, leaf) = read.unwrap_or_else(|error| {
            told.push(Some(error.to_string()));
            (Vec::new(), None)
        });
        stored.sessions.insert(id.clone(), Session { lines, leaf, facts: told });
        stored.entries.insert(id, entries);
    }
    let prompts = store.history().recent(1000)?;
    stored.prompts = prompts.into_iter().rev().map(|prompt| prompt.prompt).collect();
    Ok(stored)
}

fn lines(reader: &SessionReader, known: &Known, entries: &mut Vec<String>) -> Result<Vec<String>> {
    let mut bytes = Vec::new();
    reader.export(&ExportMode::Portable, &mut bytes)?;
    reader.lines(0, |entry| {
        entries.extend(entry.id());
        Ok(true)
    })?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().map(|line| match known.contains(line) {
        true => line.to_owned(),
        false => without_chance(line),
    });
    Ok(lines.collect())
}

/// A line without ids and times.
fn without_chance(line: &str) -> String {
    let Ok(Value::Object(mut members)) = serde_json::from_str(line) else { return line.to_owned() };
    for name in CHANCE {
        members.remove(name);
    }
    if let Some(Value::Object(message)) = members.get_mut("message") {
        message.remove("timestamp");
    }
    Value::Object(members).to_string()
}
