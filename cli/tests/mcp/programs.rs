//! Real clients: the protocol's own kit for TypeScript, Claude Code, and omp's.

use std::path::Path;

use leafline_judges::{Script, bun, claude, folder, installed, is_to_be_asked, runs};
use serde_json::{Value, json};

use super::client::Client;
use super::scene::{Scene, path};

/// How a program starts the server.
fn server(scene: &Scene) -> Value {
    json!({
        "command": env!("CARGO_BIN_EXE_leafline"),
        "args": ["--store", path(&scene.store()), "mcp"],
        "env": { "TZ": "UTC" },
    })
}

/// The kit's client checks each message against the protocol's schema, in both of its ways to begin.
#[test]
fn the_protocols_own_client_calls_each_tool() {
    let client = installed("mcp-client").package;
    let missing = format!("{} is not there", client.display());
    if !is_to_be_asked(client.exists(), "LEAFLINE_REQUIRE_MCP_CLIENT", &missing) {
        return;
    }
    let scene = Scene::of_samples();
    let calls = json!([
        { "name": "search_sessions", "arguments": { "query": "fake timers" } },
        { "name": "list_sessions", "arguments": { "limit": 3 } },
        { "name": "read_session", "arguments": { "session": "019c6605" } },
        { "name": "get_entry", "arguments": { "session": "019c6605", "entry": "588262d5" } },
        { "name": "recent_prompts", "arguments": {} },
        { "name": "read_session", "arguments": { "session": "nowhere" } },
    ]);
    let jobs = ["legacy", "auto"].map(|mode| {
        json!({ "op": "call", "server": server(&scene), "mode": mode, "calls": calls }).to_string()
    });
    let answers = Script::new("node", folder("mcp-client"), &["client.mjs"]).ask(&jobs);
    let mut by_hand = Client::of(&scene);
    for answer in &answers {
        assert_eq!(answer["ok"], true, "{answer}");
        assert_eq!(answer["server"]["name"], "leafline", "{answer}");
        assert_eq!(answer["tools"].as_array().unwrap().len(), 5, "{answer}");
        for (call, result) in
            calls.as_array().unwrap().iter().zip(answer["results"].as_array().unwrap())
        {
            let ours = by_hand.call(call["name"].as_str().unwrap(), call["arguments"].clone());
            assert_eq!(result["content"][0]["text"], ours.text);
            assert_eq!(result["isError"].as_bool().unwrap_or(false), ours.is_error);
        }
        assert_eq!(answer["stderr"], "");
    }
}

/// What the model is sent as the result of the tool is what the server answers.
#[test]
fn claude_code_gives_the_answer_to_its_model() {
    let Some(script) = claude() else { return };
    let scene = Scene::of_samples();
    let input = json!({ "query": "\"fake timers\"", "role": "user" });
    let job = json!({
        "op": "mcp", "server": server(&scene), "name": "leafline", "tool": "search_sessions", "input": input,
    });
    let answers = script.ask(&[job.to_string()]);
    let answer = &answers[0];
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(answer["isOffered"], true, "{answer}");
    let ours = Client::of(&scene).told("search_sessions", input);
    assert!(ours.contains("588262d5"));
    assert_eq!(told(&answer["result"]), ours);
    assert!(Path::new(&scene.store()).exists());
}

/// The line of the README, typed in omp; and what its client gives the model then.
#[test]
fn omp_is_told_of_the_server_and_calls_it() {
    let is_there = installed("omp").package.is_dir() && runs(bun());
    if !is_to_be_asked(is_there, "LEAFLINE_REQUIRE_OMP", "omp or bun is not there") {
        return;
    }
    let scene = Scene::of_samples();
    let input = json!({ "query": "\"fake timers\"", "role": "user" });
    let (program, store) = (env!("CARGO_BIN_EXE_leafline"), scene.store());
    let command =
        format!("/mcp add leafline --scope user -- {program} --store {} mcp", path(&store));
    let job =
        json!({ "op": "add", "command": command, "tool": "_search_sessions", "input": input });
    let answers = Script::new(bun(), folder("omp-judge"), &["mcp.mjs"]).ask(&[job.to_string()]);
    let answer = &answers[0];
    assert_eq!(answer["ok"], true, "{answer}");
    let added = &answer["config"]["mcpServers"]["leafline"];
    assert_eq!(added["command"], program);
    assert_eq!(added["args"], json!(["--store", path(&store), "mcp"]));
    assert_eq!(answer["tools"].as_array().unwrap().len(), 5, "{answer}");
    let ours = Client::of(&scene).told("search_sessions", input);
    assert!(ours.contains("588262d5"));
    assert_eq!(told(&answer["result"]), ours);
}

/// The text of a tool's result, as a string or as blocks.
fn told(result: &Value) -> String {
    match result {
        Value::Array(blocks) => blocks
            .iter()
            .map(|block| block["text"].as_str().unwrap())
            .collect::<Vec<_>>()
            .join("\n"),
        text => text.as_str().unwrap().to_owned(),
    }
}
