//! `leafline ls` with filters and orders.

use serde_json::Value;

use crate::scene::Scene;

fn listed(scene: &Scene, arguments: &[&str]) -> Vec<Value> {
    let mut all = vec!["--json", "ls", "--agents"];
    all.extend(arguments);
    scene.run(all).ok().json_lines()
}

/// The sessions for which something holds, of all.
fn expected(scene: &Scene, holds: impl Fn(&Value) -> bool) -> Vec<Value> {
    let all = listed(scene, &[]);
    let expected: Vec<Value> = all.iter().filter(|facts| holds(facts)).cloned().collect();
    assert!(!expected.is_empty() && expected.len() < all.len(), "{expected:?}");
    expected
}

#[test]
fn lists_have_what_is_asked_for() {
    let scene = Scene::of_samples();
    for family in ["pi", "omp", "claude", "opal"] {
        let of_family = expected(&scene, |facts| facts["family"] == family);
        assert_eq!(listed(&scene, &["--family", family]), of_family);
    }
    let directory = "/home/robin/work/tide-clock";
    let of_directory = expected(&scene, |facts| facts["cwd"] == directory);
    assert_eq!(listed(&scene, &["--cwd", directory]), of_directory);
    let below = expected(&scene, |facts| {
        facts["cwd"].as_str().is_some_and(|cwd| cwd.starts_with("/home/robin/work/"))
    });
    assert_eq!(listed(&scene, &["--cwd", "/home/robin/work/"]), below);
    let time = 1_771_372_800_000_i64;
    let since = expected(&scene, |facts| facts["modified"].as_i64() >= Some(time));
    assert_eq!(listed(&scene, &["--since", "2026-02-18T00:00:00Z"]), since);
    let until = expected(&scene, |facts| facts["modified"].as_i64().is_some_and(|at| at < time));
    assert_eq!(listed(&scene, &["--until", "2026-02-18T00:00:00Z"]), until);
    let text = expected(&scene, |facts| {
        let has = |name: &str| {
            facts[name].as_str().is_some_and(|said| said.to_lowercase().contains("tide"))
        };
        has("title") || has("first_prompt")
    });
    assert_eq!(listed(&scene, &["--text", "TIDE"]), text);
    assert_eq!(listed(&scene, &["--text", "TIDE", "--limit", "1"]), text[..1]);
}

#[test]
fn lists_are_in_the_order_that_is_asked_for() {
    let scene = Scene::of_samples();
    let sizes: Vec<u64> = listed(&scene, &["--sort", "size"])
        .iter()
        .map(|facts| facts["bytes"].as_u64().unwrap())
        .collect();
    assert!(sizes.is_sorted_by(|a, b| a >= b) && sizes.len() > 5, "{sizes:?}");
    let created: Vec<Option<i64>> = listed(&scene, &["--sort", "created"])
        .iter()
        .map(|facts| facts["created"].as_i64())
        .collect();
    assert!(created.is_sorted_by(|a, b| a >= b), "{created:?}");
    let first = &listed(&scene, &["--sort", "title"])[0];
    assert!(!first["title"].is_null() || !first["first_prompt"].is_null(), "{first}");
}

#[test]
fn a_time_that_is_none_is_wrong_usage() {
    let run = Scene::of_samples().run(["ls", "--since", "yesterday"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("2026-02-16"), "{}", run.stderr);
}
