//! Completion in shells: of commands and options by their definitions, of sessions by what the store has now.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use leafline::list::SessionFilter;

use super::place::Place;
use super::text;

/// The most sessions that are offered: the newest ones.
const MOST: usize = 500;

/// The most characters of a title beside an id.
const LONGEST_TITLE: usize = 60;

/// Completes the ids of sessions, with their titles.
pub(super) fn sessions() -> ArgValueCompleter {
    ArgValueCompleter::new(candidates)
}

/// The newest sessions whose ids begin so. Without a readable store there are none: a shell has no place for an error.
fn candidates(beginning: &OsStr) -> Vec<CompletionCandidate> {
    let (Some(beginning), Ok(store)) =
        (beginning.to_str(), Place::new(named_store(std::env::args_os())).open_to_read())
    else {
        return Vec::new();
    };
    let sessions = store.list(&SessionFilter::default()).unwrap_or_default();
    let sessions = sessions.iter().filter(|session| session.id.starts_with(beginning));
    let sessions = sessions.filter(|session| is_plain(&session.id));
    let candidate = |session: &leafline::SessionFacts| {
        let title = session.title.as_deref().or(session.first_prompt.as_deref());
        let title = title.map(|title| text::one_line(title, LONGEST_TITLE).into());
        CompletionCandidate::new(&*session.id).help(title)
    };
    sessions.take(MOST).map(candidate).collect()
}

/// Whether a shell takes an id as it is: it runs what it finds in a word that was completed.
fn is_plain(id: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-:@%+=,/~".contains(c);
    id.chars().all(is_plain) && !id.starts_with(['-', '~', '='])
}

/// The store that the line to be completed names; its words are among the arguments.
fn named_store(words: impl Iterator<Item = std::ffi::OsString>) -> Option<PathBuf> {
    let mut words = words.skip_while(|word| word != "--").skip(1);
    while let Some(word) = words.next() {
        if word == "--store" {
            return words.next().map(PathBuf::from);
        }
        if let Some(path) = word.to_str().and_then(|word| word.strip_prefix("--store=")) {
            return Some(path.into());
        }
    }
    None
}
