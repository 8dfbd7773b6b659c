//! Sessions of Claude Code and Opal: their trees and contexts.

use serde_json::json;

use crate::scene::{CLAUDE, PI_3, Scene, file, on_samples, path};

/// A record below another; its message as it stands in JSON.
fn record(kind: &str, uuid: &str, parent: &str, more: &str) -> String {
    format!(
        r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":"{parent}","sessionId":"session","timestamp":"2026-03-01T08:00:02.000Z",{more}}}"#
    )
}

fn user(uuid: &str, parent: &str) -> String {
    record("user", uuid, parent, &format!(r#""message":{{"role":"user","content":"say {uuid}"}}"#))
}

fn assistant(uuid: &str, parent: &str, id: &str, block: &str) -> String {
    let message = format!(
        r#""message":{{"id":"{id}","role":"assistant","model":"m-1","content":[{block}]}}"#
    );
    record("assistant", uuid, parent, &message)
}

fn call(id: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"call-{id}","name":"Read","input":{{"path":"a"}}}}"#)
}

const TEXT: &str = r#"{"type":"text","text":"So it is."}"#;

fn result(uuid: &str, parent: &str) -> String {
    let block =
        format!(r#"{{"type":"tool_result","tool_use_id":"call-{parent}","content":"lines"}}"#);
    record("user", uuid, parent, &format!(r#""message":{{"role":"user","content":[{block}]}}"#))
}

fn scene() -> Scene {
    let side = r#""isSidechain":true,"message":{"role":"user","content":"to an agent"}"#;
    Scene::of_session(&file([
        user("a", ""),
        assistant("b", "a", "m1", &call("b")),
        assistant("c", "b", "m1", &call("c")),
        record("progress", "g", "b", r#""data":{"type":"hook"}"#),
        record("user", "s", "", side),
        result("r", "b"),
        result("t", "c"),
        user("d", "t"),
        user("e", "t"),
        assistant("f", "e", "m2", TEXT),
    ]))
}

fn drawn(scene: &Scene, arguments: &[&str]) -> Vec<String> {
    let text =
        scene.run(["tree", "session"].into_iter().chain(arguments.iter().copied())).ok().text();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn tools_at_work_are_drawn_in_their_row() {
    let scene = scene();
    let lines = drawn(&scene, &["--full"]);
    assert!(lines[0].ends_with("10 entries, 2 roots, 2 branches"), "{lines:?}");
    let signs: Vec<String> = lines[1..]
        .iter()
        .map(|line| {
            let id = line.split_once('(').unwrap().1.split_once(')').unwrap().0;
            format!("{}{id}", line.split(' ').next().unwrap())
        })
        .collect();
    assert_eq!(signs, ["◆a", "●b", "●c", "●g", "●r", "●t", "├─●d", "●e", "●f", "◆s"], "{lines:?}");
    assert!(lines[10].ends_with("sidechain") && lines[9].ends_with("◀ leaf"), "{lines:?}");
    // The fork is shown in the middle of its row, too.
    assert!(drawn(&scene, &[]).iter().any(|line| line.contains("(t)")));
}

#[test]
fn fold_puts_a_message_together() {
    let scene = scene();
    let lines = drawn(&scene, &["--full", "--fold"]);
    assert_eq!(lines.len(), 10, "{lines:?}");
    assert!(lines[2].contains("(b) 2 records"), "{lines:?}");
    let json = scene.run(["tree", "session", "--fold", "--json"]).ok().json_lines();
    let message = &json[1];
    assert_eq!(message["records"], json!([{"id": "b", "ordinal": 1}, {"id": "c", "ordinal": 2}]));
    let of = |id: &str| json.iter().find(|node| node["id"] == id).unwrap();
    assert_eq!((&message["depth"], &message["parent"]), (&json!(1), &json[0]["id"]));
    let children = || json.iter().filter(|node| node["parent"] == message["id"]);
    assert_eq!(children().nth(2).unwrap(), of("t"));
    assert_eq!(of("t")["fork"], true);
    assert_eq!(json.iter().find(|node| node["parent"] == "t").unwrap()["branch"], true);
    let roots: Vec<_> = json.iter().filter(|node| node["depth"] == 0).collect();
    assert!(roots.len() == 2 && roots[1]["sidechain"] == true && roots[1]["parent"].is_null());
    // Where there is nothing to fold, nothing is.
    let [folded, plain] = [&["tree", PI_3, "--fold"][..], &["tree", PI_3]]
        .map(|run| on_samples(run.iter().copied()).ok().text());
    assert_eq!(folded, plain);
}

#[test]
fn a_context_reads_as_a_conversation() {
    let text = scene().run(["context", "session"]).ok().text();
    let expected = [
        "user  2026-03-01 08:00",
        "  say a",
        "",
        "assistant  2026-03-01 08:00",
        r#"  → Read {"path":"a"}"#,
        r#"  → Read {"path":"a"}"#,
        "",
        "user  2026-03-01 08:00",
        "  ← lines",
        "  ← lines",
        "  say e",
        "",
        "assistant  2026-03-01 08:00",
        "  So it is.",
        "",
        "4 messages; model m-1",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn full_goes_on_above_the_compaction() {
    let count = |arguments: &[&str]| {
        let run = on_samples(["context", CLAUDE, "--json"].iter().chain(arguments).copied()).ok();
        run.json()["messages"].as_array().unwrap().len()
    };
    assert!(count(&[]) < count(&["--full"]));
    assert_eq!(count(&[]), count(&["--family", "claude"]));
    let [shown, said] = [&["context", PI_3][..], &["context", PI_3, "--full"]]
        .map(|run| on_samples(run.iter().copied()).ok().text());
    assert!(shown.lines().count() < said.lines().count(), "{said}");
}

#[test]
fn a_family_whose_context_it_cannot_be_is_an_error() {
    for (session, family, other) in [(CLAUDE, "pi", "claude"), (PI_3, "opal", "pi")] {
        let complaint = on_samples(["context", session, "--family", family]).fails(1);
        assert!(
            complaint.contains(&format!("is one of {other}, for which there is no context of")),
            "{complaint}"
        );
    }
    on_samples(["context", CLAUDE, "--family", "none"]).fails(2);
}

#[test]
fn children_are_in_the_order_of_the_file() {
    let children = scene().run(["children", "session", "b"]).ok().text();
    let ids: Vec<&str> = children.lines().map(|line| line.split('\t').next().unwrap()).collect();
    assert_eq!(ids, ["c", "g", "r"]);
}

#[test]
fn a_session_is_begun_grown_named_forked_and_extracted() {
    let scene = Scene::new();
    let line_of = |arguments: &[&str]| {
        let run = scene.run(arguments.iter().copied()).ok();
        run.text().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let session = line_of(&["new", "--family", "claude", "--cwd", "/work"]).remove(0);
    let append = |entry: &str| line_of(&["append", &session, entry]);
    let prompt = append(r#"{"role":"user","content":"Why?"}"#).remove(0);
    let calls = ["t1", "t2"].map(
        |id| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}}),
    );
    let answer = append(&json!({"role": "assistant", "content": calls}).to_string());
    let results =
        ["t1", "t2"].map(|id| json!({"type": "tool_result", "tool_use_id": id, "content": id}));
    append(&json!({"role": "user", "content": results}).to_string());
    let last = append(r#"{"role":"assistant","content":"So."}"#).remove(0);
    scene.run(["name", "--set", "A title", &session]).ok();

    let records = |session: &str| scene.run(["export", session]).ok().json_lines();
    let entries = |session: &str| {
        let entries = records(session).into_iter().filter(|record| record["uuid"].is_string());
        entries.collect::<Vec<_>>()
    };
    let written = entries(&session);
    let of = |record: &serde_json::Value| [record["type"].clone(), record["parentUuid"].clone()];
    // A record a block, and each result on the record of its call.
    assert_eq!(
        written.iter().map(of).collect::<Vec<_>>(),
        [
            [json!("user"), json!(null)],
            [json!("assistant"), json!(prompt)],
            [json!("assistant"), json!(answer[0])],
            [json!("user"), json!(answer[0])],
            [json!("user"), json!(answer[1])],
            [json!("assistant"), written[4]["uuid"].clone()],
        ]
    );
    assert!(written.iter().all(|record| record["sessionId"] == session.as_str()));
    assert_eq!(scene.run(["show", &session, "--json"]).ok().json()["title"], "A title");
    let messages =
        |session: &str| scene.run(["context", session, "--json"]).ok().json()["messages"].clone();
    let sent = messages(&session);
    assert_eq!(sent.as_array().unwrap().len(), 4);
    assert_eq!(sent[2]["content"].as_array().unwrap().len(), 2);

    let fork = line_of(&["fork", &session]).remove(0);
    assert_eq!(messages(&fork), sent);
    assert!(entries(&fork).iter().all(|record| record["sessionId"] == fork.as_str()));
    let extract = line_of(&["extract", &session, &prompt]).remove(0);
    assert_eq!(entries(&extract).len(), 1);
    assert_eq!(messages(&extract), json!([sent[0]]));

    // The next entry goes below another one. Whoever reads the file goes on from there: in a fork, whose file names its leaf,
    // a record says so.
    for session in [&session, &fork] {
        scene.run(["branch", session, &prompt]).ok();
        let entry = r#"{"role":"assistant","content":"Otherwise."}"#;
        let other = line_of(&["append", session, entry]).remove(0);
        let bytes = scene.run(["export", session]).ok().text();
        let named = records(session).into_iter().rfind(|record| record["type"] == "last-prompt");
        assert_eq!(named.is_some(), *session == fork);
        assert!(named.is_none_or(|named| named["leafUuid"] == other.as_str()));
        assert_ne!(other, last);
        let elsewhere = Scene::new();
        let file = elsewhere.write(&format!("{session}.jsonl"), bytes.as_bytes());
        elsewhere.run(["import", path(&file)]).ok();
        let read = elsewhere.run(["show", session, "--json"]).ok().json();
        assert_eq!(read["leaf"], other.as_str());
        assert_eq!(messages(session).as_array().unwrap().len(), 2);
    }
    assert!(scene.run(["verify"]).ok().text().contains("no problems"));
}

#[test]
fn what_the_user_did_is_read_by_its_tags() {
    let said = |uuid: &str, parent: &str, content: &str| {
        record("user", uuid, parent, &format!(r#""message":{{"role":"user","content":{content}}}"#))
    };
    let queued = r#""attachment":{"type":"queued_command","commandMode":"prompt","prompt":[{"type":"text","text":"Lint it too"}]}"#;
    let sources = r#"[
        {"type":"document","title":"tides.txt","source":{"type":"text","media_type":"text/plain","data":"high at noon"}},
        {"type":"search_result","title":"Moon","source":"https://moon","content":[{"type":"text","text":"waxing crescent"}]},
        {"type":"hologram","caption":"a lighthouse"},
        {"type":"text","text":"<ide_opened_file>opened clock.rs</ide_opened_file>\nRead these"}]"#;
    let scene = Scene::of_session(&file([
        said("a", "", r#""<command-name>/clear</command-name>\n<command-args></command-args>""#),
        said("b", "a", r#""<bash-stdout>total 0</bash-stdout><bash-stderr></bash-stderr>""#),
        said(
            "c",
            "b",
            r#""<command-message>tide-check</command-message>\n<command-name>/tide-check</command-name>\n<command-args>today</command-args>""#,
        ),
        said("d", "c", &sources.replace('\n', "")),
        assistant("e", "d", "m1", TEXT),
        record("attachment", "f", "e", queued),
        said("g", "f", r#""<bash-input>make</bash-input>""#),
    ]));
    assert!(scene.run(["ls"]).ok().text().contains("\t/tide-check today\t"));
    for (words, is_whole) in [
        ("lint", true),
        ("noon", true),
        ("waxing", true),
        ("lighthouse", true),
        ("clock.rs", true),
        ("bash-input", false),
    ] {
        let hits = scene.run(["search", words]).text().lines().count();
        assert_eq!(hits, usize::from(is_whole), "{words}");
    }
    let context = scene.run(["context", "session"]).ok().text();
    let markdown = scene.run(["export", "session", "--as", "md"]).ok().text();
    let page = scene.run(["export", "session", "--as", "html"]).ok().text();
    for text in [&context, &markdown, &page] {
        for shown in ["/clear", "total 0", "/tide-check today", "! make", "hologram"] {
            assert!(text.contains(shown), "{shown}: {text}");
        }
        for tag in ["command-name", "bash-input", "bash-stdout"] {
            assert!(!text.contains(tag), "{tag}: {text}");
        }
    }
    assert!(scene.run(["tree", "session", "--full"]).ok().text().contains("user \"Lint it too\""));
    assert!(markdown.contains("Lint it too"));
    for text in [&markdown, &page] {
        for shown in ["tides.txt", "high at noon", "waxing crescent", "a lighthouse"] {
            assert!(text.contains(shown), "{shown}: {text}");
        }
    }
    assert!(page.contains(r#"class="entry user" id="e5""#));
}

#[test]
fn a_session_is_in_the_folder_that_it_was_moved_to() {
    let cwd = r#""cwd":"/work/old","message":{"role":"user","content":"Hi"}"#;
    let moved = r#"{"type":"relocated","sessionId":"session","relocatedCwd":"/work/new"}"#;
    let scene = Scene::of_session(&file([record("user", "a", "", cwd), moved.to_owned()]));
    assert_eq!(scene.run(["ls", "--json"]).ok().json()["cwd"], "/work/new");
    assert_eq!(scene.run(["ls", "--cwd", "/work/new"]).ok().text().lines().count(), 1);
}
