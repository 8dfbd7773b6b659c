//! Opal's contexts: the messages of the path, without their places in the session.

use leafline::context::{ContextLeaf, HistoryScope, PathEnd};
use leafline::error::SessionError;
use leafline::{Error, Family};

use crate::place::{Place, corpus};

fn context(lines: &[&str], at: ContextLeaf<'_>) -> String {
    let place = Place::new();
    let bytes: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let report = place.import(&place.write("s.jsonl", bytes));
    assert_eq!(report.family, Some(Family::Opal), "{report:?}");
    let reader = place.store.reader("s").unwrap();
    let context = reader.build_context(at, None).unwrap();
    let mut written = Vec::new();
    reader.write_context(at, Some(Family::Opal), &mut written).unwrap();
    assert_eq!(context.to_json().as_bytes(), written);
    assert_eq!(reader.build_full_history(at, None).unwrap(), context);
    let history = reader.get_history(at, HistoryScope::Full).unwrap();
    assert_eq!(history, reader.get_history(at, HistoryScope::Context).unwrap());
    assert!(history.len() >= context.messages.len() as u64);
    assert!(matches!(
        reader.build_context(ContextLeaf::Entry("none"), None),
        Err(Error::Session(SessionError::EntryNotFound { .. }))
    ));
    assert!(matches!(
        reader.build_context(at, Some(Family::Claude)),
        Err(Error::Session(SessionError::WrongFamily { family: Family::Opal, .. }))
    ));
    context.to_json()
}

const LINES: [&str; 7] = [
    r#"{"session_id":"s","current_id":"d","metadata":{"model":"large","title":"T"}}"#,
    r#"{"id":"d","parent_id":"c","role":"tool_result","call_id":"1","name":"ls","content":"a","is_error":true}"#,
    r#"{"id":"b","parent_id":"a","role":"assistant","thinking":"hm","content":null,"tool_calls":[{"call_id":"1","name":"ls","arguments":{"n":1.0}}],"is_error":false,"metadata":{"x":1}}"#,
    r#"{"id":"a","parent_id":null,"role":"user","content":"Hello","is_error":false,"timestamp":"2026-02-12T00:00:00Z"}"#,
    r#"{"id":"c","parent_id":"b","content":"no role"}"#,
    r#"{"id":"e","parent_id":"d","role":"user","content":"later"}"#,
    r#"{"id":"f","parent_id":"gone","role":"user","content":"lost"}"#,
];

#[test]
fn the_path_to_the_current_message() {
    let expected = concat!(
        r#"{"messages":[{"role":"user","content":"Hello","is_error":false},"#,
        r#"{"role":"assistant","content":null,"thinking":"hm","tool_calls":[{"call_id":"1","name":"ls","arguments":{"n":1}}],"is_error":false},"#,
        r#"{"role":"tool_result","content":"a","call_id":"1","name":"ls","is_error":true}],"model":"large"}"#
    );
    assert_eq!(context(&LINES, ContextLeaf::Current), expected);
    assert_eq!(
        context(&LINES, ContextLeaf::Entry("f")),
        r#"{"messages":[{"role":"user","content":"lost"}],"model":"large"}"#
    );
    assert_eq!(context(&LINES, ContextLeaf::None), r#"{"messages":[],"model":"large"}"#);
    let without_model = [r#"{"session_id":"s","current_id":null,"metadata":{}}"#];
    assert_eq!(context(&without_model, ContextLeaf::Current), r#"{"messages":[],"model":null}"#);
}

#[test]
fn every_session_of_the_corpus_has_one() {
    let Some(corpus) = corpus() else { return };
    let mut messages = 0;
    for entry in std::fs::read_dir(corpus.join("opal")).unwrap() {
        let place = Place::new();
        let report = place.import(&entry.unwrap().path());
        let Some(session) = report.session else { continue };
        let reader = place.store.reader(&session).unwrap();
        let mut path = 0;
        reader
            .get_path(None, |_| {
                path += 1;
                Ok(())
            })
            .unwrap();
        let context = reader.build_context(ContextLeaf::Current, None).unwrap();
        assert_eq!(context.messages.len(), path, "{session}");
        let end = reader.get_history(ContextLeaf::Current, HistoryScope::Context).unwrap().end();
        assert!(path == 0 || matches!(end, Some(PathEnd::Root | PathEnd::Orphan)));
        messages += path;
    }
    assert!(messages > 10, "{messages}");
}
