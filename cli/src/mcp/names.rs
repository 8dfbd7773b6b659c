//! Short names of sessions and entries, and what is named by them.

use std::collections::{HashMap, HashSet};

use leafline::error::SessionError;
use leafline::{Entry, Error, SessionReader, Store};

use super::refusal::Refusal;
use crate::entry_choice::entry_id;
use crate::ls::unique_prefix;

/// Precedes an entry's ordinal, which names entries without an id, too.
const ORDINAL: char = '#';

/// An id with at most so many characters is not shortened.
const SHORT: usize = 13;

/// How many characters of a longer one are enough, if no other id of the session begins with them.
const BEGINNING: usize = 8;

/// An id that is longer is not used to name an entry.
const LONGEST: usize = 64;

/// How many ids a refusal names.
const NEAREST: usize = 4;

/// The names of sessions by their ids.
#[derive(Debug)]
pub(super) struct SessionNames(HashMap<String, String>);

impl SessionNames {
    /// Those of these sessions: prefixes that no other session of the store has.
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub(super) fn of<'i>(
        store: &Store,
        ids: impl IntoIterator<Item = &'i str>,
    ) -> leafline::Result<Self> {
        let ids: HashSet<&str> = ids.into_iter().collect();
        let beside = store.neighbouring_ids(ids.iter().copied())?;
        let mut all: Vec<&str> =
            ids.iter().copied().chain(beside.iter().map(String::as_str)).collect();
        all.sort_unstable();
        all.dedup();
        let name = |id: &&str| ((*id).to_owned(), plain(unique_prefix(id, &all)));
        Ok(Self(ids.iter().map(name).collect()))
    }

    /// The name of one of them.
    pub(super) fn name<'n>(&'n self, id: &'n str) -> &'n str {
        self.0.get(id).map_or(id, String::as_str)
    }
}

/// An id at the margin: in quotation marks if it holds anything but what ids are made of.
fn plain(id: &str) -> String {
    match is_plain(id) {
        true => id.to_owned(),
        false => serde_json::Value::from(crate::text::printable(id)).to_string(),
    }
}

fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:~".contains(c))
}

/// What names an entry in its session: its id, the beginning of a long one, or its ordinal.
///
/// # Errors
///
/// Those of the store.
pub(super) fn entry_name(reader: &SessionReader, entry: &Entry) -> leafline::Result<String> {
    name_of(reader, entry.id().as_deref(), entry.ordinal())
}

/// The same of an entry that is known by its id and its ordinal.
///
/// # Errors
///
/// Those of the store.
pub(super) fn name_of(
    reader: &SessionReader,
    id: Option<&str>,
    ordinal: u64,
) -> leafline::Result<String> {
    let by_ordinal = format!("{ORDINAL}{ordinal}");
    let Some(id) = id.filter(|id| is_plain(id) && id.len() <= LONGEST) else {
        return Ok(by_ordinal);
    };
    // An id that is met again is that of the later entry.
    if reader.facts().duplicates > 0 && reader.get_entry(id)?.ordinal() != ordinal {
        return Ok(by_ordinal);
    }
    if id.len() <= SHORT {
        return Ok(id.to_owned());
    }
    let beginning = &id[..BEGINNING];
    match reader.find_entry_id(beginning) {
        Ok(found) if found == id => Ok(beginning.to_owned()),
        Ok(_) | Err(Error::Session(_)) => Ok(id.to_owned()),
        Err(error) => Err(error),
    }
}

/// The ordinal of the entry that is named: by its id, by the beginning of no other, as `#` and its ordinal, or as `@leaf` or
/// `@last`.
///
/// # Errors
///
/// If there is no such entry, or several ids begin so.
pub(super) fn entry_ordinal(reader: &SessionReader, named: &str) -> Result<u64, Refusal> {
    let by_ordinal = || named.strip_prefix(ORDINAL)?.parse::<u64>().ok();
    match entry_id(reader, named) {
        Ok(id) => Ok(reader.get_entry(&id)?.ordinal()),
        Err(failure) => match by_ordinal() {
            // What is no entry of the tree is none here.
            Some(ordinal) if reader.line(ordinal)?.is_some_and(|line| line.kind().is_entry()) => {
                Ok(ordinal)
            }
            _ => Err(failure.into()),
        },
    }
}

/// Ids of sessions beside one that is not there. What cannot be read is left out: this is a hint.
pub(super) fn near_sessions(store: &Store, id: &str) -> Vec<String> {
    store.neighbouring_ids([id]).unwrap_or_default().iter().map(|id| plain(id)).collect()
}

/// Ids of entries that begin as one that is not there, as far as any does.
pub(super) fn near_entries(store: &Store, session: &str, entry: &str) -> Vec<String> {
    let Ok(reader) = store.reader(session) else { return Vec::new() };
    // A name may be as long as a message; ids are short.
    for (end, _) in entry.char_indices().take(LONGEST).collect::<Vec<_>>().into_iter().rev() {
        match entry.get(..end).map(|beginning| reader.find_entry_id(beginning)) {
            Some(Ok(id)) => return vec![plain(&id)],
            Some(Err(Error::Session(SessionError::AmbiguousEntry { examples, .. }))) => {
                return examples.iter().take(NEAREST).map(|id| plain(id)).collect();
            }
            _ => {}
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_at_the_margin_is_plain() {
        assert_eq!(plain("019c6605-4c90"), "019c6605-4c90");
        assert_eq!(plain("a\nb c\u{1b}\""), r#""a\\nb c\\u{1b}\"""#);
        assert_eq!(plain(""), r#""""#);
    }
}
