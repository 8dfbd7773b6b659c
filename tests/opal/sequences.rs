//! Random sequences of operations: after each of them the session agrees with the model of Opal's document, and so does
//! the session that another store makes of its export.

use leafline::error::{LiveError, SessionError};
use leafline::import::ImportOptions;
use leafline::opal::{OpalReader, OpalSession, ReplaceOptions};
use leafline::{Error, Session, Store, opal};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use crate::model::{Message, Model};
use crate::{assert_sound, begun, exported, imported};

#[derive(Debug, Clone)]
enum Operation {
    Append(usize),
    Branch(Index),
    BranchNowhere,
    Reset,
    BranchWithSummary(Index),
    /// The path to a message, the part of it that is removed, and the number of replacements.
    Replace {
        to: Index,
        from: Index,
        length: usize,
        new: usize,
        keeps_branches: bool,
    },
    /// Messages that are not part of a path.
    ReplaceApart(Index, Index),
    SetMetadata(String, Value),
    SetName(String),
}

fn operation() -> impl Strategy<Value = Operation> {
    let index = any::<Index>;
    prop_oneof![
        5 => (1usize..4).prop_map(Operation::Append),
        4 => index().prop_map(Operation::Branch),
        1 => Just(Operation::BranchNowhere),
        1 => Just(Operation::Reset),
        1 => index().prop_map(Operation::BranchWithSummary),
        4 => (index(), index(), 1usize..5, 1usize..3, any::<bool>()).prop_map(
            |(to, from, length, new, keeps_branches)| Operation::Replace {
                to, from, length, new, keeps_branches,
            }
        ),
        1 => (index(), index()).prop_map(|(a, b)| Operation::ReplaceApart(a, b)),
        1 => ("title|created_at|notes", value())
            .prop_map(|(key, value)| Operation::SetMetadata(key, value)),
        1 => "[a-z é\"]{0,6}".prop_map(Operation::SetName),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!("2026-02-12T00:00:00Z")),
        Just(json!({"b": [1, 2.5], "a": "\u{1}é"})),
        Just(json!(null)),
        Just(json!("Fix auth bug")),
    ]
}

/// A file with its lines in no order, with an orphan and two branches.
const FILE: &str = r#"{"metadata":{"title":"Fix auth bug"}}
{"id":"m4","parent_id":"m3","role":"assistant","content":"Done!","is_error":false}
{"id":"m2","role":"assistant","parent_id":"m1","content":null,"tool_calls":[{"call_id":"c","name":"edit","arguments":{"n":1e10}}]}
{"id":"m6","parent_id":"m5","role":"assistant","content":"Running tests..."}
{"id":"m1","parent_id":null,"role":"user","content":"fix the bug"}
{"id":"m3","parent_id":"m2","role":"tool_result","call_id":"c","content":"Edit applied","is_error":false}
{"id":"m5","parent_id":"m3","role":"user","content":"actually, try tests"}
{"id":"o2","parent_id":"o1","role":"assistant","content":"an orphan's child"}
{"id":"o1","parent_id":"gone","role":"user","content":"an orphan"}
"#;

struct Player {
    session: Session,
    model: Model,
    texts: u32,
}

impl Player {
    fn text(&mut self) -> String {
        self.texts += 1;
        format!("text {} \"é\u{1}\u{1f343}\"", self.texts)
    }

    /// A message, were there one.
    fn any(&self, index: &Index) -> Option<String> {
        let ids: Vec<&String> = self.model.messages.keys().collect();
        (!ids.is_empty()).then(|| (*index.get(&ids)).clone())
    }

    fn play(&mut self, operation: &Operation) {
        match operation {
            Operation::Append(count) => {
                let texts: Vec<String> = (0..*count).map(|_| self.text()).collect();
                let drafts = texts.iter().map(|text| opal::Draft::user(text));
                let ids = self.session.append_many(drafts).unwrap();
                for (id, text) in ids.iter().zip(texts) {
                    assert_eq!(id.len(), 16);
                    self.model.append(id, text);
                }
            }
            Operation::Branch(index) => {
                let Some(id) = self.any(index) else { return };
                self.session.branch(&id).unwrap();
                self.model.current = Some(id);
            }
            Operation::BranchNowhere => {
                let error = self.session.branch("nowhere").unwrap_err();
                assert!(
                    matches!(error, Error::Session(SessionError::EntryNotFound { .. })),
                    "{error}"
                );
            }
            Operation::Reset => {
                self.session.reset_leaf().unwrap();
                self.model.current = None;
            }
            Operation::BranchWithSummary(index) => {
                let Some(to) = self.any(index) else { return };
                let left = self.model.current.clone();
                let summary = self.text();
                let summarised =
                    self.session.branch_with_summary(Some(&to), &summary, None::<&()>, None);
                let id = summarised.unwrap();
                self.model.current = Some(to);
                let line = self.session.reader().unwrap().get_message(&id).unwrap().json().unwrap();
                assert_eq!(line["metadata"]["type"], "branch_summary");
                assert_eq!(line["metadata"]["summary"], summary.as_str());
                assert_eq!(line["metadata"]["from_leaf"], json!(left));
                assert!(line["content"].as_str().unwrap().ends_with(&summary));
                self.model.append(&id, line["content"].clone());
            }
            Operation::Replace { to, from, length, new, keeps_branches } => {
                let Some(to) = self.any(to) else { return };
                let path = self.model.path_to(&to);
                let from = from.index(path.len());
                let removed = &path[from..path.len().min(from + length)];
                let texts: Vec<String> = (0..*new).map(|_| self.text()).collect();
                let options = ReplaceOptions { keep_side_branches: *keeps_branches };
                let drafts = texts.iter().map(|text| opal::Draft::user(text));
                let ids = self.session.replace_path_segment(removed, drafts, options).unwrap();
                let new: Vec<_> = ids.into_iter().zip(texts).collect();
                self.model.replace(removed, &new, *keeps_branches);
            }
            Operation::ReplaceApart(a, b) => {
                let Some((a, b)) = self.any(a).zip(self.any(b)) else { return };
                let is_path = |parent: &String, child: &String| {
                    self.model.messages[child].parent.as_ref() == Some(parent)
                };
                if is_path(&a, &b) {
                    return;
                }
                let drafts = [opal::Draft::user("never")];
                let options = ReplaceOptions::default();
                let error = self.session.replace_path_segment(&[a, b], drafts, options);
                assert!(
                    matches!(error, Err(Error::Live(LiveError::NotASegment { .. }))),
                    "{error:?}"
                );
            }
            Operation::SetMetadata(key, value) => {
                self.session.set_metadata_value(key, value).unwrap();
                self.model.metadata.insert(key.clone(), value.clone());
            }
            Operation::SetName(name) => {
                self.session.set_session_name(name).unwrap();
                if name.is_empty() {
                    self.model.metadata.remove("title");
                } else {
                    self.model.metadata.insert("title".to_owned(), name.clone().into());
                }
            }
        }
    }

    /// The session, and what another store makes of its file, agree with the model; this store recognises the file.
    fn check(&self, store: &Store) {
        self.model.assert_is(&self.session);
        let text = exported(&self.session);
        let other = imported(&text);
        let id = self.session.id();
        self.model.assert_is(&other.session(id).unwrap());
        assert_sound(&other);
        assert_eq!(exported(&other.session(id).unwrap()), text);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(format!("{id}.jsonl"));
        std::fs::write(&file, &text).unwrap();
        let totals = store.import(&[&file], &ImportOptions::default(), &mut ()).unwrap();
        assert_eq!((totals.unchanged, store.sessions().unwrap().len()), (1, 1), "{totals:?}");
    }
}

fn play(store: &Store, session: Session, operations: &[Operation]) {
    let model = Model::of(&session);
    let mut player = Player { session, model, texts: 0 };
    player.check(store);
    for operation in operations {
        player.play(operation);
        player.check(store);
    }
    assert_sound(store);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_session_that_was_begun_here_is_as_the_document_says(
        operations in proptest::collection::vec(operation(), 1..24)
    ) {
        let store = Store::in_memory().unwrap();
        play(&store, begun(&store), &operations);
    }

    #[test]
    fn a_session_that_was_imported_is_as_the_document_says(
        operations in proptest::collection::vec(operation(), 1..24)
    ) {
        let store = imported(FILE);
        let session = store.session("s").unwrap();
        play(&store, session, &operations);
    }
}

#[test]
fn the_model_reads_the_file_as_the_document_says() {
    let store = imported(FILE);
    let model = Model::of(&store.session("s").unwrap());
    // The longest paths have five messages; the one whose end comes last in the file is m6's.
    assert_eq!(model.path(), ["m1", "m2", "m3", "m5", "m6"]);
    assert_eq!(model.path_to("o2"), ["o1", "o2"]);
    let orphan = Message { parent: Some("gone".to_owned()), content: "an orphan".into() };
    assert_eq!(model.messages["o1"], orphan);
}
