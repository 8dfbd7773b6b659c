//! Whole project folders: each agent's file belongs to the session that started it.

use std::collections::BTreeMap;
use std::path::Path;

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
