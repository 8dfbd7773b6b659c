//! Which states a run that went wrong may leave, and what it said that must hold.

use std::collections::BTreeMap;

use serde_json::Value;

use super::driving::is_answer;
use super::state::{Session, State, Stored};

/// How much of what a command does comes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// All of it, or nothing.
    Whole,
    /// Each session, and each file, by itself.
    Each,
    /// Lines one after the other.
    Lines,
}

/// What it means that a command has printed a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// Nothing.
    Nothing,
    /// All is done.
    All,
    /// An entry of this session is stored: it is its id.
    Entries(&'static str),
    /// A session is stored: it is its id.
    Sessions,
    /// A file is imported, or a session exported, or removed: it is a report in JSON.
    Reports,
    /// The request of this number has been done, to this session.
    Answers(&'static [(u64, &'static str)]),
}

/// What must hold or be the same; else what is wrong.
pub type Judgement = Result<(), String>;

/// Sessions that are new have ids by chance, and are compared without them.
type ById<'a> = BTreeMap<&'a String, &'a Session>;

fn known_and_new<'a>(stored: &'a Stored, before: &Stored) -> (ById<'a>, Vec<&'a Session>) {
    let is_known = |id: &String| before.sessions.contains_key(id);
    let known = stored.sessions.iter().filter(|(id, _)| is_known(id)).collect();
    let new = stored.sessions.iter().filter(|(id, _)| !is_known(id));
    let mut new: Vec<&Session> = new.map(|(_, session)| session).collect();
    new.sort();
    (known, new)
}

/// Whether two stores hold the same, as seen from what was before.
fn is_same(one: &Stored, other: &Stored, before: &Stored) -> bool {
    known_and_new(one, before) == known_and_new(other, before) && one.prompts == other.prompts
}

/// Whether a state is the other one.
///
/// # Errors
///
/// What differs.
pub fn same(seen: &State, expected: &State, before: &State) -> Judgement {
    let nothing = Stored::default();
    let old = before.store.as_ref().unwrap_or(&nothing);
    match (&seen.store, &expected.store) {
        (Some(seen), Some(expected)) if !is_same(seen, expected, old) => {
            return Err(difference(seen, expected, old));
        }
        (None, Some(_)) => return Err("there is no store".to_owned()),
        (Some(_), None) => return Err("there is a store".to_owned()),
        _ => {}
    }
    let mut names = seen.files.keys().chain(expected.files.keys());
    if let Some(name) = names.find(|name| seen.files.get(*name) != expected.files.get(*name)) {
        return Err(format!("{name} is not what it should be"));
    }
    let mut names = seen.pages.keys().chain(expected.pages.keys());
    if let Some(name) = names.find(|name| seen.pages.get(*name) != expected.pages.get(*name)) {
        return Err(format!("{name} is not what it should be"));
    }
    let mut names = seen.others.keys().chain(expected.others.keys());
    let is_other = |name: &&String| match (seen.others.get(*name), expected.others.get(*name)) {
        (Some(seen), Some(expected)) => !is_same(seen, expected, old),
        (seen, expected) => seen.is_some() != expected.is_some(),
    };
    match names.find(is_other) {
        Some(name) => Err(format!("{name} does not hold what it should")),
        None => Ok(()),
    }
}

/// Where two stores differ, for a person.
fn difference(seen: &Stored, expected: &Stored, before: &Stored) -> String {
    let (known, new) = known_and_new(seen, before);
    let (expected_known, expected_new) = known_and_new(expected, before);
    for (id, session) in &expected_known {
        match known.get(id) {
            None => return format!("session {id} is missing"),
            Some(other) if other != session => {
                return format!("session {id} is {}, expected {}", shown(other), shown(session));
            }
            Some(_) => {}
        }
    }
    if let Some(id) = known.keys().find(|id| !expected_known.contains_key(*id)) {
        return format!("session {id} is still there");
    }
    if new != expected_new {
        let [new, expected] = [new, expected_new].map(|sessions| {
            sessions.iter().map(|session| shown(session)).collect::<Vec<_>>().join(", ")
        });
        return format!("the new sessions are {new}; expected {expected}");
    }
    format!("the prompts are {:?}, expected {:?}", seen.prompts, expected.prompts)
}

fn shown(session: &Session) -> String {
    let last = session.lines.last().map(|line| line.chars().take(120).collect::<String>());
    format!(
        "{} lines, leaf {:?}, {:?}, the last {}",
        session.lines.len(),
        session.leaf,
        session.facts,
        last.unwrap_or_default()
    )
}

/// Checks that the session `kept` has each line of its own and of its file as often as one of the two had it, and that the file, if
/// it was written, has all of them.
///
/// # Errors
///
/// The line that is missing or repeated.
pub fn merged(before: &State, after: &State, file: &str) -> Judgement {
    let lines = |state: &State| {
        let session = state.store.as_ref().and_then(|store| store.sessions.get("kept"));
        session.map_or_else(Vec::new, |session| session.lines.clone())
    };
    let bytes = |state: &State| state.files.get(file).cloned().unwrap_or_default();
    let of_file = |state: &State| -> Vec<String> {
        String::from_utf8_lossy(&bytes(state)).lines().map(str::to_owned).collect()
    };
    let (own, program, all) = (lines(before), of_file(before), lines(after));
    let count = |lines: &[String], line: &String| lines.iter().filter(|one| *one == line).count();
    for line in own.iter().chain(&program) {
        let (expected, found) = (count(&own, line).max(count(&program, line)), count(&all, line));
        if found != expected {
            return Err(format!("the session has a line {found} times, not {expected}: {line}"));
        }
    }
    if all.len() <= own.len().max(program.len()) {
        return Err("nothing was merged".to_owned());
    }
    let is_written = bytes(after) != bytes(before);
    if is_written && !bytes(after).starts_with(&bytes(before)) {
        return Err(format!("{file} does not begin with the lines that it had"));
    }
    match of_file(after).len() {
        count if is_written && count != all.len() => {
            Err(format!("{file} has {count} lines, and the session {}", all.len()))
        }
        _ => Ok(()),
    }
}

/// Whether a state may be there after a run that went wrong.
///
/// # Errors
///
/// What is neither as before nor as after it.
pub fn between(before: &State, after: &State, seen: &State, rule: Rule) -> Judgement {
    let nothing = Stored::default();
    let old = before.store.as_ref().unwrap_or(&nothing);
    match (&seen.store, &after.store) {
        (Some(seen), Some(after)) => {
            stored_between(old, after, seen, rule)
                .map_err(|problem| format!("the store: {problem}"))?;
        }
        (None, _) if before.store.is_none() => {}
        (None, _) => return Err("the store is gone".to_owned()),
        (Some(_), None) => return Err("there is a store".to_owned()),
    }
    for (name, bytes) in &seen.files {
        if ![&before.files, &after.files].iter().any(|files| files.get(name) == Some(bytes)) {
            return Err(format!("{name} is neither as before nor as it should become"));
        }
    }
    for (name, other) in &seen.others {
        let states = [&before.others, &after.others].map(|others| others.get(name));
        if !states.into_iter().flatten().any(|state| is_same(other, state, old)) {
            return Err(format!("{name} holds neither what it did nor what it should"));
        }
    }
    let is_lost =
        |name: &&String| !seen.files.contains_key(*name) && after.files.contains_key(*name);
    if let Some(name) = before.files.keys().find(is_lost) {
        return Err(format!("{name} is gone"));
    }
    let is_lost =
        |name: &&String| !seen.others.contains_key(*name) && after.others.contains_key(*name);
    match before.others.keys().find(is_lost) {
        Some(name) => Err(format!("{name} is gone")),
        None => Ok(()),
    }
}

fn stored_between(before: &Stored, after: &Stored, seen: &Stored, rule: Rule) -> Judgement {
    if is_same(seen, before, before) || is_same(seen, after, before) {
        return Ok(());
    }
    if rule == Rule::Whole {
        return Err(format!("part of it is done: {}", difference(seen, after, before)));
    }
    for (id, old) in &before.sessions {
        let (new, seen) = (after.sessions.get(id), seen.sessions.get(id));
        if seen == Some(old) || seen == new {
            continue;
        }
        let is_begun = match (seen, new) {
            (Some(seen), Some(new)) => rule == Rule::Lines && is_begun(old, new, seen),
            _ => false,
        };
        if !is_begun {
            return Err(format!("session {id} is {}", seen.map_or("gone".to_owned(), shown)));
        }
    }
    let (mut expected, new) = (known_and_new(after, before).1, known_and_new(seen, before).1);
    for session in new {
        let Some(place) = expected.iter().position(|other| *other == session) else {
            return Err(format!("a session that should not be: {}", shown(session)));
        };
        expected.remove(place);
    }
    let is_part =
        after.prompts.starts_with(&seen.prompts) && seen.prompts.starts_with(&before.prompts);
    if is_part { Ok(()) } else { Err(format!("the prompts are {:?}", seen.prompts)) }
}

/// Whether some of the new lines are there, the first ones, and the leaf is the last of them.
fn is_begun(old: &Session, new: &Session, seen: &Session) -> bool {
    let is_part = new.lines.starts_with(&seen.lines) && seen.lines.starts_with(&old.lines);
    is_part && seen.lines.len() > old.lines.len() && seen.leaf == Some(seen.lines.len() as u64 - 1)
}

/// What must be there when the command has run again after a run that left a state.
#[must_use]
pub fn after_repeat(before: &State, after: &State, seen: &State) -> State {
    let mut state = after.clone();
    let nothing = Stored::default();
    let (Some(stored), Some(new)) = (&mut state.store, &after.store) else { return state };
    let old = before.store.as_ref().unwrap_or(&nothing);
    let left = seen.store.as_ref().unwrap_or(&nothing);
    for (id, session) in &old.sessions {
        let (Some(next), Some(there)) = (new.sessions.get(id), left.sessions.get(id)) else {
            continue;
        };
        let gained = next.lines.get(session.lines.len()..).unwrap_or_default();
        if gained.is_empty() {
            continue;
        }
        let shift = (there.lines.len() - session.lines.len()) as u64;
        let lines = [there.lines.as_slice(), gained].concat();
        let leaf = next.leaf.map(|leaf| leaf + shift);
        stored.sessions.insert(id.clone(), Session { lines, leaf, ..next.clone() });
    }
    let is_known = |id: &String| old.sessions.contains_key(id);
    for (id, session) in left.sessions.iter().filter(|(id, _)| !is_known(id)) {
        stored.sessions.insert(format!("{id} of the run before"), session.clone());
    }
    state
}

/// Whether what a run has said is so.
///
/// # Errors
///
/// What it has said and is not so.
pub fn kept(
    told: Told,
    stdout: &str,
    (before, after, seen): (&State, &State, &State),
) -> Judgement {
    let nothing = Stored::default();
    let store = seen.store.as_ref().unwrap_or(&nothing);
    let lines = stdout.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    match told {
        Told::Nothing => Ok(()),
        Told::All if stdout.contains('\n') => same(seen, after, before)
            .map_err(|problem| format!("it said that it was done: {problem}")),
        Told::All => Ok(()),
        Told::Entries(session) => {
            let mut entries = store.entries.get(session).into_iter().flatten();
            for id in lines {
                // In their order, and each once.
                if !entries.any(|entry| entry == id) {
                    return Err(format!("it acknowledged entry {id}, which is not there"));
                }
            }
            Ok(())
        }
        Told::Sessions => {
            let mut missing = lines.filter(|id| !store.sessions.contains_key(*id));
            match missing.next() {
                Some(id) => Err(format!("it acknowledged session {id}, which is not there")),
                None => Ok(()),
            }
        }
        Told::Reports => { lines }.try_for_each(|line| report_kept(line, after, seen)),
        Told::Answers(requests) => {
            let read = |line: &str| serde_json::from_str::<Value>(line).ok();
            for answer in lines.filter_map(read).filter(is_answer) {
                for (_, session) in requests.iter().filter(|(number, _)| answer["id"] == *number) {
                    let of = |state: &State| {
                        let store = state.store.as_ref()?;
                        store.sessions.get(*session).cloned()
                    };
                    if of(seen) != of(after) {
                        return Err(format!("it answered {answer}, and {session} is not so"));
                    }
                }
            }
            Ok(())
        }
    }
}

fn report_kept(line: &str, after: &State, seen: &State) -> Judgement {
    let Ok(report) = serde_json::from_str::<Value>(line) else {
        return Err(format!("it printed {line:?}"));
    };
    let Some(session) = report["session"].as_str() else { return Ok(()) };
    let of =
        |state: &State| state.store.as_ref().and_then(|store| store.sessions.get(session).cloned());
    if of(seen) != of(after) {
        return Err(format!("it reported {line}, and session {session} is not so"));
    }
    let Some(path) = report["path"].as_str().filter(|_| report["status"] == "written") else {
        return Ok(());
    };
    let is_so = after
        .files
        .keys()
        .any(|name| path.ends_with(name.as_str()) && seen.files.get(name) == after.files.get(name));
    if is_so { Ok(()) } else { Err(format!("it reported {line}, and the file is not so")) }
}
