//! The examples in Claude Code's and Opal's documents are read as the documents say.
//!
//! Guards against a reading that the documents' own examples contradict.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use leafline_import::claude::{self, LeafFinder, RecordKind, SessionTree, for_each_node, path};
use leafline_import::opal::{self, CurrentId};

/// The summary and the snapshot in Claude Code's document, with the messages that it shows: A, B and C.
const CLAUDE: &str = concat!(
    r#"{"type": "summary", "summary": "Brief description of the session", "leafUuid": "C", "version": "1"}"#,
    "\n",
    r#"{"type": "snapshot", "messageId": "uuid", "snapshot": "user", "isExtensionMessage": false, "timestamp": "2024-01-15T10:30:00Z"}"#,
    "\n",
    r#"{"type": "user", "sessionId": "s", "uuid": "A", "parentUuid": null, "message": {"role": "user", "content": "first"}}"#,
    "\n",
    r#"{"type": "assistant", "sessionId": "s", "uuid": "B", "parentUuid": "A", "message": {"role": "assistant", "content": []}}"#,
    "\n",
    r#"{"type": "user", "sessionId": "s", "uuid": "C", "parentUuid": "B", "message": {"role": "user", "content": "second"}}"#,
    "\n",
);

#[test]
fn the_conversation_of_claude_codes_document() {
    claude::detect(CLAUDE.as_bytes(), true).unwrap();
    let mut scanner = claude::Scanner::new();
    let mut finder = LeafFinder::new();
    let mut kinds = Vec::new();
    for (number, line) in (0..).zip(CLAUDE.lines()) {
        kinds.push(scanner.scan(line).kind());
        for_each_node(line.as_bytes(), &mut scanner, |_, node| finder.observe(number, node));
    }
    assert_eq!(
        kinds,
        [
            RecordKind::Summary,
            RecordKind::Snapshot,
            RecordKind::User,
            RecordKind::Assistant,
            RecordKind::User,
        ]
    );
    let summary = scanner.scan(CLAUDE.lines().next().unwrap());
    assert_eq!(summary.summary().as_deref(), Some("Brief description of the session"));
    let leaf = finder.leaf().unwrap();
    assert_eq!(leaf.line, 4);
    let tree: SessionTree = finder.into_tree();
    let conversation: Vec<u64> = path(&tree, leaf.entry)
        .unwrap()
        .entries
        .into_iter()
        .map(|entry| tree.line(entry))
        .collect();
    assert_eq!(conversation, [2, 3, 4]);
}

/// The tree that Opal's document shows, below its header.
const OPAL: &str = concat!(
    r#"{"metadata": {"title": "Fix auth bug", "created_at": "..."}}"#,
    "\n",
    r#"{"id": "msg_1", "parent_id": null, "role": "user", "content": "fix the bug"}"#,
    "\n",
    r#"{"id": "msg_2", "parent_id": "msg_1", "role": "assistant", "content": "I'll edit app.ts", "tool_calls": []}"#,
    "\n",
    r#"{"id": "msg_3", "parent_id": "msg_2", "role": "tool_result", "content": "Edit applied"}"#,
    "\n",
    r#"{"id": "msg_4", "parent_id": "msg_3", "role": "assistant", "content": "Done!"}"#,
    "\n",
    r#"{"id": "msg_5", "parent_id": "msg_3", "role": "user", "content": "actually, try tests"}"#,
    "\n",
    r#"{"id": "msg_6", "parent_id": "msg_5", "role": "assistant", "content": "Running tests..."}"#,
    "\n",
);

#[test]
fn the_tree_of_opals_document() {
    let header = opal::detect(OPAL.as_bytes(), true).unwrap();
    assert_eq!(header.title.as_deref(), Some("Fix auth bug"));
    assert_eq!((header.current_id, header.created_at_ms), (CurrentId::Absent, None));
    let mut scanner = opal::Scanner::new();
    let mut ids: Vec<Vec<u8>> = Vec::new();
    let mut messages = Vec::new();
    for (number, line) in (0u64..).zip(OPAL.lines()).skip(1) {
        let scanned = scanner.scan(line);
        let parent = match scanned.parent() {
            opal::Parent::Id(id) => {
                ids.iter().position(|known| **known == *id).map(|place| place as u64 + 1)
            }
            _ => None,
        };
        messages.push((number, parent));
        ids.push(scanned.id().unwrap().into_owned());
    }
    // The longest path's last message; with a pointer to branch A, the message in that.
    assert_eq!(opal::leaf(&CurrentId::Absent, |_| None, messages.clone()), Some(6));
    let branch_a = CurrentId::Id(b"msg_4".to_vec());
    assert_eq!(opal::leaf(&branch_a, |id| (id == b"msg_4").then_some(4), messages), Some(4));
}
