//! `leafline tree`.

pub(super) mod draw;
mod trunks;

use leafline::SessionFacts;
use leafline::tree::Outline;

use self::draw::Drawing;
use super::failure::Failure;
use super::number::counted;
use super::output::{Output, STRONG};
use super::place::Place;
use super::{Status, text};

/// Draw a session's tree
///
/// Draws the conversation from its roots down. The branch that leads to the leaf is the trunk, at the left margin; other
/// branches are indented below the entry where they begin, each with a trunk of its own, so that even a tree of thousands
/// of branches stays narrow. Of a row of entries without a branch, shows the first and the last, and between them labelled
/// entries, summaries and the leaf; the others fold into one line.
///
/// In a session of Claude Code, a branch begins where the user went back and asked something else. Tool calls and their
/// results are not branches: they are drawn in their row, in file order.
///
/// With --json prints a record a line, each after its parent: {"id", "parent", "depth", "ordinal", "type", "role",
/// "timestamp"}, and where they apply "label", "leaf", "orphan", "sidechain", "fork" where the conversation branches,
/// "branch" on the first entry of each branch, and the "records" that --fold has joined. "parent" is null for a root.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Signs:
  ◆ a root   ◇ an orphan   ● an entry   ┊ folded entries   [label]   ◀ the leaf
  sidechain: of an agent's conversation beside the session's own

Examples:
  leafline tree 019c6605
  leafline tree 019c6605 --full")]
pub(super) struct Arguments {
    /// The session: an id, or a unique prefix of one
    #[arg(add = crate::completion::sessions())]
    session: String,

    /// Show every entry of a row
    #[arg(long)]
    full: bool,

    /// Show the records of one message as one entry
    ///
    /// Claude Code writes one message of the model in several records that share its id. Other programs write one record
    /// a message, so the option does not change their sessions.
    #[arg(long)]
    fold: bool,
}

/// The least columns for the title in the heading.
const NARROWEST_TITLE: usize = 8;

/// Draws the tree.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = place.open_to_read()?;
    let reader = store.reader(&arguments.session)?;
    let outline =
        if arguments.fold { reader.get_folded_outline()? } else { reader.get_outline()? };
    if out.is_json() {
        reader.write_tree(&outline, out)?;
        return Ok(Status::Done);
    }
    write_heading(&reader.facts(), &outline, out)?;
    Drawing::new(&reader, &outline, arguments.full, out, &mut |_, _| Ok(())).draw()?;
    if outline.unreachable() > 0 {
        let lost = counted(outline.unreachable(), "entry hangs", "entries hang");
        out.line(format_args!("{lost} in or below a loop of parents, where no root leads"))?;
    }
    Ok(Status::Done)
}

fn write_heading(facts: &SessionFacts, outline: &Outline, out: &mut Output) -> Result<(), Failure> {
    let id = out.paint(STRONG, &text::printable(&facts.id));
    let counts = format!(
        "{}, {}, {}",
        counted(facts.entries, "entry", "entries"),
        counted(outline.roots().len() as u64, "root", "roots"),
        counted(outline.branches(), "branch", "branches"),
    );
    let title = facts.title.as_ref().map(|title| text::one_line(title, 200)).unwrap_or_default();
    let taken = text::width(&facts.id) + text::width(&counts) + 4;
    let room = out.width().map_or(usize::MAX, |width| width.saturating_sub(taken));
    let title = match text::fit(&title, room) {
        // A title that is cut to a few characters says nothing.
        title if title.is_empty() || room < NARROWEST_TITLE => String::new(),
        title => format!("  {}", text::isolated(&title)),
    };
    out.line(format_args!("{id}{title}  {counts}"))
}
