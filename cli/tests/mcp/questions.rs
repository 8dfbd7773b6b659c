//! Ten questions that an agent asks about a store of 1,000 sessions: the answers to each take at most 4,000 tokens together.
//!
//! `cargo test -p leafline-cli --test mcp questions -- --nocapture` prints their sizes, and how soon a server of that store has
//! answered its client's greeting, which docs/mcp.md has.

use std::fs::File;
use std::io::BufWriter;
use std::time::{Duration, Instant};

use leafline_generate::{Family, Shape, generate};
use serde_json::{Value, json};

use super::client::{Client, tokens};
use super::scene::{Scene, file, path};

/// How many sessions there are: made-up ones, and those that the questions are about.
const SESSIONS: u64 = 1000;

/// The most tokens of what is answered to a question.
const MOST: usize = 4000;

/// A question, the calls that answer it, and what the answers have.
struct Question {
    asked: &'static str,
    calls: Vec<(&'static str, Value)>,
    has: &'static [&'static str],
}

fn questions() -> Vec<Question> {
    let question = |asked, calls, has| Question { asked, calls, has };
    vec![
        question(
            "Has anybody met `alarm 'spring' was armed twice` before?",
            vec![("search_sessions", json!({ "query": "\"armed twice\"" }))],
            &["session alarm-01 pi", "entry a0000004 tool", "Tide alarm rings twice"],
        ),
        question(
            "What was the cause, and how was it mended?",
            vec![
                (
                    "search_sessions",
                    json!({ "query": "alarm armed resume", "role": "assistant", "limit": 3 }),
                ),
                (
                    "read_session",
                    json!({ "session": "alarm-01", "entry": "a0000005", "max_tokens": 2000 }),
                ),
            ],
            &["armed in `start` and again in `resume`", "3f1c2aa"],
        ),
        question(
            "How did the session about the alarm end?",
            vec![("read_session", json!({ "session": "alarm-01" }))],
            &["Done in 3f1c2aa", "rings twice since the upgrade"],
        ),
        question(
            "What was the whole output of the failing test?",
            vec![("get_entry", json!({ "session": "alarm-01", "entry": "a0000004" }))],
            &["step 0: tide table read", "more: offset="],
        ),
        question(
            "What did I ask for last in the harbour project?",
            vec![("recent_prompts", json!({ "cwd": "/home/robin/work/harbour", "limit": 5 }))],
            &["Do it, and add a test", "session alarm-01 entry a0000006"],
        ),
        question(
            "Which sessions were there in the harbour project?",
            vec![("list_sessions", json!({ "cwd": "/home/robin/work/harbour" }))],
            &["session alarm-01 pi 8 entries", "session alarm-02 claude"],
        ),
        question(
            "Which sessions of Claude Code were the newest?",
            vec![("list_sessions", json!({ "family": "claude", "limit": 10 }))],
            &["session alarm-02 claude", "more: offset=10"],
        ),
        question(
            "What did I ever ask about the numbers of quays?",
            vec![("recent_prompts", json!({ "query": "number quays" }))],
            &["Number the quays from north to south", "session alarm-02"],
        ),
        question(
            "Where did a build fail because of a property, since 2026?",
            vec![(
                "search_sessions",
                json!({ "query": "error property", "role": "tool", "since": "2026-01-01", "limit": 20 }),
            )],
            &["entry ", " tool ", "more: offset="],
        ),
        question(
            "What was said from the beginning about the quays?",
            vec![
                (
                    "search_sessions",
                    json!({ "query": "quays north", "family": "claude", "limit": 2 }),
                ),
                (
                    "read_session",
                    json!({ "session": "alarm-02", "direction": "after", "detail": "talk", "max_tokens": 2000 }),
                ),
            ],
            &["Number the quays from north to south", "Quay 1 is the northern one"],
        ),
    ]
}

#[test]
fn ten_questions_are_answered_within_their_tokens() {
    let scene = Scene::in_memory();
    write_sessions(&scene);
    scene.run(["import", "-q", path(&scene.folder().join("files"))]).ok();
    let mut client = Client::of(&scene);
    println!("| question | calls | tokens | bytes |\n| --- | --- | --- | --- |");
    let (mut largest, mut all) = (0, 0);
    for Question { asked, calls, has } in questions() {
        let answers: Vec<String> =
            calls.iter().map(|(tool, arguments)| client.told(tool, arguments.clone())).collect();
        let answers = answers.join("\n");
        for expected in has {
            assert!(answers.contains(expected), "{asked}: {expected:?} is not in\n{answers}");
        }
        let (size, bytes) = (tokens(&answers), answers.len());
        let names: Vec<&str> = calls.iter().map(|(tool, _)| *tool).collect();
        println!("| {asked} | `{}` | {size} | {bytes} |", names.join("`, `"));
        assert!(size <= MOST, "{asked}: {size} tokens");
        largest = largest.max(size);
        all += 1;
    }
    assert_eq!(all, 10);
    println!("the largest takes {largest} tokens");
    println!("a server is ready after {:.1?}", started(&scene));
    if let Some(folder) = std::env::var_os("LEAFLINE_MCP_ANSWERS") {
        keep_answers(&mut client, std::path::Path::new(&folder));
    }
}

/// How long it takes from the start of a server to its answer to the greeting: the median of several.
fn started(scene: &Scene) -> Duration {
    let mut times: Vec<Duration> = (0..21)
        .map(|_| {
            let begun = Instant::now();
            let _client = Client::of(scene);
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// Keeps each answer as a file, for a look, or for a count by a real vocabulary.
fn keep_answers(client: &mut Client, folder: &std::path::Path) {
    std::fs::create_dir_all(folder).unwrap();
    for (number, question) in questions().into_iter().enumerate() {
        let answers: Vec<String> = question
            .calls
            .into_iter()
            .map(|(tool, arguments)| client.told(tool, arguments))
            .collect();
        std::fs::write(folder.join(format!("{number}.txt")), answers.join("\n")).unwrap();
    }
}

fn write_sessions(scene: &Scene) {
    scene.write("files/alarm-01.jsonl", &alarm());
    scene.write("files/alarm-02.jsonl", &quays());
    for seed in 3..=SESSIONS {
        let family = [Family::Pi, Family::Omp, Family::Claude][usize::try_from(seed % 3).unwrap()];
        let shape = Shape { seed, bytes: 8_000, family, ..Shape::default() };
        let mut whole = Vec::new();
        let made = generate(&shape, &mut BufWriter::new(&mut whole)).unwrap();
        let name = scene.folder().join("files").join(format!("{}.jsonl", made.session_id));
        std::io::Write::write_all(&mut File::create(name).unwrap(), &whole).unwrap();
    }
}

/// A session of pi's with a long output in it.
fn alarm() -> Vec<u8> {
    let time = |minute: u32| format!("2038-01-10T09:{minute:02}:00.000Z");
    let entry = |number: u32, message: Value| {
        let parent = (number > 1).then(|| format!("a{:07}", number - 1));
        json!({
            "type": "message", "id": format!("a{number:07}"), "parentId": parent, "timestamp": time(number),
            "message": message,
        })
        .to_string()
    };
    let user = |text: &str| json!({ "role": "user", "content": text });
    let said =
        |text: &str| json!({ "role": "assistant", "content": [{ "type": "text", "text": text }] });
    let call = |id: &str, command: &str| json!({ "role": "assistant", "content": [{ "type": "toolCall", "id": id, "name": "bash", "arguments": { "command": command } }] });
    let result = |id: &str, text: String| json!({ "role": "toolResult", "toolCallId": id, "toolName": "bash", "content": [{ "type": "text", "text": text }], "isError": false });
    let steps: String =
        (0..900).map(|step| format!("step {step}: tide table read, no alarm due\n")).collect();
    let output = format!("{steps}panicked at src/alarm.rs:88: alarm 'spring' was armed twice\n");
    let header = json!({
        "type": "session", "version": 3, "id": "alarm-01", "timestamp": time(0), "cwd": "/home/robin/work/harbour",
    });
    let name = json!({ "type": "session_info", "id": "a0000001", "parentId": null, "timestamp": time(1), "name": "Tide alarm rings twice" });
    file([
        header.to_string(),
        name.to_string(),
        entry(2, user("The tide alarm rings twice since the upgrade. Why?")),
        entry(3, call("c1", "cargo test alarm")),
        entry(4, result("c1", output)),
        entry(
            5,
            said("The alarm is armed in `start` and again in `resume`. I would drop the second."),
        ),
        entry(6, user("Do it, and add a test")),
        entry(7, call("c2", "git commit -am 'Arm the alarm once'")),
        entry(
            8,
            said("Done in 3f1c2aa: `resume` no longer arms it, and `alarm_rings_once` tests that."),
        ),
    ])
}

/// A session of Claude Code's.
fn quays() -> Vec<u8> {
    let record = |number: u32, kind: &str, content: Value| {
        let uuid = |number: u32| format!("{number:08}-0000-4000-8000-000000000000");
        json!({
            "type": kind, "uuid": uuid(number), "parentUuid": (number > 1).then(|| uuid(number - 1)),
            "sessionId": "alarm-02", "timestamp": format!("2038-01-09T08:{number:02}:00.000Z"),
            "cwd": "/home/robin/work/harbour", "version": "2.1.0", "isSidechain": false, "userType": "external",
            "message": { "role": kind, "content": content },
        })
        .to_string()
    };
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    file([
        record(1, "user", json!("Number the quays from north to south")),
        record(
            2,
            "assistant",
            text("Quay 1 is the northern one, quay 9 the southern one. I have changed `quays.rs`."),
        ),
        record(3, "user", json!("Good. Keep the old numbers as aliases")),
        record(4, "assistant", text("They are aliases now.")),
    ])
}
