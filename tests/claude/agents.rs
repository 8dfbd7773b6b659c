//! Whole project folders: each agent's file belongs to the session that started it.

use std::collections::BTreeMap;
use std::path::Path;

use leafline::context::ContextLeaf;
use serde_json::{Value, json};

use crate::place::{Place, corpus};

fn agents_by_session(place: &Place) -> BTreeMap<String, Vec<String>> {
    let sessions = place.store.sessions().unwrap();
    let of = |id: &str| {
        let agents = place.store.agents_of(id).unwrap();
        assert!(agents.iter().all(|agent| agent.is_agent_of(id)));
        agents.into_iter().map(|agent| agent.id.into()).collect()
    };
    let sessions = sessions.into_iter().map(|facts| (of(&facts.id), facts.id.into()));
    sessions
        .filter(|(agents, _): &(Vec<String>, _)| !agents.is_empty())
        .map(|(a, id)| (id, a))
        .collect()
}

#[test]
fn agents_beside_a_session_and_below_it() {
    let place = Place::new();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("import/samples/claude/projects");
    let (totals, _) = place.import_all(&[samples]);
    assert_eq!(totals.imported, 4);
    let found = agents_by_session(&place);
    assert_eq!(found.len(), 1);
    // The oldest first.
    assert_eq!(found["5b0c7a52-9d1e-4c3f-8a64-0f2e6d7b1c90"], ["agent-7d31c0be", "agent-c5e90a17"]);
    assert!(place.store.agents_of("nothing").is_err());
}

#[test]
fn the_projects_of_the_corpus() {
    let Some(corpus) = corpus() else { return };
    let place = Place::new();
    let (totals, reports) = place.import_all(&[corpus.join("claude/projects")]);
    assert_eq!((totals.failed, totals.skipped), (0, 0), "{reports:#?}");
    let found = agents_by_session(&place);
    let counts: Vec<(&str, usize)> =
        found.iter().map(|(id, agents)| (id.as_str(), agents.len())).collect();
    assert_eq!(
        counts,
        [
            ("11110000-0000-4000-8000-000000000001", 4),
            ("33330000-0000-4000-8000-000000000001", 10),
            // Two of its agents belong to a session without a file, and two to another one.
            ("7acd37a8-2745-4b58-a8a9-46164b22ad9e", 4),
        ]
    );
    let agents = place.store.sessions().unwrap();
    let agents = agents.iter().filter(|facts| facts.agent.is_some());
    assert_eq!(agents.count(), 22);
    place.assert_sound();
}

/// A record of a session, below another one; an agent's if it `is_sidechain`.
fn record(
    role: &str,
    (uuid, parent): (&str, Option<&str>),
    text: &str,
    is_sidechain: bool,
) -> String {
    let id = |name: &str| format!("00000000-0000-4000-8000-{name:0>12}");
    let mut record = json!({
        "parentUuid": parent.map(id), "isSidechain": is_sidechain, "userType": "external", "cwd": "/work",
        "sessionId": PARENT, "version": "2.1.332", "type": role, "uuid": id(uuid),
        "timestamp": "2026-11-28T10:00:00.000Z",
        "message": {"role": role, "content": text},
    });
    if role == "assistant" {
        record["message"] = json!({
            "id": format!("msg_{uuid}"), "type": "message", "model": "m", "role": role,
            "content": [{"type": "text", "text": text}],
        });
    }
    if is_sidechain {
        record["agentId"] = json!("f1");
    }
    format!("{record}\n")
}

const PARENT: &str = "11111111-0000-4000-8000-000000000001";

/// As the program writes it.
fn fork_context(last: &str) -> String {
    let record = json!({
        "type": "fork-context-ref", "agentId": "f1", "parentSessionId": PARENT,
        "parentLastUuid": format!("00000000-0000-4000-8000-{last:0>12}"), "contextLength": 3,
    });
    format!("{record}\n")
}

fn write(place: &Place, agents: &[(&str, &str)], parent: Option<&str>) {
    for (name, last) in agents {
        let file = [
            fork_context(last),
            record("user", ("a1", None), "check it", true),
            record("assistant", ("a2", Some("a1")), "checked", true),
        ];
        place.write(
            &format!("projects/-work/{PARENT}/subagents/agent-{name}.jsonl"),
            file.concat().as_bytes(),
        );
    }
    if let Some(parent) = parent {
        place.write(&format!("projects/-work/{PARENT}.jsonl"), parent.as_bytes());
    }
}

/// The texts of a context, and the ordinals of each message.
fn context(place: &Place, session: &str) -> Vec<(String, Vec<u64>)> {
    let reader = place.store.reader(session).unwrap();
    let context = reader.build_context(ContextLeaf::Current, None).unwrap();
    let texts = |content: &Value| match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            blocks.iter().map(|block| block["text"].as_str().unwrap()).collect::<Vec<_>>().join("|")
        }
        other => panic!("{other}"),
    };
    let told = context.messages.iter();
    told.map(|message| (texts(&message.value().unwrap()["content"]), message.ordinals.clone()))
        .collect()
}

#[test]
fn an_agent_s_context_begins_with_the_conversation_that_it_was_forked_from() {
    let parent = [
        record("user", ("1", None), "one", false),
        record("assistant", ("2", Some("1")), "two", false),
        record("user", ("3", Some("2")), "three", false),
        record("assistant", ("4", Some("3")), "four", false),
    ];
    let place = Place::new();
    write(&place, &[("f1", "2"), ("f2", "3"), ("f3", "99")], Some(&parent.concat()));
    place.import_all(&[place.path("projects")]);
    let told = |session| {
        let told = context(&place, session);
        told.into_iter().map(|(text, ordinals)| format!("{text} {ordinals:?}")).collect::<Vec<_>>()
    };
    assert_eq!(told("agent-f1"), ["one []", "two []", "check it [1]", "checked [2]"]);
    // The user's messages on both sides of the seam are one message.
    assert_eq!(told("agent-f2"), ["one []", "two []", "three\n|check it [1]", "checked [2]"]);
    // The record is not in the parent's session: nothing is made up.
    assert_eq!(told("agent-f3"), ["check it [1]", "checked [2]"]);
    let missing = |session| place.store.reader(session).unwrap().missing_beginning().unwrap();
    assert_eq!(missing("agent-f1"), None);
    assert_eq!(missing("agent-f3").as_deref(), Some(PARENT));
    assert_eq!(missing(PARENT), None);
    place.assert_sound();
}

#[test]
fn an_agent_without_its_parent_has_its_own_context() {
    let place = Place::new();
    write(&place, &[("f1", "2")], None);
    place.import_all(&[place.path("projects")]);
    let told = context(&place, "agent-f1");
    assert_eq!(told, [("check it".into(), vec![1]), ("checked".into(), vec![2])]);
    let reader = place.store.reader("agent-f1").unwrap();
    assert_eq!(reader.missing_beginning().unwrap().as_deref(), Some(PARENT));
}
