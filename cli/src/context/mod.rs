//! `leafline context`.

mod settings;

use std::io::{self, Write};

use leafline::Family;
use leafline::context::{ContextLeaf, ContextProgram, HistoryScope, ProgramVersion};
use leafline::error::ExportError;

use super::Status;
use super::entry_choice::entry_id;
use super::failure::Failure;
use super::family::any_family;
use super::output::Output;
use super::place::Place;
use super::transcript::Transcript;

/// Print what the model is sent
///
/// Prints the messages of the request that the session's program would send to the model at the session's leaf, or at
/// another entry: those of the path from the root, with the last compaction's summary in place of what it replaces, in
/// the words in which the program puts what is no message. Shortens tool calls, results and thoughts to a line each. The
/// last line shows the model and, for pi and omp, the thinking level.
///
/// What the program adds when it runs is left out: the system prompt, tools, reminders, the environment.
///
/// With --full, prints the whole conversation up to the entry, including what was compacted.
///
/// With --request, prints these messages as one object of JSON; the other members are those of --json.
///
/// With --json, prints the whole context as one object: for pi {messages, thinkingLevel, model}, for omp
/// {messages, thinkingLevel, models, injectedTtsrRules, mode, modeData}, for all others {messages, model}. For pi and omp its
/// messages are those of buildSessionContext(), which the program converts before it sends them; for all others they are the
/// same as with --request.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Signs:
  ~ a thought   → a tool call   ← its result

Examples:
  leafline context 019c6605
  leafline context 019c6605 --leaf 5937c1f0 --json | jq '.messages | length'
  leafline context 019c6605 --request | jq -r '.messages[].role'
  leafline context 5b0c7a52 --full
  leafline context 019c6605 --as-of 0.73 --json")]
pub(super) struct Arguments {
    /// The session: an id, or a unique prefix of one
    #[arg(add = crate::completion::sessions())]
    session: String,

    /// The entry at which the conversation ends, instead of the leaf: its id, or a unique prefix of it, or @last
    #[arg(long, value_name = "ENTRY")]
    leaf: Option<String>,

    /// The whole conversation, including what was compacted
    #[arg(long)]
    full: bool,

    /// Print the messages of the request as JSON, in the program's form for all models
    ///
    /// What a program does to them for one model or endpoint is left out: of omp, all that its model layer does; of pi,
    /// the form of each provider.
    #[arg(long)]
    request: bool,

    /// The program whose context it is [default: the session's own]
    ///
    /// Sessions of pi and omp can be read as either; all others only as their own.
    #[arg(long, value_name = "FAMILY", value_parser = any_family())]
    family: Option<Family>,

    /// The version of the program whose context it is [default: the newest that Leafline knows]
    ///
    /// For pi, versions before 0.87 know no entries that edit the context, and send messages as they were first
    /// written; those before 1.3 send the thinking of another model as text. For omp, versions before 15 send everything below the last compaction, also what was cleared, and turns
    /// that failed. Programs of which Leafline knows the rules of one version only are not affected.
    #[arg(long, value_name = "VERSION")]
    as_of: Option<ProgramVersion>,
}

/// Prints the context.
pub(super) fn run(
    arguments: &Arguments,
    place: &Place,
    out: &mut Output,
) -> Result<Status, Failure> {
    let store = place.open_to_read()?;
    let reader = store.reader(&arguments.session)?;
    // The programs fall back to the last entry if an id does not exist; here that is an error.
    let leaf = arguments.leaf.as_deref().map(|leaf| entry_id(&reader, leaf)).transpose()?;
    let leaf = leaf.as_deref().map_or(ContextLeaf::Current, ContextLeaf::Entry);
    let program = ContextProgram { family: arguments.family, as_of: arguments.as_of };
    let scope = if arguments.full { HistoryScope::Full } else { HistoryScope::Context };
    if arguments.request || out.is_json() {
        match scope {
            _ if arguments.request => reader.write_request(leaf, program, scope, out)?,
            HistoryScope::Full => reader.write_full_history(leaf, program, out)?,
            HistoryScope::Context => reader.write_context(leaf, program, out)?,
        };
        out.write_all(b"\n")?;
        return Ok(Status::Done);
    }
    let family = program.family.unwrap_or_else(|| reader.family());
    let mut transcript = Transcript::new(out, false);
    let settings = reader.request(leaf, program, scope, |message| {
        let entry_time = || Ok(reader.line(message.ordinal)?.and_then(|entry| entry.timestamp()));
        transcript.message(family, &message.json, entry_time).map_err(|failure| match failure {
            Failure::Library(error) => error,
            Failure::Output(error) => ExportError::Output(error).into(),
            other => ExportError::Output(io::Error::other(other)).into(),
        })
    })?;
    let messages = transcript.length;
    if messages > 0 {
        out.line(format_args!(""))?;
    }
    out.line(format_args!("{}", settings::summary(messages, &settings)))?;
    if let Some(parent) = reader.missing_beginning()? {
        out.line(format_args!(
            "The agent began with the conversation of session {parent}, which is not in the store so far: it is left out"
        ))?;
    }
    Ok(Status::Done)
}
