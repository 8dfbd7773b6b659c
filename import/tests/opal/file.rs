//! A file read into memory, as a store would read it.

use std::collections::HashMap;
use std::convert::Infallible;

use leafline_import::lines;
use leafline_import::opal::{
    HeaderFacts, Line, LineKind, Parent, ParentId, Replacement, Scanner, Tree, detect, leaf,
    with_parent_id, with_session, write_session,
};
use leafline_import::text::{decode, trim_start_of_file};

pub(crate) struct Message {
    pub(crate) line: Vec<u8>,
    pub(crate) id: Option<Vec<u8>>,
    pub(crate) parent: Option<Vec<u8>>,
}

pub(crate) struct File {
    pub(crate) facts: HeaderFacts,
    pub(crate) header: Vec<u8>,
    /// By the line's ordinal.
    pub(crate) messages: Vec<(u64, Message)>,
    by_id: HashMap<Vec<u8>, u64>,
}

impl File {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let facts = detect(bytes, true).unwrap();
        let mut scanner = Scanner::new();
        let mut file =
            Self { facts, header: Vec::new(), messages: Vec::new(), by_id: HashMap::new() };
        for (ordinal, line) in (0..).zip(lines::split(bytes)) {
            let text = decode(line);
            if ordinal == file.facts.line {
                let scan = scanner.scan(trim_start_of_file(&text));
                assert_eq!(HeaderFacts::of(&scan, ordinal).as_ref(), Some(&file.facts));
                file.header = line.to_vec();
            } else if scanner.scan(&text).kind() == LineKind::Message {
                file.add(ordinal, line, &scanner.scan(&text));
            }
        }
        file
    }

    fn add(&mut self, ordinal: u64, line: &[u8], scan: &Line<'_>) {
        let id = scan.id().map(Vec::from);
        let parent = match scan.parent() {
            Parent::Id(id) => Some(id.into_owned()),
            Parent::Root | Parent::NoId => None,
        };
        if let Some(id) = &id {
            self.by_id.insert(id.clone(), ordinal);
        }
        self.messages.push((ordinal, Message { line: line.to_vec(), id, parent }));
    }

    fn message(&self, id: &[u8]) -> Option<&Message> {
        let ordinal = self.by_id.get(id)?;
        self.messages.iter().find(|(place, _)| place == ordinal).map(|(_, message)| message)
    }

    pub(crate) fn parents(&self) -> Vec<(u64, Option<u64>)> {
        let ordinal_of = |parent: &Option<Vec<u8>>| self.by_id.get(parent.as_ref()?).copied();
        self.messages.iter().map(|(place, message)| (*place, ordinal_of(&message.parent))).collect()
    }

    /// The id of the leaf, as text.
    pub(crate) fn leaf(&self) -> Option<String> {
        let by_id = |id: &[u8]| self.by_id.get(id).copied();
        let leaf = leaf(&self.facts.current_id, by_id, self.parents())?;
        let (_, message) = self.messages.iter().find(|(place, _)| *place == leaf).unwrap();
        Some(String::from_utf8_lossy(message.id.as_ref().unwrap()).into_owned())
    }

    /// The ids from the root to a message, as text.
    pub(crate) fn path(&self, leaf: &str) -> Vec<String> {
        let mut path = Vec::new();
        let mut next = self.message(leaf.as_bytes());
        while let Some(message) = next {
            path.push(String::from_utf8_lossy(message.id.as_ref().unwrap()).into_owned());
            assert!(path.len() <= self.messages.len(), "a loop");
            next = message.parent.as_ref().and_then(|parent| self.message(parent));
        }
        path.reverse();
        path
    }

    /// The file with a part of it replaced by a line, whose id is given.
    pub(crate) fn replaced(&self, plan: &Replacement<Vec<u8>>, id: &[u8], line: &[u8]) -> Vec<u8> {
        let mut header = Vec::new();
        let leaf = self.leaf();
        let current_id =
            if plan.moves_leaf { Some(id) } else { leaf.as_deref().map(str::as_bytes) };
        let current_id = current_id.map_or(ParentId::Null, ParentId::Id);
        let session_id = self.facts.session_id.as_deref().unwrap_or(b"sess");
        with_session(&self.header, session_id, current_id, &mut header).unwrap();
        let mut lines = Vec::new();
        for (_, message) in &self.messages {
            let named = |ids: &[Vec<u8>]| message.id.as_ref().is_some_and(|id| ids.contains(id));
            if named(&plan.reparented) {
                let mut moved = Vec::new();
                with_parent_id(&message.line, ParentId::Id(id), &mut moved).unwrap();
                lines.push(moved);
            } else if !named(&plan.removed) {
                lines.push(message.line.clone());
            }
        }
        lines.push(line.to_vec());
        let mut out = Vec::new();
        write_session(&header, lines.iter().map(Vec::as_slice), &mut out);
        out
    }
}

impl Tree for File {
    type Id = Vec<u8>;
    type Error = Infallible;

    fn parent(&mut self, message: &Vec<u8>) -> Result<Option<Option<Vec<u8>>>, Infallible> {
        Ok(self.message(message).map(|message| message.parent.clone()))
    }

    fn children(&mut self, message: &Vec<u8>) -> Result<Vec<Vec<u8>>, Infallible> {
        let children =
            self.messages.iter().filter(|(_, child)| child.parent.as_ref() == Some(message));
        Ok(children.filter_map(|(_, child)| child.id.clone()).collect())
    }
}
