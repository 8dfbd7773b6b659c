//! The methods of omp's `SessionManager` that pi's does not have.

mod tool_call;

use leafline_import::pi_omp::{Draft, write_with_member};
use leafline_import::{Family, MessageRole, text};
use serde::Serialize;

use self::tool_call::with_arguments;
use super::{Sealed, optional};
use crate::catalog::folder::named_directory;
use crate::error::Result;
use crate::session::live::json;
use crate::session::live::rewrite::line_of;
use crate::session::view::View;
use crate::session::{Entry, Session, SessionReader};
use crate::store::ordinal::Ordinal;

/// The writes of omp's `SessionManager` that pi's does not have, under omp's names (omp document, session storage). The
/// methods that it shares with pi are [`PiSession`](crate::pi::PiSession)'s.
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
    /// Appends a change of a role's model, as in omp; without a role it is the default one.
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

    /// Appends an omp session's initial state.
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

    /// Moves the session to another working directory, which its header then names (omp document, move operations).
    ///
    /// # Errors
    ///
    /// [`SessionError::WrongFamily`](crate::error::SessionError::WrongFamily) if the session is not one of omp;
    /// [`SessionError::EmptyDirectory`](crate::error::SessionError::EmptyDirectory); those of the store.
    fn move_to(&mut self, cwd: &str) -> Result<()>;

    /// Replaces the arguments of a tool call in the last assistant message that makes it. Returns whether there is such
    /// a message (omp document, tool-call argument rewrites).
    ///
    /// # Errors
    ///
    /// [`LiveError::InvalidEntry`](crate::error::LiveError::InvalidEntry) if the arguments cannot be written as JSON;
    /// [`SessionError::WrongFamily`](crate::error::SessionError::WrongFamily) if the session is not one of pi or omp;
    /// those of the store.
    fn rewrite_tool_call_arguments(
        &mut self,
        tool_call_id: &str,
        arguments: &impl Serialize,
    ) -> Result<bool>;

    /// Rewrites entries: `change` receives each one and returns its new JSON, or nothing to keep it (omp document,
    /// `rewriteEntries`). All changes are one transaction. Returns the number of changes.
    ///
    /// `change` is called inside the write transaction, so it must not write to this store itself.
    ///
    /// An entry keeps its type, role, id, parent and time, and what it sets (a label, a name, settings).
    ///
    /// # Errors
    ///
    /// [`LiveError::InvalidEntry`](crate::error::LiveError::InvalidEntry) for JSON that is not such an entry: nothing
    /// is changed then. [`SessionError::WrongFamily`](crate::error::SessionError::WrongFamily) if the session is not
    /// one of pi or omp. The error of `change`.
    fn rewrite_entries(
        &mut self,
        change: impl FnMut(&Entry) -> Result<Option<String>>,
    ) -> Result<u64>;
}

impl OmpSession for Session {
    fn append_role_model_change(&mut self, model: &str, role: Option<&str>) -> Result<String> {
        self.only(Family::Omp, "model change with a role")?;
        self.append(Draft::model_change_omp(model, role))
    }

    fn append_mode_change(&mut self, mode: &str, data: Option<&impl Serialize>) -> Result<String> {
        self.only(Family::Omp, "mode change")?;
        self.append(Draft::mode_change(mode, optional(data)?.as_deref())?)
    }

    fn append_ttsr_injection(&mut self, rules: &[impl AsRef<str>]) -> Result<String> {
        self.only(Family::Omp, "injection of rules")?;
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
        self.only(Family::Omp, "description of a session's beginning")?;
        let tools: Vec<&str> = tools.iter().map(AsRef::as_ref).collect();
        let schema = optional(output_schema)?;
        self.append(Draft::session_init(system_prompt, task, &tools, schema.as_deref())?)
    }

    fn move_to(&mut self, cwd: &str) -> Result<()> {
        self.only(Family::Omp, "move to another directory")?;
        let cwd = named_directory(cwd)?;
        let directory = json(&cwd)?;
        self.replace_header(|reader, record| {
            record.cwd = Some(cwd.clone());
            let Some(header) = reader.get_header()? else { return Ok(Vec::new()) };
            let mut line = Vec::with_capacity(header.line().len());
            write_with_member(header.line(), "cwd", &directory, &mut line)?;
            Ok(vec![(header.place(), line)])
        })
    }

    fn rewrite_tool_call_arguments(
        &mut self,
        tool_call_id: &str,
        arguments: &impl Serialize,
    ) -> Result<bool> {
        self.only_pi_omp("rewrite of tool-call arguments")?;
        let arguments = json(arguments)?;
        let changed = self
            .replace_lines(|reader, _| find_tool_call(reader.view(), tool_call_id, &arguments))?;
        Ok(changed > 0)
    }

    fn rewrite_entries(
        &mut self,
        mut change: impl FnMut(&Entry) -> Result<Option<String>>,
    ) -> Result<u64> {
        self.only_pi_omp("rewrite of entries")?;
        self.replace_lines(|reader, _| {
            let mut changes = Vec::new();
            reader.lines(0, |entry| {
                if entry.kind().is_entry()
                    && let Some(json) = change(&entry)?
                {
                    changes.push((entry.place(), line_of(&json)?));
                }
                Ok(true)
            })?;
            Ok(changes)
        })
    }
}

/// Reads that only omp's `SessionManager` has. [`OmpSession`] has an example.
pub trait OmpReader: Sealed {
    /// The rules that omp injected on the path to the current leaf, each once, in order; none in a session of a family
    /// without such rules.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) if the store is damaged.
    fn get_injected_rules(&self) -> Result<Vec<String>>;

    /// The role of the last `model_change` on the path to the current leaf, `default` if it names none; `None` if there
    /// is no such entry. The path is walked up to it.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupted`](crate::Error::Corrupted) if the store is damaged.
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

/// The last assistant message with this tool call, with other arguments.
fn find_tool_call(view: View<'_>, id: &str, arguments: &str) -> Result<Vec<(Ordinal, Vec<u8>)>> {
    let assistant = MessageRole::Assistant.code();
    let end = Ordinal::after(view.record().lines);
    for ordinal in Ordinal::FIRST.up_to(end).rev() {
        if view.node(ordinal)?.role != assistant {
            continue;
        }
        let entry = view.entry(ordinal)?;
        if let Some(json) = with_arguments(&text::decode(entry.line()), id, arguments) {
            return Ok(vec![(ordinal, line_of(&json)?)]);
        }
    }
    Ok(Vec::new())
}
