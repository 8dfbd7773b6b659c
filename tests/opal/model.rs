//! Opal's session in memory, as its document describes it: the effect of every operation on the tree.

#![allow(unreachable_pub, reason = "the test is a crate of its own")]

use std::collections::BTreeMap;

use leafline::Session;
use leafline::opal::OpalReader;
use serde_json::{Map, Value};

/// A message: its parent's id, whether there is such a message or not, and its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub parent: Option<String>,
    pub content: Value,
}

/// A session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Model {
    pub messages: BTreeMap<String, Message>,
    pub current: Option<String>,
    pub metadata: Map<String, Value>,
}

impl Model {
    pub fn append(&mut self, id: &str, content: impl Into<Value>) {
        let message = Message { parent: self.current.clone(), content: content.into() };
        assert!(self.messages.insert(id.to_owned(), message).is_none(), "{id} is new");
        self.current = Some(id.to_owned());
    }

    /// The ids from the root down to a message. A missing parent ends the path, and so does a loop.
    pub fn path_to(&self, id: &str) -> Vec<String> {
        let mut path = Vec::new();
        let mut next = Some(id);
        while let Some((id, message)) = next.and_then(|id| self.messages.get_key_value(id)) {
            path.push(id.clone());
            next = message.parent.as_deref();
        }
        path.reverse();
        path
    }

    pub fn path(&self) -> Vec<String> {
        self.current.as_deref().map(|id| self.path_to(id)).unwrap_or_default()
    }

    /// Replaces consecutive messages of a path.
    pub fn replace(&mut self, removed: &[String], new: &[(String, String)], keeps_branches: bool) {
        let parent = self.messages[&removed[0]].parent.clone();
        let losing = if keeps_branches { removed } else { &removed[removed.len() - 1..] };
        let heir = new.last().unwrap().0.clone();
        for (id, message) in &mut self.messages {
            let was_theirs = message.parent.as_ref().is_some_and(|parent| losing.contains(parent));
            if was_theirs && !removed.contains(id) {
                message.parent = Some(heir.clone());
            }
        }
        for id in removed {
            self.messages.remove(id).unwrap();
        }
        if self.current.as_ref().is_some_and(|current| removed.contains(current)) {
            self.current = Some(heir);
        }
        let mut above = parent;
        for (id, content) in new {
            let message = Message { parent: above, content: content.clone().into() };
            self.messages.insert(id.clone(), message);
            above = Some(id.clone());
        }
    }

    /// The state of the session: through the tree, the lines and the header.
    pub fn of(session: &Session) -> Self {
        let mut messages = BTreeMap::new();
        session
            .reader()
            .unwrap()
            .get_entries(|entry| {
                let message = Message {
                    parent: entry.parent_id(),
                    content: entry.json().unwrap()["content"].clone(),
                };
                messages.insert(entry.id().unwrap(), message);
                Ok(true)
            })
            .unwrap();
        let metadata = session.reader().unwrap().metadata().unwrap().to_json();
        Self {
            messages,
            current: session.reader().unwrap().current_id().unwrap(),
            metadata: serde_json::from_str(&metadata).unwrap(),
        }
    }

    /// The session agrees with the model in every kind of read.
    pub fn assert_is(&self, session: &Session) {
        assert_eq!(&Self::of(session), self);
        assert_eq!(crate::path(session), self.path());
        let tree = session.reader().unwrap().get_tree().unwrap();
        assert_eq!(tree.nodes().len(), self.messages.len());
        let id_of = |place: usize| tree.node(place).and_then(|node| node.id.clone()).unwrap();
        assert_eq!(tree.leaf().map(id_of), self.current);
        for node in tree.nodes() {
            let id = node.id.clone().unwrap();
            let message = &self.messages[&id];
            let parent = message.parent.clone().filter(|parent| self.messages.contains_key(parent));
            assert_eq!(node.parent.map(id_of), parent, "{id}");
            assert_eq!(node.is_orphan, message.parent.is_some() && parent.is_none(), "{id}");
        }
        crate::place::assert_outlined(&session.reader().unwrap());
        let facts = session.reader().unwrap().facts();
        let title = self.metadata.get("title").and_then(Value::as_str);
        assert_eq!(facts.title.as_deref(), title.filter(|title| !title.is_empty()));
        assert_eq!(facts.entries, self.messages.len() as u64);
        assert_eq!((facts.duplicates, facts.malformed), (0, 0));
    }
}
