//! Queries and their results.

use std::path::Path;

use leafline::error::{SearchError, SessionError};
use leafline::list::SessionFilter;
use leafline::search::{SearchIndex, SearchOrder, SearchQuery};
use leafline::view::Role;
use leafline::{Error, Family};
use leafline_generate::{random_tree_session, zoo};

use super::model::{assert_finds, assert_finds_everything, hits, updated};
use super::place::Place;

fn message(id: &str, minute: u32, role: &str, text: &str) -> String {
    let content = serde_json::to_string(text).unwrap();
    format!(
        r#"{{"type":"message","id":"{id}","parentId":null,"timestamp":"2026-03-01T10:{minute:02}:00.000Z","message":{{"role":"{role}","content":{content}}}}}"#
    )
}

fn session(id: &str, cwd: &str, messages: &[String]) -> String {
    let header = format!(
        r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-03-01T09:00:00.000Z","cwd":"{cwd}"}}"#
    );
    format!("{header}\n{}\n", messages.join("\n"))
}

fn two() -> Place {
    let place = Place::new();
    let one = [
        message("a1", 1, "user", "The login page redirects twice"),
        message("a2", 2, "assistant", "I look at build_context first; the Größe is wrong."),
        message("a3", 3, "toolResult", "error: no such file or directory: src/login.rs"),
    ];
    let two = [
        message("b1", 11, "user", "修复登录错误 in the login form"),
        message("b2", 12, "assistant", "Done. login login login"),
    ];
    for (id, cwd, messages) in [("one", "/work/app", &one[..]), ("two", "/work/shop", &two[..])] {
        place.import(&place.write(&format!("{id}.jsonl"), session(id, cwd, messages)));
    }
    place
}

#[test]
fn words_phrases_prefixes_and_exclusions() {
    let place = two();
    let index = updated(&place.store);
    let ids = |text: &str| {
        let mut ids: Vec<String> = hits(&index, &SearchQuery::new(text))
            .into_iter()
            .map(|hit| hit.entry.unwrap())
            .collect();
        ids.sort();
        ids.join(" ")
    };
    assert_eq!(ids("login"), "a1 a3 b1 b2");
    assert_eq!(ids("LOGIN page"), "a1");
    assert_eq!(ids("page login"), "a1");
    assert_eq!(ids("\"page login\""), "");
    assert_eq!(ids("\"login page\""), "a1");
    assert_eq!(ids("redirect"), "");
    assert_eq!(ids("redirect*"), "a1");
    assert_eq!(ids("\"no such fi*\""), "a3");
    assert_eq!(ids("login -form -page"), "a3 b2");
    assert_eq!(ids("login -\"such file\" -d*"), "a1 b1");
    assert_eq!(ids("grosse"), "");
    assert_eq!(ids("große"), "a2");
    assert_eq!(ids("build_context"), "a2");
    assert_eq!(ids("context_build"), "");
    assert_eq!(ids("登录"), "b1");
    assert_eq!(ids("录登"), "");
    assert_eq!(ids("错*"), "b1");
}

#[test]
fn hits_tell_where_they_are() {
    let place = two();
    let index = updated(&place.store);
    let hit = hits(&index, &SearchQuery::new("build context")).remove(0);
    assert_eq!(
        (hit.session.as_str(), hit.entry.as_deref(), hit.ordinal, hit.role, hit.time, hit.family),
        ("one", Some("a2"), 2, Role::Assistant, Some(1_772_359_320_000), Family::Pi)
    );
    assert_eq!(hit.title.as_deref(), Some("The login page redirects twice"));
    assert_eq!(hit.cwd.as_deref(), Some("/work/app"));
    let words: Vec<&str> =
        hit.snippet.matches.iter().map(|place| &hit.snippet.text[place.clone()]).collect();
    assert_eq!(words, ["build", "context"]);
    // The entry with the most matches and little else comes first.
    assert_eq!(hits(&index, &SearchQuery::new("login"))[0].entry.as_deref(), Some("b2"));
}

#[test]
fn sessions_roles_times_and_limits() {
    let place = two();
    let index = updated(&place.store);
    let ids = |query: SearchQuery| {
        let mut ids: Vec<String> =
            hits(&index, &query).into_iter().map(|hit| hit.entry.unwrap()).collect();
        ids.sort();
        ids.join(" ")
    };
    let login = SearchQuery::new("login");
    let minute = |minute: i64| Some(1_772_359_200_000 + minute * 60_000);
    assert_eq!(ids(SearchQuery { session: Some("tw".into()), ..login.clone() }), "b1 b2");
    assert_eq!(ids(SearchQuery { roles: vec![Role::User], ..login.clone() }), "a1 b1");
    let roles = vec![Role::User, Role::Tool];
    assert_eq!(ids(SearchQuery { roles, ..login.clone() }), "a1 a3 b1");
    let sessions = SessionFilter::of_cwd("/work/shop");
    assert_eq!(ids(SearchQuery { sessions, ..login.clone() }), "b1 b2");
    let sessions = SessionFilter { family: Some(Family::Omp), ..SessionFilter::default() };
    assert_eq!(ids(SearchQuery { sessions, ..login.clone() }), "");
    // The order and the limit of the sessions have no effect.
    let sessions = SessionFilter { limit: Some(1), ..SessionFilter::default() };
    assert_eq!(ids(SearchQuery { sessions, ..login.clone() }), "a1 a3 b1 b2");
    assert_eq!(ids(SearchQuery { since: minute(3), ..login.clone() }), "a3 b1 b2");
    let (since, until) = (minute(1), minute(11));
    assert_eq!(ids(SearchQuery { since, until, ..login.clone() }), "a1 a3");
    assert_eq!(ids(SearchQuery { limit: 0, ..login.clone() }), "");
    assert_eq!(hits(&index, &SearchQuery { limit: 3, ..login.clone() }).len(), 3);
    for order in [SearchOrder::Best, SearchOrder::Newest] {
        let all = hits(&index, &SearchQuery { order, ..login.clone() }).len();
        let query = SearchQuery { order, limit: usize::MAX, ..login.clone() };
        assert_eq!(hits(&index, &query).len(), all);
    }

    // The newest first, with words or without any.
    let newest = |text: &str, limit: usize| {
        let order = SearchOrder::Newest;
        let query = SearchQuery { order, limit, ..SearchQuery::new(text) };
        hits(&index, &query)
            .into_iter()
            .map(|hit| (hit.time.unwrap(), hit.entry.unwrap()))
            .collect::<Vec<_>>()
    };
    let found = newest("login", 100);
    assert_eq!(found.len(), 4);
    assert!(found.is_sorted_by(|one, other| one.0 >= other.0), "{found:?}");
    assert_eq!(newest("login", 2), found[..2]);
    let all = newest("", 100);
    assert!(all.len() > 4 && all.is_sorted_by(|one, other| one.0 >= other.0), "{all:?}");
    assert!(found.iter().all(|hit| all.contains(hit)));
    assert!(
        index
            .search(&SearchQuery { order: SearchOrder::Newest, ..SearchQuery::new("-login") })
            .is_err()
    );

    // A project that has moved is found where it is now, without a new index.
    place.store.move_session("two", "/elsewhere").unwrap();
    let sessions = SessionFilter::of_cwd("/elsewhere");
    assert_eq!(ids(SearchQuery { sessions, ..login.clone() }), "b1 b2");

    let unknown = SearchQuery { session: Some("three".into()), ..login };
    assert!(matches!(index.search(&unknown), Err(Error::Session(SessionError::NotFound { .. }))));
    for nothing in ["", "  ", "-login", "\"...\""] {
        let error = index.search(&SearchQuery::new(nothing)).unwrap_err();
        assert!(matches!(error, Error::Search(SearchError::NoWords { .. })), "{error}");
    }
}

#[test]
fn everything_that_is_there_is_found() {
    let place = Place::new();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("import/samples");
    place.store.import(&[&samples], &Default::default(), &mut ()).unwrap();
    for seed in 0..4 {
        let family = if seed % 2 == 0 {
            leafline_generate::Family::Pi
        } else {
            leafline_generate::Family::Omp
        };
        let bytes = random_tree_session(seed, 120, family);
        place.import(&place.write(&format!("random-{seed}.jsonl"), bytes));
    }
    let index = updated(&place.store);
    for seed in 0..4 {
        assert_finds_everything(&place.store, &index, seed);
    }
}

#[test]
fn odd_sessions_are_indexed() {
    let place = Place::new();
    let files = zoo();
    for (place_in_zoo, (_, bytes)) in files.iter().enumerate() {
        place.write(&format!("zoo/{place_in_zoo}.jsonl"), bytes);
    }
    place.store.import(&[place.path("zoo")], &Default::default(), &mut ()).unwrap();
    let index = updated(&place.store);
    // Some of its lines are very long.
    assert_finds(&place.store, &index, (7, 8));
}

#[test]
fn an_index_in_memory_serves_a_store_in_memory() {
    let store = leafline::Store::in_memory().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("one.jsonl");
    std::fs::write(&file, session("one", "/work", &[message("a1", 1, "user", "Hello there")]))
        .unwrap();
    store.import(&[&file], &Default::default(), &mut ()).unwrap();
    assert!(SearchIndex::open(&store).unwrap().is_none());
    let index = updated(&store);
    assert_eq!(hits(&index, &SearchQuery::new("hello")).len(), 1);
}
