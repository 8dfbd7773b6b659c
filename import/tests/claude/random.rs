//! Any records, any bytes, any pieces of files.

use std::collections::HashSet;

use leafline_import::claude::{LeafSource, context, detect, full_history, path};
use proptest::prelude::*;
use serde_json::Value;

use crate::facts::check_facts;
use crate::read;

/// JSON of the members' names at any depth, so that nested members are distinguished from those at the top.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        Just(Value::Bool(true)),
        "[a-z\u{e9}\"\\\\{]{0,6}".prop_map(Value::String),
        Just(Value::from("tool_result")),
        Just(Value::from("user")),
    ];
    let name = prop::sample::select(vec![
        "type",
        "uuid",
        "parentUuid",
        "message",
        "content",
        "id",
        "role",
        "isSidechain",
        "leafUuid",
        "sessionId",
        "isMeta",
        "other",
    ]);
    leaf.prop_recursive(5, 60, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((name.clone(), inner), 0..8).prop_map(|members| {
                members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            }),
        ]
    })
}

proptest! {
    #[test]
    fn facts_of_any_record(value in json()) {
        if value.is_object() {
            check_facts(&value.to_string(), &value);
        }
    }

    #[test]
    fn any_bytes_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = detect(&bytes, true);
        let _ = detect(&bytes, false);
        let _ = read(&bytes).leaf();
    }

    /// Pieces of sessions in any order: nothing hangs or panics, and every path ends.
    #[test]
    fn any_pieces_can_be_read(
        pieces in proptest::collection::vec((0_usize..9, 0_usize..6, 0_usize..6), 0..40),
    ) {
        let mut file = String::new();
        for (kind, first, second) in pieces {
            file.push_str(&match kind {
                0 | 1 => format!("{{\"type\":\"user\",\"uuid\":\"{first}\",\"parentUuid\":\"{second}\",\"message\":{{\"content\":\"x\"}}}}"),
                2 => format!("{{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"{first}\",\"logicalParentUuid\":\"{second}\"}}"),
                3 => format!("{{\"type\":\"summary\",\"leafUuid\":\"{first}\"}}\n"),
                4 => format!("{{\"type\":\"progress\",\"uuid\":\"{first}\",\"parentUuid\":\"{second}\",\"data\":{{"),
                5 => "\"}]".to_owned(),
                6 => "\0\0".to_owned(),
                _ => "\n".to_owned(),
            });
        }
        let finder = read(file.as_bytes());
        let tree = finder.tree();
        if let Some(leaf) = finder.leaf() {
            prop_assert!(leaf.entry < tree.len());
        }
        for entry in 0..tree.len() {
            for walked in [path(tree, entry), context(tree, entry), full_history(tree, entry)] {
                let entries = walked.unwrap().entries;
                prop_assert_eq!(entries.last(), Some(&entry));
                prop_assert_eq!(entries.iter().collect::<HashSet<_>>().len(), entries.len());
            }
        }
        for fork in tree.forks() {
            prop_assert!(fork.branches.len() > 1);
        }
    }
}

#[test]
fn a_long_chain_is_read_in_linear_time() {
    let mut file = String::from("{\"type\":\"summary\",\"leafUuid\":\"0\"}\n");
    for number in 0..200_000 {
        let kind = if number % 2 == 0 { "user" } else { "system" };
        file.push_str(&format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"{number}\",\"parentUuid\":\"{}\",\"message\":{{\"content\":\"x\"}}}}\n",
            number as i64 - 1
        ));
    }
    let finder = read(file.as_bytes());
    let leaf = finder.leaf().unwrap();
    assert_eq!((leaf.line, leaf.source), (200_000, LeafSource::LastEntry));
    assert_eq!(path(finder.tree(), leaf.entry).unwrap().entries.len(), 200_000);
    assert!(finder.tree().forks().is_empty());
}
