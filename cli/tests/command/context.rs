//! `leafline context`.

use leafline::context::{ContextLeaf, HistoryScope};
use leafline::{Family, Store};
use serde_json::json;

use crate::scene::{CLAUDE, OMP_3, PI_3, Scene, file, header, message, on_samples};

/// An entry of a message.
fn entry(id: &str, parent: &str, message: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-03-01T08:00:02.000Z","message":{message}}}"#
    )
}

#[test]
fn json_is_what_the_library_writes() {
    let scene = Scene::of_samples();
    let store = Store::open(scene.store()).unwrap();
    for session in [PI_3, OMP_3] {
        let reader = store.reader(session).unwrap();
        for (leaf, at) in
            [(None, ContextLeaf::Current), (Some("b6d75031"), ContextLeaf::Entry("b6d75031"))]
        {
            for (family, of) in
                [(None, None), (Some("pi"), Some(Family::Pi)), (Some("omp"), Some(Family::Omp))]
            {
                if leaf.is_some() && session != PI_3 {
                    continue;
                }
                let mut expected = Vec::new();
                reader.write_context(at, of, &mut expected).unwrap();
                expected.push(b'\n');
                let mut arguments = vec!["context", session, "--json"];
                arguments.extend(leaf.iter().flat_map(|leaf| ["--leaf", leaf]));
                arguments.extend(family.iter().flat_map(|family| ["--family", family]));
                let run = scene.run(arguments.iter().copied()).ok();
                assert_eq!(run.stdout, expected, "{arguments:?}");
            }
        }
    }
}

#[test]
fn the_sample_reads_as_a_conversation() {
    let text = on_samples(["context", PI_3]).ok().text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("user  2026-02-16 10:2"), "{text}");
    assert!(lines[1].starts_with("  The conversation history before this point was"), "{text}");
    assert!(lines.iter().any(|line| line.starts_with("  ← ")), "{text}");
    let messages = on_samples(["context", PI_3, "--json"]).ok().json();
    let last = lines.last().unwrap();
    let count = messages["messages"].as_array().unwrap().len();
    assert!(last.starts_with(&format!("{count} messages; model anthropic/")), "{last}");
    assert!(last.contains("; thinking level "), "{last}");
}

#[test]
fn each_part_has_its_form() {
    let long = "word ".repeat(200);
    let scene = Scene::of_session(&file([
        header("s1"),
        message("a", None, r"first\n\tsecond\n"),
        entry(
            "b",
            "a",
            &format!(
                r#"{{"role":"assistant","provider":"p","model":"m","timestamp":1771237341412,"content":[{{"type":"thinking","thinking":"hm\nwell"}},{{"type":"text","text":"I look."}},{{"type":"toolCall","id":"1","name":"bash","arguments":{{"command":"ls"}}}},{{"type":"toolCall","id":"2","name":"read","arguments":{{"path":"{long}"}}}}]}}"#
            ),
        ),
        entry(
            "c",
            "b",
            r#"{"role":"toolResult","toolCallId":"1","toolName":"bash","content":[{"type":"text","text":"a\nb"}]}"#,
        ),
        entry(
            "d",
            "c",
            r#"{"role":"toolResult","toolCallId":"2","toolName":"read","isError":true,"content":[{"type":"text","text":"none"}]}"#,
        ),
        entry(
            "e",
            "d",
            r#"{"role":"bashExecution","command":"git status","output":"clean\n","exitCode":0}"#,
        ),
        entry(
            "f",
            "e",
            r#"{"role":"user","content":[{"type":"image","data":"","mimeType":"image/png"},{"type":"text","text":"half \ud83d"}]}"#,
        ),
        r#"{"type":"custom_message","id":"g","parentId":"f","timestamp":"2026-03-01T08:00:02.000Z","customType":"todo","content":"one","display":true}"#.to_owned(),
        entry("h", "g", r#"{"role":"assistant","provider":"p","model":"m","content":[],"stopReason":"error","errorMessage":"too much"}"#),
    ]));
    let text = scene.run(["context", "s1"]).ok().text();
    let cut = text.lines().find(|line| line.starts_with("  → read")).unwrap().to_owned();
    assert!(cut.ends_with('…') && cut.chars().count() < 210, "{cut}");
    let expected = [
        "user  2026-03-01 08:00",
        "  first",
        "      second",
        "",
        "assistant  2026-02-16 10:22",
        "  ~ hm well",
        "  I look.",
        r#"  → bash {"command":"ls"}"#,
        &cut,
        "  ← bash \"a b\"",
        "  ← read failed \"none\"",
        "",
        "user  2026-03-01 08:00",
        "  Ran `git status`",
        "  ```",
        "  clean",
        "",
        "  ```",
        "",
        "user  2026-03-01 08:00",
        "  [image/png]",
        "  half \u{fffd}",
        "",
        "user  2026-03-01 08:00",
        "  one",
        "",
        "7 messages; model p/m; thinking level off",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_request_is_what_the_library_writes() {
    let scene = Scene::of_samples();
    let store = Store::open(scene.store()).unwrap();
    for session in [PI_3, OMP_3, CLAUDE] {
        let reader = store.reader(session).unwrap();
        for (full, scope) in [(false, HistoryScope::Context), (true, HistoryScope::Full)] {
            let mut expected = Vec::new();
            reader.write_request(ContextLeaf::Current, None, scope, &mut expected).unwrap();
            expected.push(b'\n');
            let mut arguments = vec!["context", session, "--request"];
            arguments.extend(full.then_some("--full"));
            assert_eq!(scene.run(arguments.iter().copied()).ok().stdout, expected, "{session}");
            arguments.push("--json");
            assert_eq!(scene.run(arguments).ok().stdout, expected, "{session}");
        }
    }
    let request = scene.run(["context", PI_3, "--request"]).ok().json();
    let context = scene.run(["context", PI_3, "--json"]).ok().json();
    assert_eq!(request["model"], context["model"]);
    let roles = |of: &serde_json::Value| {
        let messages = of["messages"].as_array().unwrap().iter();
        messages.map(|one| one["role"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((&*roles(&context)[0], &*roles(&request)[0]), ("compactionSummary", "user"));
}

#[test]
fn omp_s_own_messages_are_in_omp_s_words() {
    let scene = Scene::new();
    scene.run(["new", "--id", "s1", "--family", "omp"]).ok();
    let entries = [
        r#"{"type":"message","message":{"role":"user","content":"Wait","steering":true}}"#,
        r#"{"type":"message","message":{"role":"bashExecution","command":"ls","output":"","exitCode":2}}"#,
        r#"{"type":"message","message":{"role":"bashExecution","command":"secret","excludeFromContext":true}}"#,
        r#"{"type":"custom_message","customType":"note","content":"one","display":true}"#,
    ];
    scene.run_with_input(["append", "s1"], &file(entries.map(str::to_owned))).ok();
    let messages = scene.run(["context", "s1", "--request"]).ok().json()["messages"].clone();
    let said: Vec<_> = messages.as_array().unwrap().iter().map(|one| &one["role"]).collect();
    assert_eq!(said, ["user", "user", "developer"]);
    assert!(messages[0]["content"].as_str().unwrap().ends_with("</system-notice>\nWait"));
    let ran = "Ran `ls`\n(no output)\n\nCommand exited with code 2";
    assert_eq!(messages[1]["content"][0]["text"], ran);
    let text = scene.run(["context", "s1"]).ok().text();
    assert!(text.contains("Command exited with code 2") && !text.contains("secret"), "{text}");
}

#[test]
fn a_message_need_not_name_its_model() {
    let scene = Scene::of_session(&file([
        header("s1"),
        message("a", None, "x"),
        entry("b", "a", r#"{"role":"assistant","content":"yes"}"#),
    ]));
    let text = scene.run(["context", "s1"]).ok().text();
    assert!(text.ends_with("\n2 messages; no model; thinking level off\n"), "{text}");
}

#[test]
fn omp_has_models_by_role_and_a_mode() {
    let scene = Scene::new();
    scene.run(["new", "--id", "s1", "--family", "omp"]).ok();
    let empty = scene.run(["context", "s1"]).ok().text();
    assert_eq!(empty, "0 messages; no model; thinking level off\n");
    let entries = [
        r#"{"type":"model_change","model":"a/large"}"#,
        r#"{"type":"model_change","model":"a/small","role":"smol"}"#,
        r#"{"type":"mode_change","mode":"plan"}"#,
        r#"{"type":"ttsr_injection","injectedRules":["no-any","tests"]}"#,
        r#"{"type":"thinking_level_change","thinkingLevel":"high"}"#,
    ];
    scene.run_with_input(["append", "s1"], &file(entries.map(str::to_owned))).ok();
    let text = scene.run(["context", "s1"]).ok().text();
    assert_eq!(
        text,
        "0 messages; model a/large, smol a/small; thinking level high; mode plan; rules no-any, tests\n"
    );
    let of_pi = scene.run(["context", "s1", "--family", "pi"]).ok().text();
    assert!(!of_pi.contains("plan"), "{of_pi}");
}

#[test]
fn a_leaf_that_is_not_there_is_an_error() {
    for arguments in [
        &["context", PI_3, "--leaf", "nothing"][..],
        &["context", PI_3, "--leaf", "nothing", "--json"],
        &["context", PI_3, "--leaf", ""],
    ] {
        let complaint = on_samples(arguments.iter().copied()).fails(1);
        assert!(complaint.contains("has no entry") && complaint.contains(PI_3), "{complaint}");
    }
}

#[test]
fn the_context_follows_the_leaf() {
    let scene = Scene::of_session(&file([
        header("s1"),
        message("a", None, "first"),
        message("b", Some("a"), "second"),
    ]));
    let contents = |arguments: &[&str]| {
        let run = scene.run(["context", "s1", "--json"].iter().chain(arguments).copied()).ok();
        let messages = run.json()["messages"].clone();
        messages.as_array().unwrap().iter().map(|one| one["content"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(contents(&[]), [json!("first"), json!("second")]);
    assert_eq!(contents(&["--leaf", "a"]), [json!("first")]);
    scene.run(["branch", "s1", "a"]).ok();
    assert_eq!(contents(&[]), [json!("first")]);
}

#[test]
fn what_was_edited_out_is_not_sent_and_stays_in_the_path() {
    let edit = r#"{"type":"context_edit","id":"b","parentId":"a","timestamp":"2026-03-01T08:00:02.000Z","targetId":"a","replacement":{"content":"softly"}}"#;
    let scene =
        Scene::of_session(&file([header("s1"), message("a", None, "loudly"), edit.to_owned()]));
    let context = |arguments: &[&'static str]| {
        let given = ["context", "s1", "--json"].into_iter().chain(arguments.iter().copied());
        scene.run(given).ok().json()["messages"][0]["content"].clone()
    };
    for arguments in [&[][..], &["--full"], &["--as-of", "0.87.1"]] {
        assert_eq!(context(arguments), json!("softly"), "{arguments:?}");
    }
    assert_eq!(context(&["--as-of", "0.73"]), json!("loudly"));
    assert!(scene.run(["context", "s1"]).ok().text().contains("softly"));
    assert!(scene.run(["path", "s1"]).ok().text().contains("loudly"));
    let refused = scene.run(["context", "s1", "--as-of", "new"]).fails(2);
    assert!(refused.contains("one to three numbers"), "{refused}");
}
