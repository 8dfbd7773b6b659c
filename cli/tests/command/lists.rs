//! `leafline ls` with filters and orders.

use serde_json::Value;

use crate::scene::{self, OMP_3, Scene, path, samples};

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
    for family in ["pi", "omp", "claude", "opal", "codex"] {
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
    let months = Scene::of_samples().run(["ls", "--since", "3mo"]).fails(2);
    assert!(months.contains("m is minutes, and months have no letter"), "{months}");
    for command in ["ls", "search"] {
        let help = Scene::new().run([command, "--help"]).ok().text();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains("30m (minutes)"), "{help}");
    }
}

#[test]
fn files_are_listed_without_a_store() {
    let scene = Scene::new();
    let samples = samples();
    let stored = Scene::of_samples();
    let files = |more: &[&str]| {
        let all = [&["--json", "ls"][..], more, &["--files", path(&samples)]].concat();
        scene.run(all).ok().json_lines()
    };
    for arguments in [
        &[][..],
        &["--agents"],
        &["--family", "claude"],
        &["--sort", "title", "--limit", "3"],
        &["--cwd", "/home/robin/work", "--since", "2026-02-18T00:00:00Z"],
    ] {
        let expected = stored.run([&["--json", "ls"][..], arguments].concat()).ok().json_lines();
        let found = files(arguments);
        assert_eq!(found.len(), expected.len(), "{arguments:?}");
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found["id"], expected["id"], "{arguments:?}");
            assert_eq!(found["entries"], expected["entries"], "{arguments:?}");
            assert!(found["path"].as_str().unwrap().starts_with(path(&samples)));
        }
    }
    let plain = scene.run(["ls", "--files", path(&samples), "--limit", "1"]).ok().text();
    let columns: Vec<&str> = plain.trim_end().split('\t').collect();
    assert_eq!((columns.len(), columns[0], columns[4]), (8, OMP_3, "27"));
    assert!(columns[7].ends_with(".jsonl"), "{plain}");
    assert!(!scene.store().exists());
}

#[test]
fn recent_files_are_listed_by_their_beginnings() {
    let scene = Scene::new();
    let old = scene.write("old.jsonl", &scene::sample(OMP_3));
    let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    std::fs::File::options().write(true).open(&old).unwrap().set_modified(time).unwrap();
    let samples = samples();
    let files = ["--json", "ls", "--quick", "--files", path(&old), path(&samples)];
    let listed = scene.run(files).ok().json_lines();
    let last = listed.last().unwrap();
    assert_eq!((last["id"].as_str(), last["path"].as_str()), (Some(OMP_3), Some(path(&old))));
    assert_eq!(last["file_modified"], 1_700_000_000_000_i64);
    assert!(last.get("entries").is_none());
    let plain = scene.run(["ls", "--quick", "--files", path(&old)]).ok().text();
    assert_eq!(scene.run(["ls", "--files", "--quick", path(&old)]).ok().text(), plain);
    let columns: Vec<&str> = plain.trim_end().split('\t').collect();
    assert_eq!((columns[4], columns[6]), ("", "2023-11-14T22:13:20.000Z"));
}

#[test]
fn a_path_that_is_not_there_is_a_failure_after_the_list() {
    let scene = Scene::new();
    let run = scene.run(["ls", "--files", "gone", path(&samples())]);
    assert!(run.text().lines().count() > 5);
    assert!(run.fails(1).contains("/gone: "));
}

#[test]
fn all_that_was_said_is_told_on_request() {
    let scene = Scene::of_samples();
    let told = |facts: &Value| facts["all_messages_text"].as_str().unwrap().to_owned();
    let find = |all: Vec<Value>| all.into_iter().find(|facts| facts["id"] == OMP_3).unwrap();
    let ls = ["--json", "ls", "--all-messages-text"];
    let stored = find(scene.run(ls).ok().json_lines());
    let prompt = stored["first_prompt"].as_str().unwrap();
    assert!(told(&stored).starts_with(prompt.trim_end_matches('…')), "{stored}");
    let samples = samples();
    let of_files = [&ls[..], &["--files", path(&samples)]].concat();
    assert_eq!(told(&find(scene.run(of_files).ok().json_lines())), told(&stored));
    let odd = scene.write(
        "odd.jsonl",
        concat!(
            r#"{"type":"session","version":3,"id":"odd","cwd":"/"}"#,
            "\n",
            r#"{"type":"message","id":"a","message":{"role":"user","content":"\"a\"\n\u0001"}}"#,
            "\n",
            r#"{"type":"message","id":"b","message":{"role":"assistant","content":"b"}}"#,
        )
        .as_bytes(),
    );
    let of_odd = [&ls[..], &["--files", path(&odd)]].concat();
    assert_eq!(told(&scene.run(of_odd).ok().json()), "\"a\"\n\u{1} b");
    let run = scene.run(["ls", "--all-messages-text"]);
    assert!(run.fails(2).contains("--json"));
    scene.run(["ls", "--quick"]).fails(2);
    let told = scene.run(["ls", path(&samples)]).fails(2);
    assert!(told.contains("--files"), "{told}");
}
