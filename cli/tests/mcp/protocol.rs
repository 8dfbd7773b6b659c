//! The protocol itself: beginning, tools, errors, cancellation, end.

#[cfg(target_os = "linux")]
use std::io::{BufRead, BufReader, Write};
use std::process::Command;
#[cfg(target_os = "linux")]
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use serde_json::Value;
use serde_json::json;

use super::client::Client;
#[cfg(target_os = "linux")]
use super::client::{begun, greeting};
use super::scene::Scene;
#[cfg(target_os = "linux")]
use super::scene::command;

const READING: [&str; 5] =
    ["get_entry", "list_sessions", "read_session", "recent_prompts", "search_sessions"];

fn tool_names(client: &mut Client) -> Vec<String> {
    let tools = client.request("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_server_tells_what_it_is_and_what_it_can_do() {
    let scene = Scene::new();
    let mut client = Client::start(&scene.store(), &[]);
    let told = client.greet();
    assert_eq!(told["serverInfo"]["name"], "leafline");
    assert_eq!(told["protocolVersion"], "2025-06-18");
    assert!(told["capabilities"]["tools"].is_object(), "{told}");
    assert!(told["instructions"].as_str().unwrap().contains("search_sessions"));
    assert_eq!(client.end(), (0, String::new()));
    assert!(!scene.store().exists(), "a server makes no store");
}

#[test]
fn each_tool_has_a_schema_that_says_what_it_takes() {
    let scene = Scene::new();
    let mut client = Client::of(&scene);
    let tools = client.request("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap();
    for tool in tools {
        let schema = &tool["inputSchema"];
        assert_eq!(schema["type"], "object", "{tool}");
        assert_eq!(schema["additionalProperties"], false, "{tool}");
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        assert!(tool["description"].as_str().unwrap().len() > 40, "{tool}");
        assert!(!tool.to_string().contains("$ref"), "not every client resolves these: {tool}");
        for (name, property) in schema["properties"].as_object().unwrap() {
            let is_told = property.get("description").is_some() || property.get("enum").is_some();
            assert!(is_told, "{}: {name}: {property}", tool["name"]);
        }
    }
    let family = &tools.iter().find(|tool| tool["name"] == "list_sessions").unwrap()["inputSchema"]
        ["properties"]["family"];
    let families: Vec<&str> = leafline::Family::ALL.iter().map(|family| family.name()).collect();
    assert_eq!(family["enum"], json!(families));
    let size = serde_json::to_string(tools).unwrap().len();
    assert!(size < 9_000, "the tools are told to the model each time: {size} bytes");
}

#[test]
fn only_write_adds_the_tools_that_write() {
    let scene = Scene::of_samples();
    let mut client = Client::of(&scene);
    assert_eq!(tool_names(&mut client), READING);
    let arguments = json!({ "session": "019c6605", "name": "x" });
    let call = json!({ "name": "name_session", "arguments": arguments });
    let refused = client.request("tools/call", call);
    assert!(refused["error"]["message"].is_string(), "{refused}");
    let mut writing = Client::greeted(&scene.store(), &["--write"]);
    assert_eq!(tool_names(&mut writing).len(), READING.len() + 2);
}

#[test]
fn what_is_no_message_is_passed_over() {
    let scene = Scene::of_samples();
    let mut client = Client::of(&scene);
    for line in ["", "not JSON", "{\"jsonrpc\":", "\u{0}\u{1b}[2J", "[[[[[["] {
        client.send_line(line);
    }
    // A message that is longer than any is dropped, and its memory with it.
    client.send_line(&format!(
        r#"{{"jsonrpc":"2.0","id":"long","method":"{}"}}"#,
        "x".repeat(3 << 20)
    ));
    assert!(client.told("list_sessions", json!({})).contains("019c7bd3"));
    let unknown = client.request("tools/unknown", json!({}));
    assert!(unknown["error"]["code"].is_i64(), "{unknown}");
    let unknown = client.request("tools/call", json!({ "name": "no_such_tool", "arguments": {} }));
    assert!(unknown["error"]["message"].is_string(), "{unknown}");
    assert_eq!(client.end(), (0, String::new()));
}

#[test]
fn wrong_arguments_are_told_to_the_model() {
    let scene = Scene::of_samples();
    let mut client = Client::of(&scene);
    for (tool, arguments, expected) in [
        ("search_sessions", json!({}), "missing field `query`"),
        ("search_sessions", json!({ "query": 7 }), "invalid type"),
        ("search_sessions", json!({ "query": "a", "folder": "/" }), "unknown field `folder`"),
        ("search_sessions", json!({ "query": "-a" }), "no word to search for"),
        ("search_sessions", json!({ "query": "a", "role": "model" }), "assistant"),
        (
            "search_sessions",
            json!({ "query": "a", "since": "3mo" }),
            "since: \"3mo\" is not a time",
        ),
        ("list_sessions", json!({ "family": "emacs" }), "claude"),
        ("list_sessions", json!({ "limit": 0 }), "from 1 to 100"),
        ("list_sessions", json!({ "limit": -1 }), "invalid value"),
        ("list_sessions", json!({ "max_tokens": 1 }), "from 500 to 25000"),
        ("read_session", json!({ "session": "019c6605", "direction": "up" }), "unknown variant"),
    ] {
        let told = client.refused(tool, arguments.clone());
        assert!(told.contains(expected), "{tool} {arguments}: {told}");
    }
}

#[test]
fn what_is_not_there_is_named_with_what_is_near() {
    let scene = Scene::of_samples();
    let mut client = Client::of(&scene);
    let told = client.refused("read_session", json!({ "session": "019c6604" }));
    assert!(
        told.contains("no session has the id \"019c6604\"") && told.contains("019c6605-4c90"),
        "{told}"
    );
    assert!(told.contains("list_sessions"), "{told}");
    let told = client.refused("read_session", json!({ "session": "01" }));
    assert!(told.contains("give more of it"), "{told}");
    let asked = json!({ "session": "019c6605", "entry": "588262e" });
    let told = client.refused("get_entry", asked);
    assert!(told.contains("588262d5") && told.contains("read_session"), "{told}");
    let told = client.refused("get_entry", json!({ "session": "019c6605", "entry": "#4000" }));
    assert!(told.contains("no entry"), "{told}");
}

#[test]
fn without_a_store_it_says_how_one_is_made_and_then_reads_it() {
    let scene = Scene::new();
    let mut client = Client::of(&scene);
    let told = client.refused("list_sessions", json!({}));
    assert!(told.contains("leafline import"), "{told}");
    let session = scene.run(["new", "--cwd", "/work/late"]).ok().text();
    scene
        .run([
            "append",
            session.trim(),
            r#"{"type":"message","message":{"role":"user","content":"Late"}}"#,
        ])
        .ok();
    assert!(client.told("list_sessions", json!({})).contains("/work/late"));
}

/// The answers of calls that run side by side come with their ids, in any order.
#[test]
fn calls_run_side_by_side_and_too_many_are_refused() {
    let scene = Scene::of_samples();
    let mut client = Client::of(&scene);
    let call = json!({ "name": "list_sessions", "arguments": {} });
    let mut asked: Vec<u64> = (0..500).map(|_| client.ask("tools/call", call.clone())).collect();
    let (mut told, mut refused) = (0, 0);
    while !asked.is_empty() {
        let answer = client.next().unwrap();
        asked.retain(|id| answer["id"] != *id);
        match answer["result"]["isError"].as_bool() {
            Some(true) => refused += 1,
            _ => told += 1,
        }
    }
    assert!(told >= 4, "{told} told, {refused} refused");
    assert_eq!(told + refused, 500);
    client.told("list_sessions", json!({}));
}

#[test]
fn a_cancelled_call_has_no_answer_and_costs_no_other() {
    let scene = Scene::of_samples();
    let mut client = Client::of(&scene);
    let call = json!({ "name": "read_session", "arguments": { "session": "019c6605" } });
    let cancelled = client.ask("tools/call", call);
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": cancelled, "reason": "no longer wanted" },
    }));
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 999 } }));
    let next = client.ask("tools/call", json!({ "name": "list_sessions", "arguments": {} }));
    let mut answered = Vec::new();
    while answered.last() != Some(&json!(next)) {
        answered.push(client.next().unwrap()["id"].clone());
    }
    // It may have been answered before the cancellation came.
    assert!(answered.iter().all(|id| *id == next || *id == cancelled), "{answered:?}");
    assert_eq!(client.end(), (0, String::new()));
}

#[test]
fn it_answers_what_was_asked_when_its_input_ends() {
    let scene = Scene::of_samples();
    let mut client = Client::of(&scene);
    let id = client.ask("tools/call", json!({ "name": "list_sessions", "arguments": {} }));
    client.close();
    let answer = client.next().unwrap();
    assert_eq!(answer["id"], id);
    assert_eq!(client.end(), (0, String::new()));
    // The same with nothing said at all.
    assert_eq!(Client::start(&scene.store(), &[]).end(), (0, String::new()));
}

#[test]
#[cfg(unix)]
fn a_signal_ends_it() {
    let scene = Scene::of_samples();
    for (signal, is_greeted) in [("-TERM", true), ("-INT", true), ("-TERM", false)] {
        let mut client = Client::start(&scene.store(), &[]);
        if is_greeted {
            client.greet();
            client.told("list_sessions", json!({}));
        } else {
            // It listens for signals before it reads.
            client.request("ping", json!({}));
        }
        let process = client.child.id().to_string();
        assert!(Command::new("kill").args([signal, &process]).status().unwrap().success());
        assert!(client.next().is_none());
        let status = client.child.wait().unwrap();
        assert_eq!(status.code(), Some(130));
    }
}

#[test]
fn a_client_that_does_not_begin_is_told_so() {
    let scene = Scene::new();
    let mut client = Client::start(&scene.store(), &[]);
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    assert!(client.next().is_none());
    let (status, told) = client.ended();
    assert_eq!(status, 1);
    assert!(
        told.starts_with("leafline: standard input is not a client of the Model Context Protocol")
    );
}

/// Waits for a server whose input stays open, and then for what it says on standard error.
#[cfg(target_os = "linux")]
fn ended(mut child: Child) -> (Option<i32>, String) {
    let input = child.stdin.take();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(600), "it waits for its input");
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn it_ends_when_it_cannot_answer() {
    let scene = Scene::of_samples();
    let start = |output: Stdio| {
        let mut server = command(&scene.store());
        server.arg("mcp").stdin(Stdio::piped()).stdout(output).stderr(Stdio::piped());
        server.spawn().unwrap()
    };
    let send = |child: &Child, message: Value| {
        writeln!(child.stdin.as_ref().unwrap(), "{message}").unwrap();
    };
    let initialize =
        || json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting() });
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let child = start(full.into());
    send(&child, initialize());
    let said = "leafline: writing to standard output: No space left on device (os error 28)\n";
    assert_eq!(ended(child), (Some(1), said.to_owned()));

    // A reader that is gone is no failure.
    let mut child = start(Stdio::piped());
    let mut output = BufReader::new(child.stdout.take().unwrap());
    send(&child, initialize());
    output.read_line(&mut String::new()).unwrap();
    drop(output);
    send(&child, begun());
    send(&child, json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" }));
    assert_eq!(ended(child), (Some(0), String::new()));
}

/// As programs have it that do not wait in a read themselves.
#[cfg(target_os = "linux")]
#[test]
fn an_input_that_does_not_block_is_waited_for() {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    let scene = Scene::of_samples();
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    theirs.set_nonblocking(true).unwrap();
    let mut command = command(&scene.store());
    command.arg("mcp").stdin(OwnedFd::from(theirs)).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for (id, method, params) in [(1, "initialize", greeting()), (2, "tools/list", json!({}))] {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(ours, "{request}").unwrap();
        let answer = lines.next().expect("the server is still there").unwrap();
        assert!(answer.contains("result"), "{answer}");
        if id == 1 {
            writeln!(ours, "{}", begun()).unwrap();
        }
    }
    drop(ours);
    assert!(child.wait().unwrap().success());
}
