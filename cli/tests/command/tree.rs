//! `leafline tree`.

use crate::scene::{PI_3, Scene, file, header, message, on_samples, path};
use std::collections::HashSet;

/// The tree without its heading.
fn drawn(scene: &Scene, arguments: &[&str]) -> Vec<String> {
    let text = scene.run(["tree", "s1"].into_iter().chain(arguments.iter().copied())).ok().text();
    text.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn the_sample_is_drawn_with_its_branch_labels_and_leaf() {
    let text = on_samples(["tree", PI_3]).ok().text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with(PI_3) && lines[0].contains("Flaky scheduler test"), "{text}");
    assert!(lines[1].starts_with("◆ model_change anthropic/claude-opus-4-5 (dda1494c)"), "{text}");
    let branch = lines.iter().find(|line| line.starts_with("├─● ")).unwrap();
    assert!(branch.contains("try the fake timers first"), "{text}");
    assert!(lines.iter().any(|line| line.contains("(b6d75031) [cause]")), "{text}");
    assert!(lines.iter().any(|line| line.starts_with("│ ┊ … 5 entries …")), "{text}");
    // The label of that entry was cleared again.
    assert!(!text.contains("[dead end]"), "{text}");
    let leaf: Vec<_> = lines.iter().filter(|line| line.contains("◀ leaf")).collect();
    assert_eq!(leaf.len(), 1);
    assert!(leaf[0].contains("(cc2ef6d4)"), "{text}");
}

#[test]
fn full_folds_nothing() {
    let ids: HashSet<String> = {
        let tree = on_samples(["tree", PI_3, "--json"]).ok().text();
        tree.split("\"id\":\"").skip(1).map(|rest| rest[..8].to_owned()).collect()
    };
    let text = on_samples(["tree", PI_3, "--full"]).ok().text();
    assert_eq!(text.lines().count(), ids.len() + 1);
    assert!(ids.iter().all(|id| text.contains(&format!("({id})"))), "{text}");
}

#[test]
fn json_is_a_record_a_line_each_after_its_parent() {
    let tree = on_samples(["tree", PI_3, "--json"]).ok().json_lines();
    assert_eq!(tree.iter().filter(|node| node["parent"].is_null()).count(), 1);
    assert_eq!((&tree[0]["id"], &tree[0]["depth"]), (&"dda1494c".into(), &0.into()));
    assert_eq!((&tree[2]["role"], &tree[2]["depth"]), (&"user".into(), &2.into()));
    for (place, node) in tree.iter().enumerate().skip(1) {
        let parent = tree[..place].iter().find(|above| above["id"] == node["parent"]).unwrap();
        assert_eq!(parent["depth"].as_u64().unwrap() + 1, node["depth"].as_u64().unwrap());
    }
}

#[test]
fn ten_thousand_entries_in_a_row_take_few_lines() {
    let id = |place: usize| format!("{place:08x}");
    let lines = (0..10_000usize).map(|place| {
        let parent = place.checked_sub(1).map(id);
        message(&id(place), parent.as_deref(), "on and on")
    });
    let scene = Scene::of_session(&file(std::iter::once(header("s1")).chain(lines)));
    let drawn_lines = drawn(&scene, &[]);
    assert_eq!(drawn_lines.len(), 3, "{drawn_lines:?}");
    assert_eq!(drawn_lines[1], "┊ … 9,998 entries …");
    let full = drawn(&scene, &["--full"]);
    assert_eq!(full.len(), 10_000);
    assert!(full.iter().all(|line| line.starts_with('●') || line.starts_with('◆')));
}

#[test]
fn two_thousand_branches_below_each_other_stay_narrow() {
    // Each entry has two children, of which the first goes on.
    let mut lines = vec![header("s1"), message("m0", None, "root")];
    for place in 1..=2000 {
        let parent = format!("m{}", place - 1);
        lines.push(message(&format!("m{place}"), Some(&parent), "on"));
        lines.push(message(&format!("x{place}"), Some(&parent), "aside"));
    }
    let scene = Scene::of_session(&file(lines));
    let drawn_lines = drawn(&scene, &[]);
    assert_eq!(drawn_lines.len(), 4001);
    assert!(drawn_lines.iter().all(|line| line.find(['●', '◆']).unwrap() <= "│ ├─".len()));
}

#[test]
fn bushes_are_nested_by_their_halves_only() {
    // A binary tree of 1,023 entries.
    let mut lines = vec![header("s1"), message("n1", None, "root")];
    for place in 2..1024 {
        lines.push(message(&format!("n{place}"), Some(&format!("n{}", place / 2)), "x"));
    }
    let scene = Scene::of_session(&file(lines));
    let drawn_lines = drawn(&scene, &[]);
    assert_eq!(drawn_lines.len(), 1023);
    let deepest = drawn_lines
        .iter()
        .map(|line| line.chars().position(|c| c == '●' || c == '◆').unwrap() / 2)
        .max();
    assert!(deepest.unwrap() <= 11, "{deepest:?}");
}

#[test]
fn roots_orphans_and_loops_are_told_apart() {
    let scene = Scene::of_session(&file([
        header("s1"),
        message("a", None, "first"),
        message("b", None, "second root"),
        message("c", Some("gone"), "lost"),
        message("d", Some("e"), "round"),
        message("e", Some("d"), "and round"),
        message("f", Some("a"), "the leaf"),
    ]));
    let drawn_lines = drawn(&scene, &[]);
    assert_eq!(
        drawn_lines,
        [
            "◆ user \"first\" (a)",
            "● user \"the leaf\" (f) ◀ leaf",
            "◆ user \"second root\" (b)",
            "◇ user \"lost\" (c) orphan",
            "2 entries hang in or below a loop of parents, where no root leads",
        ]
    );
}

#[test]
fn a_session_without_entries_has_a_heading_only() {
    let scene = Scene::of_session(&file([header("s1")]));
    assert_eq!(drawn(&scene, &[]), Vec::<String>::new());
    assert_eq!(scene.run(["tree", "s1", "--json"]).ok().text(), "");
}

#[test]
fn random_trees_are_drawn_whole() {
    let scene = Scene::new();
    for seed in 0..10 {
        let bytes =
            leafline_generate::random_tree_session(seed, 60, leafline_generate::Family::Omp);
        scene.write(&format!("in/{seed}.jsonl"), &bytes);
    }
    scene.run(["import", path(&scene.folder().join("in"))]).ok();
    for session in scene.run(["ls", "--json"]).ok().json_lines() {
        let id = session["id"].as_str().unwrap();
        let text = scene.run(["tree", id, "--full"]).ok().text();
        let shown =
            text.lines().skip(1).filter(|line| line.contains(['●', '◆', '◇'])).count() as u64;
        let lost = text.lines().last().unwrap().split(' ').next().unwrap();
        let lost = if text.contains("loop of parents") { lost.parse().unwrap() } else { 0u64 };
        assert_eq!(shown + lost, session["entries"].as_u64().unwrap(), "{id}: {text}");
    }
}

/// An agent's entry goes on in the session's own conversation, which branches there; and it branches beside that.
#[test]
fn a_row_with_two_forks_loses_no_branch() {
    let record = |id: &str, parent: &str, is_side: bool| {
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        format!(
            r#"{{"type":"user","uuid":"{id}","parentUuid":{parent},"sessionId":"s1","isSidechain":{is_side},"message":{{"role":"user","content":"ask"}}}}"#
        )
    };
    let scene = Scene::new();
    let records = [
        record("a", "", false),
        record("side", "a", true),
        record("b", "side", false),
        record("b1", "b", false),
        record("b2", "b", false),
        record("c", "a", false),
        record("c1", "c", false),
        record("c2", "c", false),
    ];
    scene.run(["import", path(&scene.write("s1.jsonl", &file(records)))]).ok();
    let marked = |line: &String| line.rsplit(['●', '◆']).next().unwrap().to_owned();
    let lines = drawn(&scene, &["--full"]);
    let said: Vec<String> = lines.iter().map(marked).collect();
    assert_eq!(
        said,
        [
            " user \"ask\" (a)",
            " user \"ask\" (side) sidechain",
            " user \"ask\" (b)",
            " user \"ask\" (c)",
            " user \"ask\" (b1)",
            " user \"ask\" (b2)",
            " user \"ask\" (c1)",
            " user \"ask\" (c2) ◀ leaf",
        ]
    );
    let branches = lines.iter().filter(|line| line.starts_with("├─●")).count();
    assert_eq!(branches, 2, "{lines:?}");
}
