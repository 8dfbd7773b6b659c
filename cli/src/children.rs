//! `leafline children`.

use leafline::Entry;

use super::entry_choice::entry_id;
use super::entry_json::EntryJson;
use super::failure::Failure;
use super::output::Output;
use super::place::Place;
use super::table::{Column, Table, write_tabs};
use super::{Status, preview, text, time};

/// List the direct children of an entry
///
/// Lists the entry's children in file order: id, type or role, time, and the beginning of the text; without a terminal,
/// separated by tabs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  leafline children 019c6605 39f90f81")]
pub(super) struct Arguments {
    /// The session: an id, or a unique prefix of one
    #[arg(add = crate::completion::sessions())]
    session: String,

    /// The entry's id, or a unique prefix of it, or @leaf or @last
    entry: String,

    /// List at most this many
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
}

/// Lists the children.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = place.open_to_read()?;
    let reader = store.reader(&arguments.session)?;
    let entry = entry_id(&reader, &arguments.entry)?;
    let mut children = reader.get_children(Some(&entry))?;
    children.truncate(arguments.limit.unwrap_or(usize::MAX));
    if out.is_json() {
        for child in &children {
            out.json(&EntryJson::new(child))?;
        }
    } else if out.width().is_some() {
        let mut table = Table::new([
            Column::Whole("id"),
            Column::Whole("type"),
            Column::Whole("time"),
            Column::Text("text"),
        ]);
        for child in &children {
            table.push(row(child, time::local));
        }
        if !children.is_empty() {
            table.write(out)?;
        }
    } else {
        for child in &children {
            write_tabs(out, &row(child, time::iso))?;
        }
    }
    Ok(Status::Done)
}

fn row(child: &Entry, time: impl Fn(i64) -> Option<String>) -> [String; 4] {
    let id = child.id().unwrap_or_default();
    let time = child.timestamp().and_then(time).unwrap_or_default();
    let view = child.view();
    let [name, words] = [preview::name(child, &view), preview::words(child, &view)];
    [text::printable(&id).into_owned(), name, time, words]
}
