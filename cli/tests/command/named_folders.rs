//! The programs' own variables for their folders, and folders that are links.

use std::path::Path;

use crate::scene::{
    CLAUDE, PI_3, Run, Scene, command, file, finished, header, message, path, sample,
};

/// Runs the command in a home folder of the scene with these variables, whose values are below it.
fn with(scene: &Scene, variables: &[(&str, &str)], arguments: &[&str]) -> Run {
    let mut command = command(&scene.store());
    command.env("HOME", scene.folder()).env("USERPROFILE", scene.folder());
    for (name, value) in variables {
        command.env(name, scene.folder().join(value));
    }
    finished(command.args(arguments).output().unwrap())
}

fn imported(scene: &Scene, variables: &[(&str, &str)], arguments: &[&str]) -> Vec<String> {
    let told = with(scene, variables, &[arguments, &["--json"]].concat()).ok().json_lines();
    let sessions = told.iter().filter(|told| told["status"] == "imported");
    let mut ids: Vec<String> =
        sessions.map(|told| told["session"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

fn pi(id: &str) -> Vec<u8> {
    file([header(id), message("a", None, "pear")])
}

#[test]
fn each_programs_variable_is_heeded() {
    let claude = format!("elsewhere/projects/-work/{CLAUDE}.jsonl");
    let codex = "elsewhere/sessions/2025/11/20/rollout-2025-11-20T20-04-07-0199f2b4-5c1e-7a30-9c55-3b1f0e8d2a61.jsonl";
    let archived = codex.replace("sessions/2025/11/20", "archived_sessions");
    let id = "0199f2b4-5c1e-7a30-9c55-3b1f0e8d2a61";
    let (flat, inner) = ("elsewhere/s.jsonl", "elsewhere/sessions/--work--/s.jsonl");
    for (variable, file, id, bytes) in [
        ("CLAUDE_CONFIG_DIR", claude.as_str(), CLAUDE, sample(CLAUDE)),
        ("CODEX_HOME", codex, id, sample(id)),
        ("CODEX_HOME", &archived, id, sample(id)),
        ("PI_CODING_AGENT_DIR", inner, "s", pi("s")),
        ("PI_CODING_AGENT_SESSION_DIR", flat, "s", pi("s")),
    ] {
        for command in ["import", "sync"] {
            let scene = Scene::new();
            scene.write(file, &bytes);
            // What is in the usual folder is not the program's while the variable is set.
            scene.write(".pi/agent/sessions/--work--/t.jsonl", &pi("t"));
            let found = imported(&scene, &[(variable, "elsewhere")], &[command]);
            let expected = if variable.contains("_AGENT_DIR") { vec![id] } else { vec![id, "t"] };
            assert_eq!(found, expected, "{variable} {file}");
            // An empty variable names nothing.
            let mut none = crate::scene::command(&scene.store());
            none.env("HOME", scene.folder()).env("USERPROFILE", scene.folder());
            let told = finished(none.env(variable, "").args([command]).output().unwrap()).ok();
            assert!(told.text().contains("1 file: "), "{}", told.text());
        }
    }
}

#[test]
fn omps_folder_is_that_of_its_profile_or_of_the_data_home() {
    let scene = Scene::new();
    for (folder, id) in [
        (".omp/agent", "usual"),
        (".omp/profiles/work/agent", "profile"),
        (".cfg/agent", "renamed"),
        ("elsewhere", "named"),
        ("data/omp", "data"),
        ("data/omp/profiles/home", "data-profile"),
    ] {
        scene.write(&format!("{folder}/sessions/-work/{id}.jsonl"), &pi(id));
    }
    for (variables, id) in [
        (&[][..], "usual"),
        (&[("OMP_PROFILE", "work")], "profile"),
        (&[("PI_PROFILE", " work ")], "profile"),
        (&[("OMP_PROFILE", ""), ("PI_PROFILE", "work")], "usual"),
        (&[("OMP_PROFILE", "default")], "usual"),
        (&[("PI_CONFIG_DIR", ".cfg")], "renamed"),
        (&[("PI_CODING_AGENT_DIR", "elsewhere")], "named"),
        (&[("PI_CODING_AGENT_DIR", "elsewhere"), ("OMP_PROFILE", "work")], "profile"),
        (&[("XDG_DATA_HOME", "data")], "data"),
        (&[("XDG_DATA_HOME", "data"), ("OMP_PROFILE", "home")], "data-profile"),
        (&[("XDG_DATA_HOME", "data"), ("OMP_PROFILE", "work")], "profile"),
        (&[("XDG_DATA_HOME", "data"), ("PI_CODING_AGENT_DIR", "elsewhere")], "named"),
    ] {
        let store = scene.folder().join(format!("{}-{id}.leafline", variables.len()));
        let _ = std::fs::remove_file(&store);
        let mut command = command(&store);
        command.env("HOME", scene.folder()).env("USERPROFILE", scene.folder());
        for (name, value) in variables {
            let is_path = ["PI_CODING_AGENT_DIR", "XDG_DATA_HOME"].contains(name);
            let value = if is_path { scene.folder().join(value) } else { Path::new(value).into() };
            command.env(name, value);
        }
        let run = finished(command.args(["import", "--family", "omp", "--json"]).output().unwrap());
        let told = run.ok().json_lines();
        assert_eq!(told.len(), 2, "{variables:?}: {told:?}");
        assert_eq!(told[0]["session"], id, "{variables:?}");
    }
}

#[test]
fn a_folder_of_two_programs_is_read_once() {
    let scene = Scene::new();
    scene.write("shared/sessions/--work--/s.jsonl", &pi("s"));
    let variables = [("PI_CODING_AGENT_DIR", "shared")];
    let told = with(&scene, &variables, &["import"]).ok().text();
    assert!(told.contains("1 file: 1 imported"), "{told}");
    let listed = with(&scene, &variables, &["ls", "--files"]).ok().text();
    assert_eq!(listed.lines().count(), 1, "{listed}");
}

#[test]
#[cfg(unix)]
fn a_project_on_another_disk_is_imported_and_a_loop_is_named() {
    use std::os::unix::fs::symlink;

    let scene = Scene::new();
    scene.write("disk/--work--/s.jsonl", &sample(PI_3));
    let sessions = scene.folder().join(".pi/agent/sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    symlink(scene.folder().join("disk/--work--"), sessions.join("--work--")).unwrap();
    symlink("..", sessions.join("up")).unwrap();
    let told = with(&scene, &[], &["import"]).ok().text();
    assert!(told.contains(&format!("imported   {PI_3}")), "{told}");
    assert!(told.contains("it is a link to a folder that it is in; it is not followed"), "{told}");
    let told = with(&scene, &[], &["sync"]).ok().text();
    assert!(told.contains("1 unchanged"), "{told}");
    // The whole folder may be a link too.
    let other = Scene::new();
    symlink(path(&sessions), other.folder().join("sessions")).unwrap();
    let told = other.run(["import", path(&other.folder().join("sessions"))]).ok().text();
    assert!(told.contains(&format!("imported   {PI_3}")), "{told}");
}
