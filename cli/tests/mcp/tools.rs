//! What the tools answer.

use serde_json::json;

use super::client::{Client, margin, tokens};
use super::scene::{CLAUDE, PI_3, Scene, file, header, message, path, samples};

#[test]
fn a_search_gives_ids_to_go_on_from() {
    let scene = Scene::of_samples();
    let mut client = Client::of(&scene);
    let told =
        client.told("search_sessions", json!({ "query": "\"fake timers\"", "role": "user" }));
    assert!(
        told.contains(
            "session 019c6605 pi\n  Flaky scheduler test [/home/robin/work/tide-clock]\n"
        ),
        "{told}"
    );
    let hit = "entry 588262d5 user 2026-02-16 10:22\n  try the fake timers first, it is the smaller change";
    assert!(told.contains(hit), "{told}");
    let told = client.told("search_sessions", json!({ "query": "offset", "limit": 2 }));
    assert!(told.ends_with("more: offset=2"), "{told}");
    let rest =
        client.told("search_sessions", json!({ "query": "offset", "limit": 50, "offset": 2 }));
    assert!(!rest.contains("more:"), "{rest}");
    let entries = |told: &str| {
        told.lines()
            .filter(|line| line.starts_with("entry "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let all = client
        .told("search_sessions", json!({ "query": "offset", "limit": 50, "max_tokens": 25_000 }));
    assert_eq!([entries(&told), entries(&rest)].concat(), entries(&all));
    let newest = client.told(
        "search_sessions",
        json!({ "query": "offset", "newest": true, "limit": 50, "max_tokens": 25_000 }),
    );
    let mut times: Vec<String> =
        entries(&newest).iter().map(|line| line[line.len() - 16..].to_owned()).collect();
    assert!(times.len() > 3);
    times.reverse();
    assert!(times.is_sorted(), "{times:?}");
    for filter in [
        json!({ "query": "offset", "family": "opal" }),
        json!({ "query": "offset", "cwd": "/nowhere" }),
        json!({ "query": "offset", "until": "2020-01-01" }),
        json!({ "query": "offset", "since": "2030-01-01" }),
    ] {
        assert!(client.told("search_sessions", filter).starts_with("nothing found"));
    }
    let told = client.told("search_sessions", json!({ "query": "offset", "session": CLAUDE }));
    assert!(
        margin(&told).iter().all(|line| !line.starts_with("session ") || line.contains("5b0c7a52")),
        "{told}"
    );
}

#[test]
fn a_list_is_paged_and_filtered() {
    let scene = Scene::of_samples();
    let mut client = Client::of(&scene);
    let sessions = |told: &str| told.lines().filter(|line| line.starts_with("session ")).count();
    let told = client.told("list_sessions", json!({ "limit": 3 }));
    assert!(told.contains("session 019c7bd3 omp 27 entries 2026-02-20 16:15\n  Dark mode for the map [/home/robin/work/lantern]"), "{told}");
    assert!(told.ends_with("more: offset=3"), "{told}");
    let rest = client.told("list_sessions", json!({ "offset": 3, "limit": 100 }));
    let all = client.told("list_sessions", json!({ "limit": 100, "agents": true }));
    assert_eq!((sessions(&told), sessions(&rest), sessions(&all)), (3, 12, 18));
    let claude = client.told("list_sessions", json!({ "family": "claude", "agents": true }));
    assert!(claude.contains("claude agent "), "{claude}");
    let told = client.told("list_sessions", json!({ "text": "flaky SCHED" }));
    assert_eq!(sessions(&told), 1);
    assert!(
        client.told("list_sessions", json!({ "cwd": "/nowhere" })).starts_with("no such sessions")
    );
}

#[test]
fn a_session_is_read_from_its_end_in_both_directions() {
    let scene = Scene::of_samples();
    let mut client = Client::of(&scene);
    let told = client.told("read_session", json!({ "session": PI_3, "max_tokens": 600 }));
    assert!(told.contains("session 019c6605 pi 39 entries 2026-02-16 10:28"), "{told}");
    assert!(told.contains("  test/scheduler.test.ts fails about one run in ten."), "{told}");
    assert!(
        told.contains("entry cc2ef6d4 assistant 2026-02-16 10:28\n  Committed as `4be91d7`."),
        "{told}"
    );
    assert!(!told.contains("later:"), "{told}");
    // Backwards to the root, and forwards again, give the same entries.
    let mut backwards = entries(&told);
    let mut page = told;
    while let Some(earlier) = cursor(&page, "earlier") {
        page = client.told(
            "read_session",
            json!({ "session": PI_3, "entry": earlier, "direction": "before", "max_tokens": 600 }),
        );
        assert!(tokens(&page) <= 600);
        assert!(page.contains("later: "), "{page}");
        backwards = [entries(&page), backwards].concat();
    }
    let mut page = client
        .told("read_session", json!({ "session": PI_3, "direction": "after", "max_tokens": 600 }));
    let mut forwards = entries(&page);
    while let Some(later) = cursor(&page, "later") {
        page = client.told(
            "read_session",
            json!({ "session": PI_3, "entry": later, "direction": "after", "max_tokens": 600 }),
        );
        assert!(tokens(&page) <= 600);
        forwards.extend(entries(&page));
    }
    assert_eq!(forwards, backwards);
    assert!(forwards.len() > 15);
    assert_eq!(forwards.last().unwrap(), "cc2ef6d4");
    let around = client
        .told("read_session", json!({ "session": PI_3, "entry": forwards[8], "max_tokens": 1000 }));
    let shown = entries(&around);
    assert!(
        shown.len() > 3 && shown.contains(&forwards[7]) && shown.contains(&forwards[9]),
        "{around}"
    );
    let talk = client
        .told("read_session", json!({ "session": PI_3, "detail": "talk", "direction": "after" }));
    let headings: Vec<&str> = talk.lines().filter(|line| line.starts_with("entry ")).collect();
    assert!(headings.iter().any(|line| line.contains(" user ")), "{talk}");
    assert!(
        !headings.iter().any(|line| line.contains(" tool ")) && !talk.contains("\n  →"),
        "{talk}"
    );
    let full = client.told(
        "read_session",
        json!({ "session": PI_3, "detail": "full", "direction": "after", "max_tokens": 25_000 }),
    );
    assert!(full.len() > talk.len());
}

#[test]
fn another_branch_is_read_to_its_own_end() {
    let scene = Scene::of_samples();
    let mut client = Client::of(&scene);
    // The attempt that was given up.
    let told = client.told(
        "read_session",
        json!({ "session": PI_3, "entry": "588262d5", "direction": "after" }),
    );
    assert!(told.contains("another branch"), "{told}");
    assert!(told.contains("1530959b"), "its label is its last entry: {told}");
    assert!(!told.contains("later:"), "{told}");
}

/// The conversation of Claude Code's goes on above what was compacted.
#[test]
fn what_was_compacted_is_read_too() {
    let scene = Scene::of_samples();
    let mut client = Client::of(&scene);
    let told = client.told("read_session", json!({ "session": CLAUDE, "direction": "after" }));
    assert!(told.contains("  The clock shows high water an hour late"), "{told}");
    assert!(told.contains("  Added: it fails on the old code"), "{told}");
    assert!(told.contains(" compactionSummary "), "{told}");
    let told = client.refused("read_session", json!({ "session": CLAUDE, "entry": "#0" }));
    assert!(told.contains("beside the conversation") || told.contains("no entry"), "{told}");
}

#[test]
fn the_agents_of_a_session_are_named() {
    let scene = Scene::of_samples();
    let mut client = Client::of(&scene);
    let told = client.told("read_session", json!({ "session": CLAUDE }));
    assert!(
        told.contains("agents: agent-7d31c0be, agent-c5e90a17")
            || told.contains("agents: agent-7d"),
        "{told}"
    );
    // The ids of its entries are long, and eight characters of each are enough.
    assert!(entries(&told).iter().all(|entry| entry.len() == 8), "{told}");
}

#[test]
fn a_long_entry_is_read_in_parts() {
    let text: String =
        (0..2000).map(|line| format!("line {line}: alarm 'spring' was armed\\n")).collect();
    let scene = Scene::of_session(&file([header("long"), message("e1", None, &text)]));
    let mut client = Client::of(&scene);
    let told = client.told("read_session", json!({ "session": "long", "max_tokens": 1000 }));
    assert!(told.contains("cut; get_entry has all of it"), "{told}");
    let (mut offset, mut whole, mut parts) = (0, String::new(), 0);
    loop {
        let told = client.told(
            "get_entry",
            json!({ "session": "long", "entry": "e1", "offset": offset, "max_tokens": 5000 }),
        );
        assert!(tokens(&told) <= 5000);
        whole.extend(
            told.lines().filter_map(|line| line.strip_prefix("  ")).map(|line| format!("{line}\n")),
        );
        parts += 1;
        match told.rsplit_once("more: offset=") {
            Some((_, rest)) => offset = rest.split(' ').next().unwrap().parse::<usize>().unwrap(),
            None => break,
        }
    }
    assert!(parts > 3);
    assert_eq!(whole, text.replace("\\n", "\n"));
    let behind = client
        .told("get_entry", json!({ "session": "long", "entry": "e1", "offset": 1_u64 << 40 }));
    assert!(behind.contains("nothing is behind that offset"), "{behind}");
}

#[test]
fn images_are_named_and_not_sent() {
    let image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwC".repeat(100);
    let entry = format!(
        r#"{{"type":"message","id":"e1","parentId":null,"timestamp":"2026-03-01T08:00:01.000Z","message":{{"role":"user","content":[{{"type":"text","text":"See"}},{{"type":"image","mimeType":"image/png","data":"{image}"}}]}}}}"#
    );
    let scene = Scene::of_session(&file([header("image"), entry]));
    let mut client = Client::of(&scene);
    for (tool, arguments) in [
        ("get_entry", json!({ "session": "image", "entry": "e1" })),
        ("read_session", json!({ "session": "image", "detail": "full" })),
    ] {
        assert!(client.told(tool, arguments).contains("  [image/png]"));
    }
    let json =
        client.told("get_entry", json!({ "session": "image", "entry": "e1", "form": "json" }));
    assert!(
        json.contains(&format!(r#""data":"[{} characters of base64]""#, image.len())),
        "{json}"
    );
}

#[test]
fn prompts_are_those_of_sessions_and_of_the_history() {
    let scene = Scene::of_samples();
    scene
        .run(["history", "add", "--cwd", "/home/robin/work/lantern", "Where is the dark palette?"])
        .ok();
    let mut client = Client::of(&scene);
    let told = client.told("recent_prompts", json!({}));
    let lines: Vec<&str> = told.lines().collect();
    assert!(
        lines[1].starts_with("history ") && lines[3] == "  Where is the dark palette?",
        "{told}"
    );
    assert!(told.contains("session 019c7bd3 entry "), "{told}");
    let told = client.told(
        "recent_prompts",
        json!({ "cwd": "/home/robin/work/tide-clock", "query": "fake timers" }),
    );
    assert!(told.contains("session 019c6605 entry 588262d5 2026-02-16 10:22\n  [/home/robin/work/tide-clock]\n  try the fake timers"), "{told}");
    assert!(!told.contains("palette"));
    let first = client.told("recent_prompts", json!({ "limit": 1, "family": "pi" }));
    assert!(first.ends_with("more: offset=1") && !first.contains("history"), "{first}");
    let until = client.told("recent_prompts", json!({ "until": "2020-01-01" }));
    assert!(until.starts_with("no such prompts"), "{until}");
}

/// One handle of the store is opened for each call.
#[test]
fn reads_follow_what_other_processes_append() {
    let scene = Scene::of_session(&file([header("s"), message("e1", None, "first")]));
    let mut client = Client::of(&scene);
    assert!(!client.told("read_session", json!({ "session": "s" })).contains("pelican"));
    scene
        .run([
            "append",
            "s",
            r#"{"type":"message","message":{"role":"user","content":"the pelican"}}"#,
        ])
        .ok();
    assert!(client.told("read_session", json!({ "session": "s" })).contains("  the pelican"));
    assert!(
        client.told("search_sessions", json!({ "query": "pelican" })).contains("  the pelican")
    );
    assert!(client.told("recent_prompts", json!({})).contains("  the pelican"));
    // A store that is made anew under the server is read as it is then.
    scene.run(["compact"]).ok();
    assert!(client.told("read_session", json!({ "session": "s" })).contains("  the pelican"));
    let other = scene.write("other.jsonl", &file([header("t"), message("e1", None, "the heron")]));
    scene.run(["import", path(&other)]).ok();
    assert!(client.told("search_sessions", json!({ "query": "heron" })).contains("session t pi"));
    scene.run(["rm", "--yes", "t"]);
}

#[test]
fn a_fork_is_read_without_the_session_that_it_goes_on_from() {
    let day = samples().join("codex/sessions/2026/02/18");
    let file = |start: &str, id: &str| {
        day.join(format!("rollout-2026-02-18T{start}-019c6f5a-{id}-7c4e-9d21-5a7be0c3{id}.jsonl"))
    };
    let scene = Scene::new();
    scene.run(["import", path(&file("09-00-00", "0023"))]).ok();
    let mut client = Client::of(&scene);
    let fork = json!({ "session": "019c6f5a-0023" });
    let alone = client.told("read_session", fork.clone());
    for said in ["  Write the changelog entry instead.", "  A short entry for the changelog"] {
        assert!(alone.contains(said), "{alone}");
    }
    scene.run(["import", path(&file("08-59-59", "0000"))]).ok();
    let told = client.told("read_session", fork);
    assert!(told.contains("  Write the changelog entry instead."), "{told}");
}

fn entries(told: &str) -> Vec<String> {
    let named = told.lines().filter_map(|line| line.strip_prefix("entry "));
    named.map(|line| line.split(' ').next().unwrap().to_owned()).collect()
}

fn cursor(told: &str, which: &str) -> Option<String> {
    let line = told.lines().find(|line| line.starts_with(&format!("{which}: entry=")))?;
    Some(line.split('=').nth(1)?.split(' ').next()?.to_owned())
}
