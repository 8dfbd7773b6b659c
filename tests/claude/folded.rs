//! Records of one message as one node.

use leafline::tree::Tree;

use crate::forks::forks;
use crate::records::{assistant, call, place, record, result, user};

/// Each node: its uuid, its parent's, and the uuids of its records if it has several.
fn shape(tree: &Tree) -> Vec<(String, String, Vec<String>)> {
    let name = |place: usize| tree.node(place).unwrap().id.clone().unwrap();
    (0..)
        .zip(tree.nodes())
        .map(|(place, node)| {
            let records = node.records.iter().map(|record| record.id.clone().unwrap()).collect();
            (name(place), node.parent.map(name).unwrap_or_default(), records)
        })
        .collect()
}

fn expected(nodes: &[(&str, &str, &[&str])]) -> Vec<(String, String, Vec<String>)> {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    nodes
        .iter()
        .map(|(id, parent, records)| ((*id).into(), (*parent).into(), owned(records)))
        .collect()
}

#[test]
fn what_hangs_on_the_records_hangs_on_the_message() {
    let place = place(&[
        user("a", ""),
        assistant("b", "a", "m1"),
        call("c", "b", "m1"),
        record("progress", "g", "c"),
        result("r1", "c"),
        call("d", "r1", "m1"),
        result("r2", "d"),
        user("p", "b"),
        assistant("e", "r2", "m2"),
        user("q", "e"),
    ]);
    let reader = place.store.reader("s").unwrap();
    let tree = reader.get_folded_tree().unwrap();
    assert_eq!(
        shape(&tree),
        expected(&[
            ("a", "", &[]),
            ("b", "a", &["b", "c", "d"]),
            ("g", "b", &[]),
            ("r1", "b", &[]),
            ("r2", "b", &[]),
            ("p", "b", &[]),
            ("e", "r2", &[]),
            ("q", "e", &[]),
        ])
    );
    assert_eq!(forks(&tree), [(1, vec![4, 5])]);
    assert_eq!(forks(&reader.get_tree().unwrap()), [(1, vec![2, 7])]);
    assert_eq!((tree.leaf(), tree.roots()), (Some(7), &[0][..]));
    let mut json = Vec::new();
    tree.write_json(&mut json).unwrap();
    let json = serde_json::Deserializer::from_slice(&json).into_iter::<serde_json::Value>();
    let json: Vec<_> = json.map(Result::unwrap).collect();
    let message = &json[1];
    assert_eq!((&message["parent"], &message["depth"]), (&json[0]["id"], &1.into()));
    assert_eq!(
        message["records"],
        serde_json::json!([
            {"id": "b", "ordinal": 1}, {"id": "c", "ordinal": 2}, {"id": "d", "ordinal": 5}
        ])
    );
    assert_eq!(message["fork"], true);
}

#[test]
fn an_id_on_two_branches_is_two_messages() {
    let place = place(&[
        user("a", ""),
        user("b", "a"),
        user("c", "a"),
        assistant("d", "b", "m1"),
        assistant("e", "c", "m1"),
        assistant("f", "e", "m1"),
        // Copies of one record, and sibling records.
        assistant("g", "f", "m2"),
        assistant("g", "f", "m2"),
        assistant("h", "f", "m2"),
    ]);
    let tree = place.store.reader("s").unwrap().get_folded_tree().unwrap();
    assert_eq!(
        shape(&tree),
        expected(&[
            ("a", "", &[]),
            ("b", "a", &[]),
            ("c", "a", &[]),
            ("d", "b", &[]),
            ("e", "c", &["e", "f"]),
            ("g", "e", &["g", "g", "h"]),
        ])
    );
}

#[test]
fn loops_and_later_parents_do_no_harm() {
    let place = place(&[
        assistant("x", "y", "m1"),
        assistant("y", "x", "m1"),
        assistant("z", "y", "m1"),
        assistant("c", "b", "m2"),
        assistant("b", "a", "m2"),
        user("a", ""),
        assistant("o", "gone", "m3"),
        assistant("p", "o", "m3"),
    ]);
    let tree = place.store.reader("s").unwrap().get_folded_tree().unwrap();
    assert_eq!(
        shape(&tree),
        expected(&[
            ("x", "y", &[]),
            ("y", "x", &[]),
            ("z", "y", &[]),
            ("c", "a", &["c", "b"]),
            ("a", "", &[]),
            ("o", "", &["o", "p"]),
        ])
    );
    assert_eq!((tree.unreachable(), tree.roots()), (3, &[4, 5][..]));
    assert!(tree.node(5).unwrap().is_orphan && !tree.node(3).unwrap().is_orphan);
}
