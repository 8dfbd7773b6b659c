//! `leafline import`.

use crate::scene::{PI_3, SAMPLES, Scene, file, header, message, on_samples, path, samples};
use serde_json::Value;

#[test]
fn a_line_a_file_and_a_total() {
    let scene = Scene::new();
    let run = scene.run(["import", path(&samples())]).ok();
    let text = run.text();
    assert_eq!(text.lines().count(), SAMPLES + 1);
    assert_eq!(text.lines().filter(|line| line.starts_with("imported ")).count(), SAMPLES);
    let pi = text.lines().find(|line| line.contains(PI_3)).unwrap();
    assert!(pi.contains("1 malformed line") && pi.contains(".jsonl"), "{pi}");
    assert!(text.lines().last().unwrap().starts_with("18 files: 18 imported; "), "{text}");

    let again = scene.run(["import", path(&samples())]).ok().text();
    assert!(again.starts_with("18 files: 18 unchanged; "), "{again}");
}

#[test]
fn what_is_unchanged_is_summed_up_or_listed() {
    let scene = Scene::of_samples();
    let samples = samples();
    for command in ["import", "sync"] {
        let told = |more: &str| scene.run([command, path(&samples), more]).ok().text();
        assert_eq!(told("--no-index").lines().count(), 1, "{command}");
        let all = told("-v");
        assert_eq!(all.lines().filter(|line| line.starts_with("unchanged ")).count(), SAMPLES);
        assert_eq!(
            (all.lines().count(), told("--verbose").lines().count()),
            (SAMPLES + 1, SAMPLES + 1)
        );
        assert_eq!((told("-q"), told("--quiet")), (String::new(), String::new()));
        scene.run([command, path(&samples), "-q", "-v"]).fails(2);
        let totals = scene.run(["--json", command, path(&samples), "-q"]).ok().json();
        assert_eq!(totals["unchanged"], SAMPLES);
    }
    // What fails is always listed.
    let run = scene.run(["import", "-q", "gone.jsonl"]);
    assert!(run.text().starts_with("failed ") && run.text().lines().count() == 1, "{}", run.text());
    run.fails(1);
}

#[test]
fn json_is_an_object_a_file_and_then_the_totals() {
    let scene = Scene::new();
    let mut lines = scene.run(["--json", "import", path(&samples())]).ok().json_lines();
    let totals = lines.pop().unwrap();
    assert_eq!(totals["files"], SAMPLES);
    assert_eq!(totals["imported"], SAMPLES);
    assert_eq!(totals["folders"], Value::Null);
    assert_eq!(lines.len(), SAMPLES);
    let families: Vec<_> = ["pi", "omp", "claude", "opal"]
        .map(|family| lines.iter().filter(|line| line["family"] == family).count())
        .into();
    assert_eq!(families, [5, 2, 4, 2]);
    let mut names: Vec<_> = lines[0].as_object().unwrap().keys().cloned().collect();
    names.sort_unstable();
    let expected = [
        "bytes",
        "entries",
        "family",
        "lines",
        "malformed",
        "path",
        "reason",
        "session",
        "status",
        "version",
    ];
    assert_eq!(names, expected);
    let pi = lines.iter().find(|line| line["session"] == PI_3).unwrap();
    assert_eq!((&pi["status"], &pi["family"]), (&"imported".into(), &"pi".into()));
    assert_eq!((&pi["version"], &pi["malformed"]), (&3.into(), &1.into()));
    assert!(pi["reason"].is_null());
}

#[test]
fn what_is_no_session_is_skipped() {
    let scene = Scene::new();
    scene.write("in/readings.jsonl", b"{\"reading\":1}\n");
    scene.write("in/notes.txt", b"not looked at");
    scene.write("in/deep/er/session.jsonl", &file([header("s1"), message("a", None, "x")]));
    let lines = scene.run(["import", "--json", path(&scene.folder().join("in"))]).ok().json_lines();
    assert_eq!(lines.len(), 3);
    let skipped = lines.iter().find(|line| line["status"] == "skipped").unwrap();
    assert!(skipped["path"].as_str().unwrap().ends_with("readings.jsonl"));
    assert!(skipped["reason"].is_string());
    assert_eq!(lines[2]["skipped"], 1);
    assert_eq!(lines[2]["imported"], 1);
}

/// In a folder it is skipped; whoever names it believes that it is one.
#[test]
fn what_is_no_session_fails_if_it_is_named() {
    let scene = Scene::new();
    let session = scene.write("s.jsonl", &file([header("s1"), message("a", None, "x")]));
    for (name, bytes) in [("t.txt", &b"text"[..]), ("j.jsonl", b"{\"a\":1}\n"), ("empty", b"")] {
        let named = scene.write(name, bytes);
        for command in ["import", "sync"] {
            let run = scene.run([command, path(&named), path(&session)]);
            assert!(run.text().contains("failed"), "{}", run.text());
            run.fails(1);
        }
        let lines = scene.run(["import", "--json", path(&named)]).json_lines();
        assert_eq!((&lines[0]["status"], &lines[1]["failed"]), (&"failed".into(), &1.into()));
    }
    scene.run(["show", "s1"]).ok();
}

#[test]
fn a_missing_path_fails_and_costs_the_others_nothing() {
    let scene = Scene::new();
    let session = scene.write("session.jsonl", &file([header("s1"), message("a", None, "x")]));
    let run = scene.run(["import", "/nowhere/at/all", path(&session)]);
    let text = run.text();
    assert!(text.contains("failed ") && text.contains("/nowhere/at/all"), "{text}");
    assert!(text.contains("imported "), "{text}");
    let complaint = run.fails(1);
    assert!(complaint.starts_with("leafline: 1 file was not imported"), "{complaint}");
    assert_eq!(scene.run(["ls"]).ok().text().lines().count(), 1);
}

#[test]
fn a_folder_of_blobs_must_be_there() {
    let scene = Scene::new();
    let complaint = scene.run(["import", path(&samples()), "--blobs", "/nowhere"]).fails(1);
    assert!(complaint.contains("/nowhere") && complaint.contains("--blobs"), "{complaint}");
    assert!(!scene.store().exists());
}

#[test]
fn a_grown_file_brings_what_is_new_and_a_rewritten_one_is_another_session() {
    let scene = Scene::new();
    let [first, second] = [message("a", None, "one"), message("b", Some("a"), "two")];
    let session = scene.write("session.jsonl", &file([header("s1"), first.clone()]));
    let import = |more: &[&str]| {
        scene.run(["import", path(&session)].into_iter().chain(more.iter().copied()))
    };
    import(&[]).ok();
    scene.write("session.jsonl", &file([header("s1"), first, second]));
    assert!(import(&[]).ok().text().starts_with("grown "));

    scene.write("session.jsonl", &file([header("s1"), message("c", None, "another")]));
    let said = import(&[]).ok().text();
    assert!(said.starts_with("imported ") && said.contains("next to s1"), "{said}");
    assert_eq!(scene.run(["show", "s1~2", "c"]).ok().status, 0);
    assert_eq!(scene.run(["show", "s1", "b"]).ok().status, 0);

    let scene = Scene::new();
    let session = scene.write("session.jsonl", &file([header("s1"), message("b", None, "one")]));
    scene.run(["import", path(&session)]).ok();
    scene.write("session.jsonl", &file([header("s1"), message("c", None, "another")]));
    let replaced = scene.run(["import", path(&session), "--replace"]).ok().text();
    assert!(replaced.starts_with("replaced "), "{replaced}");
    scene.run(["show", "s1", "b"]).fails(1);
}

#[test]
fn two_files_of_one_id_are_both_kept() {
    let scene = Scene::new();
    let one = scene.write("one.jsonl", &file([header("twin"), message("a", None, "one")]));
    let two = scene.write("two.jsonl", &file([header("twin"), message("b", None, "two")]));
    let lines = scene.run(["import", "--json", path(&one), path(&two)]).ok().json_lines();
    assert_eq!(lines[0]["session"], "twin");
    assert_eq!(lines[1]["session"], "twin~2");
    assert!(lines[1]["reason"].is_string(), "{}", lines[1]);
    assert_eq!(scene.run(["export", "twin"]).ok().stdout, std::fs::read(one).unwrap());
    assert_eq!(scene.run(["export", "twin~2"]).ok().stdout, std::fs::read(two).unwrap());
}

#[test]
fn a_family_can_be_forced() {
    let scene = Scene::new();
    let session = scene.write("session.jsonl", &file([header("s1"), message("a", None, "x")]));
    let lines =
        scene.run(["import", "--json", "--family", "omp", path(&session)]).ok().json_lines();
    assert_eq!(lines[0]["family"], "omp");
    scene.run(["import", "--family", "other", path(&session)]).fails(2);
}

#[test]
fn a_line_that_is_too_long_fails_and_the_option_is_named() {
    let scene = Scene::new();
    let lines = [header("long"), message("a", None, &"x".repeat(2000)), message("b", None, "Hi")];
    let long = scene.write("long.jsonl", &file(lines.clone()));
    let at = lines[0].len() + 1;
    let said = format!("the line that begins at byte {at} has more than 1000 bytes");
    for verb in ["import", "sync"] {
        let run = scene.run([verb, "--longest-line", "1000", path(&long), path(&samples())]);
        assert!(run.text().contains(&said), "{}", run.text());
        assert!(run.text().contains("; --longest-line sets another)"), "{}", run.text());
        run.fails(1);
        scene.run(["show", "long"]).fails(1);
    }
    // So does one in what a file has gained.
    scene.write("long.jsonl", &file(lines[..1].to_vec()));
    scene.run(["import", path(&long)]).ok();
    scene.write("long.jsonl", &file(lines.clone()));
    let run = scene.run(["sync", "--longest-line", "1000", path(&long)]);
    assert!(run.text().contains("; --longest-line sets another)"), "{}", run.text());
    run.fails(1);
    scene.run(["sync", path(&long)]).ok();
    assert_eq!(scene.run(["export", "long"]).ok().stdout, file(lines));
}

#[test]
fn odd_files_do_not_stop_an_import() {
    let scene = Scene::new();
    for (name, bytes) in leafline_generate::zoo() {
        scene.write(&format!("zoo/{}.jsonl", name.replace('/', "-")), &bytes);
    }
    let lines =
        scene.run(["import", "--json", path(&scene.folder().join("zoo"))]).ok().json_lines();
    let totals = lines.last().unwrap();
    assert_eq!(totals["failed"], 0);
    assert_eq!(totals["files"], leafline_generate::zoo().len() as u64);
    // Nothing that a session holds may command the terminal.
    for session in scene.run(["ls", "--json"]).ok().json_lines() {
        let id = session["id"].as_str().unwrap();
        let text = scene.run(["tree", id]).ok().text();
        let raw = |character: char| character.is_control() && character != '\n';
        assert!(!text.contains(raw), "{id}: {text:?}");
    }
}

#[test]
fn the_samples_stand_in_the_store() {
    assert_eq!(on_samples(["ls", "--agents"]).ok().text().lines().count(), SAMPLES);
}
