//! `leafline salvage`.

use std::path::PathBuf;

use leafline::Store;
use leafline::salvage::{Salvage, SalvagedSession};

use super::Status;
use super::failure::Failure;
use super::number::counted;
use super::output::{BAD, GOOD, Output};
use super::place::{note_store, shown};
use super::progress::Spinner;
use super::show::write_beside;
use super::text;

/// Save what is whole in a damaged store into a new one
///
/// Reads the file page by page and trusts no index, so that it also reads what cannot be opened any more. The file, and the
/// journal beside it, are only read; nobody should write to them meanwhile. What is missing is said session by session, with
/// the numbers of its lines, and the exit status is 1 then. Lines that cannot be made a session again are put into a folder
/// beside the new store.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  leafline salvage sessions.leafline -o saved.leafline")]
pub(super) struct Arguments {
    /// The damaged store's file
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The new store's file, which must not be there
    #[arg(short, long, value_name = "NEW")]
    output: PathBuf,

    /// Import sessions of which something is missing from their files again, where these are still there
    #[arg(long)]
    from_sources: bool,
}

/// Saves, and says what is missing.
pub(super) fn run(arguments: &Arguments, out: &mut Output) -> Result<Status, Failure> {
    note_store(&arguments.file);
    let spinner = Spinner::new("reading every page");
    let mut salvage =
        Store::salvage(&arguments.file, &arguments.output).map_err(Failure::NotSaved)?;
    if arguments.from_sources {
        salvage.import_sources(&arguments.output)?;
    }
    drop(spinner);
    report(&salvage, out)?;
    Ok(if salvage.is_complete() { Status::Done } else { Status::Failed })
}

/// Writes what was saved, and what is missing.
pub(super) fn report(salvage: &Salvage, out: &mut Output) -> Result<(), Failure> {
    if out.is_json() {
        return out.json(salvage);
    }
    let mut say = |word: &str, words: &str| {
        let beside = format!("{}  ", out.paint(BAD, word));
        let words = text::printable(words).into_owned();
        write_beside(&beside, word.len() + 2, &words, out)
    };
    for session in &salvage.damaged {
        say("damaged", &described(session))?;
    }
    for id in &salvage.lost {
        say("lost   ", &format!("{id}: nothing of it was found"))?;
    }
    for path in &salvage.lost_sources {
        say("lost   ", &format!("what was imported from {}", path.display()))?;
    }
    for hash in &salvage.blobs {
        say("blob   ", &format!("{hash}: its bytes are not whole"))?;
    }
    for path in &salvage.files {
        say("file   ", &format!("{}: its bytes are not whole", path.display()))?;
    }
    for path in &salvage.nameless_files {
        say("file   ", &format!("{}: bytes of a file whose path is lost", path.display()))?;
    }
    if salvage.may_lack_files {
        say("lost   ", "perhaps files beside sessions: pages that name files are damaged")?;
    }
    if salvage.history_is_damaged {
        say("history", "prompts, or their index, were damaged; those that are whole were kept")?;
    }
    if salvage.may_be_earlier {
        say(
            "header ",
            "a commit's place in it is damaged; if it was the last one, what it changed is missing",
        )?;
    }
    if salvage.may_lack_sessions {
        say("lost   ", "perhaps other sessions: pages that name sessions are damaged")?;
    }
    if let Some(problem) = &salvage.journal {
        say("journal", problem)?;
    }
    for finding in &salvage.problems {
        say("problem", &format!("{}: {}", finding.kind, finding.text))?;
    }
    let pages = match salvage.pages {
        0 => "no damaged page was met".to_owned(),
        some => counted(some, "damaged page was met", "damaged pages were met"),
    };
    let whole = counted(salvage.whole, "session is as it was", "sessions are as they were");
    let damaged = counted(salvage.damaged.len() as u64, "is damaged", "are damaged");
    let lost = counted(salvage.lost.len() as u64, "is lost", "are lost");
    let style = if salvage.is_complete() { GOOD } else { BAD };
    let outcome = out.paint(style, &format!("{whole}, {damaged}, {lost}"));
    out.line(format_args!("{outcome}; {pages}"))
}

fn described(session: &SalvagedSession) -> String {
    let mut said = vec![match session.missing.as_slice() {
        [] => format!("all {} are there", counted(session.lines, "line", "lines")),
        gaps => {
            let gaps: Vec<String> = gaps.iter().map(|gap| gap_text(*gap)).collect();
            let lines = counted(session.lines, "line is there", "lines are there");
            format!("{lines}, missing: {}", gaps.join(", "))
        }
    }];
    if !session.without_blobs.is_empty() {
        let lines = session.without_blobs.iter().map(u64::to_string).collect::<Vec<_>>();
        said.push(format!("without its image or attachment: line {}", lines.join(", ")));
    }
    if session.is_loose {
        said.push(
            "some of it is from pages that nothing leads to, and may be of an earlier state"
                .to_owned(),
        );
    }
    if session.is_doubtful {
        said.push(
            "what its lines do not say is lost: its leaf, what only its record says, or the form in which it was imported"
                .to_owned(),
        );
    }
    if session.is_rebuilt {
        said.push("its index was made again".to_owned());
    }
    if let Some(file) = &session.file {
        said.push(format!("they are no session without the others: {}", shown(file)));
    }
    for source in &session.sources {
        if source.exists() {
            said.push(format!("its file is still there: {}", shown(source)));
        }
    }
    format!("{}: {}", session.id, said.join("; "))
}

fn gap_text((first, last): (u64, Option<u64>)) -> String {
    match last {
        Some(last) if last == first => format!("line {first}"),
        Some(last) => format!("lines {first} to {last}"),
        None => format!("perhaps lines from {first} on"),
    }
}
