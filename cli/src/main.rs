//! The `leafline` command: agents' sessions in one store, from a terminal or a script.
//!
//! Arguments in, tables or JSON out. One file a command.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

mod advice;
mod append;
mod arguments;
mod backup;
mod branch;
mod browse;
mod children;
mod compact;
mod completion;
mod confirmation;
mod context;
mod directory;
mod entry_choice;
mod entry_json;
mod export;
mod extract;
mod failure;
mod family;
mod files;
mod fork;
mod history;
mod holders;
mod import;
mod index;
mod interrupt;
mod keep;
mod label;
mod lines;
mod live;
mod ls;
mod man;
mod mcp;
mod name;
mod new;
mod number;
mod output;
mod pager;
mod path;
mod place;
mod preview;
mod progress;
mod prompts;
mod redaction;
mod relocate;
mod repair;
mod reset_leaf;
mod resume;
mod rm;
mod row;
mod salvage;
mod screen;
mod search;
mod secrets;
mod session_choice;
mod show;
mod stats;
mod sync;
mod table;
mod terminal;
mod text;
mod time;
mod transcript;
mod tree;
mod usage;
mod verify;

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::CompleteEnv;

use self::arguments::{Arguments, Command};
use self::failure::Failure;
use self::output::Output;
use self::place::Place;

/// The outcome of a command that ran to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    /// Everything was done.
    Done,
    /// Part of it failed, and was reported.
    Failed,
    /// Ctrl-c ended it early, which was reported.
    Stopped,
}

/// Runs the command that the arguments select.
fn main() -> ExitCode {
    // For a shell that asks for completions; it ends the process.
    CompleteEnv::with_factory(Arguments::command).complete();
    let arguments = Arguments::given();
    arguments.color.choice().write_global();
    let is_paged = !arguments.no_pager && arguments.command.is_paged();
    let mut out = Output::new(arguments.json, arguments.width, is_paged);
    let place = Place::new(arguments.store);
    let outcome =
        interrupt::survive_limits().and_then(|()| dispatch(arguments.command, &place, &mut out));
    let ended = out.end();
    let outcome = match ended {
        // Why the rest could not be written.
        Err(pager @ Failure::Pager { .. }) => Err(pager),
        ended => outcome.and_then(|status| ended.map(|()| status)),
    };
    match outcome {
        Ok(Status::Done) => ExitCode::SUCCESS,
        Ok(Status::Failed) => ExitCode::FAILURE,
        Ok(Status::Stopped) => ExitCode::from(interrupt::STOPPED),
        // The reader closed the pipe: that is not a failure.
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            failure.exit_code()
        }
    }
}

fn dispatch(command: Command, place: &Place, out: &mut Output) -> Result<Status, Failure> {
    match command {
        Command::Import(arguments) => import::run(&arguments, place, out),
        Command::Export(arguments) => export::run(arguments, place, out),
        Command::Ls(arguments) => ls::run(&arguments, place, out),
        Command::Browse(arguments) => browse::run(&arguments, place, out),
        Command::Show(arguments) => show::run(&arguments, place, out),
        Command::Tree(arguments) => tree::run(&arguments, place, out),
        Command::Path(arguments) => path::run(&arguments, place, out),
        Command::Files(arguments) => files::run(&arguments, place, out),
        Command::Children(arguments) => children::run(&arguments, place, out),
        Command::Context(arguments) => context::run(&arguments, place, out),
        Command::New(arguments) => new::run(arguments, place, out),
        Command::Append(arguments) => append::run(&arguments, place, out),
        Command::Branch(arguments) => branch::run(&arguments, place, out),
        Command::ResetLeaf(arguments) => reset_leaf::run(&arguments, place, out),
        Command::Label(arguments) => label::run(&arguments, place, out),
        Command::Name(arguments) => name::run(&arguments, place, out),
        Command::Fork(arguments) => fork::run(&arguments, place, out),
        Command::Resume(arguments) => resume::run(&arguments, place, out),
        Command::Extract(arguments) => extract::run(&arguments, place, out),
        Command::Search(arguments) => search::run(&arguments, place, out),
        Command::Secrets(arguments) => secrets::run(&arguments, place, out),
        Command::Index(arguments) => index::run(&arguments, place, out),
        Command::History(arguments) => history::run(&arguments, place, out),
        Command::Stats(arguments) => stats::run(&arguments, place, out),
        Command::Usage(arguments) => usage::run(&arguments, place, out),
        Command::Verify(arguments) => verify::run(&arguments, place, out),
        Command::Backup(arguments) => backup::run(&arguments, place, out),
        Command::Repair(arguments) => repair::run(&arguments, place, out),
        Command::Salvage(arguments) => salvage::run(&arguments, out),
        Command::Rm(arguments) => rm::run(&arguments, place, out),
        Command::Sync(arguments) => sync::run(&arguments, place, out),
        Command::Move(arguments) => relocate::move_session(&arguments, place, out),
        Command::Relocate(arguments) => relocate::run(&arguments, place, out),
        Command::Compact(arguments) => compact::run(&arguments, place, out),
        Command::Keep(arguments) => keep::run(&arguments, place, out),
        Command::Mcp(arguments) => mcp::run(&arguments, place),
        Command::Man(arguments) => man::run(&arguments),
    }
}
