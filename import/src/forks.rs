//! Finds where the user went back and asked something else.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// An entry as the search for forks needs it. Copies of an entry (one uuid) must be given as the same `entry`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForkEntry<E> {
    /// The entry.
    pub entry: E,
    /// Its parent, if that is in the file.
    pub parent: Option<E>,
    /// Whether it is a prompt.
    pub is_prompt: bool,
}

/// An entry at which the conversation branches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork<E> {
    /// The entry.
    pub at: E,
    /// Those of its children, at least two, that are or lead to a prompt, in the order of the file.
    pub branches: Vec<E>,
}

/// The real forks of a session, in the order of their entries, given the entries in the order of the file.
///
/// An entry is a fork if at least two of its children are, or lead to, prompts of the user (observed); the prompts
/// differ, as subtrees share nothing. Most entries with several children are not forks: their children are records of
/// one API message, a tool's results and its progress, or attachments.
///
/// Runs in linear time. Loops do no harm.
///
/// ```
/// use leafline_import::forks::{Fork, ForkEntry, forks};
///
/// let entry = |entry, parent, is_prompt| ForkEntry { entry, parent, is_prompt };
/// let entries = [
///     entry("hello", None, true),
///     entry("answer", Some("hello"), false),
///     entry("tool result", Some("answer"), false),
///     entry("why?", Some("answer"), true),
///     entry("and how?", Some("answer"), true),
/// ];
/// assert_eq!(forks(&entries), [Fork { at: "answer", branches: vec!["why?", "and how?"] }]);
/// ```
#[must_use]
pub fn forks<E: Copy + Eq + Hash>(entries: &[ForkEntry<E>]) -> Vec<Fork<E>> {
    let parents: HashMap<E, Option<E>> =
        entries.iter().map(|entry| (entry.entry, entry.parent)).collect();
    let mut lead_to_prompts = HashSet::new();
    for prompt in entries.iter().filter(|entry| entry.is_prompt) {
        let mut above = Some(prompt.entry);
        while let Some(entry) = above
            && lead_to_prompts.insert(entry)
        {
            above = parents.get(&entry).copied().flatten();
        }
    }
    let mut branches: HashMap<E, Vec<E>> = HashMap::new();
    let mut seen = HashSet::new();
    for entry in entries {
        if lead_to_prompts.contains(&entry.entry)
            && seen.insert(entry.entry)
            && let Some(parent) = parents.get(&entry.entry).copied().flatten()
            && parent != entry.entry
        {
            branches.entry(parent).or_default().push(entry.entry);
        }
    }
    let take = |entry: &ForkEntry<E>| {
        let branches = branches.remove(&entry.entry).filter(|branches| branches.len() > 1)?;
        Some(Fork { at: entry.entry, branches })
    };
    entries.iter().filter_map(take).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_do_no_harm() {
        let entry = |entry, parent| ForkEntry { entry, parent: Some(parent), is_prompt: true };
        let entries = [entry(1, 2), entry(2, 1), entry(3, 1), entry(4, 4)];
        assert_eq!(forks(&entries), [Fork { at: 1, branches: vec![2, 3] }]);
        assert_eq!(forks::<u8>(&[]), []);
    }
}
