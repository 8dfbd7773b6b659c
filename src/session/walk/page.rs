//! The way up from an entry in pages, with nothing to remember from one page to the next.

use super::super::view::View;
use super::Steps;
use crate::error::Result;
use crate::store::node::Node;
use crate::store::ordinal::Ordinal;

/// A walk up that ends in every session, and at the same entry wherever it was interrupted.
///
/// A loop of parents is cut above its earliest line. So each entry has one way up, which does not depend on
/// where a walk began, and pages of it need no memory of the pages before. The cut costs nothing where
/// parents come before their children: the earliest line of a loop has a parent that comes later.
#[derive(Debug)]
pub(crate) struct PageWalk<'s> {
    view: View<'s>,
    walk: Steps,
    /// Once a parent came later: the earliest line of the loop that the walk runs into, if it does.
    earliest: Option<Option<Ordinal>>,
}

impl<'s> PageWalk<'s> {
    /// A walk that begins at the entry which it is first asked about.
    pub(crate) fn new(view: View<'s>) -> Self {
        Self { view, walk: Steps::new(view.order()), earliest: None }
    }

    /// The entry above the one with this ordinal and node, which the walk has come to; `None` at the walk's end.
    pub(crate) fn parent(&mut self, ordinal: Ordinal, node: &Node) -> Result<Option<Ordinal>> {
        let Some(parent) = self.walk.come_to(ordinal, node)? else {
            return Ok(None);
        };
        if parent < ordinal {
            return Ok(Some(parent));
        }
        let earliest = match self.earliest {
            Some(known) => known,
            None => {
                // A walk runs into one loop at most, so the rest of this one needs no other search.
                let found = earliest_of_loop(ordinal, |entry| {
                    Ok(self.view.entry_node(entry)?.parent.ordinal())
                })?;
                *self.earliest.insert(found)
            }
        };
        Ok(if earliest == Some(ordinal) { None } else { Some(parent) })
    }
}

/// The lowest ordinal of the loop that the way up from `from` ends in; `None` if it ends at a root.
/// Brent's algorithm: as many steps as the way is long, thrice that in a loop, and no memory.
fn earliest_of_loop(
    from: Ordinal,
    mut parent_of: impl FnMut(Ordinal) -> Result<Option<Ordinal>>,
) -> Result<Option<Ordinal>> {
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
        let parent = |entry: Ordinal| parents[usize::try_from(entry.raw()).unwrap()];
        let earliest =
            earliest_of_loop(Ordinal::new(from), |entry| Ok(parent(entry).map(Ordinal::new)));
        earliest.unwrap().map(Ordinal::raw)
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
