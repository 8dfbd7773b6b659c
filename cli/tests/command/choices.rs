//! How entries are named, how many rows are listed, and when there is colour.

use crate::scene::{PI_3, Scene, file, header, message, on_samples};

/// Entries with a common beginning, and a last one that is not the leaf.
fn scene() -> Scene {
    let scene = Scene::of_session(&file([
        header("s1"),
        message("abc1", None, "one"),
        message("abc2", Some("abc1"), "two"),
        message("abd", Some("abc1"), "three"),
        message("ab", Some("abc1"), "four"),
        message("rooted", Some("ab"), "five"),
    ]));
    scene.run(["branch", "s1", "abc2"]).ok();
    scene
}

fn line(scene: &Scene, entry: &str) -> String {
    let shown = scene.run(["--json", "show", "s1", entry]).ok().json();
    shown["text"].as_str().unwrap().to_owned()
}

#[test]
fn an_entry_is_named_by_a_unique_prefix() {
    let scene = scene();
    for (named, said) in [
        ("abc2", "two"),
        ("abd", "three"),
        // A whole id is meant, whatever begins with it.
        ("ab", "four"),
        ("roo", "five"),
        ("@leaf", "two"),
        ("@last", "five"),
    ] {
        assert_eq!(line(&scene, named), said, "{named}");
    }
    let several = scene.run(["show", "s1", "abc"]).fails(1);
    assert!(several.contains("2 entry ids of session s1 (abc1, abc2)"), "{several}");
    let many = scene.run(["show", "s1", "a"]).fails(1);
    assert!(many.contains("4 entry ids of session s1 (ab, abc1, abc2)"), "{many}");
    for none in ["", "x", "abc11", "@first"] {
        assert!(scene.run(["show", "s1", none]).fails(1).contains("has no entry"), "{none}");
    }
}

#[test]
fn every_command_takes_such_a_name() {
    let scene = scene();
    let count =
        |arguments: &[&str]| scene.run(arguments.iter().copied()).ok().text().lines().count();
    assert_eq!(count(&["children", "s1", "abc1"]), 3);
    assert_eq!(count(&["path", "s1", "--from", "abd"]), 2);
    assert_eq!(count(&["path", "s1", "--from", "@last"]), 3);
    let context = scene.run(["--json", "context", "s1", "--leaf", "roo"]).ok().json();
    assert_eq!(context["messages"].as_array().unwrap().len(), 3);
    scene.run(["label", "s1", "abd", "x"]).ok();
    let leaf = scene.run(["--json", "branch", "s1", "roo"]).ok().json();
    assert_eq!(leaf["leaf"], "rooted");
    let copy = scene.run(["extract", "s1", "roo"]).ok().text();
    assert_eq!(scene.run(["path", copy.trim()]).ok().text().lines().count(), 3);
    // `root` is the place before all entries, though an id begins so.
    scene.run(["branch", "s1", "root", "--summary", "all over"]).ok();
    assert_eq!(count(&["path", "s1"]), 1);
}

#[test]
fn a_session_without_entries_has_no_last_one() {
    let scene = Scene::of_session(&file([header("s1")]));
    for named in ["@last", "@leaf"] {
        let told = scene.run(["show", "s1", named]).fails(1);
        assert!(told.contains(&format!("no entry that {named} can name")), "{told}");
    }
}

#[test]
fn n_is_the_number_of_rows_wherever_a_command_lists() {
    let rows =
        |arguments: &[&str]| on_samples(arguments.iter().copied()).ok().text().lines().count();
    assert_eq!(rows(&["ls", "-n", "3"]), 3);
    assert_eq!(rows(&["search", "the", "-n", "2"]), 2);
    let scene = scene();
    let children = scene.run(["children", "s1", "abc1", "-n", "2"]).ok().text();
    assert_eq!(children.lines().count(), 2);
    for prompt in ["one", "two", "three"] {
        scene.run(["history", "add", prompt]).ok();
    }
    assert_eq!(scene.run(["history", "recent", "-n2"]).ok().text().lines().count(), 2);
}

#[test]
fn colour_is_by_request_or_by_the_terminal() {
    let is_coloured =
        |arguments: &[&str]| on_samples(arguments.iter().copied()).ok().text().contains('\u{1b}');
    assert!(is_coloured(&["--color", "always", "tree", PI_3]));
    assert!(is_coloured(&["show", PI_3, "--color=always"]));
    assert!(!is_coloured(&["--color", "never", "tree", PI_3]));
    assert!(!is_coloured(&["--color", "auto", "tree", PI_3]));
    on_samples(["--color", "blue", "ls"]).fails(2);
}
