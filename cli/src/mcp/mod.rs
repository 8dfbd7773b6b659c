//! `leafline mcp`: a server of the Model Context Protocol, over standard input and output.
//!
//! One file a tool. An answer is text for a model: it is bounded by a budget of tokens, and what it quotes of sessions is
//! indented, so that nothing in a session can look like words of ours.

mod answer;
mod entry;
mod filters;
mod list;
mod names;
mod output;
mod prompts;
mod read;
mod ready;
mod refusal;
mod search;
mod server;
mod tokens;
mod write;

use std::time::Duration;

use rmcp::service::{QuitReason, ServerInitializeError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServiceExt};
use tokio::runtime::Builder;

use self::output::{Output, end_with_the_runtime};
use self::server::Server;
use super::Status;
use super::failure::Failure;
use super::place::Place;

/// The longest message that is read, in bytes; a longer one is dropped. Arguments of our tools are a few words.
const LONGEST_MESSAGE: usize = 1 << 20;

/// How many calls are worked on at once. Each reads the store from a thread of its own.
const AT_ONCE: usize = 4;

/// Threads that may block: those calls, standard input and standard output.
const THREADS: usize = AT_ONCE + 2;

/// How long a thread without work is kept.
const KEPT: Duration = Duration::from_secs(30);

/// Let an agent search and read the sessions
///
/// Serves the Model Context Protocol over standard input and output, until its input ends: for an agent's program, which
/// starts it. Its tools are search_sessions, list_sessions, read_session, get_entry and recent_prompts. They answer with
/// text, each within a budget of tokens, and with ids to go on from. They read what other processes add meanwhile. Nothing
/// is written to the store, unless --write adds name_session and label_entry.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude mcp add leafline -- leafline mcp
  codex mcp add leafline -- leafline mcp
  leafline mcp --write")]
pub(super) struct Arguments {
    /// Add the tools that name sessions and label entries
    #[arg(long)]
    write: bool,
}

/// Serves until standard input ends, or a signal asks to stop.
///
/// # Errors
///
/// If signals cannot be listened for, if the client does not begin as the protocol says, or if it cannot be answered.
pub(super) fn run(arguments: &Arguments, place: &Place) -> Result<Status, Failure> {
    end_with_the_runtime();
    let_input_block();
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(THREADS)
        .thread_keep_alive(KEPT)
        .build()
        .map_err(Failure::Serving)?;
    let outcome = runtime.block_on(serve(Server::new(place.clone(), arguments.write)));
    // A read of standard input that is under way ends with the process alone.
    runtime.shutdown_background();
    outcome
}

/// Has reads of standard input wait for the client, also where it is a pipe or a socket of a program that does not wait itself.
#[cfg(unix)]
fn let_input_block() {
    let input = std::io::stdin();
    if let Ok(flags) = rustix::fs::fcntl_getfl(&input)
        && flags.contains(rustix::fs::OFlags::NONBLOCK)
    {
        // Where it cannot be changed, the first read says so.
        let _ = rustix::fs::fcntl_setfl(&input, flags - rustix::fs::OFlags::NONBLOCK);
    }
}

#[cfg(not(unix))]
fn let_input_block() {}

async fn serve(server: Server) -> Result<Status, Failure> {
    let (output, mut failed) = Output::new();
    let ended = tokio::select! {
        ended = converse(server, output) => ended,
        Ok(error) = &mut failed => return Err(Failure::Output(error)),
    };
    // Why it ended, if both have happened.
    failed.try_recv().map_or(ended, |error| Err(Failure::Output(error)))
}

/// Answers a client until its input ends.
async fn converse(server: Server, output: Output) -> Result<Status, Failure> {
    let transport = AsyncRwTransport::<RoleServer, _, _>::new(tokio::io::stdin(), output)
        .with_max_line_length(LONGEST_MESSAGE);
    let stopped = stopped()?;
    tokio::pin!(stopped);
    let begun = tokio::select! {
        begun = server.serve(transport) => begun,
        () = &mut stopped => return Ok(Status::Stopped),
    };
    let running = match begun {
        // The client thought better of it.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(Status::Done),
        begun => begun.map_err(|error| Failure::Protocol { problem: error.to_string() })?,
    };
    let stop = running.cancellation_token();
    let waiting = running.waiting();
    tokio::pin!(waiting);
    let ended = tokio::select! {
        ended = &mut waiting => ended,
        () = &mut stopped => {
            stop.cancel();
            waiting.await
        }
    };
    match ended {
        Ok(QuitReason::Cancelled) => Ok(Status::Stopped),
        Ok(QuitReason::JoinError(error)) | Err(error) => {
            Err(Failure::Protocol { problem: error.to_string() })
        }
        Ok(_) => Ok(Status::Done),
    }
}

/// Ends when a signal asks the process to stop.
#[cfg(unix)]
fn stopped() -> Result<impl Future<Output = ()>, Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).map_err(Failure::Interrupt)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(Failure::Interrupt)?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Ends when ctrl-c asks the process to stop.
#[cfg(not(unix))]
fn stopped() -> Result<impl Future<Output = ()>, Failure> {
    Ok(async {
        // Where it cannot be listened for, the system ends the process by itself.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
