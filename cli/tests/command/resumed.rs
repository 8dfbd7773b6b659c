//! What `leafline resume` prints, run with the real programs.
//!
//! Guards against a session that is put where its program does not look for it, or that it does not go on with.

use leafline_judges::{Script, bun, folder, is_to_be_asked, judge, pi};
use serde_json::{Value, json};

use crate::scene::{CLAUDE, OMP_3, PI_1, PI_3, Scene, at_home, command, finished, path, sample};

/// Where the samples' sessions were.
const DIRECTORIES: [&str; 3] =
    ["/home/robin/work/tide-clock", "/home/robin/work/lantern", "/home/robin/work/recipe-box"];

/// A session of Codex's, and the one that it was forked from.
const CODEX_BASE: &str = "019c6f5a-0000-7c4e-9d21-5a7be0c30000";
const CODEX: &str = "019c6f5a-0023-7c4e-9d21-5a7be0c30023";

/// Imports a sample from a file of this name, resumes it in a home folder, and has the program go on with it. The home folder is
/// empty, unless the file is in it: one that is elsewhere is gone by then.
fn goes_on(script: &Script, id: &str, name: &str, says: &str) {
    let scene = Scene::new();
    let mut work = scene.folder().join("work");
    if id == CLAUDE {
        // Claude Code shortens the name of its folder.
        work.extend(["a".repeat(120), "b".repeat(120)]);
    }
    let home = scene.folder().join("home");
    std::fs::create_dir_all(&work).unwrap();
    std::fs::create_dir_all(&home).unwrap();
    let mut text = String::from_utf8(sample(id)).unwrap();
    // Codex's sessions name places in others by bytes.
    let directories = DIRECTORIES.iter().filter(|_| id != CODEX);
    directories.for_each(|directory| text = text.replace(directory, path(&work)));
    let file = scene.write(name, text.as_bytes());
    scene.run(["import", path(&file)]).ok();
    if !file.starts_with(&home) {
        std::fs::remove_file(&file).unwrap();
    }
    // What the session continues without repeating it.
    let name = format!("backup/rollout-2026-02-18T08-59-59-{CODEX_BASE}.jsonl");
    scene.run(["import", path(&scene.write(&name, &sample(CODEX_BASE)))]).ok();
    let mut resume = command(&scene.store());
    resume.env("HOME", &home).args(["resume", id, "--json"]);
    let told = finished(resume.output().unwrap()).json();
    let directory = if id == CODEX { DIRECTORIES[0] } else { path(&work) };
    assert_eq!(told["directory"], directory);
    let (command, before) = (&told["command"], &told["before"]);
    let job =
        json!({"op": "resume", "command": command, "before": before, "home": home, "cwd": work});
    let answer = script.ask(&[job]).remove(0);
    assert_eq!(answer["ok"], true, "{id}: {answer}");
    let sent = answer["sent"].as_str().unwrap();
    assert!(sent.contains(says), "{id}: {sent}");
    let mut own = told["files"][0]["path"].as_str().unwrap().to_owned();
    if !before.is_null() {
        own = own.replace("/archived_sessions/", "/sessions/2026/02/18/");
    }
    let own = std::fs::read(own).unwrap();
    let is_longer = own.len() > text.len() && String::from_utf8_lossy(&own).contains("PROBE");
    assert!(is_longer, "{id}: the program went on in another file");
    if id == OMP_3 {
        let folders = std::fs::read_dir(home.join(".omp/agent/sessions")).unwrap();
        let folders: Vec<_> = folders.map(|folder| folder.unwrap().file_name()).collect();
        // omp names a folder below the folder of temporary files like this.
        let is_its_own = folders.len() == 1 && folders[0].to_string_lossy().starts_with("-tmp-");
        assert!(is_its_own, "{folders:?}");
    }
}

/// The first and the last version of pi, as far as they are installed. bun runs the last one: it needs a later Node than the
/// other programs.
fn versions_of_pi() -> Vec<Script> {
    let script = |arguments: &[&str]| {
        Script::new("node", folder("resume-judge"), &[&["judge.mjs"], arguments].concat())
    };
    let first = pi("0.73").map(|package| script(&[path(&package)]));
    let missing = format!("{} is not there", bun().display());
    let last =
        pi("1.6").filter(|_| is_to_be_asked(bun().exists(), "LEAFLINE_REQUIRE_OMP", &missing));
    let last = last.map(|package| script(&[path(&package), path(&bun())]));
    first.into_iter().chain(last).collect()
}

#[test]
fn pi_goes_on() {
    for script in versions_of_pi() {
        goes_on(&script, PI_3, "backup/session.jsonl", "Committed as `4be91d7`.");
        // Of the first version, from the program's own folder.
        let name = format!("2025-11-20T19-04-07-331Z_{PI_1}.jsonl");
        let name = format!("home/.pi/agent/sessions/--work--/{name}");
        goes_on(&script, PI_1, &name, "umlauts were dropped");
    }
}

#[test]
fn omp_goes_on() {
    let Some(script) = judge("resume-judge", "omp") else { return };
    goes_on(&script, OMP_3, "backup/session.jsonl", "then the night tiles");
}

#[test]
fn claude_code_goes_on() {
    let Some(script) = judge("resume-judge", "claude") else { return };
    goes_on(&script, CLAUDE, &format!("backup/{CLAUDE}.jsonl"), "time zone");
    // From a folder like the program's own, which is another one.
    goes_on(&script, CLAUDE, &format!(".claude/projects/-work/{CLAUDE}.jsonl"), "time zone");
    // One that names no directory.
    let scene = Scene::new();
    let text = String::from_utf8(sample(CLAUDE)).unwrap();
    let text = text.replace(&format!(r#""cwd":"{}","#, DIRECTORIES[0]), "");
    let file = scene.write(&format!("backup/{CLAUDE}.jsonl"), text.as_bytes());
    scene.run(["import", path(&file)]).ok();
    let mut resume = command(&scene.store());
    resume.env("HOME", scene.folder()).args(["resume", CLAUDE, "--json"]);
    let told = finished(resume.output().unwrap()).json();
    let (home, cwd) = (scene.folder(), &told["directory"]);
    let job = json!({"op": "resume", "command": told["command"], "home": home, "cwd": cwd});
    let answer = script.ask(&[job]).remove(0);
    assert!(answer["ok"] == true && cwd == "/", "{told}: {answer}");
    assert!(answer["sent"].as_str().unwrap().contains("time zone"), "{answer}");
}

/// Guards against the loss of a turn of the program, or of a change in the store, when both have gone on.
fn goes_on_with_both(script: &Script, id: &str) {
    let scene = Scene::new();
    let home = scene.folder();
    let work = home.join("work");
    std::fs::create_dir_all(&work).unwrap();
    let mut text = String::from_utf8(sample(id)).unwrap();
    DIRECTORIES.iter().for_each(|directory| text = text.replace(directory, path(&work)));
    let file = scene.write(&format!("backup/{id}.jsonl"), text.as_bytes());
    scene.run(["import", path(&file)]).ok();
    std::fs::remove_file(&file).unwrap();
    let go_on = || {
        let told = at_home(&scene, ["resume", id, "--json"]).json();
        let job = json!({"op": "resume", "command": told["command"], "home": home, "cwd": work});
        let answer = script.ask(&[job]).remove(0);
        assert_eq!(answer["ok"], true, "{id}: {answer}");
        let file = told["files"][0]["path"].as_str().unwrap().to_owned();
        (answer["sent"].as_str().unwrap().matches("PROBE").count(), file)
    };
    let (first, file) = go_on();
    assert_eq!(first, 1);
    at_home(&scene, ["sync"]).ok();
    let entries = scene.run(["--json", "path", id]).ok().text();
    let mut entries = entries.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let entry = entries.find(|entry| entry["role"] == "user").unwrap();
    // Both change the session: the store with a name, the program with a turn.
    scene.run(["name", id, "--set", "Both of them"]).ok();
    let before = std::fs::read(&file).unwrap();
    let (second, _) = go_on();
    assert_eq!(second, 2);
    scene.run(["name", id, "--set", "Once more"]).ok();
    let (third, _) = go_on();
    assert_eq!(third, 3);
    let said = at_home(&scene, ["sync"]).ok().text();
    assert!(!said.contains("failed"), "{said}");
    let after = std::fs::read(&file).unwrap();
    // omp keeps the name in its header.
    assert!(id == OMP_3 || after.starts_with(&before));
    assert!(String::from_utf8_lossy(&after).contains("Once more"));
    assert_eq!(scene.run(["export", id]).ok().stdout, after);
    // The store lacks a turn, and the file lacks a change.
    let told = at_home(&scene, ["resume", id, "--json"]).json();
    scene.run(["name", id, "--set", "At last"]).ok();
    let job = json!({"op": "resume", "command": told["command"], "home": home, "cwd": work});
    assert_eq!(script.ask(&[job]).remove(0)["ok"], true);
    let said = at_home(&scene, ["sync"]).ok().text();
    assert!(said.contains("merged"), "{said}");
    let (fifth, _) = go_on();
    assert_eq!(fifth, 5, "the newest turn has the leaf");
    // After a branch in the store, the program starts there.
    at_home(&scene, ["sync"]).ok();
    scene.run(["branch", id, entry["id"].as_str().unwrap()]).ok();
    let (branched, _) = go_on();
    assert_eq!(branched, 1, "the program starts at the leaf of the store");
    at_home(&scene, ["sync"]).ok();
    assert_eq!(scene.run(["--json", "ls"]).ok().text().lines().count(), 1);
    assert_eq!(scene.run(["export", id]).ok().stdout, std::fs::read(&file).unwrap());
}

#[test]
fn pi_resumes_a_merged_session() {
    versions_of_pi().iter().for_each(|script| goes_on_with_both(script, PI_3));
}

#[test]
fn omp_resumes_a_merged_session() {
    let Some(script) = judge("resume-judge", "omp") else { return };
    goes_on_with_both(&script, OMP_3);
}

#[test]
fn claude_code_resumes_a_merged_session() {
    let Some(script) = judge("resume-judge", "claude") else { return };
    goes_on_with_both(&script, CLAUDE);
}

/// Guards against files as they were before an edit that the program deletes, or does not find again.
#[test]
fn claude_code_rewinds_the_files_of_a_session_that_was_put_back() {
    let Some(script) = judge("resume-judge", "claude") else { return };
    let scene = Scene::new();
    let file = scene.write("work/notes.txt", b"as it was\n");
    let work = file.parent().unwrap();
    let ask = |arguments: &[&str], answers: serde_json::Value| {
        let job = json!({"op": "claude", "arguments": arguments, "answers": answers,
            "home": scene.folder(), "cwd": work});
        script.ask(&[job]).remove(0)
    };
    let tool = |id: &str, name: &str, input: serde_json::Value| json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
    let answers = json!([
        tool("toolu_1", "Read", json!({"file_path": file})),
        tool("toolu_2", "Write", json!({"file_path": file, "content": "as it is"})),
    ]);
    let skip = "--dangerously-skip-permissions";
    let answer = ask(&["-p", "Change it.", "--session-id", CLAUDE, skip], answers);
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "as it is");

    let told = at_home(&scene, ["sync", "--json"]).ok().json_lines();
    assert_eq!(told.last().unwrap()["beside"]["taken"], 1, "{told:?}");
    let entries = at_home(&scene, ["path", CLAUDE, "--json"]).ok().json_lines();
    let prompt = entries.iter().find(|entry| entry.to_string().contains("Change it.")).unwrap();
    let prompt = prompt["id"].as_str().unwrap();
    for folder in ["projects", "file-history"] {
        std::fs::remove_dir_all(scene.folder().join(".claude").join(folder)).unwrap();
    }
    let resumed = at_home(&scene, ["resume", CLAUDE]);
    assert_eq!(resumed.status, 0, "{}", resumed.stderr);
    let rewind = ["-p", "--resume", CLAUDE, "--rewind-files", prompt, skip];
    let answer = ask(&rewind, json!([]));
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "as it was\n");
}

#[test]
fn codex_goes_on() {
    let Some(script) = judge("resume-judge", "codex") else { return };
    let name = format!("rollout-2026-02-18T09-00-00-{CODEX}.jsonl");
    goes_on(&script, CODEX, &format!("backup/{name}"), "offset");
    goes_on(&script, CODEX, &format!(".codex/sessions/2026/02/18/{name}"), "offset");
    goes_on(&script, CODEX, &format!("home/.codex/archived_sessions/{name}"), "offset");
}

#[test]
fn an_archived_codex_session_is_not_written_again() {
    let scene = Scene::new();
    let name = format!("rollout-2026-02-18T08-59-59-{CODEX_BASE}.jsonl");
    let work = scene.folder().join("it is work");
    std::fs::create_dir(&work).unwrap();
    let text = String::from_utf8(sample(CODEX_BASE)).unwrap();
    let text = text.replace(DIRECTORIES[0], path(&work));
    let made = scene.write(&format!(".codex/sessions/2026/02/18/{name}"), text.as_bytes());
    at_home(&scene, ["import"]).ok();
    let archived = scene.write(&format!(".codex/archived_sessions/{name}"), b"");
    std::fs::rename(&made, &archived).unwrap();
    at_home(&scene, ["sync"]).ok();
    let told = at_home(&scene, ["resume", CODEX_BASE]).ok().text();
    let cd = if cfg!(windows) { "pushd \"" } else { "cd '" };
    assert!(told.starts_with(&format!("{cd}{}", path(&work))), "{told}");
    let then = if cfg!(windows) { "\n" } else { " && " };
    let commands = format!("codex unarchive {CODEX_BASE}{then}codex resume {CODEX_BASE}\n");
    assert!(told.ends_with(&format!("{then}{commands}")), "{told}");
    assert!(!made.exists() && archived.exists());
}
