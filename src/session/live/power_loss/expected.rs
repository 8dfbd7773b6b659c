//! What must be in a store, by what its calls returned.

use std::collections::{BTreeMap, HashMap};

use crate::store::Store;

/// An entry's id, and that of the entry above it.
pub(super) type Placed = (String, Option<String>);

/// A session: its entries in order, and its leaf.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) entries: Vec<Placed>,
    pub(super) leaf: Option<String>,
    pub(super) title: Option<String>,
    /// A call for so many entries more failed: they may be there or not, and the leaf may have moved.
    pub(super) uncertain: Option<usize>,
}

pub(super) type Sessions = BTreeMap<String, Told>;

impl Told {
    /// Adds an entry below the leaf.
    pub(super) fn add(&mut self, id: String) {
        let above = self.leaf.replace(id.clone());
        self.entries.push((id, above));
    }

    /// Whether a session is as it was told.
    fn is(&self, found: &Self) -> bool {
        let Some(more) = self.uncertain else { return self == found };
        let (count, there) = (self.entries.len(), found.entries.len());
        found.entries.get(..count) == Some(&self.entries) && [count, count + more].contains(&there)
    }
}

/// What a store has.
pub(super) fn found(store: &Store) -> Sessions {
    let mut sessions = Sessions::new();
    for facts in store.sessions().unwrap() {
        let reader = store.reader(&facts.id).unwrap();
        let mut told = Told::default();
        reader
            .get_entries(|entry| {
                // Claude Code's records outside the tree have none.
                told.entries.extend(entry.id().map(|id| (id, entry.parent_id())));
                Ok(true)
            })
            .unwrap();
        told.leaf = reader.get_leaf_id().unwrap();
        told.title =
            facts.title.as_deref().filter(|title| title.starts_with("title ")).map(Into::into);
        sessions.insert(facts.id.to_string(), told);
    }
    sessions
}

/// A call of a thread, and what its sessions are when it has returned.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) call: usize,
    pub(super) after: Sessions,
    /// Entries that it added to the session of all threads.
    pub(super) shared: Vec<String>,
}

/// What a thread did.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// With this the ids of its own sessions begin.
    pub(super) prefix: String,
    pub(super) before: Sessions,
    pub(super) steps: Vec<Step>,
}

/// When each call began and returned.
pub(super) type Times = HashMap<usize, (usize, usize)>;

/// The session of all threads.
pub(super) const SHARED: &str = "shared";

/// Says what is wrong with a store after a loss of power at an event.
pub(super) fn problem(
    threads: &[Thread],
    times: &Times,
    event: usize,
    found: &Sessions,
) -> Option<String> {
    threads.iter().find_map(|thread| thread.problem(times, event, found)).or_else(|| {
        let none = Told::default();
        shared_problem(threads, times, event, found.get(SHARED).unwrap_or(&none))
    })
}

impl Thread {
    fn problem(&self, times: &Times, event: usize, found: &Sessions) -> Option<String> {
        let returned = |step: &&Step| times[&step.call].1 <= event;
        let count = self.steps.iter().take_while(returned).count();
        let now = count.checked_sub(1).map_or(&self.before, |last| &self.steps[last].after);
        let next = self.steps.get(count).filter(|step| times[&step.call].0 <= event);
        let own: Sessions = found
            .iter()
            .filter(|(id, _)| id.starts_with(&self.prefix))
            .map(|(id, told)| (id.clone(), told.clone()))
            .collect();
        let is = |told: &Sessions| {
            told.len() == own.len()
                && told.iter().zip(&own).all(|((id, told), (of, found))| id == of && told.is(found))
        };
        if is(now) || next.is_some_and(|next| is(&next.after)) {
            return None;
        }
        let differs =
            |(id, told): &(&String, &Told)| !own.get(*id).is_some_and(|found| told.is(found));
        let one = now.iter().find(differs).map(|(id, told)| format!("{id}: {told:#?}"));
        let there: Vec<_> = own.iter().map(|(id, found)| (id, found.entries.len())).collect();
        let one_found = now.iter().find(differs).and_then(|(id, _)| own.get(id));
        Some(format!("{}: there are {there:?}; of {one:?} there is {one_found:#?}", self.prefix))
    }
}

/// In the session to which all threads append, each entry is below the one before.
fn shared_problem(threads: &[Thread], times: &Times, event: usize, found: &Told) -> Option<String> {
    let mut calls: HashMap<&str, usize> = HashMap::new();
    for step in threads.iter().flat_map(|thread| &thread.steps) {
        let (began, returned) = times[&step.call];
        let mut there = Vec::new();
        for id in &step.shared {
            calls.insert(id, step.call);
            there.push(found.entries.iter().filter(|(found, _)| found == id).count());
        }
        if returned <= event && there.iter().any(|count| *count != 1) {
            return Some(format!("of call {} there are {there:?}", step.call));
        }
        let is_all_or_none = there.windows(2).all(|pair| pair[0] == pair[1]);
        if there.iter().any(|count| *count > 1 || (*count > 0 && began > event)) || !is_all_or_none
        {
            return Some(format!("of call {}, not yet returned, there are {there:?}", step.call));
        }
    }
    let mut above: Option<&String> = None;
    for (id, parent) in &found.entries {
        if !calls.contains_key(&**id) || parent.as_ref() != above {
            return Some(format!("{id} is below {parent:?}, not {above:?}"));
        }
        above = Some(id);
    }
    // What returned before another call began is before it.
    let mut earliest = usize::MAX;
    for (id, _) in found.entries.iter().rev() {
        let (began, returned) = times[&calls[&**id]];
        if earliest < began {
            return Some(format!("{id} is before what was appended earlier"));
        }
        earliest = earliest.min(returned);
    }
    (found.leaf.as_ref() != above).then(|| format!("the leaf is {:?}", found.leaf))
}
