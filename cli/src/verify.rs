//! `leafline verify`.

use leafline::verify::{Finding, Verification};

use super::failure::Failure;
use super::number::counted;
use super::output::{BAD, FAINT, GOOD, Output};
use super::place::Place;
use super::progress::Spinner;
use super::show::write_beside;
use super::{Status, text};

/// Check a store, or one session
///
/// Checks every table against the lines, every blob against its hash, and the words of the history against its prompts.
/// Damage is a problem: the exit status is then 1. What was merely odd in an imported file, such as malformed lines,
/// orphans, repeated ids and loops, is a remark, and is kept.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  leafline verify\n  leafline verify 019c6605 --json | jq .remarks"
)]
pub(super) struct Arguments {
    /// The session: an id, or a unique prefix of one
    #[arg(add = crate::completion::sessions())]
    session: Option<String>,
}

/// Checks and reports.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = place.open_to_read()?;
    let spinner = Spinner::new("checking every line");
    let verification = match &arguments.session {
        Some(session) => store.session(session)?.verify()?,
        None => store.verify()?,
    };
    drop(spinner);
    if out.is_json() {
        out.json(&verification)?;
    } else {
        report(&verification, out)?;
    }
    Ok(if verification.problems.is_empty() { Status::Done } else { Status::Failed })
}

/// The columns of the word before a finding, and of the space behind it.
const WORD_WIDTH: usize = 9;

fn report(verification: &Verification, out: &mut Output) -> Result<(), Failure> {
    for (word, style, findings) in
        [("remark ", FAINT, &verification.remarks), ("problem", BAD, &verification.problems)]
    {
        let word = format!("{}  ", out.paint(style, word));
        for finding in findings {
            write_beside(&word, WORD_WIDTH, &describe(finding), out)?;
        }
    }
    let (problems, remarks) =
        (verification.problems.len() as u64, verification.remarks.len() as u64);
    let outcome = match problems {
        0 => out.paint(GOOD, "no problems"),
        some => out.paint(BAD, &counted(some, "problem", "problems")),
    };
    let sessions = counted(verification.sessions, "session", "sessions");
    let lines = counted(verification.lines, "line", "lines");
    let blobs = counted(verification.blobs, "blob", "blobs");
    let checked = match verification.prompts {
        0 => format!("{sessions}, {lines} and {blobs}"),
        some => format!("{sessions}, {lines}, {blobs} and {}", counted(some, "prompt", "prompts")),
    };
    let remarks = counted(remarks, "remark", "remarks");
    out.line(format_args!("{checked} checked: {outcome}, {remarks}"))
}

/// A finding on one line, in words: the place, the problem, how often.
fn describe(finding: &Finding) -> String {
    let mut place: Vec<String> = finding.session.iter().cloned().collect();
    place.extend(finding.line.map(|line| format!("line {line}")));
    place
        .extend(finding.entry.as_ref().map(|entry| format!("entry {}", text::one_line(entry, 64))));
    if place.is_empty() {
        place.push("store".to_owned());
    }
    let count =
        if finding.count > 1 { format!(" ({} of them)", finding.count) } else { String::new() };
    let described = format!("{}: {}{count}: {}", place.join(", "), finding.kind, finding.text);
    text::printable(&described).into_owned()
}
