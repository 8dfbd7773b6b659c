//! The nodes of the chunks that were decoded last.

use super::node::Node;
use super::ordinal::Ordinal;
use super::session_key::SessionKey;

/// How many chunks are kept. A walk stays in one for many steps; what looks at the lines around a place as well needs those
/// at its ends.
const KEPT: usize = 4;

#[derive(Debug, Default)]
pub(super) struct RecentNodes {
    /// The one used last is the last.
    chunks: Vec<(SessionKey, Ordinal, Vec<Node>)>,
}

impl RecentNodes {
    /// The node of a line, if its chunk is kept.
    pub(super) fn get(&mut self, session: SessionKey, ordinal: Ordinal) -> Option<Node> {
        let node_in = |(of, first, nodes): &(SessionKey, Ordinal, Vec<Node>)| {
            nodes.get(ordinal.index_from(*first).filter(|_| *of == session)?).copied()
        };
        let (place, node) = self
            .chunks
            .iter()
            .enumerate()
            .rev()
            .find_map(|(place, chunk)| Some((place, node_in(chunk)?)))?;
        if let Some(used) = self.chunks.get_mut(place..) {
            used.rotate_left(1);
        }
        Some(node)
    }

    /// Keeps the nodes of a chunk that begins with `first`.
    pub(super) fn insert(&mut self, session: SessionKey, first: Ordinal, nodes: Vec<Node>) {
        if self.chunks.len() >= KEPT {
            self.chunks.remove(0);
        }
        self.chunks.push((session, first, nodes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chunks_used_last_are_kept() {
        let (session, other) = (SessionKey::new(1), SessionKey::new(2));
        let node = |depth| Node { depth, ..Node::default() };
        let mut recent = RecentNodes::default();
        for first in [0, 10, 20, 30] {
            recent.insert(session, Ordinal::new(first), vec![node(first), node(first + 1)]);
        }
        assert_eq!(recent.get(session, Ordinal::new(1)), Some(node(1)));
        assert_eq!(recent.get(session, Ordinal::new(2)), None);
        assert_eq!(recent.get(other, Ordinal::new(1)), None);
        recent.insert(session, Ordinal::new(40), vec![node(40)]);
        assert_eq!(recent.get(session, Ordinal::new(0)), Some(node(0)));
        assert_eq!(recent.get(session, Ordinal::new(10)), None);
        assert_eq!(recent.get(session, Ordinal::new(40)), Some(node(40)));
    }
}
