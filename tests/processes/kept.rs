//! What must be in a session: everything that was acknowledged, complete and in order.

use std::collections::BTreeMap;

use leafline::Store;
use serde_json::Value;

use super::work::Acknowledged;
use super::{entries, exported, text};

/// What the store has acknowledged to the workers of one session.
#[derive(Default)]
pub struct Kept {
    workers: BTreeMap<String, Worker>,
    /// The lines as they were at the last check: they must remain.
    before: Vec<u8>,
    /// The number of entries that were read and checked so far.
    checked: usize,
}

#[derive(Default)]
struct Worker {
    /// The ids of each operation.
    acknowledged: Vec<Vec<String>>,
    was_killed: bool,
    /// The ids of each operation that is stored.
    found: Vec<Vec<String>>,
}

impl Kept {
    /// Takes the acknowledgements for the session, whose lines are only appended to.
    pub fn take(&mut self, session: &str, told: &[Acknowledged]) {
        for acknowledged in told.iter().filter(|told| told.session == session) {
            let worker = self.workers.entry(acknowledged.worker.clone()).or_default();
            assert_eq!(worker.acknowledged.len() as u64, acknowledged.operation);
            worker.acknowledged.push(acknowledged.ids.clone());
        }
    }

    /// Notes that a worker, which appended to the session, was killed: one of its operations may be stored without
    /// having been reported.
    pub fn note_killed(&mut self, worker: &str) {
        self.workers.entry(worker.to_owned()).or_default().was_killed = true;
    }

    /// Checks the current session. Returns how many entries are stored that were never reported.
    pub fn check(&mut self, store: &Store, session: &str) -> usize {
        let handle = store.session(session).unwrap();
        let bytes = exported(&handle);
        assert!(bytes.starts_with(&self.before), "{session}: what was stored has changed");
        let entries = entries(&bytes);
        check_chain(&entries);
        let reader = handle.reader().unwrap();
        let mut path = Vec::new();
        reader
            .get_path(None, |entry| {
                path.push(entry.id().unwrap());
                Ok(())
            })
            .unwrap();
        let ids: Vec<String> = entries.iter().map(|entry| text(&entry["id"])).collect();
        assert_eq!(path, ids, "{session}: the leaf's path has every entry");
        for (ordinal, id) in (1..).zip(&ids).skip(self.checked) {
            assert_eq!(reader.get_entry(id).unwrap().ordinal(), ordinal);
        }
        self.find(&entries);
        self.before = bytes;
        self.compare(session)
    }

    /// Assigns the entries to their operations.
    fn find(&mut self, entries: &[Value]) {
        let mut rest = &entries[self.checked..];
        while let Some(first) = rest.first() {
            let message = &first["message"];
            let name = text(&message["worker"]);
            let worker = self.workers.entry(name.clone()).or_default();
            let of = usize::try_from(message["of"].as_u64().unwrap()).unwrap();
            assert!(of <= rest.len(), "an operation of {name} is cut off");
            let (operation, behind) = rest.split_at(of);
            for (index, entry) in operation.iter().enumerate() {
                let message = &entry["message"];
                assert_eq!(text(&message["worker"]), name, "an operation of {name} is torn");
                assert_eq!(message["operation"], worker.found.len(), "{name}'s are in order");
                assert_eq!(message["index"], index);
            }
            let ids = operation.iter().map(|entry| text(&entry["id"])).collect();
            worker.found.push(ids);
            rest = behind;
        }
        self.checked = entries.len();
    }

    fn compare(&self, session: &str) -> usize {
        let mut untold = 0;
        for (name, worker) in &self.workers {
            let Worker { acknowledged, was_killed, found } = worker;
            let more = found.len().checked_sub(acknowledged.len());
            let more = more.unwrap_or_else(|| {
                panic!(
                    "{session}: {name} was told of {}, {} are there",
                    acknowledged.len(),
                    found.len()
                )
            });
            assert_eq!(found[..acknowledged.len()], *acknowledged, "{session}: {name}");
            assert!(more <= usize::from(*was_killed), "{session}: {name} has {more} too many");
            untold += found[acknowledged.len()..].iter().map(Vec::len).sum::<usize>();
        }
        untold
    }
}

/// Each entry's parent is the one before it.
pub fn check_chain(entries: &[Value]) {
    let mut parent = Value::Null;
    for entry in entries {
        assert_eq!(entry["parentId"], parent, "the parent is the entry before: {entry}");
        parent = entry["id"].clone();
        assert!(parent.is_string());
    }
}
