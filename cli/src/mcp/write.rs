//! The tools that change sessions, with `--write`: what an agent can add to another program's session without the program
//! taking it for a part of the conversation.

use leafline::Store;
use leafline::pi::PiSession;
use schemars::JsonSchema;
use serde::Deserialize;

use super::names::{SessionNames, entry_ordinal, name_of};
use super::refusal::Refusal;

/// The most bytes of a name or label: it goes into lists.
const LONGEST: usize = 500;

/// A session's new name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Name {
    /// The session
    session: String,
    /// The name
    name: String,
}

/// An entry's new label.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Label {
    /// The session
    session: String,
    /// The entry
    entry: String,
    /// The label; empty to remove it
    label: String,
}

/// Names a session.
pub(super) fn name(asked: &Name, store: &Store) -> Result<String, Refusal> {
    check("name", &asked.name)?;
    let mut session = store.session(&asked.session)?;
    session.set_session_name(&asked.name)?;
    let names = SessionNames::of(store, [session.id()])?;
    Ok(format!("named session {}", names.name(session.id())))
}

/// Labels an entry.
pub(super) fn label(asked: &Label, store: &Store) -> Result<String, Refusal> {
    check("label", &asked.label)?;
    let mut session = store.session(&asked.session)?;
    let reader = session.reader()?;
    let ordinal = entry_ordinal(&reader, &asked.entry)?;
    let id = reader.line(ordinal)?.and_then(|entry| entry.id());
    let Some(id) = id else {
        return Err(Refusal::wrong(format!("entry {} has no id to label it by", asked.entry)));
    };
    let name = name_of(&reader, Some(&id), ordinal)?;
    let label = Some(&*asked.label).filter(|label| !label.is_empty());
    session.append_label_change(&id, label)?;
    let done = if label.is_some() { "labelled" } else { "removed the label of" };
    let names = SessionNames::of(store, [session.id()])?;
    Ok(format!("{done} entry {name} of session {}", names.name(session.id())))
}

fn check(name: &str, text: &str) -> Result<(), Refusal> {
    if text.len() <= LONGEST && !text.contains(['\n', '\r']) {
        return Ok(());
    }
    Err(Refusal::wrong(format!("{name} is one line of at most {LONGEST} bytes")))
}
