//! An ancestor far up the tree, in a logarithmic number of look-ups.

use super::view::View;
use crate::error::Result;
use crate::store::node::Node;
use crate::store::ordinal::Ordinal;

/// The ordinal of the ancestor of `from` at a depth, possibly `from` itself; `None` if `from` is not that deep. Only
/// for regular sessions: in others depth and jump are not valid.
///
/// A jump's length follows from the depth alone, so a jump that would lead too far costs no look-up: of a million
/// ancestors any is found in at most some fifty steps, and a near one in a few steps close by. A jump of more than one
/// step costs two more look-ups, of the entries whose own jumps it is made of: a wrong bit in any of the three is
/// detected.
fn ancestor_at_depth(view: View<'_>, from: Ordinal, depth: u64) -> Result<Option<Ordinal>> {
    let mut at = from;
    let mut node = view.entry_node(from)?;
    if node.depth < depth {
        return Ok(None);
    }
    while node.depth > depth {
        let wrong = |problem: &str| view.order().damage(at, format!("line {at}: {problem}"));
        let parent = node.parent.ordinal();
        let parent = parent.ok_or_else(|| wrong("an entry below the root has no parent"))?;
        let far = jump_depth(node.depth);
        let jumps = far >= depth;
        let next = if jumps { node.jump } else { parent };
        if jumps && next != jump_by_rule(view, (at, &node), parent)? {
            return Err(wrong("the jump pointer is not what the tree says"));
        }
        let expected = if jumps { far } else { node.depth - 1 };
        node = view.entry_node(next)?;
        if node.depth != expected {
            return Err(wrong("the jump pointer or the depth is not what the tree says"));
        }
        at = next;
    }
    Ok(Some(at))
}

/// Where the jump pointer of an entry that is not a root must lead: to its parent, or where its parent's jump leads to
/// in turn.
fn jump_by_rule(
    view: View<'_>,
    (ordinal, node): (Ordinal, &Node),
    parent: Ordinal,
) -> Result<Ordinal> {
    if jump_depth(node.depth) == node.depth - 1 {
        return Ok(parent);
    }
    let above = view.entry_node(parent)?;
    view.order().check_parent(ordinal, node, &above)?;
    Ok(view.entry_node(above.jump)?.jump)
}

/// Whether the entry `above` is an ancestor of `below`; false for the same entry.
pub(crate) fn is_ancestor(view: View<'_>, above: Ordinal, below: Ordinal) -> Result<bool> {
    if above == below {
        return Ok(false);
    }
    let node = view.entry_node(above)?;
    // An entry found by its depth is an ancestor only if that depth is right.
    if let Some(parent) = node.parent.ordinal() {
        view.order().check_parent(above, &node, &view.entry_node(parent)?)?;
    }
    Ok(ancestor_at_depth(view, below, node.depth)? == Some(above))
}

/// The depth that the jump pointer of an entry leads to, given the entry's own.
///
/// The rule by which an import sets the pointers (docs/storage.md, nodes) makes them count in numbers of the form 2^k -
/// 1: a depth is written as a sum of them, the largest first, and a jump removes the last.
pub(super) fn jump_depth(depth: u64) -> u64 {
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
