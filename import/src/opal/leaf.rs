//! The leaf of a session read from a file.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::opal::CurrentId;

/// The ordinal of a file's leaf.
///
/// The header's `current_id` decides if it is present (observed): null means no leaf, an id means the message with that
/// id. Without it, the leaf is the [last message of the longest path](last_of_longest_path) (Opal session document).
/// The same holds if no message has the id: Opal then shows an empty conversation, and would append the next message
/// below nothing, but by the document the file has a leaf (ours).
///
/// `ordinal_of` returns the ordinal of the message with an id, the later of two with the same id. `messages` are all
/// messages of the file, each with its parent's ordinal; they are read only if they decide.
///
/// ```
/// use leafline_import::opal::{CurrentId, leaf};
///
/// let messages = [(1, None), (2, Some(1)), (3, Some(2)), (4, Some(1))];
/// let ordinal_of = |id: &[u8]| (id == b"m4").then_some(4);
/// assert_eq!(leaf(&CurrentId::Id(b"m4".to_vec()), ordinal_of, messages), Some(4));
/// assert_eq!(leaf(&CurrentId::Id(b"gone".to_vec()), ordinal_of, messages), Some(3));
/// assert_eq!(leaf(&CurrentId::Absent, ordinal_of, messages), Some(3));
/// assert_eq!(leaf(&CurrentId::Null, ordinal_of, messages), None);
/// ```
pub fn leaf(
    current_id: &CurrentId,
    ordinal_of: impl FnOnce(&[u8]) -> Option<u64>,
    messages: impl IntoIterator<Item = (u64, Option<u64>)>,
) -> Option<u64> {
    match current_id {
        CurrentId::Null => None,
        CurrentId::Id(id) => ordinal_of(id).or_else(|| last_of_longest_path(messages)),
        CurrentId::Absent => last_of_longest_path(messages),
    }
}

/// The last message of the longest path, given the ordinals of messages and of their parents; `None` if there is no
/// path.
///
/// A path begins at a message without a parent, or whose parent is not among those given (an orphan). Its length is the
/// number of its messages. Parents may come after their children. Messages in a loop of parents, and those below a
/// loop, are on no path. Of several longest paths, the one whose last message comes last in the file counts (ours: Opal
/// never had to choose; if the file is in the order of writing, this is the newest).
///
/// Time and memory are linear in the number of messages.
///
/// ```
/// use leafline_import::opal::last_of_longest_path;
///
/// // 7 and 8 are each other's parents.
/// let messages = [(5, Some(9)), (6, Some(9)), (9, None), (7, Some(8)), (8, Some(7)), (10, Some(8))];
/// assert_eq!(last_of_longest_path(messages), Some(6));
/// assert_eq!(last_of_longest_path([(1, Some(1))]), None);
/// ```
pub fn last_of_longest_path(messages: impl IntoIterator<Item = (u64, Option<u64>)>) -> Option<u64> {
    let mut ordinals = Vec::new();
    let mut parents = Vec::new();
    let mut places: HashMap<u64, usize> = HashMap::new();
    for (ordinal, parent) in messages {
        match places.entry(ordinal) {
            Entry::Occupied(place) => parents[*place.get()] = parent,
            Entry::Vacant(vacant) => {
                vacant.insert(ordinals.len());
                ordinals.push(ordinal);
                parents.push(parent);
            }
        }
    }
    let parent_of = |place: usize| parents[place].and_then(|parent| places.get(&parent).copied());
    let lengths = lengths_of_paths(ordinals.len(), parent_of);
    let ends = lengths.into_iter().zip(ordinals).filter(|&(length, _)| length > 0);
    ends.max().map(|(_, ordinal)| ordinal)
}

/// For each node the number of nodes from its root to it; 0 if it is in or below a loop.
fn lengths_of_paths(nodes: usize, parent_of: impl Fn(usize) -> Option<usize>) -> Vec<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum Length {
        Unknown,
        /// The node is on the path being walked.
        Walked,
        Known(usize),
    }
    let mut lengths = vec![Length::Unknown; nodes];
    let mut way = Vec::new();
    for node in 0..nodes {
        // Up to a node whose length is known, past the root, or back to this path itself.
        let mut next = Some(node);
        let above = loop {
            match next {
                None => break Some(0),
                Some(node) => match lengths[node] {
                    Length::Known(0) | Length::Walked => break None,
                    Length::Known(length) => break Some(length),
                    Length::Unknown => {
                        lengths[node] = Length::Walked;
                        way.push(node);
                        next = parent_of(node);
                    }
                },
            }
        };
        let mut length = above;
        while let Some(node) = way.pop() {
            length = length.map(|length| length + 1);
            lengths[node] = Length::Known(length.unwrap_or(0));
        }
    }
    let known = |length| if let Length::Known(length) = length { length } else { 0 };
    lengths.into_iter().map(known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_last_in_the_file() {
        assert_eq!(last_of_longest_path([(1, None), (2, Some(1)), (3, Some(1))]), Some(3));
        assert_eq!(last_of_longest_path([(3, Some(1)), (2, Some(1)), (1, None)]), Some(3));
        assert_eq!(last_of_longest_path([(1, None), (2, None)]), Some(2));
    }

    #[test]
    fn orphans_begin_paths_and_loops_do_not() {
        let messages = [(1, None), (2, Some(1)), (4, Some(99)), (5, Some(4)), (6, Some(5))];
        assert_eq!(last_of_longest_path(messages), Some(6));
        let messages = [(1, None), (2, Some(3)), (3, Some(4)), (4, Some(2)), (5, Some(4))];
        assert_eq!(last_of_longest_path(messages), Some(1));
        assert_eq!(last_of_longest_path([]), None);
    }

    #[test]
    fn a_million_messages_in_a_chain_parents_last() {
        const COUNT: u64 = 1_000_000;
        let chain =
            (0..COUNT).map(|ordinal| (ordinal, (ordinal + 1 < COUNT).then_some(ordinal + 1)));
        assert_eq!(last_of_longest_path(chain), Some(0));
        let ring = (0..COUNT).map(|ordinal| (ordinal, Some((ordinal + 1) % COUNT)));
        assert_eq!(last_of_longest_path(ring), None);
    }
}
