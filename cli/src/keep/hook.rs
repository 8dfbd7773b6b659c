//! The hook at the end of Claude Code's sessions.

use std::path::PathBuf;

use leafline::Family;
use leafline::import::program_folders;
use serde::Serialize;

use super::Setting;
use super::change::{self, Step};
use super::settings::{self, Found, Insertion};
use crate::failure::Failure;
use crate::output::Output;
use crate::place::{quoted_on_unix, shown};

/// The file with the program's settings, beside the folder of its sessions.
const SETTINGS: &str = "settings.json";

/// What is known of the hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct State {
    pub(super) path: String,
    pub(super) installed: bool,
    /// Whether it was changed by hand since `keep on` wrote it.
    pub(super) edited: bool,
    /// Whether it is what `keep on --hook` would write now.
    pub(super) current: bool,
    /// Why the settings cannot be read.
    pub(super) problem: Option<String>,
}

/// What taking the hook out comes to.
pub(super) enum Taken {
    Nothing,
    Step(Step),
    Edited(PathBuf),
}

/// The folder of the sessions, and the settings.
fn places() -> Result<(PathBuf, PathBuf), Failure> {
    let folders = program_folders();
    let sessions = folders.into_iter().find(|folder| folder.family == Family::Claude);
    let sessions = sessions.ok_or(Failure::NoHomeFolder)?.path;
    let settings = sessions.with_file_name(SETTINGS);
    Ok((sessions, change::real(&settings)?))
}

/// The hook's command, quoted for the shell in which Claude Code runs it (Git's on Windows). It leaves the search index to the next
/// search, because the program waits for the hook.
fn command(setting: &Setting, sessions: PathBuf) -> Result<String, Failure> {
    let sessions = std::path::absolute(sessions).map_err(Failure::NoCurrentDirectory)?;
    let sessions = super::text_of(sessions, setting.is_shown)?;
    let words =
        [&setting.program, "--store", &setting.store, "sync", "--quiet", "--no-index", &sessions];
    Ok(words.map(quoted_on_unix).join(" "))
}

/// What puts the hook in; nothing if it is there. For settings that cannot be edited, prints what is to be added by hand.
pub(super) fn put_in(setting: &Setting, out: &mut Output) -> Result<Vec<Step>, Failure> {
    let (sessions, path) = places()?;
    let command = command(setting, sessions)?;
    let old = change::read(&path)?;
    let edit = |text: &str| -> Result<Option<(String, Insertion)>, settings::NotEditable> {
        let mut text = text.to_owned();
        match settings::find(&text)? {
            Found::Own { command: known } if known == command => return Ok(None),
            // For another program or another store.
            Found::Own { .. } => text = settings::remove(&text)?.unwrap_or_default(),
            Found::Edited | Found::Nothing => {}
        }
        let insertion = settings::insert(&text, &command)?;
        Ok(Some((text, insertion)))
    };
    let text = old.as_deref().unwrap_or_default();
    if matches!(settings::find(text), Ok(Found::Edited)) {
        return Err(Failure::KeepEdited { path });
    }
    match edit(text) {
        Ok(None) => Ok(Vec::new()),
        Ok(Some((text, Insertion { at, text: added }))) => {
            let (before, behind) = text.split_at(at);
            let new = format!("{before}{added}{behind}");
            let shown = added.trim_start_matches([',', '\r', '\n']).to_owned();
            Ok(vec![Step::Write { path, old, new, shown }])
        }
        Err(problem) => {
            for line in settings::by_hand(&command).lines() {
                out.line(format_args!("{line}"))?;
            }
            Err(Failure::KeepSettings { path, problem: problem.to_string() })
        }
    }
}

/// What takes the hook out.
pub(super) fn take_out() -> Result<Taken, Failure> {
    let (_, path) = places()?;
    let Some(old) = change::read(&path)? else { return Ok(Taken::Nothing) };
    // What is not JSON holds no hook of ours, unless it was edited since.
    match settings::find(&old) {
        Ok(Found::Own { .. }) => {}
        Ok(Found::Nothing) => return Ok(Taken::Nothing),
        Ok(Found::Edited) => return Ok(Taken::Edited(path)),
        Err(_) if super::mark::has_mark(&old) => return Ok(Taken::Edited(path)),
        Err(_) => return Ok(Taken::Nothing),
    }
    Ok(match settings::remove(&old) {
        Ok(Some(new)) => {
            Taken::Step(Step::Write { path, old: Some(old), new, shown: String::new() })
        }
        Ok(None) => Taken::Step(Step::Remove { path }),
        Err(_) => Taken::Edited(path),
    })
}

/// Whether the hook is there.
pub(super) fn state(setting: &Setting) -> Result<State, Failure> {
    let (sessions, path) = places()?;
    let command = command(setting, sessions)?;
    let text = change::read(&path)?.unwrap_or_default();
    let found = settings::find(&text);
    Ok(State {
        path: shown(&path),
        installed: matches!(found, Ok(Found::Own { .. } | Found::Edited)),
        edited: matches!(found, Ok(Found::Edited)),
        current: matches!(&found, Ok(Found::Own { command: known }) if *known == command),
        problem: found.err().map(|problem| problem.to_string()),
    })
}
