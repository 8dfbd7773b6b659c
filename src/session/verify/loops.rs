//! Finding loops of parents.

use crate::store::ordinal::Ordinal;

/// One line of each loop, given each line's parent: the first that a walk up meets again.
pub(super) fn loops(parents: &[Option<Ordinal>]) -> Vec<Ordinal> {
    // 0: not visited; otherwise the number of the walk that visited it.
    let mut visited = vec![0u64; parents.len()];
    let mut found = Vec::new();
    for (start, walk) in (0..parents.len()).zip(1u64..) {
        let mut at = start;
        loop {
            match visited.get_mut(at) {
                Some(mark) if *mark == 0 => *mark = walk,
                Some(mark) => {
                    if *mark == walk {
                        found.push(Ordinal::after(at as u64));
                    }
                    break;
                }
                None => break,
            }
            let parent = parents.get(at).copied().flatten();
            match parent.and_then(|parent| parent.index_from(Ordinal::FIRST)) {
                Some(parent) => at = parent,
                None => break,
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_loop_is_found_once() {
        let loops = |parents: &[Option<u64>]| {
            let parents: Vec<_> = parents.iter().map(|parent| parent.map(Ordinal::new)).collect();
            loops(&parents).into_iter().map(Ordinal::raw).collect::<Vec<_>>()
        };
        assert_eq!(loops(&[None, Some(0), Some(1)]), [0u64; 0]);
        assert_eq!(loops(&[None, Some(2), Some(1), Some(2)]), [1]);
        assert_eq!(loops(&[Some(0)]), [0]);
        assert_eq!(loops(&[Some(1), Some(0), Some(3), Some(2)]), [0, 2]);
        assert_eq!(loops(&[Some(9)]), [0u64; 0]);
    }
}
