//! What the tree and its leaf need of a record.

use std::borrow::Cow;
use std::ops::Range;

use crate::claude::kind::RecordKind;
use crate::claude::leaf::LeafSource;
use crate::claude::record::{Parent, Record};
use crate::claude::scanner::Scanner;
use crate::recover::{Recovered, RecoveredParent, Wholeness, pieces, recover};
use crate::scan::Shape;
use crate::text::decode;

/// A record, as the rules of the tree and of the leaf see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node<'a> {
    /// What it is.
    pub kind: RecordKind,
    /// Whether it is an entry of the tree; one that stands outside can still say which the leaf is.
    pub is_entry: bool,
    /// `uuid`, as WTF-8.
    pub uuid: Option<Cow<'a, [u8]>>,
    /// `parentUuid`.
    pub parent: Parent<'a>,
    /// `logicalParentUuid`.
    pub logical_parent: Option<Cow<'a, [u8]>>,
    /// `leafUuid`.
    pub leaf_uuid: Option<Cow<'a, [u8]>>,
    /// See [`Record::is_explicit`].
    pub is_explicit: bool,
    /// `message.id`.
    pub message_id: Option<Cow<'a, [u8]>>,
    /// `isSidechain`.
    pub is_sidechain: bool,
    /// Whether it is a prompt ([`Record::is_prompt`]), or one that waited in an attachment while the model worked.
    pub is_prompt: bool,
    /// See [`Record::is_compact_boundary`].
    pub is_compact_boundary: bool,
    /// See [`Record::keeps_messages`].
    pub keeps_messages: bool,
    /// `timestamp`, in milliseconds since 1970.
    pub time_ms: Option<i64>,
}

impl<'a> Node<'a> {
    /// Of a scanned line.
    #[must_use]
    pub fn of(record: &Record<'a>) -> Self {
        Self {
            kind: record.kind(),
            is_entry: record.is_entry(),
            uuid: record.uuid(),
            parent: record.parent(),
            logical_parent: record.logical_parent(),
            leaf_uuid: record.leaf_uuid(),
            is_explicit: record.is_explicit(),
            message_id: record.message_id(),
            is_sidechain: record.is_sidechain(),
            is_prompt: record.is_prompt() || record.queued_prompt().is_some(),
            is_compact_boundary: record.is_compact_boundary(),
            keeps_messages: record.keeps_messages(),
            time_ms: record.timestamp_ms(),
        }
    }

    /// What it is if it names the leaf: a `summary` or `last-prompt` with a `leafUuid`, or a `last-prompt` that says that the
    /// conversation begins anew.
    #[must_use]
    pub fn names_leaf(&self) -> Option<LeafSource> {
        LeafSource::of(self.kind).filter(|_| self.leaf_uuid.is_some() || self.is_explicit)
    }

    /// Of what could be read of a record on a line that is not JSON. It is no prompt, since its content was not read.
    #[must_use]
    pub fn of_recovered(recovered: &Recovered<'a>) -> Self {
        let kind = RecordKind::of_type(recovered.record_type.as_deref());
        Self {
            kind,
            is_entry: recovered.uuid.is_some()
                || recovered.parent_uuid.is_some()
                || kind.is_of_tree(),
            uuid: recovered.uuid.clone(),
            parent: match &recovered.parent_uuid {
                None | Some(RecoveredParent::Null) => Parent::Root,
                Some(RecoveredParent::Id(id)) if id.is_empty() => Parent::Root,
                Some(RecoveredParent::Id(id)) => Parent::Uuid(id.clone()),
                Some(RecoveredParent::Other) => Parent::Unusable,
            },
            logical_parent: None,
            leaf_uuid: None,
            is_explicit: false,
            message_id: None,
            is_sidechain: recovered.is_sidechain,
            is_prompt: false,
            is_compact_boundary: false,
            keeps_messages: false,
            time_ms: recovered.time_ms(),
        }
    }
}

/// Tells of each record of a line, with its bytes in the line: the one record that a line should be, or those that can
/// be recovered from a malformed one, while the bytes stay one line.
///
/// A recovered record that is JSON by itself has all its facts; of any other only those that [`recover()`] gives.
///
/// ```
/// use leafline_import::claude::{Scanner, for_each_node};
///
/// let line = br#"{"type":"user","uuid":"a"}{"type":"assistant","uuid":"b","parentUuid":"a"}"#;
/// let mut found = Vec::new();
/// for_each_node(line, &mut Scanner::new(), |bytes, node| {
///     found.push((bytes, node.uuid.as_deref().map(<[u8]>::to_vec)));
/// });
/// assert_eq!(found, [(0..26, Some(b"a".to_vec())), (26..74, Some(b"b".to_vec()))]);
/// ```
pub fn for_each_node(
    line: &[u8],
    scanner: &mut Scanner,
    mut found: impl FnMut(Range<usize>, &Node<'_>),
) {
    let text = decode(line);
    let record = scanner.scan(&text);
    match record.scan().shape {
        Shape::Object => return found(0..line.len(), &Node::of(&record)),
        Shape::Blank | Shape::Scalar => return,
        Shape::Malformed => {}
    }
    for piece in pieces(line) {
        let Some(recovered) = recover(&line[piece.clone()]).into_iter().next() else { continue };
        let bytes = piece.start + recovered.bytes.start..piece.start + recovered.bytes.end;
        let text = decode(&line[bytes.clone()]);
        let record = scanner.scan(&text);
        if recovered.wholeness == Wholeness::Whole && record.scan().shape == Shape::Object {
            found(bytes, &Node::of(&record));
        } else {
            found(bytes, &Node::of_recovered(&recovered));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uuids(line: &[u8]) -> Vec<(String, RecordKind, bool)> {
        let mut found = Vec::new();
        for_each_node(line, &mut Scanner::new(), |_, node| {
            let uuid = node.uuid.as_deref().unwrap_or_default();
            found.push((String::from_utf8_lossy(uuid).into_owned(), node.kind, node.is_prompt));
        });
        found
    }

    #[test]
    fn lines_of_every_shape() {
        let prompt = r#"{"type":"user","uuid":"a","message":{"content":"x"}}"#;
        let expected = ("a".to_owned(), RecordKind::User, true);
        for (before, after) in [("", "\r\n"), ("\u{feff}", "\n"), ("\0\0", "\0\n")] {
            let line = format!("{before}{prompt}{after}");
            assert_eq!(uuids(line.as_bytes()), std::slice::from_ref(&expected));
        }
        let line = br#"{"type":"user","uuid":"t","parentUuid":{"type":"user","uuid":"a","parentUuid":"t"}"#;
        let mut parents = Vec::new();
        for_each_node(line, &mut Scanner::new(), |_, node| {
            parents.push(node.parent == Parent::Uuid(b"t".as_slice().into()));
            assert_ne!(node.parent, Parent::Unusable);
        });
        assert_eq!(parents, [false, true]);
        let torn = br#"{"type":"user","uuid":"t","message":{"content":"x"#;
        let line = [torn, prompt.as_bytes()].concat();
        assert_eq!(uuids(&line), [("t".to_owned(), RecordKind::User, false), expected]);
        assert!(uuids(b"\n").is_empty() && uuids(b"[{}]").is_empty() && uuids(b"{oh}").is_empty());
    }
}
