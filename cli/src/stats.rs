//! `leafline stats`.

use std::io::Write;

use leafline::Store;
use leafline::list::TypeFacts;
use leafline::share::ShareOptions;
use leafline::statistics::{BesideStatistics, BlobStatistics, SessionStatistics, Statistics};
use serde::Serialize;

use super::failure::{Failure, usage};
use super::number::{bytes, count, counted, ratio};
use super::output::{Output, close_to_others};
use super::place::{Place, shown};
use super::progress::Spinner;
use super::show::{write_fact, write_facts};
use super::table::{Column, Table};
use super::usage::day_of;
use super::{Status, text, time};

/// Show where the bytes go
///
/// Shows the size of the store's file and of the JSONL files, how well lines compress, the size of the blobs and what
/// storing each once saves, the files beside sessions, and the bytes by table and by type of entry; or the figures of one session.
///
/// With --svg, prints pictures in place of them, as one file of SVG: bytes by type and over time, tokens by day, and of a
/// session the tree's shape. Its titles, which a browser shows under the pointer, have the exact numbers.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  leafline stats\n  leafline stats 019c6605 --json | jq .blobs\n  leafline stats --svg > store.svg"
)]
pub(super) struct Arguments {
    /// The session: an id, or a unique prefix of one
    #[arg(add = crate::completion::sessions())]
    session: Option<String>,

    /// Print pictures, as a file of SVG
    #[arg(long)]
    svg: bool,
}

/// Statistics, and figures derived from them.
#[derive(Serialize)]
struct WithRatio<'a, T> {
    #[serde(flatten)]
    statistics: &'a T,
    /// Stored bytes per byte of JSONL, and of files beside sessions.
    ratio: Option<f64>,
}

/// Shows the statistics.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = place.open_to_read()?;
    if arguments.svg {
        return draw(&store, arguments.session.as_deref(), out);
    }
    let spinner = Spinner::new("counting");
    if let Some(session) = &arguments.session {
        let statistics = store.session(session)?.statistics()?;
        drop(spinner);
        show_session(&statistics, out)?;
    } else {
        let statistics = store.statistics()?;
        drop(spinner);
        show_store(&statistics, &shown(store.path()), out)?;
    }
    Ok(Status::Done)
}

/// Prints pictures of a session, or of the store.
fn draw(store: &Store, session: Option<&str>, out: &mut Output) -> Result<Status, Failure> {
    if out.is_json() {
        return Err(usage("the argument '--svg' cannot be used with '--json'"));
    }
    let zone = time::zone();
    let day_of = |seconds: i64| day_of(&zone, seconds);
    let spinner = Spinner::new("drawing");
    // Its size is bounded.
    let mut picture = Vec::new();
    match session {
        Some(session) => {
            let options = ShareOptions::default();
            store.reader(session)?.write_picture(&options, Some(&day_of), &mut picture)?;
        }
        None => store.write_picture(Some(&day_of), &mut picture)?,
    }
    drop(spinner);
    close_to_others();
    out.write_all(&picture)?;
    out.flush()?;
    Ok(Status::Done)
}

fn show_store(statistics: &Statistics, path: &str, out: &mut Output) -> Result<(), Failure> {
    let beside = statistics.beside.bytes;
    let ratio = ratio(statistics.file_bytes, statistics.line_bytes + beside);
    if out.is_json() {
        return out.json(&WithRatio { statistics, ratio });
    }
    write_fact("store", Some(&text::printable(path)), out)?;
    let mut given = format!("{} of JSONL", bytes(statistics.line_bytes));
    if beside > 0 {
        given = format!("{given} and {} beside sessions", bytes(beside));
    }
    let file = format!("{}{}", bytes(statistics.file_bytes), of_given(ratio, &given));
    write_fact("file", Some(&file), out)?;
    let lines = counted(statistics.lines, "line", "lines");
    let entries = counted(statistics.entries, "entry", "entries");
    let sessions = format!("{}: {lines}, {entries}", count(statistics.sessions));
    write_fact("sessions", Some(&sessions), out)?;
    show_text(statistics.text_bytes, out)?;
    show_blobs(&statistics.blobs, out)?;
    show_beside(&statistics.beside, out)?;
    if statistics.prompts > 0 {
        write_fact("prompts", Some(&count(statistics.prompts)), out)?;
    }
    let mut tables = Table::new([
        Column::Whole("table"),
        Column::Number("rows"),
        Column::Number("stored"),
        Column::Number("inner pages"),
        Column::Number("unused"),
    ]);
    for table in &statistics.tables {
        tables.push([
            table.name.clone(),
            count(table.rows),
            bytes(table.stored_bytes),
            bytes(table.metadata_bytes),
            bytes(table.fragmented_bytes),
        ]);
    }
    out.line(format_args!(""))?;
    tables.write(out)?;
    show_types(&statistics.types, statistics.line_bytes, out)
}

fn show_session(statistics: &SessionStatistics, out: &mut Output) -> Result<(), Failure> {
    let ratio = ratio(statistics.stored_bytes, statistics.facts.bytes);
    if out.is_json() {
        return out.json(&WithRatio { statistics, ratio });
    }
    write_facts(&statistics.facts, out)?;
    let jsonl = bytes(statistics.facts.bytes);
    let chunks = counted(statistics.chunks, "chunk", "chunks");
    let stored = bytes(statistics.stored_bytes);
    let stored = format!("{stored} in {chunks}{}", of_given(ratio, &format!("{jsonl} of JSONL")));
    write_fact("stored", Some(&stored), out)?;
    show_text(statistics.text_bytes, out)?;
    if statistics.original_bytes > 0 {
        let original = bytes(statistics.original_bytes);
        let original = format!("{original} for the file as it was before its migration");
        write_fact("original", Some(&original), out)?;
    }
    show_blobs(&statistics.blobs, out)?;
    show_beside(&statistics.beside, out)?;
    show_types(&statistics.facts.types, statistics.facts.bytes, out)
}

fn show_text(text_bytes: u64, out: &mut Output) -> Result<(), Failure> {
    let text = format!("{} to compress, blobs apart", bytes(text_bytes));
    write_fact("text", Some(&text), out)
}

fn of_given(ratio: Option<f64>, given: &str) -> String {
    ratio.map(|ratio| format!(", {ratio:.2} of the {given}")).unwrap_or_default()
}

fn show_blobs(blobs: &BlobStatistics, out: &mut Output) -> Result<(), Failure> {
    let references = counted(blobs.references, "reference", "references");
    let saved = bytes(blobs.saved_bytes);
    let missing = match blobs.missing {
        0 => String::new(),
        missing => format!("; {} missing", count(missing)),
    };
    let [number, size] = [count(blobs.count), bytes(blobs.bytes)];
    let blobs =
        format!("{number}, {size}; {references}, {saved} saved by keeping each once{missing}");
    write_fact("blobs", Some(&blobs), out)
}

fn show_beside(beside: &BesideStatistics, out: &mut Output) -> Result<(), Failure> {
    if beside.count == 0 {
        return Ok(());
    }
    let files = format!("{} beside sessions, {}", count(beside.count), bytes(beside.bytes));
    write_fact("files", Some(&files), out)
}

fn show_types(types: &[TypeFacts], whole: u64, out: &mut Output) -> Result<(), Failure> {
    let mut table = Table::new([
        Column::Text("type"),
        Column::Number("lines"),
        Column::Number("bytes"),
        Column::Number("share"),
    ]);
    for kind in types {
        let share = ratio(kind.bytes, whole).map(|share| format!("{:.1} %", share * 100.0));
        table.push([
            text::printable(&kind.name).into_owned(),
            count(kind.lines),
            bytes(kind.bytes),
            share.unwrap_or_default(),
        ]);
    }
    out.line(format_args!(""))?;
    table.write(out)
}
