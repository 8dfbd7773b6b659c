//! `leafline import`.

mod discovery;
mod input;
mod sources;
mod teller;

use std::time::Instant;

use leafline::error::{ImportError, StoreError};
use leafline::import::{ImportOptions, ImportStatus, ImportTotals, Recovery};
use leafline::{Error, Store};
use serde::Serialize;

use self::discovery::{Discovery, FoundFolder};
use self::input::Input;
pub(super) use self::sources::Sources;
use self::teller::print_left_out;
pub(super) use self::teller::{Listing, Teller};
use super::Status;
use super::failure::{Failure, complain};
use super::index::Indexing;
use super::number::{bytes, counted, counts};
use super::output::Output;
use super::place::Place;
use super::progress::Spinner;
use super::prompts;
use super::show::write_beside;

/// Import session files into the store
///
/// Imports files, and every *.jsonl file below folders; without a PATH, lists and imports what the programs below keep
/// in your home folder. Importing a file again skips it if it is unchanged and adds what is new if it has grown; if its
/// old lines differ, the file replaces its session only if the session holds nothing that the file lacks. Each file is
/// stored whole or not at all. A file that is not a session is reported and skipped, and is not a failure; nor is a file
/// whose session `leafline rm` deleted, which stays deleted unless --restore is given. Files that Codex has compressed are left
/// out, and so are those of its first versions; the totals say how many, and why. A large import returns unused space
/// to the system at its end.
///
/// With - as the PATH, imports one session from standard input. It gets the id that its lines state, and no path: `ls --gone`
/// does not count it, and a file with the same session that is imported later becomes its file.
///
/// What Claude Code and omp keep beside a session, such as long outputs of tools, is imported after the sessions: the files in
/// the folder with the name of the session's file without .jsonl, and those in the folders for the session elsewhere in Claude
/// Code's home. `leafline files` lists them. One of more than 256 MiB is reported and left. Of Claude Code's own folder the prompts
/// that were typed there (history.jsonl) are added to the history, which `leafline history` searches.
///
/// Prints a line for each file that is not unchanged: status, session id, entries, size, path and remarks; then the
/// totals. Of the files beside sessions it lists those that were not taken. --verbose lists all files, --quiet only failures.
/// With --json, one object a file (path, status, session, family, version, lines, entries, malformed, bytes, reason), unchanged
/// ones too, and one for each listed file beside a session (path, status, beside: the session, bytes, reason); then one object
/// with the totals, by status, those of files beside sessions as beside: {taken, bytes, unchanged, skipped, failed}, those of
/// files that are left out as left_out: [{reason, files}]; without a PATH it also has the programs' folders, as folders:
/// [{family, path, exists, files, bytes}].
///
/// ctrl-c stops between two files or inside one, which then leaves nothing; the exit status is 130. The next run goes on
/// from there.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("\
Without a PATH:
{}
Examples:
  leafline import
  leafline import --family claude
  leafline import ~/.pi/agent/sessions
  leafline import --replace session.jsonl
  ssh devbox cat session.jsonl | leafline import -
  leafline import --restore session.jsonl          takes a deleted session again", discovery::folders()))]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: Sources,

    /// Also recover entries from lines that are not JSON in pi's and omp's files, not only in Claude Code's
    #[arg(long)]
    recover: bool,

    /// Recover no entries from lines that are not JSON
    #[arg(long, conflicts_with = "recover")]
    strict: bool,

    /// Let a file replace its session even if the session holds what the file lacks
    #[arg(long)]
    replace: bool,

    /// Import files of deleted sessions again, with the agents in the folder next to a FILE
    #[arg(long)]
    restore: bool,

    /// Leave the store's unused space for later imports
    #[arg(long)]
    no_compact: bool,

    #[command(flatten)]
    listing: Listing,

    #[command(flatten)]
    indexing: Indexing,
}

/// What is usually not listed: in a second import, nearly all files. Those that are left out are counted.
const USUALLY_HIDDEN: &[ImportStatus] = &[ImportStatus::Unchanged, ImportStatus::LeftOut];

/// Imports the files.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let is_input = arguments.sources.is_input();
    let (paths, discovery) = if is_input {
        arguments.sources.check_blobs()?;
        (Vec::new(), None)
    } else {
        arguments.sources.find()?
    };
    let options = ImportOptions {
        family: arguments.sources.family(),
        recovery: match (arguments.recover, arguments.strict) {
            (true, _) => Recovery::All,
            (_, true) => Recovery::None,
            _ => Recovery::Documented,
        },
        blobs: arguments.sources.blobs.clone(),
        replace: arguments.replace,
        restore: arguments.restore,
        longest_line: arguments.sources.longest_line,
        ..ImportOptions::default()
    };
    let listing = arguments.listing;
    if let Some(discovery) = discovery.as_ref().filter(|_| !out.is_json() && !listing.is_quiet()) {
        discovery.print(out)?;
    }
    let (mut store, interrupt) = place.open_to_import()?;
    let begun = Instant::now();
    // A program counts on an object a file.
    let hidden: &[ImportStatus] = if out.is_json() { &[] } else { USUALLY_HIDDEN };
    let mut teller = Teller::new(out, (listing, hidden), interrupt.clone());
    let imported = if is_input {
        let mut input = Input::new(interrupt.clone()).map_err(Failure::Thread)?;
        store.import_from(&mut input, &options, &mut teller)
    } else {
        store.import(&paths, &options, &mut teller)
    };
    let told = teller.finish();
    let totals = totals_of(imported)?;
    let told = told.and_then(|()| print_totals(&totals, discovery.as_ref(), begun, listing, out));
    let has_prompts = prompts::take(&store, &paths, listing.is_quiet(), out)?;
    if !arguments.no_compact && !interrupt.is_set() && store.is_worth_compacting(&totals)? {
        compact(&mut store)?;
    }
    arguments.indexing.follow(&store, totals.new_bytes, &interrupt, listing.is_quiet());
    if interrupt.is_set() {
        if is_input && totals.files == 0 {
            complain("stopped before the end of standard input; nothing of it is stored");
        }
        return Ok(Status::Stopped);
    }
    if totals.beside.failed > 0 {
        complain(&beside_failed(&totals));
    }
    if totals.failed > 0 {
        let failed = counted(totals.failed, "file was", "files were");
        complain(&format!("{failed} not imported; the lines that begin with \"failed\" say why"));
        return Ok(Status::Failed);
    }
    let has_failed = totals.beside.failed > 0 || !has_prompts;
    told.map(|()| if has_failed { Status::Failed } else { Status::Done })
}

/// The totals, also of an import that could not read a path: the path's line says so, and it counts as failed.
pub(super) fn totals_of(
    imported: leafline::Result<ImportTotals>,
) -> leafline::Result<ImportTotals> {
    match imported {
        Err(Error::Import(ImportError::Unreadable { totals, .. })) => Ok(*totals),
        imported => imported,
    }
}

/// What is said of files beside sessions that could not be read.
pub(super) fn beside_failed(totals: &ImportTotals) -> String {
    let failed = counted(totals.beside.failed, "file beside a session", "files beside sessions");
    format!("{failed} could not be read; the lines that begin with \"failed\" say why")
}

/// Returns space to the system. Does not fail if another process has the store open: the import is complete.
fn compact(store: &mut Store) -> Result<(), Failure> {
    let _spinner = Spinner::new("compacting the store");
    match store.give_back() {
        Ok(()) | Err(Error::Store(StoreError::InUse { .. })) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The totals, and the folders found if no path was given.
#[derive(Serialize)]
struct TotalsJson<'a> {
    #[serde(flatten)]
    totals: &'a ImportTotals,
    #[serde(skip_serializing_if = "Option::is_none")]
    folders: Option<&'a [FoundFolder]>,
}

pub(super) fn print_totals(
    totals: &ImportTotals,
    discovery: Option<&Discovery>,
    begun: Instant,
    listing: Listing,
    out: &mut Output,
) -> Result<(), Failure> {
    if listing.is_quiet() && !out.is_json() {
        return Ok(());
    }
    if out.is_json() {
        out.json(&TotalsJson { totals, folders: discovery.map(Discovery::folders) })?;
        return out.show();
    }
    let outcomes = [
        (totals.imported, "imported"),
        (totals.grown, "grown"),
        (totals.replaced, "replaced"),
        (totals.unchanged, "unchanged"),
        (totals.skipped, "skipped"),
        (totals.removed, "removed before"),
        (totals.failed, "failed"),
    ];
    let files = counted(totals.files, "file", "files");
    let beside = (totals.beside.taken > 0).then(|| {
        let taken = counted(totals.beside.taken, "file", "files");
        format!("{taken} beside sessions taken, {}", bytes(totals.beside.bytes))
    });
    let Some(outcomes) = counts(&outcomes) else {
        let beside = beside.map(|beside| format!(": {beside}")).unwrap_or_default();
        out.line(format_args!("{files}{beside}"))?;
        return print_all_left_out(totals, out);
    };
    let mut parts = vec![outcomes, counted(totals.entries, "entry", "entries")];
    if totals.malformed > 0 {
        parts.push(counted(totals.malformed, "malformed line", "malformed lines"));
    }
    parts.extend(beside);
    let seconds = begun.elapsed().as_secs_f64();
    parts.push(format!("{} in {seconds:.1} s", bytes(totals.bytes)));
    write_beside("", 0, &format!("{files}: {}", parts.join("; ")), out)?;
    print_all_left_out(totals, out)
}

/// Ends the totals with the files that were left out, a line a reason.
fn print_all_left_out(totals: &ImportTotals, out: &mut Output) -> Result<(), Failure> {
    totals.left_out.iter().try_for_each(|left_out| print_left_out(left_out, out))?;
    out.show()
}
