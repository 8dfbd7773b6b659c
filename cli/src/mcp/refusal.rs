//! Why a call has no answer, in words for a model: what is wrong, and what to do about it.

use leafline::error::{SearchError, SessionError, StoreError};
use leafline::{Error, Store};

use super::names;
use super::tokens::beginning;
use crate::advice::advised;
use crate::failure::Failure;
use crate::text;

/// The most tokens of a refusal: ids in it may be long.
const LONGEST: usize = 400;

/// Why a call has no answer.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The store, or the command.
    Failed(Failure),
    /// The arguments are wrong, as this says.
    Wrong(String),
}

impl Refusal {
    /// Arguments that are wrong.
    pub(super) fn wrong(problem: String) -> Self {
        Self::Wrong(problem)
    }

    /// What the model is told. The store, if it is open, has the ids that may have been meant.
    pub(super) fn told(&self, store: Option<&Store>) -> String {
        let told = match self {
            Self::Wrong(problem) => problem.clone(),
            Self::Failed(Failure::Library(error) | Failure::NotOpened(error)) => {
                of_library(error, store)
            }
            Self::Failed(failure) => failure.to_string(),
        };
        short(&told)
    }
}

/// A refusal that is short and plain, whatever was asked for.
pub(super) fn short(told: &str) -> String {
    let start = beginning(told, LONGEST);
    let is_cut = start.len() < told.len();
    // Escapes have made it longer.
    let told = text::printable(start);
    let told = beginning(&told, LONGEST);
    if is_cut { format!("{told}…") } else { told.to_owned() }
}

impl<E: Into<Failure>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

fn of_library(error: &Error, store: Option<&Store>) -> String {
    match error {
        Error::Session(SessionError::NotFound { id }) => {
            let near = store.map(|store| names::near_sessions(store, id)).unwrap_or_default();
            format!("{error}{}; list_sessions and search_sessions give ids", nearest(&near))
        }
        Error::Session(SessionError::EntryNotFound { session, entry }) => {
            let near = store.map(|store| names::near_entries(store, session, entry));
            let near = nearest(&near.unwrap_or_default());
            format!("{error}{near}; read_session and search_sessions give the ids of entries")
        }
        Error::Store(StoreError::NotFound { .. }) => {
            format!("{error}; nothing is stored yet: `leafline import` in a shell makes it")
        }
        Error::Search(SearchError::NoWords { .. }) => {
            format!("{error}; recent_prompts and list_sessions need no words")
        }
        Error::Corrupted(_) => {
            format!("{}; other sessions can be read", advised(error))
        }
        other => advised(other),
    }
}

fn nearest(ids: &[String]) -> String {
    if ids.is_empty() { String::new() } else { format!("; the nearest are {}", ids.join(", ")) }
}
