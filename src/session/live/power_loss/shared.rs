//! The session to which all threads append.

use std::collections::HashMap;

use super::expected::{Span, Thread, Times, Told};

/// Its id.
pub(super) const SHARED: &str = "shared";

/// In it each entry is below the one before.
pub(super) fn problem(
    threads: &[Thread],
    before: &Told,
    times: &Times,
    (from, to): Span,
    found: &Told,
) -> Option<String> {
    let Some(entries) = found.entries.strip_prefix(&*before.entries) else {
        return Some("it has lost what was there at first".to_owned());
    };
    let mut there: HashMap<&str, usize> = HashMap::new();
    for (id, _) in entries {
        *there.entry(id).or_default() += 1;
    }
    let mut calls: HashMap<&str, usize> = HashMap::new();
    for step in threads.iter().flat_map(|thread| &thread.steps) {
        let (began, returned) = times[&step.call];
        let mut counts = Vec::new();
        for id in &step.shared {
            calls.insert(id, step.call);
            counts.push(there.get(&**id).copied().unwrap_or(0));
        }
        if returned <= from && counts.iter().any(|count| *count != 1) {
            return Some(format!("of call {} there are {counts:?}", step.call));
        }
        let is_all_or_none = counts.windows(2).all(|pair| pair[0] == pair[1]);
        if counts.iter().any(|count| *count > 1 || (*count > 0 && began > to)) || !is_all_or_none {
            return Some(format!("of call {}, not yet returned, there are {counts:?}", step.call));
        }
    }
    let mut above = before.entries.last().map(|(id, _)| id);
    for (id, parent) in entries {
        if !calls.contains_key(&**id) || parent.as_ref() != above {
            return Some(format!("{id} is below {parent:?}, not {above:?}"));
        }
        above = Some(id);
    }
    // What returned before another call began is before it.
    let mut earliest = usize::MAX;
    for (id, _) in entries.iter().rev() {
        let (began, returned) = times[&calls[&**id]];
        if earliest < began {
            return Some(format!("{id} is before what was appended earlier"));
        }
        earliest = earliest.min(returned);
    }
    (found.leaf.as_ref() != above).then(|| format!("the leaf is {:?}", found.leaf))
}
