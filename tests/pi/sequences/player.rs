//! Plays a sequence on Leafline, and records what pi must play and the expected results.

use std::path::Path;

use leafline::error::SessionError;
use leafline::live::Persistence;
use leafline::pi::{Compaction, Draft, PiSession, PiStore};
use leafline::{EntryKind, Error, Family, MessageRole, NewSession, Session, Store};
use serde_json::value::RawValue;

use super::observation::{self, Asked, Header, Observation};
use super::operation::{Message, Operation, Reference, UNKNOWN};
use super::values::quoted;

/// Where a sequence begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Policy {
    /// As pi 0.73.1 does: nothing is stored before the first assistant message.
    Waiting,
    Immediate,
}

/// The expected result of an operation.
#[derive(Debug)]
pub(super) enum Expected {
    Id(String),
    Done,
    NotFound(String),
    Observed(Box<Observation>, Header),
}

/// A sequence as it was played.
#[derive(Debug, Default)]
pub(super) struct Played {
    /// The operations as pi's jobs.
    pub(super) steps: Vec<String>,
    pub(super) expected: Vec<Expected>,
}

impl Played {
    fn add(&mut self, expected: Expected, name: &str, members: &[(&str, &str)]) {
        let members: String =
            members.iter().map(|(name, json)| format!(r#","{name}":{json}"#)).collect();
        self.steps.push(format!(r#"{{"do":"{name}"{members}}}"#));
        self.expected.push(expected);
    }
}

pub(super) struct Player<'s> {
    store: &'s Store,
    pub(super) session: Session,
    policy: Policy,
    header: Header,
    /// The file that the session was imported from.
    file: Option<String>,
    /// Ids in the order of the file.
    pub(super) entries: Vec<String>,
    /// Whether pi has written a file: there is an assistant message.
    pub(super) has_file: bool,
    pub(super) played: Played,
}

/// The directory of all sessions.
pub(super) const FOLDER: &str = "/work/ordner \"ß\"";

impl<'s> Player<'s> {
    /// On a new session.
    pub(super) fn new(store: &'s Store, policy: Policy) -> Self {
        let mut new = NewSession::new(Family::Pi, FOLDER);
        new.persistence = Some(persistence());
        let session = match policy {
            Policy::Waiting => store.create_deferred_session(&new),
            Policy::Immediate => store.create_session(&new),
        };
        Self::of(store, session.unwrap(), policy, Header::Own { parent: None })
    }

    /// On a session that was imported from a file.
    pub(super) fn imported(store: &'s Store, id: &str, file: &Path) -> Self {
        let session = store.session(id).unwrap().with_persistence(persistence());
        let file = Some(file.to_str().unwrap().to_owned());
        Self { file, ..Self::of(store, session, Policy::Waiting, Header::Shared) }
    }

    fn of(store: &'s Store, session: Session, policy: Policy, header: Header) -> Self {
        let mut player = Self {
            store,
            session,
            policy,
            header,
            file: None,
            entries: Vec::new(),
            has_file: false,
            played: Played::default(),
        };
        player.survey();
        player
    }

    /// Reads the entries of another session.
    fn survey(&mut self) {
        self.entries.clear();
        self.has_file = false;
        let reader = self.session.reader().unwrap();
        for node in reader.get_tree().unwrap().nodes() {
            self.entries.push(node.id.clone().unwrap_or_default());
            self.has_file |= node.role == MessageRole::Assistant;
        }
    }

    pub(super) fn play(mut self, operations: &[Operation]) -> Self {
        operations.iter().for_each(|operation| self.step(operation));
        self
    }

    pub(super) fn step(&mut self, operation: &Operation) {
        self.perform(operation);
        let waits = self.policy == Policy::Waiting && !self.has_file;
        assert_eq!(self.session.is_waiting(), waits, "waiting after {operation:?}");
    }

    fn id_of(&self, reference: &Reference) -> String {
        let count = self.entries.len();
        match reference {
            Reference::Back(places) if count > 0 => {
                self.entries[count - 1 - places % count].clone()
            }
            _ => UNKNOWN.to_owned(),
        }
    }

    fn perform(&mut self, operation: &Operation) {
        match operation {
            Operation::Branch(entry) => {
                let id = self.id_of(entry);
                let done = self.session.branch(&id);
                let expected = match done {
                    Ok(()) => Expected::Done,
                    Err(error) => not_found(&error, &id),
                };
                self.played.add(expected, "branch", &[("entry", &quoted(&id))]);
            }
            Operation::ResetLeaf => {
                self.session.reset_leaf().unwrap();
                self.played.add(Expected::Done, "reset_leaf", &[]);
            }
            Operation::CreateBranchedSession(leaf) => self.create_branched_session(leaf),
            Operation::Fork => self.fork(),
            Operation::Reopen => self.reopen(),
            Operation::Observe(references) => self.observe(references),
            Operation::Messages(messages) => self.append_all(messages),
            _ => self.append(operation),
        }
    }

    fn observe(&mut self, references: &[Option<Reference>]) {
        let asked: Vec<Asked> = references
            .iter()
            .map(|reference| reference.as_ref().map(|reference| self.id_of(reference)))
            .collect();
        let mut observation = observation::ours(&self.session, &self.header, &asked);
        if !self.has_file {
            // Leafline also waits, or is ahead if it stores at once.
            observation.file = None;
        }
        let asked = serde_json::to_string(&asked).unwrap();
        let expected = Expected::Observed(Box::new(observation), self.header.clone());
        self.played.add(expected, "observe", &[("paths", &asked)]);
    }

    fn append(&mut self, operation: &Operation) {
        let mut members = Vec::new();
        let (name, appended) = self.appended(operation, &mut members);
        let given: Vec<(&str, &str)> =
            members.iter().map(|(name, json)| (*name, &**json)).collect();
        match appended {
            Ok(id) => self.note_entry(id, name, &given),
            Err(error) => {
                let is_id = |name: &str| matches!(name, "target" | "entry" | "firstKept");
                let named = given.iter().find(|(name, _)| is_id(name));
                let named: String = serde_json::from_str(named.unwrap().1).unwrap();
                let expected = not_found(&error, &named);
                // pi takes any id there, and then sends the summary alone.
                if name != "append_compaction" {
                    self.played.add(expected, name, &given);
                }
            }
        }
    }

    /// Has pi append the entry that Leafline has appended.
    fn note_entry(&mut self, id: String, name: &str, given: &[(&str, &str)]) {
        let entry = self.session.get_entry(&id).unwrap();
        self.has_file |= entry.role() == MessageRole::Assistant;
        let time = entry.timestamp().unwrap().to_string();
        let ids = format!("[{}]", quoted(&id));
        let given = [given, &[("now", &time), ("ids", &ids)]].concat();
        self.played.add(Expected::Id(id.clone()), name, &given);
        self.entries.push(id);
    }

    fn append_all(&mut self, messages: &[String]) {
        let drafts = messages.iter().map(|message| Draft::message(message).unwrap());
        let ids = self.session.append_all(drafts).unwrap();
        assert_eq!(ids.len(), messages.len());
        for (id, message) in ids.into_iter().zip(messages) {
            self.note_entry(id, "append_message", &[("message", message)]);
        }
    }

    /// Appends an entry on Leafline; records the arguments for pi.
    fn appended(
        &mut self,
        operation: &Operation,
        members: &mut Vec<(&'static str, String)>,
    ) -> (&'static str, leafline::Result<String>) {
        let mut note = |name, json: String| members.push((name, json));
        match operation {
            Operation::Message(message) => {
                let appended = match message {
                    Message::Text(text) => self.session.append_message(&raw(text)),
                    Message::Value(value) => self.session.append_message(value),
                };
                note(
                    "message",
                    match message {
                        Message::Text(text) => text.clone(),
                        Message::Value(value) => value.to_string(),
                    },
                );
                ("append_message", appended)
            }
            Operation::ThinkingLevel(level) => {
                note("level", quoted(level));
                let appended = self.session.append_thinking_level_change(level);
                ("append_thinking_level_change", appended)
            }
            Operation::Model(provider, model) => {
                note("provider", quoted(provider));
                note("modelId", quoted(model));
                ("append_model_change", self.session.append_model_change(provider, model))
            }
            Operation::Compaction { summary, first_kept, tokens_before, details, from_hook } => {
                let first_kept = self.id_of(first_kept);
                note("summary", quoted(summary));
                note("firstKept", quoted(&first_kept));
                note("tokensBefore", tokens_before.to_string());
                details.iter().for_each(|details| note("details", details.clone()));
                from_hook.iter().for_each(|from_hook| note("fromHook", from_hook.to_string()));
                let appended = self.session.append_compaction(&Compaction {
                    summary,
                    first_kept_entry_id: Some(&first_kept),
                    tokens_before: *tokens_before,
                    details: details.as_deref(),
                    from_extension: *from_hook,
                    ..Compaction::default()
                });
                ("append_compaction", appended)
            }
            Operation::Custom { custom_type, data } => {
                note("customType", quoted(custom_type));
                data.iter().for_each(|data| note("data", data.clone()));
                let data = data.as_deref().map(raw);
                let appended = self.session.append_custom_entry(custom_type, data.as_ref());
                ("append_custom_entry", appended)
            }
            Operation::CustomMessage { custom_type, content, display, details } => {
                note("customType", quoted(custom_type));
                note("content", content.clone());
                note("display", display.to_string());
                details.iter().for_each(|details| note("details", details.clone()));
                let details = details.as_deref().map(raw);
                let appended = self.session.append_custom_message_entry(
                    custom_type,
                    &raw(content),
                    *display,
                    details.as_ref(),
                );
                ("append_custom_message_entry", appended)
            }
            Operation::Name(name) => {
                note("name", quoted(name));
                ("append_session_info", self.session.append_session_info(name))
            }
            Operation::Label { target, label } => {
                let target = self.id_of(target);
                note("target", quoted(&target));
                label.iter().for_each(|label| note("label", quoted(label)));
                let appended = self.session.append_label_change(&target, label.as_deref());
                ("append_label_change", appended)
            }
            Operation::BranchWithSummary { entry, summary, details, from_hook } => {
                let entry = entry.as_ref().map(|entry| self.id_of(entry));
                note("entry", serde_json::to_string(&entry).unwrap());
                note("summary", quoted(summary));
                details.iter().for_each(|details| note("details", details.clone()));
                from_hook.iter().for_each(|from_hook| note("fromHook", from_hook.to_string()));
                let details = details.as_deref().map(raw);
                let appended = self.session.branch_with_summary(
                    entry.as_deref(),
                    summary,
                    details.as_ref(),
                    *from_hook,
                );
                ("branch_with_summary", appended)
            }
            other => unreachable!("{other:?} appends nothing"),
        }
    }

    fn create_branched_session(&mut self, leaf: &Reference) {
        let leaf = self.id_of(leaf);
        let given = quoted(&leaf);
        let branched = match self.policy {
            Policy::Waiting => self.session.create_deferred_branched_session(&leaf),
            Policy::Immediate => self.session.create_branched_session(&leaf),
        };
        match branched {
            Ok(branched) => {
                self.go_on_with(branched);
                let ids = serde_json::to_string(&self.labels()).unwrap();
                let given = [("leaf", &*given), ("ids", &*ids)];
                self.played.add(Expected::Done, "create_branched_session", &given);
            }
            Err(error) => {
                let expected = not_found(&error, &leaf);
                self.played.add(expected, "create_branched_session", &[("leaf", &given)]);
            }
        }
    }

    fn go_on_with(&mut self, session: Session) {
        let parent = self.file.take().unwrap_or_else(|| self.session.id().to_owned());
        self.header = Header::Own { parent: Some(parent) };
        self.session = session;
        self.survey();
    }

    /// The ids of the label entries. In a session that was just branched off, all of them are new.
    fn labels(&self) -> Vec<String> {
        let tree = self.session.reader().unwrap().get_tree().unwrap();
        let labels = tree.nodes().iter().filter(|node| node.kind == EntryKind::Label);
        labels.map(|node| node.id.clone().unwrap()).collect()
    }

    fn fork(&mut self) {
        if !self.has_file {
            // pi forks files, and has none yet.
            if self.policy == Policy::Waiting {
                let forked = self.store.fork_from(self.session.id(), FOLDER);
                assert!(
                    matches!(forked, Err(Error::Session(SessionError::NotFound { .. }))),
                    "{forked:?}"
                );
            }
            return;
        }
        let cwd = "/work/other";
        let forked = self.store.fork_from(self.session.id(), cwd).unwrap();
        let forked = forked.with_persistence(persistence());
        self.go_on_with(forked);
        self.played.add(Expected::Done, "fork", &[("cwd", &quoted(cwd))]);
    }

    fn reopen(&mut self) {
        self.played.add(Expected::Done, "reopen", &[]);
        if self.session.is_waiting() {
            return;
        }
        let leaf = self.leaf();
        let session = self.store.session(self.session.id()).unwrap();
        self.session = session.with_persistence(persistence());
        assert_eq!(self.leaf(), leaf, "the store keeps the leaf");
        if let Some(last) = self.entries.last().filter(|_| self.has_file) {
            // In a file that it opens, pi takes the last entry as the leaf. Without a file, it opened nothing.
            self.session.branch(last).unwrap();
        }
    }

    fn leaf(&self) -> Option<String> {
        self.session.reader().unwrap().get_leaf().unwrap().and_then(|leaf| leaf.id())
    }
}

/// The version of pi that is asked.
fn persistence() -> Persistence {
    let mut persistence = Persistence::documented(Family::Pi);
    persistence.as_of = Some("0.73.1".parse().unwrap());
    persistence
}

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

fn not_found(error: &Error, id: &str) -> Expected {
    match error {
        Error::Session(SessionError::EntryNotFound { entry, .. }) if entry == id => {
            Expected::NotFound(id.to_owned())
        }
        other => panic!("{other:?}"),
    }
}
