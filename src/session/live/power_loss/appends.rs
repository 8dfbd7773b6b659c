//! The calls of a script that append, and those that begin and remove sessions.

use leafline_import::Family;
use leafline_import::opal::Draft;
use serde_json::json;

use super::Random;
use super::expected::Told;
use super::shared::SHARED;
use super::worker::{Worker, begin};
use crate::programs::opal::OpalSession;
use crate::session::live::RepeatedIds;

pub(super) fn user(text: &str) -> serde_json::Value {
    json!({"role": "user", "content": text, "timestamp": 1})
}

impl Worker {
    pub(super) fn append(&mut self) {
        let Some(id) = self.own(|_| true) else { return };
        let text = self.text();
        self.call(
            "append",
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
            "append several",
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
            "append by all",
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
        let number = self.number();
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
            "append lines",
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

    pub(super) fn begin(&mut self) {
        let id = format!("{}{}-pi", self.thread.prefix, self.number());
        self.call(
            "begin",
            |worker| begin(&worker.store, &id, Family::Pi),
            |after, _| {
                after.insert(id.clone(), Told::default());
                Vec::new()
            },
        );
    }

    pub(super) fn remove(&mut self) {
        let is_kept = |id: &str| id.ends_with("-claude") || id.ends_with("-opal");
        let Some(id) = self.own(|id| !is_kept(id) || id.contains("file")) else { return };
        self.sessions.remove(&id);
        self.call(
            "remove",
            |worker| worker.store.remove(&id).map(drop),
            |after, _| {
                after.remove(&id);
                Vec::new()
            },
        );
        // There is always one.
        self.begin();
    }
}
