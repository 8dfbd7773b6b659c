//! An ancestor far up the tree, in a logarithmic number of look-ups.

use crate::error::Result;
use crate::store::snapshot::{Snapshot, damaged};

/// The ordinal of the ancestor of `from` at a depth, `from` itself included; `None` where `from` is not that deep.
/// Only for sessions that are regular: in others depth and jump are not to be trusted.
///
/// A jump's length follows from the depth alone, so that a jump which would lead too far costs no look-up: of a
/// million ancestors any is found by reading some fifty nodes at most, and a near one by a few that stand close by.
pub(crate) fn ancestor_at_depth(
    snapshot: &Snapshot<'_>,
    session: u64,
    from: u64,
    depth: u64,
) -> Result<Option<u64>> {
    let mut at = from;
    let mut node = snapshot.node(session, from)?;
    if node.depth < depth {
        return Ok(None);
    }
    while node.depth > depth {
        let (expected, next) = match jump_depth(node.depth) {
            far if far >= depth => (far, Some(node.jump)),
            _ => (node.depth - 1, node.parent.ordinal()),
        };
        let wrong = |problem: &str| damaged(session, at, format!("line {at}: {problem}"));
        let next = next.ok_or_else(|| wrong("an entry below the root has no parent"))?;
        node = snapshot.node(session, next)?;
        if node.depth != expected {
            return Err(wrong("the jump pointer or the depth is not what the tree says").into());
        }
        at = next;
    }
    Ok(Some(at))
}

/// Whether the entry `above` is among the ancestors of `below`, and not itself.
pub(crate) fn is_ancestor(
    snapshot: &Snapshot<'_>,
    session: u64,
    above: u64,
    below: u64,
) -> Result<bool> {
    if above == below {
        return Ok(false);
    }
    let depth = snapshot.node(session, above)?.depth;
    Ok(ancestor_at_depth(snapshot, session, below, depth)? == Some(above))
}

/// The depth that the jump pointer of an entry leads to, given the entry's own.
///
/// The rule by which an import sets the pointers (docs/storage.md, nodes) makes them count in numbers of the form
/// 2^k - 1: a depth is written as a sum of them, the largest first, and a jump takes off the last.
fn jump_depth(depth: u64) -> u64 {
    let mut left = depth;
    let mut last = 0;
    while left > 0 {
        last = match left.checked_add(1) {
            Some(above) => (1 << above.ilog2()) - 1,
            None => left,
        };
        left -= last;
    }
    depth - last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumps_lead_where_the_import_sets_them() {
        let mut jumps = vec![0u64];
        for depth in 1..100_000u64 {
            let parent = depth - 1;
            let far = jumps[usize::try_from(parent).unwrap()];
            let farther = jumps[usize::try_from(far).unwrap()];
            jumps.push(if parent - far == far - farther { farther } else { parent });
            assert_eq!(jump_depth(depth), jumps[usize::try_from(depth).unwrap()], "{depth}");
        }
        assert_eq!(jump_depth(u64::MAX), 0);
    }
}
