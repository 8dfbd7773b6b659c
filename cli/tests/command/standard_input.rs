//! `leafline import -`.

use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;

use crate::scene::{
    CLAUDE, OMP_3, PI_3, Run, SAMPLES, Scene, command, file, header, message, path, sample,
    sample_blobs, samples,
};

/// The files of all samples.
fn files() -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![samples()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let place = entry.unwrap().path();
            if place.is_dir() {
                folders.push(place);
            } else if place.extension().is_some_and(|ending| ending == "jsonl")
                && place.file_name().unwrap() != "session_index.jsonl"
            {
                files.push(place);
            }
        }
    }
    files
}

fn import(scene: &Scene, bytes: &[u8]) -> Run {
    scene.run_with_input(["import", "--json", "-"], bytes)
}

fn listed(scene: &Scene) -> Vec<Value> {
    scene.run(["ls", "--json", "--agents", "--limit", "100"]).ok().json_lines()
}

#[test]
fn a_session_of_any_family_is_the_same_as_from_its_file() {
    let scene = Scene::new();
    let files = files();
    assert_eq!(files.len(), SAMPLES);
    for place in &files {
        let bytes = std::fs::read(place).unwrap();
        let of_file = Scene::new();
        of_file.run(["import", path(place)]).ok();
        let expected = listed(&of_file).remove(0);
        let told = import(&scene, &bytes).ok().json_lines();
        assert_eq!((&told[0]["status"], &told[0]["path"]), (&"imported".into(), &"-".into()));
        assert_eq!(told[0]["session"], expected["id"], "{}", path(place));
        assert_eq!(told[1]["imported"], 1);
        let again = import(&scene, &bytes).ok().json_lines();
        assert_eq!(again[0]["status"], "unchanged", "{}", path(place));
        let id = expected["id"].as_str().unwrap();
        let mut found = listed(&scene).into_iter().find(|facts| facts["id"] == *id).unwrap();
        // A name that Codex keeps in another file, and the time of a file.
        for beside in ["title", "modified"] {
            if found[beside].is_null() {
                found[beside] = expected[beside].clone();
            }
        }
        assert_eq!(found, expected, "{}", path(place));
        let back = scene.run(["export", "--as", "original", id]).ok();
        assert!(back.stdout == bytes, "{}", path(place));
    }
    assert_eq!(scene.run(["ls", "--gone", "--agents", "--json"]).ok().text(), "");
    assert!(scene.run(["verify"]).ok().text().contains("no problems"));
}

#[test]
fn a_file_becomes_the_sessions_file_later() {
    let scene = Scene::new();
    let place = scene.write("in/session.jsonl", &sample(PI_3));
    let begun = sample(PI_3);
    let half = begun.iter().take(2000).rposition(|byte| *byte == b'\n').unwrap() + 1;
    assert_eq!(import(&scene, &begun[..half]).ok().json_lines()[0]["status"], "imported");
    assert_eq!(import(&scene, &begun).ok().json_lines()[0]["status"], "grown");
    assert_eq!(import(&scene, &begun[..half]).ok().json_lines()[0]["status"], "unchanged");
    for command in ["import", "sync"] {
        let told = scene.run([command, "--json", path(&place)]).ok().json_lines();
        assert_eq!(told.last().unwrap()["unchanged"], 1);
    }
    assert_eq!(scene.run(["ls", "--gone"]).ok().text(), "");
    std::fs::remove_file(&place).unwrap();
    assert!(scene.run(["ls", "--gone"]).ok().text().contains(PI_3));
    // What differs is another session of the id, as from a file elsewhere.
    let scene = Scene::new();
    let place = scene.write("s1.jsonl", &file([header("s1"), message("a", None, "one")]));
    scene.run(["import", path(&place)]).ok();
    let other = import(&scene, &file([header("s1"), message("b", None, "two")])).ok();
    assert_eq!(other.json_lines()[0]["session"], "s1~2");
}

#[test]
fn options_of_files_hold() {
    let scene = Scene::new();
    let import = |arguments: &[&str], bytes: &[u8]| {
        let all = ["import", "-", "--json"].iter().chain(arguments).copied();
        scene.run_with_input(all, bytes).ok().json_lines().remove(0)
    };
    assert_eq!(import(&["--family", "omp"], &sample(PI_3))["family"], "omp");
    import(&["--blobs", path(&sample_blobs())], &sample(OMP_3));
    scene.run(["export", "--as", "portable", OMP_3]).ok();
    scene.run(["rm", OMP_3]).ok();
    assert_eq!(import(&[], &sample(OMP_3))["status"], "removed");
    assert_eq!(import(&["--restore"], &sample(OMP_3))["status"], "imported");
    let bound = ["import", "-", "--longest-line", "100"];
    let told = scene.run_with_input(bound, &sample(CLAUDE));
    assert!(told.text().contains("more than 100 bytes"), "{}", told.text());
    told.fails(1);
}

#[test]
fn what_is_no_session_or_has_no_name_fails() {
    let scene = Scene::new();
    let summary = br#"{"type":"summary","summary":"Fix login","leafUuid":"c7f1"}"#;
    for (bytes, reason) in [
        (&b""[..], "empty"),
        (b"notes\n", "not"),
        (summary, "its lines do not name their session; import it as a file of its name"),
    ] {
        let run = scene.run_with_input(["import", "-"], bytes);
        let told = run.text();
        run.fails(1);
        assert!(told.starts_with("failed ") && told.contains(reason), "{told}");
        assert!(told.contains("  standard input  ("), "{told}");
    }
}

#[test]
fn an_endless_input_that_is_no_session_ends() {
    let scene = Scene::new();
    let mut child = command(&scene.store())
        .args(["import", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let block = vec![b'x'; 1 << 20];
    let mut written = 0_u64;
    // Until the command leaves.
    while input.write_all(&block).is_ok() {
        written += block.len() as u64;
        assert!(written < 1 << 30, "it reads on");
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("failed "));
}

#[test]
fn it_stands_alone() {
    let scene = Scene::new();
    for arguments in [&["import", "-", "x.jsonl"][..], &["sync", "-"], &["sync", "--watch", "-"]] {
        let told = scene.run(arguments.iter().copied()).fails(2);
        assert!(told.contains("leafline import -") && told.contains("./-"), "{told}");
    }
    assert!(!scene.store().exists());
    // A file of that name is one as any other.
    let place = scene.write("-", &file([header("s1"), message("a", None, "x")]));
    let mut import = command(&scene.store());
    import.current_dir(place.parent().unwrap()).args(["import", "./-"]);
    assert!(import.output().unwrap().status.success());
    assert!(scene.run(["ls"]).ok().text().contains("s1"));
}
