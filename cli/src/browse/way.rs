//! The way through a session's tree: from its root down to an entry, and on.

use leafline::tree::Outline;

use super::window::Below;

/// The path through an entry down to an end: the session's leaf if the entry leads to it, or else the end of the branch.
/// Returns the path's last entry, and what of it follows the entry, as a [window](super::window::Window) wants it.
pub(super) fn through(outline: &Outline, entry: u64) -> Option<(u64, Vec<Below>)> {
    let end = outline.end_through(entry)?;
    let to_end = down_to(outline, end);
    let is_above = |run: &Below| matches!(run, Below::Run { first, last } if (*first..=*last).contains(&entry));
    let place = to_end.iter().position(is_above)?;
    Some((end, after(to_end, place, entry)))
}

/// What follows an entry that is in the run at this place.
fn after(mut runs: Vec<Below>, place: usize, entry: u64) -> Vec<Below> {
    let end = match runs.get(place) {
        Some(Below::Run { last, .. }) if entry < *last => Some(*last),
        _ => None,
    };
    runs.truncate(place);
    runs.extend(end.map(|last| Below::Run { first: entry + 1, last }));
    runs
}

/// All of the path that leads to an entry. What comes first is the last one.
pub(super) fn down_to(outline: &Outline, entry: u64) -> Vec<Below> {
    let mut runs = Vec::new();
    let mut next = outline.segment_of(entry);
    let mut last = Some(entry);
    while let Some(segment) = next.and_then(|place| outline.segment(place)) {
        runs.push(Below::Run {
            first: segment.first(),
            last: last.take().unwrap_or(segment.last()),
        });
        // Parents that come later may form a loop.
        next = segment.parent().filter(|_| runs.len() <= outline.segments().len());
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use leafline::opal::Draft;
    use leafline::{Family, NewSession, Store};

    #[test]
    fn ways_lead_to_the_leaf_or_to_the_end_of_a_branch() {
        let store = Store::in_memory().unwrap();
        let mut session = store.create_session(&NewSession::new(Family::Opal, "/work")).unwrap();
        let mut say = |text: &str| session.append(Draft::user(text)).unwrap();
        let root = say("0");
        say("1");
        say("2");
        session.branch(&root).unwrap();
        session.append(Draft::user("3")).unwrap();
        session.append(Draft::user("4")).unwrap();
        let reader = session.reader().unwrap();
        let outline = reader.get_outline().unwrap();
        let at = |text: &str| {
            let mut found = None;
            reader
                .get_entries(|entry| {
                    if entry.view().text() == text {
                        found = Some(entry.ordinal());
                    }
                    Ok(true)
                })
                .unwrap();
            found.unwrap()
        };
        let run = |first, last| Below::Run { first: at(first), last: at(last) };
        assert_eq!(outline.leaf(), Some(at("4")));
        assert_eq!(down_to(&outline, at("4")), [run("3", "4"), run("0", "0")]);
        assert_eq!(through(&outline, at("0")), Some((at("4"), vec![run("3", "4")])));
        assert_eq!(through(&outline, at("3")), Some((at("4"), vec![run("4", "4")])));
        assert_eq!(through(&outline, at("4")), Some((at("4"), vec![])));
        assert_eq!(through(&outline, at("1")), Some((at("2"), vec![run("2", "2")])));
        assert_eq!(through(&outline, at("2")), Some((at("2"), vec![])));
        assert_eq!(through(&outline, 1_000), None);
    }
}
