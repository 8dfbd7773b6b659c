//! When pi of each version writes a session's file, and when Leafline stores a deferred session.

use leafline::live::Persistence;
use leafline::pi::{PiSession, PiStore};
use leafline::{Family, NewSession, Session, Store};
use serde_json::{Value, json};

use crate::oracle::{Oracle, Version};
use crate::random::Random;

/// Sequences for each version.
const SEQUENCES: u64 = 60;

#[test]
fn a_session_is_stored_when_pi_writes_its_file() {
    for version in Version::ALL {
        let Some(oracle) = Oracle::find_version(version) else { continue };
        let (jobs, ours): (Vec<String>, Vec<_>) =
            (0..SEQUENCES).map(|seed| play(version, seed)).unzip();
        let mut changes = 0;
        for (seed, (answer, ours)) in oracle.ask(&jobs.join("\n")).iter().zip(&ours).enumerate() {
            let results = answer["results"].as_array();
            let results = results.unwrap_or_else(|| panic!("{}, {seed}: {answer}", version.name()));
            let observed = results.iter().filter_map(|result| result.get("observed"));
            let theirs: Vec<bool> = observed.map(|observed| observed["file"].is_string()).collect();
            assert_eq!(*ours, theirs, "{}, seed {seed}: {}", version.name(), jobs[seed]);
            changes += ours.windows(2).filter(|pair| pair[0] != pair[1]).count();
        }
        assert!(changes > 20, "{}: stored or branched off {changes} times", version.name());
    }
}

/// A sequence as pi's job, and Leafline's answers after each step: whether the session is stored.
fn play(version: Version, seed: u64) -> (String, Vec<bool>) {
    let mut random = Random::new(seed ^ 0xdefe);
    let store = Store::in_memory().unwrap();
    let mut new = NewSession::new(Family::Pi, "/work");
    let mut persistence = Persistence::documented(Family::Pi);
    persistence.as_of = Some(version.name().parse().unwrap());
    new.persistence = Some(persistence);
    let mut session = store.create_deferred_session(&new).unwrap();
    let (mut operations, mut stored) = (Vec::new(), Vec::new());
    let mut ids = Vec::new();
    for _ in 0..random.between(3, 12) {
        operations.push(step(&mut random, &mut session, &mut ids));
        operations.push(json!({"do": "observe"}));
        stored.push(!session.is_waiting());
        assert_eq!(store.session(session.id()).is_ok(), !session.is_waiting());
    }
    (json!({"op": "play", "cwd": "/work", "operations": operations}).to_string(), stored)
}

fn step(random: &mut Random, session: &mut Session, ids: &mut Vec<String>) -> Value {
    let (id, operation) = match random.below(8) {
        0 => {
            let operation = json!({"do": "append_thinking_level_change", "level": "high"});
            (session.append_thinking_level_change("high"), operation)
        }
        1 => {
            let operation = json!({"do": "append_custom_entry", "customType": "user"});
            (session.append_custom_entry("user", None::<&Value>), operation)
        }
        2 => {
            let operation = json!({
                "do": "append_custom_message_entry", "customType": "user", "content": "c", "display": true,
            });
            let appended = session.append_custom_message_entry("user", &"c", true, None::<&Value>);
            (appended, operation)
        }
        3 | 4 if !ids.is_empty() => {
            let place = random.below(ids.len());
            *session = session.create_deferred_branched_session(&ids[place]).unwrap();
            ids.truncate(place + 1);
            return json!({"do": "create_branched_session", "leaf": place});
        }
        _ => {
            let role = *random.pick(&["system", "toolResult", "custom", "user", "assistant"]);
            let message = json!({"role": role, "content": []});
            let appended = session.append_message(&message);
            (appended, json!({"do": "append_message", "message": message}))
        }
    };
    ids.push(id.unwrap());
    operation
}
