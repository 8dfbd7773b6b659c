//! What must hold after a run that went wrong: what is there, what the next run does, and what is left in the end.

use std::collections::BTreeSet;

use super::case::{Prepared, Stage, arguments};
use super::driving::Input;
use super::folder;
use super::judge::{self, Judgement};
use super::program::{Ended, Fault};
use super::state::State;
use super::writing::ENTRIES;
use crate::answers::Opening;

/// The end of a case, when its command has run again.
#[derive(Debug)]
pub struct End {
    /// The names of all files.
    pub names: BTreeSet<String>,
    /// What the command prints that shows the end.
    pub shown: String,
}

/// Examines the folder after a run that went wrong.
///
/// # Errors
///
/// What is not as it must be.
pub fn examine(stage: &Stage, prepared: &Prepared, ended: &Ended) -> Judgement {
    if ended.hung {
        return Err("it hung".to_owned());
    }
    let seen = left(stage, prepared, ended)?;
    let end = run_again(stage, prepared, &seen)?;
    if let Some(name) = end.names.difference(&prepared.names).next() {
        return Err(format!("{name} is left behind"));
    }
    if let Some(name) = prepared.names.difference(&end.names).next() {
        return Err(format!("{name} is not there in the end"));
    }
    if end.shown != prepared.shown {
        return Err(format!("in the end `{}` shows {:?}", prepared.case.shows, end.shown));
    }
    Ok(())
}

/// What a run that went wrong has left, if that may be.
///
/// # Errors
///
/// What may not be.
pub fn left(stage: &Stage, prepared: &Prepared, ended: &Ended) -> Result<State, String> {
    let case = &prepared.case;
    let known = &prepared.known;
    let seen = State::of(&stage.work, known, Opening::ToRead, !case.is_damaged)
        .map_err(|problem| format!("what it left: {problem}"))?;
    let (before, after) = (&prepared.before, &prepared.after);
    judge::between(before, after, &seen, case.rule)
        .map_err(|problem| format!("what it left: {problem}"))?;
    judge::kept(case.told, &ended.stdout, (before, after, &seen))?;
    // A file that could not be looked at stays, and the report says so.
    let leaves_some = ended.stdout.contains("\"status\":\"left\"");
    if ended.is_done() && case.input.is_done(&ended.stdout) && !leaves_some {
        judge::same(&seen, after, before)
            .map_err(|problem| format!("it ended well, but {problem}"))?;
    }
    Ok(seen)
}

/// Runs the command again, which must succeed and complete what is there.
///
/// # Errors
///
/// What is not as it must be.
pub fn run_again(stage: &Stage, prepared: &Prepared, seen: &State) -> Result<End, String> {
    let (case, program) = (&prepared.case, &stage.program);
    let again = program.run(&stage.work, &prepared.arguments, case.input, &Fault::No);
    let is_done_before = judge::same(seen, &prepared.after, &prepared.before).is_ok();
    let may_fail = (case.is_refused_again && is_done_before) || case.is_damaged;
    let is_refused = may_fail && again.status == Some(1);
    if !(again.is_done() || is_refused) {
        return Err(format!("the next run: {}", again.described()));
    }
    let last = State::of(&stage.work, &prepared.known, Opening::ToWrite, true)
        .map_err(|problem| format!("after the next run: {problem}"))?;
    let expected = match case.repeats {
        true => judge::after_repeat(&prepared.before, &prepared.after, seen),
        false => prepared.after.clone(),
    };
    judge::same(&last, &expected, &prepared.before)
        .map_err(|problem| format!("after the next run: {problem}"))?;
    let shown = match case.shows {
        "" => String::new(),
        words => {
            let shown = program.run(
                &stage.work,
                &arguments(words, &stage.work),
                Input::Whole(""),
                &Fault::No,
            );
            if !shown.is_done() {
                return Err(format!("`{words}` in the end: {}", shown.described()));
            }
            shown.stdout
        }
    };
    let mut names = folder::names(&stage.work).map_err(|error| error.to_string())?;
    if names.iter().any(|name| name.starts_with(".leafline-tmp-")) {
        use_store(stage)?;
        names = folder::names(&stage.work).map_err(|error| error.to_string())?;
    }
    Ok(End { names, shown })
}

/// Appends to the store, as it is used every day, and takes that away: what a killed process left beside it is removed then.
fn use_store(stage: &Stage) -> Judgement {
    let steps =
        [("new --id used --cwd /work", ""), ("append used --sync each", ENTRIES), ("rm used", "")];
    for (words, input) in steps {
        let words = arguments(words, &stage.work);
        let ended = stage.program.run(&stage.work, &words, Input::Whole(input), &Fault::No);
        if !ended.is_done() {
            return Err(format!("in the end `{}`: {}", words.join(" "), ended.described()));
        }
    }
    Ok(())
}
