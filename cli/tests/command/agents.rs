//! Sessions of agents in `leafline ls` and `show`.

use crate::scene::{AGENTS, CLAUDE, Scene, on_samples, path, samples};

fn listed(arguments: &[&str]) -> Vec<String> {
    let text = on_samples(arguments.iter().copied()).ok().text();
    text.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

#[test]
fn ls_leaves_them_out_unless_asked() {
    let usual = listed(&["ls"]);
    assert!(usual.iter().any(|id| id == CLAUDE), "{usual:?}");
    let all = listed(&["ls", "--agents"]);
    let agents: Vec<&String> = all.iter().filter(|id| !usual.contains(id)).collect();
    // Newest first.
    assert_eq!(agents, [AGENTS[1], AGENTS[0], AGENTS[2]]);
    assert_eq!(listed(&["ls", "--limit", "3"]), usual[..3]);
    let json = on_samples(["ls", "--json", "--agents"]).ok().json_lines();
    let agent = json.iter().find(|session| session["id"] == AGENTS[0]).unwrap();
    assert_eq!((&agent["agent"], &agent["parent_session"]), (&"7d31c0be".into(), &CLAUDE.into()));
    assert_eq!(on_samples(["ls", "--json"]).ok().json_lines().len(), usual.len());
}

#[test]
fn show_names_them_and_their_session() {
    let text = on_samples(["show", CLAUDE]).ok().text();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("agent-"))
        .map(|line| line.splitn(3, "  ").map(str::trim).collect())
        .collect();
    assert_eq!(rows.len(), 2, "{text}");
    assert_eq!(rows[0][0], AGENTS[0]);
    assert!(rows[0][2].ends_with("4  Where is OFFSET_MINUTES used?"), "{text}");
    assert_eq!(rows[1][0], AGENTS[1]);
    let json = on_samples(["show", CLAUDE, "--json"]).ok().json();
    assert_eq!(json["agents"].as_array().unwrap().len(), 2);
    let second = &json["agents"][1];
    assert_eq!((&second["id"], &second["agent"]), (&AGENTS[1].into(), &"c5e90a17".into()));
    assert_eq!(second["entries"], 2);
    assert_eq!(second["first_prompt"], "Which tests set the system time zone?");

    let text = on_samples(["show", AGENTS[0]]).ok().text();
    let line = text.lines().find(|line| line.starts_with("agent ")).unwrap();
    assert_eq!(line, format!("agent     7d31c0be of {CLAUDE}"));
    assert!(!text.contains("\nparent "), "{text}");
    assert_eq!(
        on_samples(["show", AGENTS[0], "--json"]).ok().json()["agents"],
        serde_json::json!([])
    );
}

#[test]
fn one_without_its_session_is_listed() {
    let scene = Scene::new();
    let project = samples().join("claude/projects/-home-robin-work-tide-clock");
    scene.run(["import", path(&project.join("agent-7d31c0be.jsonl"))]).ok();
    let ls = || scene.run(["ls"]).ok().text();
    assert!(ls().starts_with(AGENTS[0]), "{}", ls());
    let shown = scene.run(["show", AGENTS[0]]).ok().text();
    assert!(shown.contains(&format!("of {CLAUDE}")), "{shown}");
    scene.run(["import", path(&project.join(format!("{CLAUDE}.jsonl")))]).ok();
    assert!(ls().starts_with(CLAUDE) && !ls().contains(AGENTS[0]), "{}", ls());
}
