//! Walking up a session's tree a step at a time, with nothing to remember from one walk to the next.

use super::reader::SessionReader;
use crate::error::Result;
use crate::store::node::Node;
use crate::store::snapshot::no_line;

/// A walk up that ends in every session, and at the same entry wherever it was interrupted.
///
/// A loop of parents is cut above its earliest line. So each entry has one way up, which does not depend on
/// where a walk began, and pages of it need no memory of the pages before. The cut costs nothing where
/// parents come before their children: the earliest line of a loop has a parent that comes later.
pub(super) struct Climb<'r> {
    reader: &'r SessionReader,
    /// The entry that the walk has come from.
    child: Option<(u64, Node)>,
    /// Once a parent came later: the earliest line of the loop that the walk runs into, if it does.
    earliest: Option<Option<u64>>,
}

impl<'r> Climb<'r> {
    pub(super) fn new(reader: &'r SessionReader) -> Self {
        Self { reader, child: None, earliest: None }
    }

    /// The entry above the one with this ordinal and node, which the walk has come to; `None` at the walk's end.
    pub(super) fn parent(&mut self, ordinal: u64, node: &Node) -> Result<Option<u64>> {
        let order = self.reader.order();
        order.check(ordinal, node)?;
        if let Some((child, below)) = self.child.replace((ordinal, *node)) {
            order.check_parent(child, &below, node)?;
        }
        let Some(parent) = node.parent.ordinal() else {
            return Ok(None);
        };
        if parent < ordinal {
            return Ok(Some(parent));
        }
        if parent >= self.reader.record().lines {
            return Err(no_line(self.reader.key(), parent).into());
        }
        let earliest = match self.earliest {
            Some(known) => known,
            None => {
                // A walk runs into one loop at the most, so the rest of this one needs no other search.
                let found = earliest_of_loop(ordinal, |entry| {
                    Ok(self.reader.entry_node(entry)?.parent.ordinal())
                })?;
                *self.earliest.insert(found)
            }
        };
        Ok(if earliest == Some(ordinal) { None } else { Some(parent) })
    }
}

/// The lowest ordinal of the loop that the way up from `from` ends in; `None` where it ends at a root.
/// Brent's algorithm: as many steps as the way is long, thrice that in a loop, and no memory.
fn earliest_of_loop(
    from: u64,
    mut parent_of: impl FnMut(u64) -> Result<Option<u64>>,
) -> Result<Option<u64>> {
    let (mut mark, mut at) = (from, from);
    let (mut steps, mut stretch) = (0u64, 1u64);
    loop {
        let Some(parent) = parent_of(at)? else {
            return Ok(None);
        };
        at = parent;
        if at == mark {
            break;
        }
        steps += 1;
        if steps == stretch {
            mark = at;
            steps = 0;
            stretch = stretch.saturating_mul(2);
        }
    }
    let mut earliest = mark;
    while let Some(parent) = parent_of(at)? {
        earliest = earliest.min(parent);
        at = parent;
        if at == mark {
            break;
        }
    }
    Ok(Some(earliest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn earliest(parents: &[Option<u64>], from: u64) -> Option<u64> {
        earliest_of_loop(from, |entry| Ok(parents[usize::try_from(entry).unwrap()])).unwrap()
    }

    #[test]
    fn roots_and_loops() {
        assert_eq!(earliest(&[None, Some(0)], 1), None);
        assert_eq!(earliest(&[Some(0)], 0), Some(0));
        assert_eq!(earliest(&[None, Some(3), Some(1), Some(2), Some(3)], 4), Some(1));
        assert_eq!(earliest(&[Some(1), Some(2), None], 0), None);
    }

    proptest! {
        #[test]
        fn as_a_set_of_the_entries_met_has_it(
            parents in proptest::collection::vec(proptest::option::weighted(0.9, 0u64..24), 24),
        ) {
            for from in 0..24 {
                let mut met = vec![from];
                let expected = loop {
                    let at = usize::try_from(met[met.len() - 1]).unwrap();
                    let Some(parent) = parents[at] else { break None };
                    if let Some(start) = met.iter().position(|&entry| entry == parent) {
                        break met[start..].iter().min().copied();
                    }
                    met.push(parent);
                };
                prop_assert_eq!(earliest(&parents, from), expected);
            }
        }
    }
}
