//! The calls of a script that change what is there: the leaf, labels, names, metadata, and what messages say.

use leafline_import::opal::{Draft, ReplaceOptions};
use leafline_import::{EntryKind, Family};
use serde_json::json;

use super::Random;
use super::expected::REWRITTEN;
use super::worker::Worker;
use crate::programs::omp::OmpSession;
use crate::programs::opal::OpalSession;

impl Worker {
    pub(super) fn move_leaf(&mut self) {
        let Some(id) = self.own(|_| true) else { return };
        let place = self.random.next();
        let entries = &self.now()[&id].entries;
        // Every fourth time before all of them.
        let place = Random(place).below(entries.len() + entries.len() / 3 + 1);
        let to = entries.get(place).map(|(entry, _)| entry.clone());
        self.call(
            "move the leaf",
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
        let Some(id) = self.own(|id| id.ends_with("pi") || id.ends_with("omp")) else { return };
        let entries = &self.now()[&id].entries;
        let target = entries.first().map(|(entry, _)| entry.clone());
        // In omp's sessions such an entry would count for more than the name in the header.
        if target.is_none() && !id.ends_with("pi") {
            return;
        }
        self.call(
            "label",
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
        let number = self.number();
        match pair.filter(|_| !number.is_multiple_of(3)) {
            Some(pair) => self.replace_segment(&id, &pair),
            None => {
                let title = format!("title {number}");
                self.call(
                    "metadata",
                    |worker| worker.session(&id)?.set_metadata_value("title", &title),
                    |after, _| {
                        after.get_mut(&id).unwrap().title = Some(title.clone());
                        Vec::new()
                    },
                );
            }
        }
    }

    fn replace_segment(&mut self, id: &str, pair: &[String; 2]) {
        self.call(
            "replace a segment",
            |worker| {
                let summary = [Draft::compaction_summary("s", &[], &[])];
                let options = ReplaceOptions::default();
                worker.session(id)?.replace_path_segment(pair, summary, options)
            },
            |after, answer| {
                let told = after.get_mut(id).unwrap();
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
        );
    }

    /// Gives a session a name: in an entry, in the header, or in a record outside the tree.
    pub(super) fn name(&mut self) {
        let Some(id) = self.own(|_| true) else { return };
        let title = format!("title {}", self.number());
        self.call(
            "name",
            |worker| {
                let session = worker.session(&id)?;
                match session.family() {
                    Family::Pi => session.append(crate::pi::Draft::session_info(&title)).map(Some),
                    _ => session.set_session_name(&title).map(|()| None),
                }
            },
            |after, answer| {
                let told = after.get_mut(&id).unwrap();
                told.title = Some(title.clone());
                if let Some(entry) = answer.unwrap() {
                    told.add(entry);
                }
                Vec::new()
            },
        );
    }

    /// Rewrites all messages of a session, in one commit.
    pub(super) fn rewrite(&mut self) {
        let Some(id) = self.own(|id| id.ends_with("pi") || id.ends_with("omp")) else { return };
        let (number, text) = (self.number(), self.text());
        self.call(
            "rewrite",
            |worker| {
                let mut changed = Vec::new();
                worker.session(&id)?.rewrite_entries(|entry| {
                    if entry.kind() != EntryKind::Message {
                        return Ok(None);
                    }
                    let mut json = entry.json().unwrap();
                    json["message"]["content"] = json!(format!("{REWRITTEN}{number} {text}"));
                    changed.extend(entry.id());
                    Ok(Some(json.to_string()))
                })?;
                Ok(changed)
            },
            |after, answer| {
                let told = after.get_mut(&id).unwrap();
                let changed = answer.unwrap().into_iter();
                told.rewritten.extend(changed.map(|entry| (entry, number)));
                Vec::new()
            },
        );
    }

    pub(super) fn branch_with_summary(&mut self) {
        let Some(id) = self.own(|id| !id.ends_with("claude")) else { return };
        let place = self.random.next();
        let entries = &self.now()[&id].entries;
        let place = Random(place).below(entries.len() + 1);
        let to = entries.get(place).map(|(entry, _)| entry.clone());
        self.call(
            "branch with a summary",
            |worker| {
                let session = worker.session(&id)?;
                session.branch_with_summary(to.as_deref(), "summary", None::<&()>, None)
            },
            |after, answer| {
                let told = after.get_mut(&id).unwrap();
                told.leaf.clone_from(&to);
                told.add(answer.unwrap());
                Vec::new()
            },
        );
    }
}
