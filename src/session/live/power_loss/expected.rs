//! What must be in a store, by what its calls returned.

use std::collections::{BTreeMap, HashMap};

use bincode::{Decode, Encode};

use super::shared::SHARED;
use crate::error::Result;
use crate::store::Store;

/// An entry's id, and that of the entry above it.
pub(super) type Placed = (String, Option<String>);

/// With this the text of a rewritten message begins, and a number follows.
pub(super) const REWRITTEN: &str = "rewritten ";

/// A session: its entries in order, and its leaf.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(super) struct Told {
    pub(super) entries: Vec<Placed>,
    pub(super) leaf: Option<String>,
    pub(super) title: Option<String>,
    /// Messages that were rewritten, and by which call last.
    pub(super) rewritten: BTreeMap<String, usize>,
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

/// The number behind the words of a rewritten message.
fn rewritten(line: &[u8]) -> Option<usize> {
    let at = memchr::memmem::find(line, REWRITTEN.as_bytes())? + REWRITTEN.len();
    let digits = line[at..].iter().take_while(|byte| byte.is_ascii_digit());
    Some(digits.fold(0, |number, digit| 10 * number + usize::from(digit - b'0')))
}

/// What a store has.
pub(super) fn found_in(store: &Store) -> Result<Sessions> {
    let mut sessions = Sessions::new();
    for facts in store.sessions()? {
        let reader = store.reader(&facts.id)?;
        let mut told = Told::default();
        reader.get_entries(|entry| {
            // Claude Code's records outside the tree have none.
            if let Some(id) = entry.id() {
                if let Some(call) = rewritten(entry.line()) {
                    told.rewritten.insert(id.clone(), call);
                }
                told.entries.push((id, entry.parent_id()));
            }
            Ok(true)
        })?;
        told.leaf = reader.get_leaf_id()?;
        told.title =
            facts.title.as_deref().filter(|title| title.starts_with("title ")).map(Into::into);
        sessions.insert(facts.id.to_string(), told);
    }
    Ok(sessions)
}

/// The same of a store that can be read.
pub(super) fn found(store: &Store) -> Sessions {
    found_in(store).unwrap()
}

/// A call of a thread, and what its sessions are when it has returned.
#[derive(Debug, Encode, Decode)]
pub(super) struct Step {
    pub(super) call: usize,
    pub(super) after: Sessions,
    /// Entries that it added to the session of all threads.
    pub(super) shared: Vec<String>,
}

/// What a thread did.
#[derive(Debug, Default, Encode, Decode)]
pub(super) struct Thread {
    /// With this the ids of its own sessions begin.
    pub(super) prefix: String,
    pub(super) before: Sessions,
    pub(super) steps: Vec<Step>,
    /// The calls that made a backup, or brought it up to date.
    pub(super) backups: Vec<usize>,
    /// How many calls of each kind succeeded.
    pub(super) kinds: BTreeMap<String, u64>,
}

/// When each call began and returned.
pub(super) type Times = HashMap<usize, (usize, usize)>;

/// Two events: what a store has is of a moment between them.
pub(super) type Span = (usize, usize);

/// In which store a session is, by its id: those of a store that a thread made beside the first say so.
pub(super) fn is_beside(id: &str) -> bool {
    id.contains("beside")
}

impl Thread {
    /// What it was told of its sessions.
    pub(super) fn now(&self) -> &Sessions {
        self.steps.last().map_or(&self.before, |step| &step.after)
    }

    /// Says what is wrong with this thread's sessions, of those that are in the same store.
    pub(super) fn problem(
        &self,
        times: &Times,
        (from, to): Span,
        found: &Sessions,
        is_there: impl Fn(&str) -> bool,
    ) -> Option<String> {
        let returned = self.steps.partition_point(|step| times[&step.call].1 <= from);
        let begun = self.steps.partition_point(|step| times[&step.call].0 <= to);
        let after =
            |count: usize| count.checked_sub(1).map_or(&self.before, |it| &self.steps[it].after);
        let is = |told: &Sessions| {
            let own = |(id, _): &(&String, &Told)| id.starts_with(&self.prefix) && is_there(id);
            let mut found = found.iter().filter(own);
            let mut told = told.iter().filter(own);
            loop {
                match (told.next(), found.next()) {
                    (None, None) => return true,
                    (Some((id, told)), Some((of, found))) if id == of && told.is(found) => {}
                    _ => return false,
                }
            }
        };
        if (returned..=begun.max(returned)).any(|count| is(after(count))) {
            return None;
        }
        let own = |(id, _): &(&String, &Told)| id.starts_with(&self.prefix) && is_there(id);
        let there: Vec<_> =
            found.iter().filter(own).map(|(id, found)| (id, found.entries.len())).collect();
        let differs =
            |(id, told): &(&String, &Told)| !found.get(*id).is_some_and(|found| told.is(found));
        let now = after(returned);
        let one = now.iter().filter(own).find(differs).map(|(id, told)| (id, told, found.get(id)));
        Some(format!("{}: there are {there:?}; told, and found: {one:#?}", self.prefix))
    }
}

/// Says what is wrong with a store after a loss of power, whose state is of a moment between two events. `before` is what the
/// session of all threads had at first.
pub(super) fn problem(
    threads: &[Thread],
    before: &Told,
    times: &Times,
    span: Span,
    found: &Sessions,
) -> Option<String> {
    let of_thread = |thread: &Thread| thread.problem(times, span, found, |id: &str| !is_beside(id));
    threads.iter().find_map(of_thread).or_else(|| {
        let none = Told::default();
        let shared = found.get(SHARED).unwrap_or(&none);
        super::shared::problem(threads, before, times, span, shared)
    })
}
