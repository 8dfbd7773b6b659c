//! What a store says, question by question.

use std::collections::BTreeMap;
use std::path::Path;

use leafline::context::{ContextLeaf, HistoryScope};
use leafline::export::ExportMode;
use leafline::{Result, SessionReader, Store, StoreOptions};

/// What a store answers to each question; the text of the error where it could not.
pub type Answers = BTreeMap<String, Answer>;

/// An answer, or the text of an error.
pub type Answer = std::result::Result<Vec<u8>, String>;

/// How a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// Nothing is written.
    ToRead,
    /// As a program that appends opens it.
    ToWrite,
}

/// Opens a store.
///
/// # Errors
///
/// Those of the store.
pub fn open(path: &Path, opening: Opening) -> Result<Store> {
    let options = StoreOptions {
        create: false,
        read_only: opening == Opening::ToRead,
        // A few pages alone are kept, so that the others are read each time.
        page_cache_bytes: 64 << 10,
        ..StoreOptions::default()
    };
    Store::open_with(path, &options)
}

/// Asks a store all questions about these sessions.
#[must_use]
pub fn ask(store: &Store, sessions: &[String]) -> Answers {
    let mut answers = Answers::new();
    let mut note = |question: &str, answer: Answer| {
        answers.insert(question.to_owned(), answer);
    };
    let history = store.history();
    note("list", answer(store.sessions().map(|sessions| text(&sessions))));
    note("prompts", answer(history.recent(1000).map(|all| text(&all))));
    note("search", answer(history.search("slower 7", 50).map(|all| text(&all))));
    for id in sessions {
        let reader = store.reader(id);
        let mut ask = |about: &str, ask: &dyn Fn(&SessionReader) -> Result<Vec<u8>>| {
            let answered = reader.as_ref().map_err(ToString::to_string);
            note(&format!("{about} of {id}"), answered.and_then(|reader| answer(ask(reader))));
        };
        ask("facts", &|reader| Ok(text(&reader.facts())));
        ask("export", &|reader| export(reader, &ExportMode::Current));
        ask("original", &|reader| export(reader, &ExportMode::Exact));
        ask("leaf", &|reader| Ok(text(&reader.get_leaf_id()?)));
        ask("tree", &tree);
        ask("roots", &roots);
        ask("context", &context);
        ask("label", &label);
    }
    answers
}

fn answer(answer: Result<Vec<u8>>) -> Answer {
    answer.map_err(|error| error.to_string())
}

fn text(value: &impl std::fmt::Debug) -> Vec<u8> {
    format!("{value:?}").into_bytes()
}

fn context(reader: &SessionReader) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    reader.write_request(ContextLeaf::Current, None, HistoryScope::Context, &mut out)?;
    Ok(out)
}

fn label(reader: &SessionReader) -> Result<Vec<u8>> {
    match reader.get_leaf_id()? {
        Some(leaf) => Ok(text(&reader.get_label(&leaf)?)),
        None => Ok(Vec::new()),
    }
}

fn export(reader: &SessionReader, mode: &ExportMode) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    reader.export(mode, &mut out)?;
    Ok(out)
}

fn tree(reader: &SessionReader) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    reader.get_tree()?.write_json(&mut out)?;
    Ok(out)
}

fn roots(reader: &SessionReader) -> Result<Vec<u8>> {
    let roots = reader.get_children(None)?;
    Ok(text(&roots.iter().map(leafline::Entry::line).collect::<Vec<_>>()))
}
