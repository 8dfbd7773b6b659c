//! What the command shows of the sessions of each family, and transcripts.

use crate::scene::{CLAUDE, OMP_3, OPAL, PI_3, Scene, file, header, message, on_samples};

fn lines_of(arguments: &[&str]) -> Vec<String> {
    on_samples(arguments.iter().copied()).ok().text().lines().map(str::to_owned).collect()
}

#[test]
fn trees_say_what_was_said() {
    let tree = lines_of(&["tree", OPAL, "--full"]);
    assert!(tree[1].starts_with("◆ user \"Why does the tide table take"), "{tree:?}");
    assert!(tree[2].starts_with("● assistant → read_file ("), "{tree:?}");
    assert!(tree[3].starts_with("● toolResult \"{:error, :enoent}\" ("), "{tree:?}");
    let tree = lines_of(&["tree", CLAUDE, "--full"]);
    for expected in [
        "● assistant → Read (",
        "● toolResult \"pub const OFFSET_MINUTES: i32 = 60;\" (",
        "● turn_duration (",
        "● hook_progress (",
        "├─● user \"Then set it to 0.\" (",
        // A record that shares its line, and one that is torn.
        "● assistant \"",
        "● attachment (",
        "◆ compaction \"Conversation compacted\" (",
        "● compactionSummary \"This session continues",
    ] {
        assert!(tree.iter().any(|line| line.starts_with(expected)), "{expected}: {tree:#?}");
    }
    let tree = lines_of(&["tree", OMP_3, "--full"]);
    for expected in [
        "◆ session_init \"Give the map a dark mode.\" (",
        "● mode_change plan (",
        "│ ● ttsr_injection no-css-filters, ask-before-styling (",
        "● custom tool_execution_start (",
        "● custom_message style-guide \"Pictures keep their colours.\" (",
        "● service_tier_change (",
        "● label cleared on f645484a (",
    ] {
        assert!(tree.iter().any(|line| line.starts_with(expected)), "{expected}: {tree:#?}");
    }
}

#[test]
fn a_session_of_codex_by_its_lines() {
    let id = "019c6f5a-0000-7c4e-9d21-5a7be0c30000";
    let tree = lines_of(&["tree", id, "--full"]);
    assert!(tree[0].contains("Tide clock: time zone  35 entries, 1 root, 1 branch"), "{tree:?}");
    for expected in [
        "◆ task_started (1)",
        "● turn_context gpt-5 (5)",
        "● user \"The clock shows high water an hour late since the weekend.\" (6)",
        "● assistant → exec_command (10)",
        "● compaction \"Another language model started",
        "● assistant \"I will write tests for both changes of the hour.\" (32) ◀ leaf",
    ] {
        assert!(tree.iter().any(|line| line.starts_with(expected)), "{expected}: {tree:#?}");
    }
    let text = lines_of(&["path", id, "--text"]);
    assert!(
        text.contains(&r#"  → exec_command {"cmd":"cat src/table.rs"}"#.to_owned()),
        "{text:#?}"
    );
    let context = on_samples(["context", id]).ok().text();
    assert!(context.contains("Now test the change of the hour."), "{context}");
    assert!(context.ends_with("7 messages; model gpt-5\n"), "{context}");
    // A fork takes what it goes on from out of the store.
    let fork = "019c6f5a-0023-7c4e-9d21-5a7be0c30023";
    let context = on_samples(["context", fork]).ok().text();
    assert!(context.contains("Write the changelog entry instead."), "{context}");
    assert!(context.contains("Now test the change of the hour."), "{context}");
    let shown = on_samples(["show", "019c6f5a-0035"]).ok().text();
    assert!(shown.contains("agent     Boyle of 019c6f5a-002b-"), "{shown}");
    assert!(on_samples(["show", id, "6"]).ok().text().contains("The clock shows high water"));
    on_samples(["name", "--set", "Another", id]).fails(1);
}

#[test]
fn show_and_children_say_it_too() {
    let text = on_samples(["show", OPAL]).ok().text();
    assert!(text.contains("format    opal\n"), "{text}");
    assert!(text.contains("b2000000000000a7 assistant \"Then 1.5e-3 s a day"), "{text}");
    let rows = lines_of(&["children", OPAL, "b2000000000000a3"]);
    assert_eq!(rows[0], "b2000000000000a4\tuser\t\t\"it is lib/tide/table.ex\"");
}

#[test]
fn an_entry_as_json_has_role_text_and_model() {
    let entry = |session: &str, id: &str| on_samples(["show", session, id, "--json"]).ok().json();
    let opal = entry(OPAL, "b2000000000000a6");
    assert_eq!((&opal["type"], &opal["role"]), (&"message".into(), &"user".into()));
    assert_eq!(opal["text"], "never mind the file, measure it");
    assert!(opal["model"].is_null());
    let claude = entry(CLAUDE, "623738e6-0f98-5162-ad4f-213b7fc76903");
    assert_eq!((&claude["type"], &claude["role"]), (&"assistant".into(), &"assistant".into()));
    assert_eq!(claude["model"], "claude-opus-4-6");
    let pi = entry(PI_3, "cc2ef6d4");
    assert_eq!((&pi["text"], &pi["type"]), (&"Committed as `4be91d7`.".into(), &"message".into()));
    // A result is not said.
    let result = entry(OPAL, "b2000000000000a3");
    assert_eq!((&result["role"], &result["text"]), (&"toolResult".into(), &().into()));
}

#[test]
fn a_path_reads_as_a_conversation() {
    let expected = [
        "user",
        "  Why does the tide table take two seconds?",
        "",
        "assistant",
        "  ~ Look at the loader first.",
        r#"  → read_file {"limit":200,"path":"lib/tide/tabel.ex"}"#,
        r#"  ← read_file failed "{:error, :enoent}""#,
        "",
        "user",
        "  never mind the file, measure it",
        "",
        "assistant",
        "  Then 1.5e-3 s a day — “fast enough”. 🌊",
    ];
    assert_eq!(lines_of(&["path", OPAL, "--text"]), expected);
    let expected = [
        "  · compaction \"Conversation compacted\"",
        "",
        "compactionSummary  2026-02-18 09:02",
        "  This session continues an earlier one: the clock's offset now comes from the time zone.",
        "",
        "user  2026-02-18 09:02",
        "  Add a test for the last Sunday in March.",
        "",
        "assistant  2026-02-18 09:02  claude-opus-4-6",
        "  Added: it fails on the old code and passes now.",
    ];
    assert_eq!(lines_of(&["path", CLAUDE, "--text"]), expected);
}

#[test]
fn the_model_is_told_where_it_changes() {
    let text = lines_of(&["path", PI_3, "--text"]);
    let headings: Vec<&String> =
        text.iter().filter(|line| line.starts_with("assistant  2026-02-16 10:2")).collect();
    let models: Vec<&str> = headings.iter().filter_map(|line| line.split("  ").nth(2)).collect();
    assert!(headings.len() > 4, "{text:#?}");
    assert_eq!(models, ["claude-opus-4-5", "claude-sonnet-4-5"]);
    assert!(text.contains(&"  · label \"cause\" on b6d75031".to_owned()), "{text:#?}");
}

#[test]
fn full_shortens_nothing() {
    let shown = |arguments: &[&str]| lines_of(&[&["path", PI_3, "--text"], arguments].concat());
    let short = shown(&[]);
    let cut = short.iter().filter(|line| line.ends_with("…\"") || line.ends_with('…')).count();
    assert!(cut > 2, "{short:#?}");
    let full = shown(&["--full"]);
    assert!(!full.iter().any(|line| line.ends_with('…') || line.ends_with("…\"")), "{full:#?}");
    let place = full.iter().position(|line| line == "  ← read").unwrap();
    assert_eq!(full[place + 1], "    import { expect, it } from \"vitest\";");
    assert!(short.len() < full.len());
    // What was said is whole in both.
    let said = "  200 runs, no failure. The order is now decided by due time alone, in `src/scheduler.ts`; the test is as it was.";
    assert!([short, full].iter().all(|text| text.iter().any(|line| line == said)));
    on_samples(["path", PI_3, "--full"]).fails(2);
    on_samples(["path", PI_3, "--text", "--json"]).fails(2);
}

#[test]
fn records_of_one_answer_have_one_heading() {
    let record = |id: &str, parent: &str, block: &str| {
        format!(
            r#"{{"parentUuid":{parent},"type":"assistant","uuid":"{id}","sessionId":"s","timestamp":"2026-03-01T08:00:02.000Z","message":{{"id":"msg_1","role":"assistant","model":"m","content":[{block}]}}}}"#
        )
    };
    let scene = Scene::of_session(&file([
        record("a", "null", r#"{"type":"thinking","thinking":"hm"}"#),
        record("b", "\"a\"", r#"{"type":"text","text":"I look."}"#),
        record("c", "\"b\"", r#"{"type":"tool_use","id":"t","name":"Bash","input":{}}"#),
    ]));
    let text = scene.run(["path", "session", "--text"]).ok().text();
    assert_eq!(text, "assistant  2026-03-01 08:00  m\n  ~ hm\n  I look.\n  → Bash {}\n");
}

#[test]
fn two_prompts_have_two_headings() {
    let scene = Scene::of_session(&file([
        header("s1"),
        message("a", None, "one"),
        message("b", Some("a"), "two"),
    ]));
    let text = scene.run(["path", "s1", "--text", "--from", "b"]).ok().text();
    assert_eq!(text, "user  2026-03-01 08:00\n  one\n\nuser  2026-03-01 08:00\n  two\n");
}
