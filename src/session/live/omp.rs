//! What omp's `SessionManager` has beyond pi's.

use leafline_import::pi_omp::Draft;
use leafline_import::{MessageRole, text};
use serde::Serialize;

use super::super::{Entry, Session, SessionReader};
use super::rewrite::{invalid, json, line_of, replace_lines};
use super::tool_call::with_arguments;
use super::{Sealed, optional};
use crate::error::Result;
use crate::store::ordinal::Ordinal;

/// What omp's `SessionManager` writes beyond pi's, by omp's names (omp document, session storage). The methods that it has
/// from pi are [`PiSession`](crate::pi::PiSession)'s.
///
/// ```
/// use leafline::omp::{OmpReader, OmpSession};
/// use leafline::{Family, NewSession, Store};
///
/// # fn main() -> leafline::Result<()> {
/// let store = Store::in_memory()?;
/// let mut session = store.create_session(&NewSession::new(Family::Omp, "/work"))?;
/// session.append_role_model_change("anthropic/claude-sonnet-4-5", Some("smol"))?;
/// session.append_ttsr_injection(&["no-unwrap"])?;
/// let reader = session.reader()?;
/// assert_eq!(reader.get_last_model_change_role()?.as_deref(), Some("smol"));
/// assert_eq!(reader.get_injected_rules()?, ["no-unwrap"]);
/// # Ok(())
/// # }
/// ```
pub trait OmpSession: Sealed {
    /// Appends a change of the model of a role, as omp has it; no role is the default one.
    ///
    /// # Errors
    ///
    /// Those of [`Session::append`].
    fn append_role_model_change(&mut self, model: &str, role: Option<&str>) -> Result<String>;

    /// Appends a change of omp's mode.
    ///
    /// # Errors
    ///
    /// Those of [`Session::append_message`].
    fn append_mode_change(&mut self, mode: &str, data: Option<&impl Serialize>) -> Result<String>;

    /// Appends the names of rules that omp has injected.
    ///
    /// # Errors
    ///
    /// Those of [`Session::append`].
    fn append_ttsr_injection(&mut self, rules: &[impl AsRef<str>]) -> Result<String>;

    /// Appends what an omp session began with.
    ///
    /// # Errors
    ///
    /// Those of [`Session::append_message`].
    fn append_session_init(
        &mut self,
        system_prompt: &str,
        task: &str,
        tools: &[impl AsRef<str>],
        output_schema: Option<&impl Serialize>,
    ) -> Result<String>;

    /// Moves the session to another working directory: the header says so from now on (omp document, move
    /// operations).
    ///
    /// # Errors
    ///
    /// [`SessionError::WrongFamily`](crate::error::SessionError::WrongFamily) in a session that is none of pi's or
    /// omp's; those of the store.
    fn move_to(&mut self, cwd: &str) -> Result<()>;

    /// Gives a tool call other arguments, in the last message of the assistant that makes it. Answers whether there
    /// is such a message (omp document, tool-call argument rewrites).
    ///
    /// # Errors
    ///
    /// [`LiveError::InvalidEntry`](crate::error::LiveError::InvalidEntry) where the arguments cannot be written as
    /// JSON; [`SessionError::WrongFamily`](crate::error::SessionError::WrongFamily) in a session that is none of pi's
    /// or omp's; those of the store.
    fn rewrite_tool_call_arguments(
        &mut self,
        tool_call_id: &str,
        arguments: &impl Serialize,
    ) -> Result<bool>;

    /// Rewrites entries: `change` is shown each one and answers its new JSON, or nothing to leave it (omp document,
    /// `rewriteEntries`). All changes are one transaction. Answers how many there are.
    ///
    /// `change` is called inside the write transaction, so it must not write to this store itself.
    ///
    /// An entry stays what it is: its type, role, id, parent and time, and what it sets (a label, a name, settings).
    ///
    /// # Errors
    ///
    /// [`LiveError::InvalidEntry`](crate::error::LiveError::InvalidEntry) for JSON that is no such entry: nothing is
    /// changed then. [`SessionError::WrongFamily`](crate::error::SessionError::WrongFamily) in a session that is none
    /// of pi's or omp's. What `change` fails with.
    fn rewrite_entries(
        &mut self,
        change: impl FnMut(&Entry) -> Result<Option<String>>,
    ) -> Result<u64>;
}

impl OmpSession for Session {
    fn append_role_model_change(&mut self, model: &str, role: Option<&str>) -> Result<String> {
        self.append(Draft::model_change_omp(model, role))
    }

    fn append_mode_change(&mut self, mode: &str, data: Option<&impl Serialize>) -> Result<String> {
        self.append(Draft::mode_change(mode, optional(data)?.as_deref())?)
    }

    fn append_ttsr_injection(&mut self, rules: &[impl AsRef<str>]) -> Result<String> {
        let rules: Vec<&str> = rules.iter().map(AsRef::as_ref).collect();
        self.append(Draft::ttsr_injection(&rules))
    }

    fn append_session_init(
        &mut self,
        system_prompt: &str,
        task: &str,
        tools: &[impl AsRef<str>],
        output_schema: Option<&impl Serialize>,
    ) -> Result<String> {
        let tools: Vec<&str> = tools.iter().map(AsRef::as_ref).collect();
        let schema = optional(output_schema)?;
        self.append(Draft::session_init(system_prompt, task, &tools, schema.as_deref())?)
    }

    fn move_to(&mut self, cwd: &str) -> Result<()> {
        self.only_pi_omp("move to another directory")?;
        self.set_header("cwd", &json(cwd)?, |record| record.cwd = Some(cwd.to_owned()))
    }

    fn rewrite_tool_call_arguments(
        &mut self,
        tool_call_id: &str,
        arguments: &impl Serialize,
    ) -> Result<bool> {
        self.only_pi_omp("rewrite of tool-call arguments")?;
        let arguments = serde_json::to_string(arguments).map_err(invalid)?;
        let changed = self.persist(|session| {
            replace_lines(session.place(), session.rewriting(), |reader, _| {
                find_tool_call(reader, tool_call_id, &arguments)
            })
        })?;
        Ok(changed > 0)
    }

    fn rewrite_entries(
        &mut self,
        mut change: impl FnMut(&Entry) -> Result<Option<String>>,
    ) -> Result<u64> {
        self.only_pi_omp("rewrite of entries")?;
        self.persist(|session| {
            replace_lines(session.place(), session.rewriting(), |reader, _| {
                let mut changes = Vec::new();
                reader.lines(0, |entry| {
                    if entry.kind().is_entry()
                        && let Some(json) = change(&entry)?
                    {
                        changes.push((entry.ordinal(), line_of(&json)?));
                    }
                    Ok(true)
                })?;
                Ok(changes)
            })
        })
    }
}

/// Reads that only omp's `SessionManager` has. [`OmpSession`] has an example.
pub trait OmpReader: Sealed {
    /// omp's rules that were injected on the path to the current leaf, each once, in order; none in a session of a family
    /// that has no such rules.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) where the store is damaged.
    fn get_injected_rules(&self) -> Result<Vec<String>>;

    /// The role of the last `model_change` on the path to the current leaf, `default` where it names none; `None`
    /// where there is no such entry. The path is walked up to it.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) where the store is damaged.
    fn get_last_model_change_role(&self) -> Result<Option<String>>;
}

impl OmpReader for SessionReader {
    fn get_injected_rules(&self) -> Result<Vec<String>> {
        self.injected_rules()
    }

    fn get_last_model_change_role(&self) -> Result<Option<String>> {
        self.last_model_change_role()
    }
}

/// The last message of the assistant with this tool call, with other arguments.
fn find_tool_call(
    reader: &SessionReader,
    id: &str,
    arguments: &str,
) -> Result<Vec<(u64, Vec<u8>)>> {
    let assistant = MessageRole::Assistant.code();
    for ordinal in (0..reader.record().lines).rev() {
        if reader.view().node(Ordinal::new(ordinal))?.role != assistant {
            continue;
        }
        let entry = reader.known_line(ordinal)?;
        if let Some(json) = with_arguments(&text::decode(entry.line()), id, arguments) {
            return Ok(vec![(ordinal, line_of(&json)?)]);
        }
    }
    Ok(Vec::new())
}
