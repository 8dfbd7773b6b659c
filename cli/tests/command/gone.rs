//! Sessions whose files their programs have deleted.

use std::path::{Path, PathBuf};

use crate::scene::{
    AGENTS, CLAUDE, OMP_3, PI_1, PI_2, PI_3, Scene, at_home, command, finished, path, sample,
};

/// A home folder with a session of Claude Code's, an agent of it and one of pi's, all imported; and their files.
fn home() -> (Scene, [PathBuf; 3]) {
    let scene = Scene::new();
    let project = format!(".claude/projects/-home-robin-work-tide-clock/{CLAUDE}");
    let name = format!("2026-02-16T10-20-30-112Z_{PI_3}.jsonl");
    let files = [
        scene.write(&format!("{project}.jsonl"), &sample(CLAUDE)),
        scene.write(&format!("{project}/subagents/{}.jsonl", AGENTS[1]), &sample(AGENTS[1])),
        scene.write(&format!(".pi/agent/sessions/--home--/{name}"), &sample(PI_3)),
    ];
    at_home(&scene, ["import"]).ok();
    (scene, files)
}

fn gone(scene: &Scene) -> Vec<String> {
    let listed = at_home(scene, ["ls", "--gone", "--agents", "--json"]).ok().json_lines();
    assert!(listed.iter().all(|session| session["gone"] == true), "{listed:?}");
    listed.iter().map(|session| session["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_session_whose_file_was_deleted_stays_and_is_marked() {
    let (scene, files) = home();
    assert_eq!(gone(&scene), [""; 0]);
    let before = at_home(&scene, ["ls"]).ok().text();
    assert!(before.lines().all(|line| line.split('\t').count() == 7), "{before}");
    std::fs::remove_file(&files[0]).unwrap();
    let told = at_home(&scene, ["sync"]).ok().text();
    assert!(told.contains("2 unchanged"), "{told}");
    assert_eq!(gone(&scene), [CLAUDE]);
    let listed = at_home(&scene, ["ls"]).ok().text();
    let marked: Vec<&str> = listed.lines().filter(|line| line.ends_with("\tgone")).collect();
    assert!(marked.len() == 1 && marked[0].starts_with(CLAUDE), "{listed}");
    // A limit is of what is listed.
    std::fs::remove_file(&files[2]).unwrap();
    assert_eq!(at_home(&scene, ["ls", "--gone"]).ok().text().lines().count(), 2);
    assert_eq!(at_home(&scene, ["ls", "--gone", "--limit", "1"]).ok().text().lines().count(), 1);
    // What was made here never had a file.
    scene.run(["new", "--id", "s1", "--cwd", "/work"]).ok();
    assert_eq!(gone(&scene).len(), 2);
    assert_eq!(scene.run(["export", CLAUDE]).ok().stdout, sample(CLAUDE));
}

#[test]
#[cfg(target_os = "linux")]
fn a_person_is_told_that_sessions_of_agents_are_gone_too() {
    use crate::terminal::{USUAL, at_store};
    let (scene, files) = home();
    let told = |arguments: &[&str]| {
        let (_, text) =
            at_store(&scene.store(), arguments, &[("LEAFLINE_PAGER", "")], USUAL).ends();
        text
    };
    assert!(!told(&["ls", "--gone"]).contains("agent"));
    std::fs::remove_dir_all(files[0].parent().unwrap()).unwrap();
    let text = told(&["ls", "--gone"]);
    assert!(text.contains("; `leafline ls --gone --agents` lists them too"), "{text}");
    assert!(!told(&["ls", "--gone", "--agents"]).contains("lists them too"));
}

#[test]
fn a_session_is_put_back_where_its_program_looks_for_it() {
    let (scene, files) = home();
    std::fs::remove_dir_all(scene.folder().join(".claude")).unwrap();
    std::fs::remove_dir_all(scene.folder().join(".pi")).unwrap();
    for (id, file) in [CLAUDE, AGENTS[1], PI_3].iter().zip(&files) {
        let told = at_home(&scene, ["export", "--to-source", id]).ok().text();
        // The agents that a session has started come with it.
        let status = if *id == AGENTS[1] { "unchanged" } else { "written" };
        assert!(told.starts_with(status) && told.contains(path(file)), "{told}");
        assert_eq!(told.lines().count(), if *id == CLAUDE { 2 } else { 1 }, "{told}");
        assert_eq!(std::fs::read(file).unwrap(), sample(id), "{id}");
        let folder = file.parent().unwrap();
        let left = std::fs::read_dir(folder).unwrap().filter(|entry| {
            entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(".leafline")
        });
        assert_eq!(left.count(), 0);
        // Again there is nothing to do.
        let told = at_home(&scene, ["export", "--to-source", id, "--json"]).ok().json_lines();
        assert!(told.iter().all(|told| told["status"] == "unchanged"), "{told:?}");
        let told = at_home(&scene, ["export", "--to-source", id]).ok().text();
        assert!(told.starts_with("unchanged  ") && told.contains(path(file)), "{told}");
    }
    assert_eq!(gone(&scene), [""; 0]);
    let told = at_home(&scene, ["sync"]).ok().text();
    assert!(told.starts_with("3 files: 3 unchanged"), "{told}");
}

#[test]
fn another_file_in_its_place_is_never_overwritten() {
    let (scene, files) = home();
    std::fs::write(&files[0], "another\n").unwrap();
    let run = at_home(&scene, ["export", "--to-source", CLAUDE]);
    assert_eq!(run.status, 1, "{}", run.text());
    assert!(run.text().starts_with("kept") && run.text().contains("another file"));
    assert!(run.text().contains("; move that away and export again)"), "{}", run.text());
    assert_eq!(std::fs::read(&files[0]).unwrap(), b"another\n");
    std::fs::remove_file(&files[0]).unwrap();
    std::fs::create_dir(&files[0]).unwrap();
    let run = at_home(&scene, ["export", "--to-source", CLAUDE]);
    assert!(run.text().contains("; move that away and export again)"), "{}", run.text());
    run.fails(1);
    at_home(&scene, ["export", "--to-source"]).fails(2);
    at_home(&scene, ["export", "--to-source", CLAUDE, "-o", "x"]).fails(2);
}

#[test]
fn a_session_from_elsewhere_goes_to_its_programs_folder() {
    let scene = Scene::new();
    let file = scene.write("backup/session.jsonl", &sample(PI_3));
    scene.run(["import", path(&file)]).ok();
    std::fs::remove_file(&file).unwrap();
    at_home(&scene, ["export", "--to-source", PI_3]).ok();
    let name = format!("2026-02-16T10-20-30-112Z_{PI_3}.jsonl");
    let folder = scene.folder().join(".pi/agent/sessions/--home-robin-work-tide-clock--");
    assert_eq!(std::fs::read(folder.join(name)).unwrap(), sample(PI_3));
}

#[test]
fn a_session_is_resumed_in_its_directory() {
    let (scene, files) = home();
    std::fs::remove_dir_all(scene.folder().join(".claude")).unwrap();
    let run = at_home(&scene, ["resume", "5b0c7a52"]);
    for (id, file) in [CLAUDE, AGENTS[1]].iter().zip(&files) {
        assert_eq!(std::fs::read(file).unwrap(), sample(id), "{id}");
        assert!(run.stderr.contains(&format!("{} was written", file.display())), "{}", run.stderr);
    }
    // There is nothing that a shell could do with a directory that is gone.
    assert_eq!((run.status, run.text().as_str()), (1, ""));
    let gone = "/home/robin/work/tide-clock, the directory of session";
    assert!(run.stderr.contains(gone), "{}", run.stderr);
    // The advice is followed.
    let advice = format!("`leafline move {CLAUDE} DIR`");
    assert!(run.stderr.contains(&advice), "{}", run.stderr);
    at_home(&scene, ["move", CLAUDE, path(scene.folder())]).ok();
    let run = at_home(&scene, ["resume", CLAUDE]);
    let command = format!("cd {} && claude --resume {CLAUDE}\n", scene.folder().display());
    assert_eq!((run.status, run.text()), (0, command));
    let told = at_home(&scene, ["resume", PI_3, "--json"]).ok().json();
    assert_eq!(told["command"], serde_json::json!(["pi", "--session", path(&files[2])]));
    assert_eq!(told["files"][0]["status"], "unchanged");
    // Without its directory nothing is run.
    let said = at_home(&scene, ["resume", PI_3, "--exec"]).fails(1);
    assert!(said.contains(gone), "{said}");
    std::fs::remove_file(&files[2]).unwrap();
    at_home(&scene, ["resume", PI_3, "--exec"]).fails(1);
    assert!(!files[2].exists());
    let said = at_home(&scene, ["resume", AGENTS[1]]).fails(1);
    assert!(said.contains(&format!("which {CLAUDE} has started")), "{said}");
}

#[test]
fn a_session_without_a_directory_is_resumed_where_its_program_finds_it() {
    let scene = Scene::new();
    let text = String::from_utf8(sample(CLAUDE)).unwrap();
    let text = text.replace(r#""cwd":"/home/robin/work/tide-clock","#, "");
    let file = scene.write(&format!("backup/{CLAUDE}.jsonl"), text.as_bytes());
    scene.run(["import", path(&file)]).ok();
    let run = at_home(&scene, ["resume", CLAUDE]);
    // The program looks in the folder of the directory that it is started in.
    assert_eq!(run.text(), format!("cd / && claude --resume {CLAUDE}\n"));
    assert!(scene.folder().join(format!(".claude/projects/-/{CLAUDE}.jsonl")).exists());
    assert_eq!(at_home(&scene, ["resume", CLAUDE, "--json"]).ok().json()["directory"], "/");
    // Which directory the name of another folder stands for is not known.
    let scene = Scene::new();
    scene.write(&format!(".claude/projects/-home-robin/{CLAUDE}.jsonl"), text.as_bytes());
    at_home(&scene, ["import"]).ok();
    let told = at_home(&scene, ["resume", CLAUDE]).ok().text();
    assert_eq!(told, format!("claude --resume {CLAUDE}\n"));
}

#[test]
fn nothing_is_lost_by_a_resumption() {
    let (scene, files) = home();
    let longer = [&sample(CLAUDE)[..], b"{\"type\":\"mode\"}\n"].concat();
    std::fs::write(&files[0], &longer).unwrap();
    // The program goes on with what it has, and it has more.
    let told = at_home(&scene, ["resume", CLAUDE, "--json"]).json();
    assert_eq!(told["command"], serde_json::json!(["claude", "--resume", CLAUDE]));
    // With another file in its place not even its agents are put back.
    std::fs::remove_file(&files[1]).unwrap();
    let others = [b"another\n".to_vec(), [&sample(CLAUDE)[..100], b"\n"].concat()];
    for other in others {
        std::fs::write(&files[0], &other).unwrap();
        let said = at_home(&scene, ["resume", CLAUDE]).fails(1);
        assert!(said.contains("differs from what the store has; it was left as it is"), "{said}");
        assert_eq!(std::fs::read(&files[0]).unwrap(), other);
        assert!(!files[1].exists());
    }
    std::fs::remove_file(&files[0]).unwrap();
    std::fs::create_dir(&files[0]).unwrap();
    at_home(&scene, ["resume", CLAUDE]).fails(1);
    std::fs::remove_dir(&files[0]).unwrap();
    // Nothing is lost where the file has a part of it.
    for part in [&b""[..], &sample(CLAUDE)[..100]] {
        std::fs::write(&files[0], part).unwrap();
        let run = at_home(&scene, ["resume", CLAUDE, "--json"]);
        assert!(run.status == 0 && run.stderr.contains("was written"), "{}", run.stderr);
        assert_eq!(std::fs::read(&files[0]).unwrap(), longer);
    }
    assert_eq!(std::fs::read(&files[1]).unwrap(), sample(AGENTS[1]));
    at_home(&scene, ["resume"]).fails(2);
    let opal = Scene::of_samples();
    let said = at_home(&opal, ["resume", crate::scene::OPAL]).fails(1);
    assert!(said.contains("how opal goes on with a session is not known"), "{said}");
    assert!(!opal.folder().join(".opal").exists());
}

#[test]
fn a_session_that_was_changed_here_is_resumed() {
    let (scene, files) = home();
    at_home(&scene, ["label", PI_3, "cc2ef6d4", "mine"]).ok();
    assert_eq!(at_home(&scene, ["resume", PI_3, "--json"]).status, 0);
    let now = at_home(&scene, ["export", PI_3]).ok().stdout;
    assert!(now.starts_with(&sample(PI_3)) && now.len() > sample(PI_3).len());
    assert_eq!(std::fs::read(&files[2]).unwrap(), now);
    // The program has gone on from there, and so has the store.
    std::fs::write(&files[2], [&now[..], b"{\"type\":\"custom\"}\n"].concat()).unwrap();
    at_home(&scene, ["label", PI_3, "cc2ef6d4", "changed"]).ok();
    assert_eq!(at_home(&scene, ["resume", PI_3, "--json"]).status, 0);
    let both = std::fs::read(&files[2]).unwrap();
    assert!(both.starts_with(&[&now[..], b"{\"type\":\"custom\"}\n"].concat()));
    assert!(String::from_utf8_lossy(&both).contains("changed"));
    assert_eq!(at_home(&scene, ["export", PI_3]).ok().stdout, both);
    // A file that lacks imported lines becomes a session of its own, and stays.
    let first = both.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let other = [&both[..first], b"{\"type\":\"custom\",\"id\":\"aa\"}\n"].concat();
    std::fs::write(&files[2], &other).unwrap();
    at_home(&scene, ["resume", PI_3, "--json"]).fails(1);
    assert_eq!(std::fs::read(&files[2]).unwrap(), other);
    assert_eq!(at_home(&scene, ["export", PI_3]).ok().stdout, both);
    assert_eq!(at_home(&scene, ["export", &format!("{PI_3}~2")]).ok().stdout, other);
}

/// Guards against a program that silently works in the old directory.
#[test]
fn resume_warns_that_pi_works_in_the_old_directory() {
    let (scene, _) = home();
    let moved = scene.folder().join("moved");
    std::fs::create_dir(&moved).unwrap();
    at_home(&scene, ["move", PI_3, path(&moved)]).ok();
    let run = at_home(&scene, ["resume", PI_3]);
    assert_eq!(run.status, 0);
    let says = "pi will work in /home/robin/work/tide-clock, the directory in the file";
    assert!(run.stderr.contains(says) && run.stderr.contains("fork"), "{}", run.stderr);
    let told = at_home(&scene, ["resume", PI_3, "--json"]).json();
    assert_eq!(told["file_directory"], "/home/robin/work/tide-clock");
}

#[test]
fn a_file_of_an_earlier_version_is_gone_on_with() {
    for id in [PI_1, PI_2] {
        let scene = Scene::new();
        let name = format!(".pi/agent/sessions/--home--/2025-11-20T10-20-30-112Z_{id}.jsonl");
        let file = scene.write(&name, &sample(id));
        at_home(&scene, ["import"]).ok();
        let run = at_home(&scene, ["resume", id, "--json"]);
        assert!(run.text().contains(path(&file)), "{}{}", run.text(), run.stderr);
        // It is now as the program makes it when it loads it.
        assert_eq!(std::fs::read(&file).unwrap(), at_home(&scene, ["export", id]).ok().stdout);
        assert_eq!(at_home(&scene, ["export", id, "--as", "original"]).ok().stdout, sample(id));
        let told = at_home(&scene, ["sync"]).ok().text();
        assert!(told.contains("1 unchanged"), "{told}");
        // What it has more is in no store.
        std::fs::write(&file, [&sample(id)[..], b"{\"type\":\"custom\"}\n"].concat()).unwrap();
        at_home(&scene, ["resume", id]).fails(1);
    }
}

#[test]
fn a_session_goes_to_the_programs_own_folder_and_to_no_other() {
    let (old, files) = home();
    // The same folders below another one: of another home, or of an export.
    let scene = Scene::new();
    let moved = scene.folder().join("moved");
    old.run(["export", "--all", "-o", path(&moved)]).ok();
    let work = scene.folder().join("home");
    std::fs::create_dir(&work).unwrap();
    let at_home = |arguments: &[&str], store: &std::path::Path| {
        let mut command = command(store);
        command.env("HOME", &work).env("USERPROFILE", &work);
        finished(command.args(arguments).output().unwrap())
    };
    at_home(&["import", path(&moved)], &scene.store()).ok();
    for (store, is_moved) in [(scene.store(), true), (old.store(), false)] {
        for (id, file) in [CLAUDE, PI_3].iter().zip([&files[0], &files[2]]) {
            let told = at_home(&["resume", id, "--json"], &store).json();
            let put = told["files"][0]["path"].as_str().unwrap();
            assert!(put.starts_with(path(&work)), "{put}");
            assert_eq!(std::fs::read(put).unwrap(), sample(id));
            assert!(is_moved || std::fs::read(file).unwrap() == sample(id));
        }
    }
}

#[test]
fn omps_images_are_put_back_beside_its_sessions() {
    let scene = Scene::new();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("import").join("samples");
    let [sessions, blobs] = ["omp", "blobs"].map(|name| samples.join(name));
    at_home(&scene, ["import", path(&sessions), "--blobs", path(&blobs)]).ok();
    assert_eq!(at_home(&scene, ["resume", OMP_3, "--json"]).status, 0);
    let sent = String::from_utf8(at_home(&scene, ["export", OMP_3]).ok().stdout).unwrap();
    let hashes: Vec<&str> = sent.split("blob:sha256:").skip(1).map(|rest| &rest[..64]).collect();
    assert!(!hashes.is_empty());
    for hash in hashes {
        let put = scene.folder().join(".omp/agent/blobs").join(hash);
        assert_eq!(std::fs::read(put).unwrap(), std::fs::read(blobs.join(hash)).unwrap());
    }
}

#[test]
#[cfg(unix)]
fn the_program_is_run_in_the_sessions_directory() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new();
    let work = scene.folder().join("it's work");
    std::fs::create_dir(&work).unwrap();
    let id = scene.run(["new", "--cwd", path(&work), "--id", "s1"]).ok().text();
    let message = r#"{"type":"message","message":{"role":"assistant","content":[]}}"#;
    scene.run(["append", id.trim(), message]).ok();
    let program = scene.write("bin/pi", b"#!/bin/sh\npwd\nprintf '%s\\n' \"$@\"\nexit 7\n");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = command(&scene.store());
        command.env("HOME", scene.folder()).env("PATH", program.parent().unwrap());
        finished(command.args(arguments).output().unwrap())
    };
    let printed = run(&["resume", "s1"]).text();
    assert!(
        printed.starts_with("cd '") && printed.contains("it'\\''s work' && pi --session "),
        "{printed}"
    );
    let ran = run(&["resume", "s1", "--exec"]);
    let text = ran.text();
    let mut lines = text.lines();
    assert_eq!(lines.next().map(Path::new), Some(std::fs::canonicalize(&work).unwrap().as_path()));
    assert_eq!((lines.next(), ran.status), (Some("--session"), 7));
    assert!(lines.next().unwrap().ends_with("_s1.jsonl"), "{text}");
}
