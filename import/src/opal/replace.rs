//! Replacing a part of a path with a summary: the effect on the tree.

use std::collections::HashMap;
use std::fmt::{Debug, Display};
use std::hash::Hash;

/// A tree of messages for which a replacement is planned.
pub trait Tree {
    /// How a message is named: by its id, or its ordinal.
    type Id: Clone + Eq + Hash + Debug;
    /// Why a look-up failed.
    type Error: Display;

    /// The parent of a message: `None` if there is no such message, `Some(None)` if it is a root.
    ///
    /// # Errors
    ///
    /// Errors of the tree.
    fn parent(&mut self, message: &Self::Id) -> Result<Option<Option<Self::Id>>, Self::Error>;

    /// The children of a message, in any order.
    ///
    /// # Errors
    ///
    /// Errors of the tree.
    fn children(&mut self, message: &Self::Id) -> Result<Vec<Self::Id>, Self::Error>;
}

/// How to replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplaceOptions {
    /// Whether the children of all replaced messages become the replacement's, so that branches off the middle of the
    /// path stay in the tree. Opal moves only those of the last message; all others can no longer be reached. The
    /// default is true.
    pub keep_side_branches: bool,
}

impl Default for ReplaceOptions {
    fn default() -> Self {
        Self { keep_side_branches: true }
    }
}

/// The changes to the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement<Id> {
    /// The parent of the replacement: that of the first replaced message; `None` if that is a root.
    pub parent: Option<Id>,
    /// The messages that are removed, in the order of the path.
    pub removed: Vec<Id>,
    /// The messages whose parent becomes the replacement: in the order of the path, siblings in the order that the tree
    /// gives.
    pub reparented: Vec<Id>,
    /// The messages whose parent is removed; none if side branches are kept.
    pub orphaned: Vec<Id>,
    /// Whether the replacement becomes the leaf; otherwise the leaf stays where it is.
    pub moves_leaf: bool,
}

/// Why a list of messages cannot be replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplaceError<Id: Debug, E: Display> {
    /// The list is empty.
    #[error("there is nothing to replace: the list of messages is empty")]
    Empty,
    /// A message is not in the tree.
    #[error("message {message:?}, number {} of the list, is not in the session", place + 1)]
    Unknown {
        /// The message.
        message: Id,
        /// Its place in the list, from 0.
        place: usize,
    },
    /// A message is in the list twice.
    #[error("message {message:?} is number {} and number {} of the list", first + 1, place + 1)]
    Repeated {
        /// The message.
        message: Id,
        /// Its first place in the list, from 0.
        first: usize,
        /// Its second place.
        place: usize,
    },
    /// A message is not a child of the one before it in the list.
    #[error(
        "the messages are not part of a path: the parent of {message:?}, number {} of the list, is {parent:?} and not {before:?}",
        place + 1
    )]
    NotConsecutive {
        /// The message.
        message: Id,
        /// Its place in the list, from 0.
        place: usize,
        /// Its parent.
        parent: Option<Id>,
        /// The message before it in the list.
        before: Id,
    },
    /// The first message's parent is in the list: a loop, which is not a path.
    #[error(
        "the messages are not part of a path: the parent of {message:?}, the first, is {parent:?}, one of them"
    )]
    Loop {
        /// The first message.
        message: Id,
        /// Its parent.
        parent: Id,
    },
    /// A look-up in the tree failed.
    #[error("{0}")]
    Tree(E),
}

/// Plans what `replace_path_segment(session, ids, summary)` does (Opal session document; observed).
///
/// `messages` are consecutive, each a child of the one before. They are removed, the replacement goes below the parent
/// of the first, and the remaining children of the last become the replacement's; with
/// [`ReplaceOptions::keep_side_branches`] those of all others too. If the leaf is one of the messages, it moves to the
/// replacement. If several replacements follow one another, the first gets the parent, the last the children and the
/// leaf.
///
/// Nothing is changed: the plan says which lines must be rewritten ([`with_parent_id`](crate::opal::with_parent_id))
/// and which are removed.
///
/// ```
/// use leafline_import::opal::{ReplaceOptions, Tree, replace_path_segment};
///
/// /// The parent of each message, by number; 0 has none.
/// struct Parents([Option<usize>; 5]);
///
/// impl Tree for Parents {
///     type Id = usize;
///     type Error = std::convert::Infallible;
///
///     fn parent(&mut self, message: &usize) -> Result<Option<Option<usize>>, Self::Error> {
///         Ok(self.0.get(*message).copied())
///     }
///
///     fn children(&mut self, message: &usize) -> Result<Vec<usize>, Self::Error> {
///         Ok((0..self.0.len()).filter(|&child| self.0[child] == Some(*message)).collect())
///     }
/// }
///
/// // 0 - 1 - 2 - 3, and 4 below 1.
/// let mut tree = Parents([None, Some(0), Some(1), Some(2), Some(1)]);
/// let plan = replace_path_segment(&mut tree, &[1, 2], Some(&3), ReplaceOptions::default())?;
/// assert_eq!(plan.parent, Some(0));
/// assert_eq!(plan.removed, [1, 2]);
/// assert_eq!(plan.reparented, [4, 3]);
/// assert!(!plan.moves_leaf);
/// # Ok::<(), leafline_import::opal::ReplaceError<usize, std::convert::Infallible>>(())
/// ```
///
/// # Errors
///
/// [`ReplaceError`] if there are no messages, if they are not all in the tree, or if they are not part of a path.
pub fn replace_path_segment<Id: Clone + Eq + Hash + Debug, E: Display>(
    tree: &mut impl Tree<Id = Id, Error = E>,
    messages: &[Id],
    leaf: Option<&Id>,
    options: ReplaceOptions,
) -> Result<Replacement<Id>, ReplaceError<Id, E>> {
    let (parent, places) = check_segment(tree, messages)?;
    let last = messages.len() - 1;
    let (mut reparented, mut orphaned) = (Vec::new(), Vec::new());
    for (place, message) in messages.iter().enumerate() {
        let children = tree.children(message).map_err(ReplaceError::Tree)?;
        let kept = children.into_iter().filter(|child| !places.contains_key(child));
        if place == last || options.keep_side_branches {
            reparented.extend(kept);
        } else {
            orphaned.extend(kept);
        }
    }
    Ok(Replacement {
        parent,
        reparented,
        orphaned,
        moves_leaf: leaf.is_some_and(|leaf| places.contains_key(leaf)),
        removed: messages.to_vec(),
    })
}

/// The parent of the first message, and the place of each.
type Segment<'a, Id> = (Option<Id>, HashMap<&'a Id, usize>);

fn check_segment<'a, Id: Clone + Eq + Hash + Debug, E: Display>(
    tree: &mut impl Tree<Id = Id, Error = E>,
    messages: &'a [Id],
) -> Result<Segment<'a, Id>, ReplaceError<Id, E>> {
    let mut places = HashMap::with_capacity(messages.len());
    let mut parent_of_first = None;
    for (place, message) in messages.iter().enumerate() {
        if let Some(first) = places.insert(message, place) {
            return Err(ReplaceError::Repeated { message: message.clone(), first, place });
        }
        let parent = tree.parent(message).map_err(ReplaceError::Tree)?;
        let parent =
            parent.ok_or_else(|| ReplaceError::Unknown { message: message.clone(), place })?;
        let Some(before) = place.checked_sub(1).map(|before| &messages[before]) else {
            parent_of_first = parent;
            continue;
        };
        if parent.as_ref() != Some(before) {
            return Err(ReplaceError::NotConsecutive {
                message: message.clone(),
                place,
                parent,
                before: before.clone(),
            });
        }
    }
    let first = messages.first().ok_or(ReplaceError::Empty)?;
    if let Some(parent) = parent_of_first.as_ref().filter(|&parent| places.contains_key(parent)) {
        return Err(ReplaceError::Loop { message: first.clone(), parent: parent.clone() });
    }
    Ok((parent_of_first, places))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    struct Parents(Vec<(&'static str, Option<&'static str>)>);

    impl Tree for Parents {
        type Id = &'static str;
        type Error = Infallible;

        fn parent(
            &mut self,
            id: &&'static str,
        ) -> Result<Option<Option<&'static str>>, Infallible> {
            Ok(self.0.iter().find(|(message, _)| message == id).map(|&(_, parent)| parent))
        }

        fn children(&mut self, id: &&'static str) -> Result<Vec<&'static str>, Infallible> {
            let of_id = |message: &&(&'static str, _)| message.1 == Some(*id);
            Ok(self.0.iter().filter(of_id).map(|&(message, _)| message).collect())
        }
    }

    /// a - b - c - d, x below b, y below c.
    fn tree() -> Parents {
        let parents = [("a", None), ("b", "a".into()), ("c", "b".into()), ("d", "c".into())];
        Parents([&parents[..], &[("x", Some("b")), ("y", Some("c"))]].concat())
    }

    fn plan(ids: &[&'static str], leaf: &'static str, keep: bool) -> Replacement<&'static str> {
        let options = ReplaceOptions { keep_side_branches: keep };
        replace_path_segment(&mut tree(), ids, Some(&leaf), options).unwrap()
    }

    fn error(ids: &[&'static str]) -> String {
        let plan = replace_path_segment(&mut tree(), ids, None, ReplaceOptions::default());
        plan.unwrap_err().to_string()
    }

    #[test]
    fn as_opal_does_and_with_side_branches_kept() {
        let opal = plan(&["a", "b", "c"], "d", false);
        assert_eq!((opal.parent, opal.moves_leaf), (None, false));
        assert_eq!(opal.reparented, ["d", "y"]);
        assert_eq!(opal.orphaned, ["x"]);
        let ours = plan(&["a", "b", "c"], "b", true);
        assert_eq!(ours.reparented, ["x", "d", "y"]);
        assert!(ours.orphaned.is_empty() && ours.moves_leaf);
        assert_eq!(plan(&["d"], "d", true).parent, Some("c"));
    }

    #[test]
    fn errors_have_the_facts() {
        assert_eq!(error(&[]), "there is nothing to replace: the list of messages is empty");
        assert_eq!(
            error(&["a", "z"]),
            "message \"z\", number 2 of the list, is not in the session"
        );
        assert_eq!(error(&["a", "b", "a"]), "message \"a\" is number 1 and number 3 of the list");
        assert_eq!(
            error(&["a", "c"]),
            "the messages are not part of a path: the parent of \"c\", number 2 of the list, is Some(\"b\") and not \"a\""
        );
        assert_eq!(
            error(&["b", "a"]),
            "the messages are not part of a path: the parent of \"a\", number 2 of the list, is None and not \"b\""
        );
    }

    #[test]
    fn a_loop_is_no_path() {
        let mut ring = Parents(vec![("a", Some("b")), ("b", Some("a")), ("c", Some("c"))]);
        for ids in [&["a", "b"][..], &["c"]] {
            let plan = replace_path_segment(&mut ring, ids, None, ReplaceOptions::default());
            assert!(matches!(plan, Err(ReplaceError::Loop { .. })));
        }
    }
}
