//! `leafline ls --files`.

use leafline::files::{FileList, RecentSession, SessionFiles, UnreadableFile};
use leafline::import::program_folders;
use leafline::list::SessionFilter;

use super::rows::{self, Row};
use super::{Arguments, all_text};
use crate::Status;
use crate::failure::{Failure, complaint};
use crate::output::Output;
use crate::place::shown;

/// Lists the session files in these places, or in the programs' folders.
pub(super) fn list(arguments: &Arguments, out: &mut Output) -> Result<Status, Failure> {
    let files = match &*arguments.paths {
        [] if program_folders().is_empty() => return Err(Failure::NoHomeFolder),
        [] => SessionFiles::of_programs(),
        paths => SessionFiles::new(paths),
    };
    let filter = SessionFilter { limit: arguments.limit, ..arguments.filter()? };
    let unreadable = match arguments.quick {
        true => write_recent(files.recent(&filter), out)?,
        false => write_all(arguments, &files, &filter, out)?,
    };
    for UnreadableFile { path, reason, .. } in &unreadable {
        out.remark(complaint(&format!("{}: {reason}", shown(path))));
    }
    Ok(if unreadable.is_empty() { Status::Done } else { Status::Failed })
}

fn write_all(
    arguments: &Arguments,
    files: &SessionFiles,
    filter: &SessionFilter,
    out: &mut Output,
) -> Result<Vec<UnreadableFile>, Failure> {
    let FileList { sessions, unreadable } = files.list(filter);
    if !out.is_json() {
        let rows: Vec<Row<'_>> = sessions.iter().map(Row::of_file).collect();
        let ids = || Ok(sessions.iter().map(|session| session.id.clone()).collect());
        rows::write(&rows, ids, out)?;
        return Ok(unreadable);
    }
    for session in &sessions {
        if arguments.all_messages_text {
            all_text::write(session, |take| session.message_texts(|_, text| take(text)), out)?;
        } else {
            out.json(session)?;
        }
    }
    Ok(unreadable)
}

fn write_recent(
    list: FileList<RecentSession>,
    out: &mut Output,
) -> Result<Vec<UnreadableFile>, Failure> {
    let FileList { sessions, unreadable } = list;
    if out.is_json() {
        sessions.iter().try_for_each(|session| out.json(session))?;
    } else {
        let rows: Vec<Row<'_>> = sessions.iter().map(Row::of_recent).collect();
        let ids = || Ok(sessions.iter().map(|session| session.id.clone()).collect());
        rows::write(&rows, ids, out)?;
    }
    Ok(unreadable)
}
