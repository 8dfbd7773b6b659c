//! The commands on sessions of Opal's, and what they say of what a family does not have.

use serde_json::json;

use crate::scene::Scene;

#[test]
fn a_session_of_opals_from_its_beginning_to_its_file() {
    let scene = Scene::new();
    let new = scene.run(["new", "--family", "opal", "--title", "Fix auth bug", "--cwd", "/work"]);
    let session = new.ok().text().trim().to_owned();
    assert_eq!(session.len(), 32);
    let append =
        |message: &str| scene.run(["append", &session, message]).ok().text().trim().to_owned();
    let first = append(r#"{"role":"user","content":"fix the bug"}"#);
    let second = append(r#"{"role":"assistant","content":"Which one?"}"#);
    assert_eq!((first.len(), second.len()), (16, 16));
    scene.run(["branch", &session, &first]).ok();
    let summary = scene.run(["branch", &session, &first, "--summary", "It asked."]).ok().text();
    let lines = scene.run(["export", &session]).ok().json_lines();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0]["current_id"], summary.trim());
    assert_eq!(lines[3]["metadata"]["from_leaf"], first.as_str());
    assert_eq!(lines[3]["metadata"]["summary"], "It asked.");

    assert_eq!(scene.run(["name", &session]).ok().text(), "Fix auth bug\n");
    scene.run(["name", "--set", "Auth", &session]).ok();
    scene.run(["reset-leaf", &session]).ok();
    let header = &scene.run(["export", &session]).ok().json_lines()[0];
    assert_eq!(
        (&header["metadata"]["title"], &header["current_id"]),
        (&json!("Auth"), &json!(null))
    );
    assert!(scene.run(["ls"]).ok().text().contains("Auth"));

    let folder = scene.folder().join("out");
    scene.run(["export", "--all", "-o", folder.to_str().unwrap()]).ok();
    let file = folder.join(format!("opal/sessions/{session}.jsonl"));
    let report = scene.run(["import", file.to_str().unwrap(), "--json"]).ok().text();
    assert!(report.contains("\"unchanged\""), "{report}");
    assert!(scene.run(["verify"]).ok().text().contains("no problems"));
}

#[test]
fn messages_of_a_stream_are_checked_one_by_one() {
    let scene = Scene::new();
    scene.run(["new", "--family", "opal", "--id", "o1"]).ok();
    let complaint = scene.run(["append", "o1", r#"{"role":"user","content":1}"#]).fails(1);
    assert!(complaint.contains("content is a number: a string or null is needed"), "{complaint}");
    let complaint = scene.run(["append", "o1", r#"{"type":"message","message":{}}"#]).fails(1);
    assert!(complaint.contains("role"), "{complaint}");
    assert_eq!(scene.run(["export", "o1"]).ok().json_lines().len(), 1);
}

#[test]
fn what_a_family_does_not_have_is_told() {
    let scene = Scene::new();
    scene.run(["new", "--family", "opal", "--id", "o1"]).ok();
    let message = scene.run(["append", "o1", r#"{"role":"user"}"#]).ok().text();
    for (arguments, operation) in [
        (&["label", "o1", message.trim(), "x"][..], "label"),
        (&["fork", "o1"], "fork"),
        (&["extract", "o1", message.trim()], "session of a branch"),
    ] {
        let complaint = scene.run(arguments.iter().copied()).fails(1);
        let expected = format!("session o1 is one of opal, for which there is no {operation}");
        assert!(complaint.contains(&expected), "{complaint}");
    }
    let complaint = scene.run(["new", "--family", "opal", "--parent", "o1"]).fails(2);
    assert!(complaint.contains("--parent"), "{complaint}");
    let complaint = scene.run(["new", "--title", "x"]).fails(2);
    assert!(complaint.contains("does not go with --family pi"), "{complaint}");
    assert!(complaint.contains("`leafline name --set TEXT SESSION`"), "{complaint}");

    let file = scene.folder().join("c1.jsonl");
    let record = r#"{"type":"user","uuid":"m1","parentUuid":null,"sessionId":"c1","timestamp":"2026-02-12T00:00:00Z","cwd":"/work","message":{"role":"user","content":"Hi"}}"#;
    std::fs::write(&file, format!("{record}\n")).unwrap();
    scene.run(["import", file.to_str().unwrap()]).ok();
    let complaint = scene.run(["label", "c1", "m1", "x"]).fails(1);
    assert!(complaint.contains("one of claude, for which there is no label"), "{complaint}");
    let folder = scene.folder().join("out");
    scene.run(["export", "--all", "-o", folder.to_str().unwrap()]).ok();
    assert_eq!(
        std::fs::read_to_string(folder.join("claude/projects/-work/c1.jsonl")).unwrap(),
        format!("{record}\n")
    );
}

#[test]
fn sessions_of_codex_are_not_written() {
    const CODEX: &str = "019c6f5a-002b-7c4e-9d21-5a7be0c3002b";
    let scene = Scene::of_samples();
    for (arguments, operation) in [
        (&["append", CODEX, r#"{"role":"user"}"#][..], "appending"),
        (&["append", CODEX], "appending"),
        (&["name", "--set", "x", CODEX], "name to be given"),
        (&["fork", CODEX], "fork"),
        (&["extract", CODEX, "1"], "session of a branch"),
    ] {
        let complaint = scene.run(arguments.iter().copied()).fails(1);
        let expected = format!("one of codex, for which there is no {operation}");
        assert!(complaint.contains(&expected), "{complaint}");
    }
}
