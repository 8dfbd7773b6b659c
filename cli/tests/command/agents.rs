//! Sessions of agents in `leafline ls` and `show`.

use crate::scene::{AGENTS, CLAUDE, Scene, at_home, on_samples, path, samples};

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

/// A session of omp's with an agent, one that the agent started, and an advisor without a lineage; in this folder.
fn omp_agents(scene: &Scene, sessions: &str) -> [std::path::PathBuf; 4] {
    let below = "2026-02-01T10-00-00-000Z_o1";
    let named = scene.folder().join(sessions).join(below);
    let header = |id: &str, cwd: &str, rest: &str| {
        format!(
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-02-01T10:00:00.000Z","cwd":"{cwd}","title":"T"{rest}}}"#
        )
    };
    let agent = |id: &str, parent: &str| {
        let parent = format!(r#","parentSession":"{}{parent}.jsonl""#, path(&named));
        // An agent may work in a folder of its own.
        header(id, "/tree", &parent)
    };
    let answer = |cost: &str| {
        format!(
            r#"{{"type":"message","id":"a{cost}","parentId":null,"timestamp":"2026-02-01T10:00:01.000Z","message":{{"role":"assistant","content":[],"provider":"p","model":"m","usage":{{"input":1,"output":1,"cost":{{"total":{cost}}}}}}}}}"#
        )
    };
    let files = [
        (format!("{sessions}/{below}.jsonl"), header("o1", "/w", ""), "1"),
        (format!("{sessions}/{below}/0-Tide Task.jsonl"), agent("o2", ""), "2"),
        (
            format!("{sessions}/{below}/0-Tide Task/0-Tide Task.Night.jsonl"),
            agent("o3", "/0-Tide Task"),
            "4",
        ),
        (format!("{sessions}/{below}/__advisor.jsonl"), header("o4", "/w", ""), "8"),
    ];
    files.map(|(name, header, cost)| {
        scene.write(&name, format!("{header}\n{}\n", answer(cost)).as_bytes())
    })
}

/// The `.jsonl` files below a folder, relative to it.
fn session_files(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in std::fs::read_dir(inner).unwrap() {
            let file = entry.unwrap().path();
            if file.is_dir() {
                folders.push(file);
            } else if file.extension().is_some_and(|extension| extension == "jsonl") {
                found.push(path(file.strip_prefix(folder).unwrap()).to_owned());
            }
        }
    }
    found.sort();
    found
}

const OMP_FILES: [&str; 4] = [
    "2026-02-01T10-00-00-000Z_o1.jsonl",
    "2026-02-01T10-00-00-000Z_o1/0-Tide Task.jsonl",
    "2026-02-01T10-00-00-000Z_o1/0-Tide Task/0-Tide Task.Night.jsonl",
    "2026-02-01T10-00-00-000Z_o1/__advisor.jsonl",
];

#[test]
fn omps_are_of_the_session_in_whose_folder_they_are() {
    let scene = Scene::new();
    let files = omp_agents(&scene, ".omp/agent/sessions/-w");
    at_home(&scene, ["import"]).ok();
    let ids = |arguments: &[&str]| {
        let listed = scene.run(arguments.iter().copied()).ok().json_lines();
        let mut ids: Vec<String> =
            listed.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&["ls", "--json"]), ["o1"]);
    assert_eq!(ids(&["ls", "--json", "--agents"]), ["o1", "o2", "o3", "o4"]);
    let agents = scene.run(["show", "o1", "--json"]).ok().json()["agents"].clone();
    let names: Vec<&str> =
        agents.as_array().unwrap().iter().map(|it| it["agent"].as_str().unwrap()).collect();
    assert_eq!(names, ["0-Tide Task", "0-Tide Task/0-Tide Task.Night", "__advisor"]);
    // The row of the session says which part of it agents used.
    let usage = scene.run(["usage", "--by", "session", "--json"]).ok().json();
    let rows = usage["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["name"], &rows[0]["cost"]), (1, &"o1".into(), &15.0.into()));
    assert_eq!(rows[0]["agents"]["cost"], 14.0);

    // Each is where it was, whichever of them is put back.
    let sessions = files[0].parent().unwrap();
    for id in ["o1", "o3"] {
        at_home(&scene, ["export", id, "--to-source"]).ok();
        assert_eq!(session_files(&scene.folder().join(".omp")).len(), 4);
    }
    let before: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
    files.iter().for_each(|file| std::fs::remove_file(file).unwrap());
    at_home(&scene, ["export", "o1", "--to-source"]).ok();
    assert_eq!(session_files(sessions), OMP_FILES);
    for (file, before) in files.iter().zip(before) {
        assert_eq!(std::fs::read(file).unwrap(), before);
    }
    let out = scene.folder().join("out");
    scene.run(["export", "--all", "-o", path(&out)]).ok();
    assert_eq!(session_files(&out.join("omp/sessions/-w")), OMP_FILES);
    assert_eq!(session_files(&out).len(), 4);
}

#[test]
fn omps_go_where_their_session_goes() {
    let scene = Scene::new();
    omp_agents(&scene, "backup");
    scene.run(["import", path(&scene.folder().join("backup"))]).ok();
    at_home(&scene, ["export", "o2", "--to-source"]).ok();
    at_home(&scene, ["export", "o1", "--to-source"]).ok();
    let sessions = scene.folder().join(".omp/agent/sessions");
    assert_eq!(session_files(&sessions.join("--w--")), OMP_FILES);
    assert_eq!(session_files(&sessions).len(), 4);
    let out = scene.folder().join("out");
    scene.run(["export", "--all", "-o", path(&out)]).ok();
    assert_eq!(session_files(&out.join("omp/sessions/--w--")), OMP_FILES);
    assert_eq!(session_files(&out).len(), 4);
}
