//! Replacing parts of paths in any tree.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use leafline_import::opal::{ReplaceOptions, Tree, replace_path_segment};
use proptest::prelude::*;

/// The id of the replacement.
const REPLACEMENT: usize = usize::MAX;

#[derive(Debug, Clone)]
struct Parents(HashMap<usize, Option<usize>>);

impl Tree for Parents {
    type Id = usize;
    type Error = Infallible;

    fn parent(&mut self, message: &usize) -> Result<Option<Option<usize>>, Infallible> {
        Ok(self.0.get(message).copied())
    }

    fn children(&mut self, message: &usize) -> Result<Vec<usize>, Infallible> {
        let child = |(&child, &parent): (&usize, &Option<usize>)| {
            (parent == Some(*message)).then_some(child)
        };
        Ok(self.0.iter().filter_map(child).collect())
    }
}

impl Parents {
    /// From the message to its root; `None` if its chain of parents breaks off.
    fn path(&self, message: usize) -> Option<Vec<usize>> {
        let mut path = vec![message];
        while let Some(parent) = *self.0.get(path.last()?)? {
            path.push(parent);
        }
        Some(path)
    }
}

/// A tree without loops: each parent has a lower number.
fn trees() -> impl Strategy<Value = Parents> {
    prop::collection::vec(any::<prop::sample::Index>(), 1..40).prop_map(|parents| {
        let parents = parents.iter().enumerate().map(|(message, parent)| {
            (message, (message > 0).then(|| parent.index(message)).filter(|_| message % 9 != 8))
        });
        Parents(parents.collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_message_that_is_kept_stays_in_its_tree(
        tree in trees(),
        (end, start, leaf) in any::<(prop::sample::Index, prop::sample::Index, prop::sample::Index)>(),
        keep_side_branches: bool,
    ) {
        let count = tree.0.len();
        let mut segment = tree.path(end.index(count)).unwrap();
        segment.truncate(start.index(segment.len()) + 1);
        segment.reverse();
        let leaf = leaf.index(count);
        let options = ReplaceOptions { keep_side_branches };
        let plan = replace_path_segment(&mut tree.clone(), &segment, Some(&leaf), options).unwrap();

        prop_assert_eq!(&plan.removed, &segment);
        prop_assert_eq!(plan.parent, tree.0[&segment[0]]);
        prop_assert_eq!(plan.moves_leaf, segment.contains(&leaf));
        let mut after = tree.clone();
        for message in &plan.removed {
            after.0.remove(message);
        }
        after.0.insert(REPLACEMENT, plan.parent);
        for &message in &plan.reparented {
            prop_assert_eq!(after.0.insert(message, Some(REPLACEMENT)).map(|parent| parent.is_some()), Some(true));
        }
        let removed: HashSet<usize> = segment.iter().copied().collect();
        for message in (0..count).filter(|message| !removed.contains(message)) {
            let before = tree.path(message).unwrap();
            let Some(now) = after.path(message) else {
                prop_assert!(before.iter().any(|above| plan.orphaned.contains(above)));
                continue;
            };
            // The same path, with one replacement for everything that was replaced.
            let mut expected: Vec<usize> = before.clone();
            if let Some(first) = before.iter().position(|above| removed.contains(above)) {
                let replaced = before.iter().filter(|above| removed.contains(above)).count();
                expected.splice(first..first + replaced, [REPLACEMENT]);
            }
            prop_assert_eq!(now, expected);
        }
        prop_assert!(plan.orphaned.is_empty() || !keep_side_branches);
    }
}
