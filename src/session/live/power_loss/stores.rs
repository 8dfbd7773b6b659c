//! The calls of a script that are of the whole store: imports, compactions, backups, and a store beside it.

use leafline_import::Family;
use serde_json::{Value, json};

use super::appends::user;
use super::expected::Told;
use super::worker::{Worker, begin};
use crate::catalog::backup::BackupOptions;
use crate::catalog::import::ImportOptions;
use crate::error::{Error, StoreError};
use crate::store::Store;

/// The name of the backup's file.
pub(super) const BACKUP_NAME: &str = "backup";

/// A session file that grows.
struct Growing {
    family: Family,
    id: String,
    text: String,
    told: Told,
}

impl Growing {
    fn new(family: Family, id: &str) -> Self {
        let mut file =
            Self { family, id: id.to_owned(), text: String::new(), told: Told::default() };
        let header = json!({
            "type": "session", "version": 3, "id": id, "timestamp": TIME, "cwd": "/work",
        });
        if family != Family::Claude {
            file.line(&header);
        }
        file
    }

    fn line(&mut self, line: &Value) {
        self.text.push_str(&line.to_string());
        self.text.push('\n');
    }

    /// A message below the last.
    fn grow(&mut self, entry: String, text: &str) {
        let above = &self.told.leaf;
        let line = match self.family {
            Family::Claude => json!({
                "type": "user", "uuid": entry, "parentUuid": above, "sessionId": self.id, "timestamp": TIME,
                "isSidechain": false, "cwd": "/work", "version": "2.1.38", "message": user(text),
            }),
            _ => json!({
                "type": "message", "id": entry, "parentId": above, "timestamp": TIME, "message": user(text),
            }),
        };
        self.line(&line);
        self.told.add(entry);
    }
}

const TIME: &str = "2026-01-01T00:00:00.000Z";

impl Worker {
    /// Imports a file, once more when it has grown, and sometimes when it has become another one.
    pub(super) fn import(&mut self) {
        let families = [("pi", Family::Pi), ("omp", Family::Omp), ("claude", Family::Claude)];
        let (name, family) = families[self.random.below(3)];
        let number = self.number();
        let id = format!("{}{number}-file-{name}", self.thread.prefix);
        let folder = self.folder.join("files");
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("{id}.jsonl"));
        let mut file = Growing::new(family, &id);
        let rounds = 2 + self.random.below(2);
        for round in 0..rounds {
            if round == 2 {
                file = Growing::new(family, &id);
            }
            for line in 0..3 {
                let text = self.text();
                file.grow(format!("{number}-{round}{line}"), &text);
            }
            std::fs::write(&path, &file.text).unwrap();
            let is_sync = round == 1 && self.random.below(2) == 0;
            let kind = ["import", "import again", "import another file"][round];
            self.call(
                kind,
                |worker| {
                    let options = ImportOptions {
                        family: Some(family),
                        replace: round == 2,
                        ..ImportOptions::default()
                    };
                    match is_sync {
                        false => worker.store.import(&[&path], &options, &mut ()),
                        true => worker.store.sync(&[&path], &options, &mut ()),
                    }
                },
                |after, answer| {
                    let totals = answer.unwrap();
                    let done = [totals.imported, totals.grown, totals.replaced];
                    assert_eq!(done.map(|count| count == 1), [0, 1, 2].map(|it| it == round));
                    after.insert(id.clone(), file.told.clone());
                    Vec::new()
                },
            );
        }
    }

    pub(super) fn compact(&mut self) {
        let gives_back = self.random.below(2) == 0;
        if !self.is_alone && !gives_back {
            return;
        }
        self.sessions.clear();
        let kind = if gives_back { "give back" } else { "compact" };
        self.call(
            "begin to compact",
            |worker| {
                let store = &mut worker.store;
                match if gives_back { store.give_back() } else { store.compact().map(drop) } {
                    // Another thread has the store open.
                    Err(Error::Store(StoreError::InUse { .. })) => Ok(()),
                    compacted => compacted.map(|()| worker.count(kind)),
                }
            },
            |_, _| Vec::new(),
        );
    }

    /// Makes a backup, or brings it up to date. One thread does.
    pub(super) fn back_up(&mut self) {
        if self.thread.prefix != "t0-" {
            return;
        }
        let path = self.folder.join(BACKUP_NAME);
        let kind = if path.exists() { "backup again" } else { "backup" };
        let call = self.call(
            kind,
            |worker| worker.store.backup(&path, &BackupOptions::default(), |_| {}).map(drop),
            |_, _| Vec::new(),
        );
        self.thread.backups.push(call);
    }

    /// Makes a new store with a session, once.
    pub(super) fn make_beside(&mut self) {
        let name = format!("{}beside", self.thread.prefix);
        let path = self.folder.join(&name);
        if path.exists() {
            return;
        }
        let id = format!("{name}-pi");
        let mut store = None;
        let open = |_: &mut Self| {
            store = Some(Store::open(&path)?);
            Ok(())
        };
        self.call("make a store", open, |_, _| Vec::new());
        let store = store.unwrap();
        let mut session = None;
        self.call(
            "begin in a new store",
            |_| {
                session = Some(begin(&store, &id, Family::Pi)?);
                Ok(())
            },
            |after, _| {
                after.insert(id.clone(), Told::default());
                Vec::new()
            },
        );
        let mut session = session.unwrap();
        for _ in 0..1 + self.random.below(4) {
            let text = self.text();
            self.call(
                "append in a new store",
                |_| session.append_message(&user(&text)),
                |after, answer| {
                    after.get_mut(&id).unwrap().add(answer.unwrap());
                    Vec::new()
                },
            );
        }
    }
}
