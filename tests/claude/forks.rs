//! Where a conversation really branches.

use leafline::tree::Tree;
use serde_json::json;

use crate::records::{
    assistant, boundary, call, compact_summary, place, record, result, side, user, with,
};

/// The forks, each with the branches that begin there.
pub(crate) fn forks(tree: &Tree) -> Vec<(usize, Vec<usize>)> {
    let is_branch = |place: &usize| tree.node(*place).unwrap().is_branch;
    tree.forks()
        .map(|fork| {
            let node = tree.node(fork).unwrap();
            assert!(node.is_fork);
            (fork, node.children.iter().copied().filter(is_branch).collect())
        })
        .collect()
}

#[test]
fn tools_at_work_are_no_branches() {
    let place = place(&[
        user("a", ""),
        call("b", "a", "m1"),
        call("c", "b", "m1"),
        record("progress", "g", "b"),
        result("r1", "b"),
        result("r2", "c"),
        record("attachment", "t", "c"),
        with(user("n", "c"), json!({"isMeta": true})),
        side(user("s", "c")),
        user("d", "r2"),
        user("e", "r2"),
        user("e", "r2"),
        assistant("f", "e", "m2"),
    ]);
    let reader = place.store.reader("s").unwrap();
    let tree = reader.get_tree().unwrap();
    assert_eq!(forks(&tree), [(5, vec![9, 11])]);
    assert_eq!((tree.branches(), tree.roots().len()), (2, 1));
    // In the order of the file, regardless of the times.
    assert_eq!(tree.node(2).unwrap().children, [5, 6, 7, 8]);
    assert!(tree.node(8).unwrap().is_sidechain);
    let mut json = Vec::new();
    tree.write_json(&mut json).unwrap();
    let json = String::from_utf8(json).unwrap();
    assert_eq!(json.matches("\"fork\":true").count(), 1);
    assert_eq!(json.matches("\"branch\":true").count(), 2);
    assert_eq!(json.matches("\"sidechain\":true").count(), 1);
}

#[test]
fn boundaries_and_sidechains_are_no_branches_of_their_own() {
    let place = place(&[
        record("attachment", "t", "gone"),
        user("a", ""),
        side(user("s1", "")),
        side(user("s2", "s1")),
        side(user("s3", "s1")),
        boundary("k", "a"),
        compact_summary("l", "k"),
        user("b", "l"),
        user("c", "l"),
        user("d", ""),
    ]);
    let tree = place.store.reader("s").unwrap().get_tree().unwrap();
    assert_eq!(forks(&tree), [(6, vec![7, 8])]);
    // Two roots that are prompts, and one more way after the boundary.
    assert_eq!((tree.roots().len(), tree.branches()), (5, 3));
}

#[test]
fn an_agents_file_has_forks_of_its_own() {
    let place = place(&[side(user("a", "")), side(user("b", "a")), side(user("c", "a"))]);
    let tree = place.store.reader("s").unwrap().get_tree().unwrap();
    assert_eq!((forks(&tree), tree.branches()), (vec![(0, vec![1, 2])], 2));
}

#[test]
fn other_families_branch_at_every_entry_with_several_children() {
    let place = crate::place::Place::new();
    for seed in 0..20 {
        let bytes = leafline_generate::random_tree_session(seed, 60, leafline_generate::Family::Pi);
        let report = place.import(&place.write(&format!("{seed}.jsonl"), bytes));
        let reader = place.store.reader(&report.session.unwrap()).unwrap();
        let tree = reader.get_tree().unwrap();
        for (number, node) in tree.nodes().iter().enumerate() {
            assert_eq!(node.is_fork, node.children.len() > 1);
            let parent = node.parent.map(|parent| tree.node(parent).unwrap());
            assert_eq!(node.is_branch, parent.is_some_and(|parent| parent.is_fork), "{number}");
        }
        let ends = tree.nodes().iter().filter(|node| node.children.is_empty()).count() as u64;
        assert_eq!(tree.branches(), ends);
        let folded = reader.get_folded_tree().unwrap();
        assert_eq!(folded.nodes().len(), tree.nodes().len());
    }
}
