//! The command line. Each command's own arguments are in its file.

use std::io::IsTerminal;
use std::path::PathBuf;

use anstream::ColorChoice;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use super::output::is_ascii_locale;
use super::{
    append, backup, branch, browse, children, compact, context, export, extract, files, fork,
    history, import, index, keep, label, ls, man, mcp, name, new, path, relocate, repair,
    reset_leaf, resume, rm, salvage, search, secrets, show, stats, sync, text, tree, usage, verify,
};

const EXAMPLES: &str = "\
Examples:
  leafline import                              what the programs keep in your home folder
  leafline import ~/.pi/agent/sessions         every session below a folder
  leafline ls                                  all sessions, newest first
  leafline browse                              look at them, in the terminal
  leafline tree 019c6605                       one session's branches
  leafline path 019c6605 --text                the conversation up to the leaf
  leafline search login redirect               search all sessions
  leafline append 019c6605 < entries.jsonl     add entries, one a line
  leafline export 019c6605 -o session.jsonl    write the file back

A SESSION is a session's id, or any unique prefix of it. An ENTRY of it is
named likewise, or is @leaf, or @last, the last one of the file.
The store is one file: --store, else LEAFLINE_STORE,
else leafline/sessions.leafline in the platform's data folder.
What is longer than the terminal is shown by $LEAFLINE_PAGER, else $PAGER,
else less; an empty one, or --no-pager, is for none.

Exit status: 0 for success, 1 for a failure, 2 for wrong usage, 130 if ctrl-c stopped it.";

/// The place of the options that every command has: behind a command's own, and ahead of --help.
const OF_ALL: usize = 900;

/// Stores coding agents' sessions in one file, and exports each of them byte for byte.
///
/// Leafline imports the JSONL sessions of pi, omp, Claude Code, Opal and Codex, reads any entry directly, shows trees and
/// what the model is sent, creates sessions and appends to them, and exports them: the same bytes, or as the program
/// would write them today.
#[derive(Debug, Parser)]
#[command(name = "leafline", version, after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The store's file [default: $LEAFLINE_STORE, else the platform's data folder]
    #[arg(long, global = true, value_name = "FILE", display_order = OF_ALL)]
    pub(super) store: Option<PathBuf>,

    /// Print JSON, one object a line
    #[arg(long, global = true, display_order = OF_ALL + 1)]
    pub(super) json: bool,

    /// When to use colours; auto: on a terminal, unless NO_COLOR is set
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t = Colour::Auto,
        value_name = "WHEN",
        display_order = OF_ALL + 2
    )]
    pub(super) color: Colour,

    /// Do not show output that is longer than the terminal in a pager
    #[arg(long, global = true, display_order = OF_ALL + 3)]
    pub(super) no_pager: bool,

    /// Write as to a terminal of so many columns
    #[arg(long, global = true, hide = true, value_name = "COLUMNS")]
    pub(super) width: Option<usize>,

    #[command(subcommand)]
    pub(super) command: Command,
}

impl Arguments {
    /// Those that the process was given. Wrong ones, or a wish for help, end it.
    pub(super) fn given() -> Self {
        let mut command = Self::command();
        if std::io::stdout().is_terminal() && is_ascii_locale() {
            // The signs that are explained there are those that are drawn then.
            command = command.mut_subcommands(|inner| match inner.get_after_help() {
                Some(help) => {
                    let help = text::ascii(&help.to_string());
                    inner.after_help(help)
                }
                None => inner,
            });
        }
        Self::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit())
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Colour {
    Auto,
    Always,
    Never,
}

impl Colour {
    /// The same for the standard streams.
    pub(super) fn choice(self) -> ColorChoice {
        match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Import(import::Arguments),
    Sync(sync::Arguments),
    Keep(keep::Arguments),
    Export(export::Arguments),
    Ls(ls::Arguments),
    Browse(browse::Arguments),
    Show(show::Arguments),
    Tree(tree::Arguments),
    Path(path::Arguments),
    Children(children::Arguments),
    Files(files::Arguments),
    Context(context::Arguments),
    Search(search::Arguments),
    Index(index::Arguments),
    Secrets(secrets::Arguments),
    New(new::Arguments),
    Append(append::Arguments),
    Branch(branch::Arguments),
    ResetLeaf(reset_leaf::Arguments),
    Label(label::Arguments),
    Name(name::Arguments),
    Fork(fork::Arguments),
    Extract(extract::Arguments),
    Resume(resume::Arguments),
    History(history::Arguments),
    Stats(stats::Arguments),
    Usage(usage::Arguments),
    Verify(verify::Arguments),
    Backup(backup::Arguments),
    Repair(repair::Arguments),
    Salvage(salvage::Arguments),
    Move(relocate::MoveArguments),
    Relocate(relocate::Arguments),
    Rm(rm::Arguments),
    /// Return the store's unused space to the system
    ///
    /// Writes the store anew beside itself, while others read and write. The new file takes the store's place when nobody
    /// else has it open: until then the command fails and changes nothing, or waits with --wait. Where there is no room for
    /// another file, or with --in-place, moves the data to the front of the file and truncates it. While others have the store
    /// open, it does so in short steps, which may give less back; if one of them reads all the time, it fails and moves nothing.
    /// Otherwise a process that opens the store meanwhile waits until it is done. A large import compacts by itself if nobody
    /// else has the store open. So does the last process to close a store of 16 MiB or more, if half of it is free.
    #[command(after_help = "Examples:\n  leafline compact\n  leafline compact --wait=600")]
    Compact(compact::Arguments),
    Mcp(mcp::Arguments),
    Man(man::Arguments),
}

impl Command {
    /// Whether what it prints is to be read, and may be long.
    pub(super) fn is_paged(&self) -> bool {
        matches!(
            self,
            Self::Ls(_)
                | Self::Show(_)
                | Self::Tree(_)
                | Self::Path(_)
                | Self::Children(_)
                | Self::Files(_)
                | Self::Context(_)
                | Self::Search(_)
                | Self::Secrets(_)
                | Self::History(_)
                | Self::Stats(_)
                | Self::Usage(_)
                | Self::Verify(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        super::Arguments::command().debug_assert();
    }
}
