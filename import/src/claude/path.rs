//! The conversation at an entry: from it upwards, to the root or to where the context begins.

use std::collections::HashSet;
use std::hash::Hash;

use crate::conversation::{Above, Link, PathEnd};

/// Returns what the rules of paths ask about an entry: [`SessionTree`](crate::claude::SessionTree) from memory, a store
/// from its index.
pub trait Lookup {
    /// What stands for an entry: a number in the file, say.
    type Entry: Copy + Eq + Hash;
    /// Why a look-up can fail.
    type Error;

    /// The entry that `parentUuid` names.
    ///
    /// # Errors
    ///
    /// What the look-up gives.
    fn parent(&self, entry: Self::Entry) -> Result<Link<Self::Entry>, Self::Error>;

    /// Whether the entry is a compact boundary.
    ///
    /// # Errors
    ///
    /// What the look-up gives.
    fn is_compact_boundary(&self, entry: Self::Entry) -> Result<bool, Self::Error>;

    /// The entry that `logicalParentUuid` names. It is asked for compact boundaries only.
    ///
    /// # Errors
    ///
    /// What the look-up gives.
    fn logical_parent(&self, entry: Self::Entry) -> Result<Link<Self::Entry>, Self::Error>;
}

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path<E> {
    /// Its entries, oldest first; never empty, and none twice.
    pub entries: Vec<E>,
    /// Why it begins where it does.
    pub end: PathEnd,
}

/// How far up a conversation goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extent {
    /// To the root: [`path`].
    Path,
    /// To the last compact boundary: [`context`].
    Context,
    /// Over the compact boundaries: [`full_history`].
    FullHistory,
}

/// One step up a conversation: the rule of [`path`], [`context`] and [`full_history`], for those who walk by themselves.
/// Who does has to see to loops.
///
/// ```
/// use leafline_import::claude::{Extent, Node, Scanner, SessionTree, above};
/// use leafline_import::conversation::{Above, PathEnd};
///
/// let mut tree = SessionTree::new();
/// let mut scanner = Scanner::new();
/// for (line, text) in (0..).zip([
///     r#"{"type":"user","uuid":"a","parentUuid":null}"#,
///     r#"{"type":"system","subtype":"compact_boundary","uuid":"b","parentUuid":null,"logicalParentUuid":"a"}"#,
/// ]) {
///     tree.add(line, &Node::of(&scanner.scan(text)));
/// }
/// assert_eq!(above(&tree, Extent::Path, 1)?, Above::End(PathEnd::Root));
/// assert_eq!(above(&tree, Extent::FullHistory, 1)?, Above::Entry(0));
/// # Ok::<(), std::convert::Infallible>(())
/// ```
///
/// # Errors
///
/// What the look-up gives.
pub fn above<L: Lookup>(
    lookup: &L,
    extent: Extent,
    entry: L::Entry,
) -> Result<Above<L::Entry>, L::Error> {
    if extent == Extent::Context && lookup.is_compact_boundary(entry)? {
        return Ok(Above::End(PathEnd::Boundary));
    }
    let end = match lookup.parent(entry)? {
        Link::Entry(parent) => return Ok(Above::Entry(parent)),
        Link::None => PathEnd::Root,
        Link::Missing => PathEnd::Orphan,
    };
    if extent == Extent::FullHistory && lookup.is_compact_boundary(entry)? {
        return Ok(match lookup.logical_parent(entry)? {
            Link::Entry(parent) => Above::Entry(parent),
            Link::Missing => Above::End(PathEnd::LostHistory),
            Link::None => Above::End(end),
        });
    }
    Ok(Above::End(end))
}

/// The document's conversation at an entry: from it along `parentUuid` to the root (session JSONL format,
/// `get_conversation`). A compact boundary has no parent, so the path begins with the last one above the entry. A loop
/// ends it before the first entry that is met twice; the document's own loop would not end.
///
/// ```
/// use leafline_import::claude::{Node, Scanner, SessionTree, path};
/// use leafline_import::conversation::PathEnd;
///
/// let mut tree = SessionTree::new();
/// let mut scanner = Scanner::new();
/// for (line, text) in (0..).zip([
///     r#"{"type":"user","uuid":"a","parentUuid":null}"#,
///     r#"{"type":"assistant","uuid":"b","parentUuid":"a"}"#,
/// ]) {
///     tree.add(line, &Node::of(&scanner.scan(text)));
/// }
/// let conversation = path(&tree, 1)?;
/// assert_eq!(conversation.entries, [0, 1]);
/// assert_eq!(conversation.end, PathEnd::Root);
/// # Ok::<(), std::convert::Infallible>(())
/// ```
///
/// # Errors
///
/// What the look-up gives.
pub fn path<L: Lookup>(lookup: &L, leaf: L::Entry) -> Result<Path<L::Entry>, L::Error> {
    walk(leaf, |entry| above(lookup, Extent::Path, entry))
}

/// What the model is shown at an entry: the path from the last compact boundary on, with the boundary itself (observed);
/// the whole [`path`] where there is none. A boundary that has a parent ends it all the same (ours: what is above it was
/// replaced by its summary).
///
/// # Errors
///
/// What the look-up gives.
pub fn context<L: Lookup>(lookup: &L, leaf: L::Entry) -> Result<Path<L::Entry>, L::Error> {
    walk(leaf, |entry| above(lookup, Extent::Context, entry))
}

/// Everything that was said up to an entry: the path, which goes on above each compact boundary at the entry that its
/// `logicalParentUuid` names (observed).
///
/// Where that entry is not in the file, the history ends there, as [`PathEnd::LostHistory`]: which of the other entries
/// came before is not said anywhere, and is not guessed (ours). A boundary that has a parent in the file goes on there
/// (ours: `parentUuid` is the documented link).
///
/// # Errors
///
/// What the look-up gives.
pub fn full_history<L: Lookup>(lookup: &L, leaf: L::Entry) -> Result<Path<L::Entry>, L::Error> {
    walk(leaf, |entry| above(lookup, Extent::FullHistory, entry))
}

fn walk<E: Copy + Eq + Hash, Error>(
    leaf: E,
    above: impl Fn(E) -> Result<Above<E>, Error>,
) -> Result<Path<E>, Error> {
    let mut entries = vec![leaf];
    let mut met = HashSet::from([leaf]);
    let mut entry = leaf;
    let end = loop {
        match above(entry)? {
            Above::End(end) => break end,
            Above::Entry(parent) if met.insert(parent) => {
                entries.push(parent);
                entry = parent;
            }
            Above::Entry(_) => break PathEnd::Loop,
        }
    };
    entries.reverse();
    Ok(Path { entries, end })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude::{Node, Scanner, SessionTree};

    fn tree(records: &[(&str, &str)]) -> SessionTree {
        let mut tree = SessionTree::new();
        let mut scanner = Scanner::new();
        for (line, (uuid, members)) in (0..).zip(records) {
            let text = format!(r#"{{"type":"system","uuid":"{uuid}",{members}}}"#);
            tree.add(line, &Node::of(&scanner.scan(&text)));
        }
        tree
    }

    fn parts(path: Result<Path<usize>, std::convert::Infallible>) -> (Vec<usize>, PathEnd) {
        path.map(|path| (path.entries, path.end)).unwrap()
    }

    #[test]
    fn boundaries() {
        let tree = tree(&[
            ("a", r#""parentUuid":"gone""#),
            ("b", r#""parentUuid":"a""#),
            ("c", r#""parentUuid":null,"logicalParentUuid":"b","subtype":"compact_boundary""#),
            ("d", r#""parentUuid":"c""#),
            ("e", r#""parentUuid":null,"logicalParentUuid":"lost","subtype":"compact_boundary""#),
            ("f", r#""parentUuid":"e""#),
            ("g", r#""parentUuid":"b","logicalParentUuid":"f","subtype":"compact_boundary""#),
            ("h", r#""parentUuid":null,"logicalParentUuid":"b""#),
        ]);
        assert_eq!(parts(path(&tree, 1)), (vec![0, 1], PathEnd::Orphan));
        assert_eq!(parts(path(&tree, 3)), (vec![2, 3], PathEnd::Root));
        assert_eq!(parts(context(&tree, 3)), (vec![2, 3], PathEnd::Boundary));
        assert_eq!(parts(full_history(&tree, 3)), (vec![0, 1, 2, 3], PathEnd::Orphan));
        assert_eq!(parts(full_history(&tree, 5)), (vec![4, 5], PathEnd::LostHistory));
        assert_eq!(parts(path(&tree, 6)), (vec![0, 1, 6], PathEnd::Orphan));
        assert_eq!(parts(context(&tree, 6)), (vec![6], PathEnd::Boundary));
        assert_eq!(parts(full_history(&tree, 6)), (vec![0, 1, 6], PathEnd::Orphan));
        assert_eq!(parts(full_history(&tree, 7)), (vec![7], PathEnd::Root));
    }

    #[test]
    fn loops_end() {
        let tree = tree(&[
            ("a", r#""parentUuid":"a""#),
            ("b", r#""parentUuid":"d""#),
            ("c", r#""parentUuid":"b""#),
            ("d", r#""parentUuid":"c""#),
            ("e", r#""parentUuid":"d""#),
            ("f", r#""logicalParentUuid":"f","subtype":"compact_boundary""#),
        ]);
        assert_eq!(parts(path(&tree, 0)), (vec![0], PathEnd::Loop));
        assert_eq!(parts(path(&tree, 4)), (vec![1, 2, 3, 4], PathEnd::Loop));
        assert_eq!(parts(context(&tree, 2)), (vec![3, 1, 2], PathEnd::Loop));
        assert_eq!(parts(full_history(&tree, 5)), (vec![5], PathEnd::Loop));
    }
}
