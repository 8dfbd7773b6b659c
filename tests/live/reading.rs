//! Reads of a session, waiting or stored.

use leafline::context::ContextLeaf;
use leafline::omp::{OmpReader, OmpSession};
use leafline::page::PageLimit;
use leafline::pi::{PiReader, PiSession, PiStore};
use leafline::{Family, NewSession, Store};

use super::*;

#[test]
fn a_reader_reads_a_session_that_waits_as_a_stored_one() {
    let store = Store::in_memory().unwrap();
    let mut session =
        store.create_deferred_session(&NewSession::new(Family::Omp, "/work")).unwrap();
    assert_eq!(session.reader().unwrap().get_leaf_id().unwrap(), None);
    let first = session.append_message(&user("Hello")).unwrap();
    session.append_role_model_change("openai/gpt-4o", Some("plan")).unwrap();
    session.append_ttsr_injection(&["a", "b", "a"]).unwrap();
    session.append_label_change(&first, Some("start")).unwrap();
    for waits in [true, false] {
        assert_eq!(session.is_waiting(), waits);
        let reader = session.reader().unwrap();
        let leaf = reader.get_leaf_entry().unwrap().unwrap();
        assert_eq!(reader.get_leaf_id().unwrap(), leaf.id());
        assert_eq!(
            Some(leaf.line()),
            reader.get_leaf().unwrap().as_ref().map(|entry| entry.line())
        );
        assert!(reader.get_header().unwrap().unwrap().line().starts_with(b"{\"type\":\"session\""));
        assert_eq!(reader.get_label(&first).unwrap().as_deref(), Some("start"));
        assert_eq!(reader.get_children(None).unwrap().len(), 1);
        assert_eq!(reader.get_tree().unwrap().nodes().len() as u64, reader.facts().entries);
        let mut path = Vec::new();
        let length = reader
            .get_branch(None, |entry| {
                path.push(entry.ordinal());
                Ok(())
            })
            .unwrap();
        let mut entries = Vec::new();
        reader
            .get_entries(|entry| {
                entries.push(entry.ordinal());
                Ok(true)
            })
            .unwrap();
        assert_eq!((length, &path), (entries.len() as u64, &entries));
        let limit = PageLimit::default();
        let ordinals = |page: leafline::page::Page| -> Vec<u64> {
            page.entries.iter().map(leafline::Entry::ordinal).collect()
        };
        assert_eq!(ordinals(reader.entries(.., &limit).unwrap()), entries);
        path.reverse();
        assert_eq!(ordinals(reader.path_backwards(None, &limit).unwrap()), path);
        assert_eq!(ordinals(reader.entries_around(&first, 9, 1, &limit).unwrap()), [1, 2]);
        assert_eq!(reader.get_last_model_change_role().unwrap().as_deref(), Some("plan"));
        assert_eq!(reader.get_injected_rules().unwrap(), ["a", "b"]);
        assert_eq!(reader.get_session_name(), None);
        let context = reader.build_context(ContextLeaf::Current, None).unwrap();
        assert_eq!(context.messages.len() as u64, 1 + reader.usage_statistics().unwrap().messages);
        drop(reader);
        let mut message = assistant("Hi");
        message["usage"] = json!({"input": 3, "output": 4, "cost": {"total": 0.5}});
        if waits {
            session.append_message(&message).unwrap();
        }
    }
    let usage = session.reader().unwrap().usage_statistics().unwrap();
    assert_eq!((usage.messages, usage.input, usage.output), (1, 3, 4));
}
