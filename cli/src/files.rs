//! `leafline files`.

use std::io::Write;
use std::path::PathBuf;

use leafline::files::FileBeside;

use super::failure::Failure;
use super::number::bytes;
use super::output::{Output, close_to_others};
use super::place::{Place, shown};
use super::table::{Column, Table, write_tabs};
use super::{Status, text, time};

/// List the files beside a session, or print one
///
/// Claude Code puts long outputs of tools into files beside a session, and omp whole outputs and what its agents answered: those
/// in the folder with the name of the session's file without .jsonl. Elsewhere in its home Claude Code keeps files as they were
/// before it edited them, pasted pictures, tasks, and files that were handed to it. Import and sync take them all, and they stay
/// when the program deletes them. Each agent that the session has started has files of its own.
///
/// Lists each with its size, the time at which it was written, and its name in that folder, or in the program's home; without a
/// terminal, separated by tabs and with the size in bytes. With --json, one object each: name, path (where it was), bytes, written
/// (milliseconds since 1970). A session that was imported from two places has the files of both; of two with the same name, the
/// one that was written last comes first.
///
/// With a NAME, prints the bytes of that file; with --json its object.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  leafline files 5b0c7a52
  leafline files 5b0c7a52 tool-results/toolu_01.txt | less")]
pub(super) struct Arguments {
    /// The session: an id, or a unique prefix of one
    #[arg(add = crate::completion::sessions())]
    session: String,

    /// Print this file
    name: Option<PathBuf>,
}

/// Lists the files, or prints one.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = place.open_to_read()?;
    let reader = store.reader(&arguments.session)?;
    let files = match &arguments.name {
        None => reader.files_beside()?,
        Some(name) => {
            let file = reader.file_beside(name)?;
            if !out.is_json() {
                close_to_others();
                reader.read_file_beside(&file, out)?;
                out.flush()?;
                return Ok(Status::Done);
            }
            vec![file]
        }
    };
    if out.is_json() {
        for file in &files {
            out.json(file)?;
        }
    } else if out.width().is_some() {
        let mut table =
            Table::new([Column::Number("size"), Column::Whole("written"), Column::Text("name")]);
        for file in &files {
            table.push(row(file, bytes(file.bytes), time::local));
        }
        if !files.is_empty() {
            table.write(out)?;
        }
    } else {
        for file in &files {
            write_tabs(out, &row(file, file.bytes.to_string(), time::iso))?;
        }
    }
    Ok(Status::Done)
}

fn row(file: &FileBeside, size: String, time: impl Fn(i64) -> Option<String>) -> [String; 3] {
    let written = time(file.written).unwrap_or_default();
    [size, written, text::printable(&shown(&file.name)).into_owned()]
}
