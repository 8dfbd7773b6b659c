//! The indexes of sessions by time and by parent.
//!
//! Guards against lists that use an index with a missing or an extra row, and against a check that misses it.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use leafline::list::SessionFilter;
use leafline::verify::Verification;
use leafline::{Error, SessionFacts};
use place::Place;
use redb::{TableDefinition, WriteTransaction};

const TIMES: TableDefinition<(i64, u64), ()> = TableDefinition::new("session_times");
const PARENTS: TableDefinition<(&[u8], u64), ()> = TableDefinition::new("session_parents");

/// The sample of Claude Code that has started agents.
const PARENT: &str = "5b0c7a52-9d1e-4c3f-8a64-0f2e6d7b1c90";

/// The samples, with a change of the tables made without the library.
fn changed(change: impl FnOnce(&WriteTransaction)) -> Place {
    let place = Place::new();
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples");
    place.store.import(&[samples], &leafline::import::ImportOptions::default(), &mut ()).unwrap();
    place.assert_sound();
    place.change_tables(change);
    place
}

/// What the check finds, each kind once.
fn kinds(place: &Place) -> Vec<String> {
    let Verification { problems, .. } = place.store.verify().unwrap();
    problems.into_iter().map(|problem| problem.kind.to_string()).collect()
}

fn newest(place: &Place) -> leafline::Result<Vec<SessionFacts>> {
    place.store.list(&SessionFilter { limit: Some(1), ..SessionFilter::default() })
}

#[track_caller]
fn is_damage<T: std::fmt::Debug>(result: leafline::Result<T>, table: &str) {
    match result {
        Err(Error::Corrupted(damage)) => assert_eq!(damage.table, table),
        other => panic!("{other:?} instead of damage"),
    }
}

#[test]
fn agents_and_the_newest_are_found() {
    let place = changed(|_| {});
    assert_eq!(kinds(&place), Vec::<String>::new());
    assert_eq!(newest(&place).unwrap(), place.store.sessions().unwrap()[..1]);
    let agents = place.store.agents_of(PARENT).unwrap();
    assert_eq!(agents.len(), 2);
    assert!(agents.iter().all(|agent| agent.is_agent_of(PARENT)));
    let sessions = place.store.sessions().unwrap();
    for session in &sessions {
        let agents = place.store.agents_of(&session.id).unwrap();
        let expected = sessions.iter().filter(|other| other.is_agent_of(&session.id)).count();
        assert_eq!(agents.len(), expected, "{}", session.id);
    }
}

#[test]
fn a_time_without_a_row_is_damage() {
    let place = changed(|transaction| {
        transaction.open_table(TIMES).unwrap().pop_first().unwrap().unwrap();
    });
    assert_eq!(kinds(&place), ["session_times"]);
    is_damage(newest(&place), "session_times");
}

#[test]
fn a_row_of_another_hour_is_damage() {
    let place = changed(|transaction| {
        let mut times = transaction.open_table(TIMES).unwrap();
        let (hour, session) = times.pop_last().unwrap().unwrap().0.value();
        times.insert((hour + 1, session), ()).unwrap();
    });
    assert_eq!(kinds(&place), ["session_times"]);
    is_damage(newest(&place), "session_times");
}

#[test]
fn a_row_that_leads_nowhere_is_damage() {
    let place = changed(|transaction| {
        let mut times = transaction.open_table(TIMES).unwrap();
        let (hour, _) = times.pop_last().unwrap().unwrap().0.value();
        times.insert((hour, 1 << 40), ()).unwrap();
        let mut parents = transaction.open_table(PARENTS).unwrap();
        parents.insert((PARENT.as_bytes(), 1 << 40), ()).unwrap();
    });
    assert_eq!(kinds(&place), ["session_times", "session_parents"]);
    is_damage(newest(&place), "session_times");
    is_damage(place.store.agents_of(PARENT), "session_parents");
}

#[test]
fn an_agent_without_a_row_is_found_by_the_check() {
    let place = changed(|transaction| {
        transaction.open_table(PARENTS).unwrap().pop_first().unwrap().unwrap();
    });
    assert_eq!(kinds(&place), ["session_parents"]);
}

#[test]
fn an_agent_of_another_session_is_damage() {
    let place = changed(|transaction| {
        let mut parents = transaction.open_table(PARENTS).unwrap();
        let session = parents.pop_first().unwrap().unwrap().0.value().1;
        parents.insert((&b"another"[..], session), ()).unwrap();
    });
    assert_eq!(kinds(&place), ["session_parents"]);
}
