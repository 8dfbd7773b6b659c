//! The kinds of calls that a thread of a script makes.

use std::sync::atomic::Ordering;

use leafline_import::Family;
use leafline_import::opal::{Draft, ReplaceOptions};
use serde_json::json;

use super::Random;
use super::expected::{SHARED, Told};
use super::script::{Worker, begin};
use crate::catalog::import::ImportOptions;
use crate::error::{Error, StoreError};
use crate::programs::opal::OpalSession;
use crate::session::live::RepeatedIds;
use crate::store::compacting::CompactOptions;

fn user(text: &str) -> serde_json::Value {
    json!({"role": "user", "content": text, "timestamp": 1})
}

impl Worker {
    pub(super) fn append(&mut self) {
        let Some(id) = self.own(|_| true) else { return };
        let text = self.text();
        self.call(
            |worker| worker.session(&id)?.append_message(&user(&text)),
            |after, answer| {
                let told = after.get_mut(&id).unwrap();
                match answer {
                    Ok(entry) => told.add(entry),
                    Err(_) => told.uncertain = Some(1),
                }
                Vec::new()
            },
        );
    }

    pub(super) fn append_several(&mut self) {
        let Some(id) = self.own(|id| !id.ends_with("claude")) else { return };
        let (count, text) = (2 + self.random.below(3), self.text());
        let is_opal = id.ends_with("opal");
        self.call(
            |worker| {
                let session = worker.session(&id)?;
                if is_opal {
                    return session.append_many((0..count).map(|_| Draft::user(&text)));
                }
                let message = user(&text).to_string();
                let draft = || crate::pi::Draft::message(&message).unwrap();
                session.append_all((0..count).map(|_| draft()))
            },
            |after, answer| {
                let told = after.get_mut(&id).unwrap();
                match answer {
                    Ok(entries) => entries.into_iter().for_each(|entry| told.add(entry)),
                    Err(_) => told.uncertain = Some(count),
                }
                Vec::new()
            },
        );
    }

    pub(super) fn append_to_shared(&mut self) {
        let (count, text) = (1 + self.random.below(3), self.text());
        self.call(
            |worker| {
                let message = user(&text).to_string();
                let draft = || crate::pi::Draft::message(&message).unwrap();
                worker.session(SHARED)?.append_all((0..count).map(|_| draft()))
            },
            |_, answer| answer.unwrap(),
        );
    }

    /// Raw lines: an entry below any other, and perhaps one that is there.
    pub(super) fn append_lines(&mut self) {
        let Some(id) = self.own(|id| id.contains("pi")) else { return };
        let number = self.calls.load(Ordering::Relaxed);
        let entries = &self.now()[&id].entries;
        let place = Random(number as u64).below(entries.len() + 1);
        let parent =
            entries.get(place).map(|(id, _)| id.clone()).or_else(|| self.told(&id).leaf.clone());
        let ids: Vec<String> = (0..1 + self.random.below(2))
            .map(|line| format!("raw{number}-{}{line}", self.thread.prefix))
            .collect();
        let text = self.text();
        let line = |entry: &str, parent: Option<&str>| {
            let line = json!({
                "type": "message", "id": entry, "parentId": parent,
                "timestamp": "2026-01-01T00:00:00.000Z", "message": user(&text),
            });
            format!("{line}\n")
        };
        let mut lines = String::new();
        let mut above = parent.clone();
        for entry in &ids {
            lines.push_str(&line(entry, above.as_deref()));
            above = Some(entry.clone());
        }
        let repeats = self.random.below(3) == 0 && parent.is_some();
        if repeats {
            lines.push_str(&line(parent.as_deref().unwrap_or_default(), None));
        }
        self.call(
            |worker| worker.session(&id)?.append_lines(lines.as_bytes(), RepeatedIds::Ignore),
            |after, answer| {
                let told = after.get_mut(&id).unwrap();
                match answer {
                    Ok(appended) => {
                        let counts = (appended.added, appended.ignored);
                        assert_eq!(counts, (ids.len() as u64, u64::from(repeats)));
                        told.leaf = parent;
                        ids.into_iter().for_each(|entry| told.add(entry));
                    }
                    Err(_) => told.uncertain = Some(ids.len()),
                }
                Vec::new()
            },
        );
    }

    pub(super) fn move_leaf(&mut self) {
        let Some(id) = self.own(|_| true) else { return };
        let place = self.random.next();
        let entries = &self.now()[&id].entries;
        // Every fourth time before all of them.
        let place = Random(place).below(entries.len() + entries.len() / 3 + 1);
        let to = entries.get(place).map(|(entry, _)| entry.clone());
        self.call(
            |worker| match &to {
                None => worker.session(&id)?.reset_leaf(),
                Some(entry) => worker.session(&id)?.branch(entry),
            },
            |after, answer| {
                let told = after.get_mut(&id).unwrap();
                match answer {
                    Ok(()) => told.leaf.clone_from(&to),
                    Err(_) => told.uncertain = Some(0),
                }
                Vec::new()
            },
        );
    }

    pub(super) fn label(&mut self) {
        let Some(id) = self.own(|id| id.ends_with("pi")) else { return };
        let entries = &self.now()[&id].entries;
        let target = entries.first().map(|(entry, _)| entry.clone());
        self.call(
            |worker| {
                let session = worker.session(&id)?;
                match &target {
                    Some(target) => session.label(target, Some("label")),
                    None => session.append(crate::pi::Draft::session_info("name")),
                }
            },
            |after, answer| {
                let told = after.get_mut(&id).unwrap();
                match answer {
                    Ok(entry) => told.add(entry),
                    Err(_) => told.uncertain = Some(1),
                }
                Vec::new()
            },
        );
    }

    /// What Opal alone has: a title of its own, and a message in the place of others.
    pub(super) fn change_opal(&mut self) {
        let Some(id) = self.own(|id| id.ends_with("opal")) else { return };
        let told = &self.now()[&id];
        let pair = told
            .entries
            .iter()
            .rev()
            .find_map(|(entry, above)| above.clone().map(|above| [above, entry.clone()]));
        let number = self.calls.load(Ordering::Relaxed);
        match pair.filter(|_| !number.is_multiple_of(3)) {
            Some(pair) => self.call(
                |worker| {
                    let summary = [Draft::compaction_summary("s", &[], &[])];
                    let options = ReplaceOptions::default();
                    worker.session(&id)?.replace_path_segment(&pair, summary, options)
                },
                |after, answer| {
                    let told = after.get_mut(&id).unwrap();
                    let new = answer.unwrap().remove(0);
                    let is_old = |entry: &String| pair.contains(entry);
                    let first = told.entries.iter().position(|(entry, _)| is_old(entry)).unwrap();
                    let above = told.entries[first].1.clone();
                    told.entries[first] = (new.clone(), above);
                    told.entries.retain(|(entry, _)| !is_old(entry));
                    let parents = told.entries.iter_mut().filter_map(|(_, above)| above.as_mut());
                    for name in parents.chain(told.leaf.as_mut()).filter(|name| is_old(name)) {
                        name.clone_from(&new);
                    }
                    Vec::new()
                },
            ),
            None => {
                let title = format!("title {number}");
                self.call(
                    |worker| worker.session(&id)?.set_metadata_value("title", &title),
                    |after, _| {
                        after.get_mut(&id).unwrap().title = Some(title.clone());
                        Vec::new()
                    },
                );
            }
        }
    }

    pub(super) fn begin(&mut self) {
        let id = format!("{}{}-pi", self.thread.prefix, self.calls.load(Ordering::Relaxed));
        self.call(
            |worker| begin(&worker.store, &id, Family::Pi),
            |after, _| {
                after.insert(id.clone(), Told::default());
                Vec::new()
            },
        );
    }

    pub(super) fn remove(&mut self) {
        let Some(id) = self.own(|id| !id.ends_with("-claude") && !id.ends_with("-opal")) else {
            return;
        };
        self.sessions.remove(&id);
        self.call(
            |worker| worker.store.remove(&id).map(drop),
            |after, _| {
                after.remove(&id);
                Vec::new()
            },
        );
        // There is always one.
        self.begin();
    }

    /// Imports a file, and once more when it has grown.
    pub(super) fn import(&mut self) {
        let number = self.calls.load(Ordering::Relaxed);
        let id = format!("{}{number}-file", self.thread.prefix);
        std::fs::create_dir_all(&self.files).unwrap();
        let file = self.files.join(format!("{id}.jsonl"));
        let mut told = Told::default();
        let mut text = json!({
            "type": "session", "version": 3, "id": id, "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/work",
        })
        .to_string()
            + "\n";
        for round in 0..2 {
            for line in 0..3 {
                let entry = format!("{round}{line}");
                let line = json!({
                    "type": "message", "id": entry, "parentId": told.leaf,
                    "timestamp": "2026-01-01T00:00:00.000Z", "message": user(&self.text()),
                });
                text.push_str(&format!("{line}\n"));
                told.add(entry);
            }
            std::fs::write(&file, &text).unwrap();
            self.call(
                |worker| {
                    let options = ImportOptions::default();
                    match round {
                        0 => worker.store.import(&[&file], &options, &mut ()),
                        _ => worker.store.sync(&[&file], &options, &mut ()),
                    }
                },
                |after, answer| {
                    let totals = answer.unwrap();
                    assert_eq!((totals.imported, totals.grown), (1 - round, round));
                    after.insert(id.clone(), told.clone());
                    Vec::new()
                },
            );
        }
    }

    pub(super) fn compact(&mut self) {
        if !self.is_alone {
            return;
        }
        self.sessions.clear();
        self.call(
            // Within the file, which is recorded.
            |worker| match worker.store.compact_with(&in_place()) {
                // Another thread has a transaction open.
                Err(Error::Store(StoreError::InUse { .. })) => Ok(()),
                compacted => compacted.map(drop),
            },
            |_, _| Vec::new(),
        );
    }
}

fn in_place() -> CompactOptions {
    CompactOptions { in_place: true, ..CompactOptions::default() }
}
