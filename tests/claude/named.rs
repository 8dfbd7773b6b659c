//! Files whose name is not the session's id, such as the copies that other programs make of a session's file.

use leafline::Error;
use leafline::error::SessionError;
use leafline::import::ImportOptions;
use leafline::list::SessionFilter;

use super::place::Place;

const FIRST: &str = "3f0c6f4e-61d3-4a53-8f0e-0d8e7a1b2c3d";
const SECOND: &str = "77aa6f4e-61d3-4a53-8f0e-0d8e7a1b2c3d";

fn records(session: &str, uuid: &str) -> String {
    format!(
        concat!(
            r#"{{"type":"summary","summary":"S","leafUuid":"{uuid}"}}"#,
            "\n",
            r#"{{"type":"user","uuid":"{uuid}","parentUuid":null,"sessionId":"{session}","cwd":"/work","#,
            r#""timestamp":"2026-02-16T10:20:30.000Z","message":{{"role":"user","content":"Hi"}}}}"#,
            "\n"
        ),
        uuid = uuid,
        session = session
    )
}

fn import(place: &Place, name: &str, text: String) {
    let path = place.write(name, text);
    let options = ImportOptions::default();
    assert_eq!(place.store.import(&[&path], &options, &mut ()).unwrap().imported, 1);
}

fn found(place: &Place, id: &str) -> String {
    place.store.session(id).unwrap().id().to_owned()
}

#[test]
fn the_name_and_the_id_in_the_records_find_a_session() {
    let place = Place::new();
    import(&place, "checkpoints/a/full.jsonl", records(FIRST, "u1"));
    import(&place, "checkpoints/b/full.jsonl", records(SECOND, "u2"));
    assert_eq!(found(&place, "full"), "full");
    assert_eq!(found(&place, "full~2"), "full~2");
    assert_eq!(found(&place, FIRST), "full");
    assert_eq!(found(&place, SECOND), "full~2");
    assert_eq!(found(&place, &FIRST[..8]), "full");
    assert_eq!(place.store.reader(SECOND).unwrap().id(), "full~2");
    assert_eq!(place.store.list(&SessionFilter::default()).unwrap().len(), 2);
    for absent in ["3f0c6f4e-0000", "nothing", ""] {
        let error = place.store.session(absent).unwrap_err();
        assert!(matches!(error, Error::Session(SessionError::NotFound { .. })), "{absent:?}");
    }
    place.assert_sound();
}

#[test]
fn an_id_in_the_records_is_no_address_where_it_is_not_the_only_one() {
    let place = Place::new();
    import(&place, "a/full.jsonl", records(FIRST, "u1"));
    import(&place, "b/full.jsonl", records(FIRST, "u2"));
    let Error::Session(SessionError::Ambiguous { count, examples, .. }) =
        place.store.session(FIRST).unwrap_err()
    else {
        panic!("one of two was taken");
    };
    assert_eq!((count, examples), (2, vec!["full".to_owned(), "full~2".to_owned()]));
    // The session's own file has the id for an address, whenever it comes.
    import(&place, &format!("{FIRST}.jsonl"), records(FIRST, "u3"));
    assert_eq!(found(&place, FIRST), FIRST);
    assert_eq!(found(&place, "full"), "full");
}

#[test]
fn a_file_that_has_an_id_for_a_name_is_not_found_by_another() {
    let place = Place::new();
    // A fork keeps the ids of the records that it has copied; an agent's records name the session that started it.
    import(&place, &format!("{SECOND}.jsonl"), records(FIRST, "u1"));
    let agent =
        records(FIRST, "u2").replace(r#""uuid""#, r#""isSidechain":true,"agentId":"a1","uuid""#);
    import(&place, "agent-a1.jsonl", agent);
    let error = place.store.session(FIRST).unwrap_err();
    assert!(matches!(error, Error::Session(SessionError::NotFound { .. })), "{error}");
}
