//! `leafline keep status`.

use leafline::error::StoreError;
use leafline::import::{FolderStanding, ProgramFolder, program_folders};
use leafline::{Error, Store};
use serde::Serialize;

use super::service::{self, Manager};
use super::{Setting, hook};
use crate::failure::Failure;
use crate::number::{bytes, count, counted};
use crate::output::{BAD, GOOD, Output};
use crate::place::{Place, shown};
use crate::progress::Spinner;
use crate::show::{write_beside, write_fact};
use crate::table::{Column, Table};
use crate::{Status, text, time};

/// The most files that are named for a person.
const MOST_NAMED: usize = 10;

#[derive(Serialize)]
struct Json<'s> {
    /// Whether the service runs or the hook is there.
    kept: bool,
    store: String,
    /// Whether the store is there; the first sync makes it.
    store_exists: bool,
    service: &'s service::State,
    hook: &'s hook::State,
    /// What to run in place of the service, where none can be run and no hook is there.
    line: Option<String>,
    folders: Vec<FolderJson<'s>>,
}

#[derive(Serialize)]
struct FolderJson<'s> {
    family: &'static str,
    path: String,
    exists: bool,
    #[serde(flatten)]
    standing: &'s FolderStanding,
}

/// Says what is installed, and what the store has of the programs' folders.
pub(super) fn run(
    manager: Manager,
    setting: &Setting,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let found = store_there(place)?;
    let store_exists = found.is_some();
    // Without a store nothing has been seen, and every file is behind: as with an empty one.
    let store = found.map_or_else(Store::in_memory, Ok)?;
    let (service, hook) = (manager.state(setting)?, hook::state(setting)?);
    let kept = service.running || (hook.installed && !hook.edited);
    // One that was changed by hand stays as it is.
    let hook_is_edited = hook.edited;
    let can_serve = service.running || manager.runs();
    let line = (!kept && !can_serve).then(|| setting.line(manager));
    let spinner = Spinner::new("looking at the programs' files");
    let mut folders = Vec::new();
    for folder in program_folders() {
        let standing = store.standing_of(&folder.path)?;
        folders.push((folder, standing));
    }
    drop(spinner);
    if out.is_json() {
        let rows = folders.iter().map(|(folder, standing)| FolderJson {
            family: folder.family.name(),
            path: shown(&folder.path),
            exists: folder.exists(),
            standing,
        });
        out.json(&Json {
            kept,
            store: setting.store.clone(),
            store_exists,
            service: &service,
            hook: &hook,
            line,
            folders: rows.collect(),
        })?;
    } else {
        let remark = if store_exists { "" } else { " (not there yet: the first sync makes it)" };
        let path = text::printable(&setting.store);
        write_fact("store", Some(&format!("{path}{remark}")), out)?;
        write_fact("service", Some(&describe_service(&service, can_serve, out)), out)?;
        write_fact("hook", Some(&describe_hook(&hook, out)), out)?;
        out.line(format_args!(""))?;
        if let Some(line) = line {
            let hook =
                ", or `leafline keep on --hook` to have Claude Code's sessions kept when they end";
            let hook = if hook_is_edited { "" } else { hook };
            let time = manager.time_of_line();
            let advice = format!("Run this line to keep what is written {time}{hook}:");
            write_beside("", 0, &advice, out)?;
            // Whole, so that it can be copied.
            out.line(format_args!("{}", text::printable(&line)))?;
            out.line(format_args!(""))?;
        }
        show_folders(&folders, out)?;
    }
    Ok(if kept { Status::Done } else { Status::Failed })
}

/// The store, if there is one.
fn store_there(place: &Place) -> Result<Option<Store>, Failure> {
    match place.open_to_read() {
        Err(Failure::NotOpened(Error::Store(StoreError::NotFound { .. }))) => Ok(None),
        store => store.map(Some),
    }
}

fn describe_service(service: &service::State, can_serve: bool, out: &Output) -> String {
    let path = text::printable(&service.path);
    if !service.installed && !can_serve {
        return format!("not installed; {} cannot be asked to run one here", service.manager);
    }
    if !service.installed {
        return format!("not installed; `leafline keep on` installs it ({})", service.manager);
    }
    let since = service.since.as_deref().filter(|_| service.running);
    let since = since.map(|since| format!(" since {}", text::printable(since)));
    let state = match (service.running, service.state.as_deref()) {
        (true, _) => out.paint(GOOD, "runs"),
        (false, Some(state)) => {
            out.paint(BAD, &format!("does not run ({})", text::printable(state)))
        }
        (false, None) => out.paint(BAD, "does not run"),
    };
    let remark = match (service.edited, service.current) {
        (true, _) => "; changed by hand",
        _ if !can_serve => "; its manager cannot be asked here",
        (_, false) => {
            "; for another program, store or folders: `leafline keep on` brings it up to date"
        }
        _ => "",
    };
    format!("{state}{}, by {}: {path}{remark}", since.unwrap_or_default(), service.manager)
}

fn describe_hook(hook: &hook::State, out: &Output) -> String {
    let path = text::printable(&hook.path);
    if let Some(problem) = &hook.problem {
        return format!("{path} cannot be read: {}", text::printable(problem));
    }
    match (hook.installed, hook.edited, hook.current) {
        (false, ..) => "not installed".to_owned(),
        (_, true, _) => format!("changed by hand: {path}"),
        (_, _, false) => format!("installed for another program or store: {path}"),
        _ => format!("{}: {path}", out.paint(GOOD, "installed")),
    }
}

fn show_folders(
    folders: &[(ProgramFolder, FolderStanding)],
    out: &mut Output,
) -> Result<(), Failure> {
    let mut table = Table::new([
        Column::Whole("program"),
        Column::Number("files"),
        Column::Number("in step"),
        Column::Number("behind"),
        Column::Number("only here"),
        Column::Whole("last written"),
        Column::Text("session"),
    ]);
    for (folder, standing) in folders {
        let last = standing.last.as_ref();
        let written = last.and_then(|last| time::local(last.written));
        let session = last.and_then(|last| last.session.as_deref());
        let number = |number: u64| if folder.exists() { count(number) } else { "-".to_owned() };
        table.push([
            folder.family.name().to_owned(),
            number(standing.files),
            number(standing.in_step),
            number(standing.behind.len() as u64),
            count(standing.kept),
            written.unwrap_or_default(),
            text::printable(session.unwrap_or_default()).into_owned(),
        ]);
    }
    table.write(out)?;
    let behind: Vec<_> = folders.iter().flat_map(|(_, standing)| &standing.behind).collect();
    if !behind.is_empty() {
        out.line(format_args!(""))?;
    }
    for file in behind.iter().take(MOST_NAMED) {
        let size = match file.imported {
            None => format!("new, {}", bytes(file.bytes)),
            Some(old) if old < file.bytes => format!("{} more", bytes(file.bytes - old)),
            Some(_) => "rewritten".to_owned(),
        };
        out.line(format_args!("behind  {size:>14}  {}", text::printable(&shown(&file.path))))?;
    }
    if let Some(more) = behind.len().checked_sub(MOST_NAMED).filter(|&more| more > 0) {
        let more = counted(more as u64, "more file", "more files");
        out.line(format_args!("and {more}; `leafline sync` brings all in step"))?;
    }
    let apart: u64 = folders.iter().map(|(_, standing)| standing.apart).sum();
    if apart > 0 {
        let apart =
            counted(apart, "file could not be merged and is", "files could not be merged; each is");
        out.line(format_args!(
            "{apart} a session of its own, ID~2 in `leafline ls`: export what you need from either, and `leafline rm` the other"
        ))?;
    }
    let unread: u64 = folders.iter().map(|(_, standing)| standing.unreadable).sum();
    if unread > 0 {
        let unread = counted(unread, "file or folder", "files or folders");
        out.line(format_args!("{unread} cannot be read; `leafline sync` says why"))?;
    }
    Ok(())
}
