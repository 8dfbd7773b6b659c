//! One entry of any family as a reader of the conversation sees it: who it is from, what it says, when, by which model,
//! which tools it calls and their results.
//!
//! It is for code that shows or searches conversations and does not care which program wrote them. How entries make a
//! tree, a leaf or a context is up to the families, and so is all that a view leaves out.
//!
//! ```
//! use leafline_import::view::{self, Part, Role};
//!
//! let prompt = view::pi_omp(
//!     r#"{"type":"message","timestamp":"2024-12-03T14:00:01.000Z","message":{"role":"user","content":"List\nthe files"}}"#,
//! );
//! assert_eq!((prompt.role, prompt.time), (Role::User, Some(1_733_234_401_000)));
//! assert_eq!(prompt.text(), "List\nthe files");
//! assert_eq!(prompt.preview(10), "List the…");
//!
//! let answer = view::claude(
//!     r#"{"type":"assistant","message":{"model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}"#,
//! );
//! assert_eq!((answer.role, answer.model.as_deref()), (Role::Assistant, Some("claude-sonnet-4-5")));
//! let [Part::ToolCall { name, arguments, .. }] = &answer.parts[..] else { panic!("one call") };
//! assert_eq!((&**name, &**arguments), ("Bash", r#"{"command":"ls"}"#));
//!
//! let result = view::opal(r#"{"id":"m3","role":"tool_result","call_id":"t1","content":"README.md"}"#);
//! assert_eq!((result.role, result.text(), result.preview(80)), (Role::Tool, String::new(), "README.md".to_owned()));
//! ```
//!
//! The roles:
//!
//! | role | pi and omp | Claude Code | Opal |
//! | --- | --- | --- | --- |
//! | [`Role::User`] | message `user` | `user`, and `attachment` with a queued prompt | `user` |
//! | [`Role::Assistant`] | message `assistant` | `assistant` | `assistant`, `tool_call` |
//! | [`Role::Tool`] | message `toolResult` | `user` that has only `tool_result` blocks | `tool_result` |
//! | [`Role::System`] | `session_init`; message `developer`, `system` | `system` | |
//! | [`Role::Summary`] | `compaction`, `branch_summary`; messages `compactionSummary`, `branchSummary` | `summary`, `user` with `isCompactSummary` | `user` with a `metadata.type` of `compaction_summary` |
//! | [`Role::Shell`] | message `bashExecution`, `pythonExecution` | | |
//! | [`Role::Custom`] | `custom_message`; message `custom`, `hookMessage`, `fileMention` | | |
//! | [`Role::Setting`] | `model_change`, `thinking_level_change`, `mode_change`, `ttsr_injection`, `label`, `session_info`, the header, omp's title line | `custom-title`, `ai-title`, `agent-name`, `mode`, `permission-mode` | the header |
//! | [`Role::Other`] | all else | all else | all else |
//! | [`Role::None`] | blank, malformed and scalar lines | the same | the same |
//!
//! The last of repeated members counts. A value of an unexpected JSON type counts as missing. The time and memory of a
//! view are linear in the line's length, whatever its nesting; of an image it has only the length.

pub(crate) mod block;
mod claude;
mod content;
mod opal;
mod part;
mod pi_omp;
mod preview;
mod role;

pub use claude::claude;
pub use opal::opal;
pub use part::Part;
pub use pi_omp::pi_omp;
pub use role::Role;

use crate::Family;
use crate::family::with_format;
use crate::format::Format;

/// The view of a line of a family, given its decoded text.
///
/// ```
/// use leafline_import::{Family, view};
///
/// let line = r#"{"id":"m1","role":"user","content":"Hello"}"#;
/// assert_eq!(view::of(Family::Opal, line).text(), "Hello");
/// ```
#[must_use]
pub fn of(family: Family, line: &str) -> View {
    with_format!(family, F => F::view(line))
}

/// What one line says, made by [`pi_omp`], [`claude`] or [`opal`].
///
/// The view of a line that is blank, malformed or not an object is the default: [`Role::None`], and nothing else.
#[non_exhaustive]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct View {
    /// Whom it is from.
    pub role: Role,
    /// The format's most specific name for it: the `role` of a pi or omp message, the `customType` of an extension's
    /// entries, the `subtype` of a Claude Code `system` record, the `type` inside its attachments and progress, the
    /// `role` of an Opal message, the `metadata.type` of an Opal summary; otherwise `type`.
    pub type_name: Option<String>,
    /// When it was written, in milliseconds since 1970: its `timestamp`, or else, in pi and omp, `message.timestamp`.
    pub time: Option<i64>,
    /// pi and omp: who runs the model.
    pub provider: Option<String>,
    /// The model that it is from, or that it sets.
    pub model: Option<String>,
    /// Its contents, in the order of the file.
    pub parts: Vec<Part>,
    /// Why the model gave no answer, or only a part: `message.errorMessage` (pi and omp). Claude Code has it as the
    /// text of an answer.
    pub error: Option<String>,
    /// Whether it belongs to an agent's conversation beside the main one (Claude Code, `isSidechain`).
    pub is_sidechain: bool,
    /// Whether its program hides it from the user: `display` is false (pi and omp, from an extension), or `isMeta` is
    /// true (Claude Code).
    pub is_hidden: bool,
}

impl View {
    /// The spoken text: the [`Part::Text`]s separated by blank lines, without reasoning, calls or results.
    ///
    /// ```
    /// use leafline_import::view;
    ///
    /// let view = view::claude(
    ///     r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"One"},{"type":"text","text":"Two"}]}}"#,
    /// );
    /// assert_eq!(view.text(), "One\n\nTwo");
    /// ```
    #[must_use]
    pub fn text(&self) -> String {
        let mut joined = String::new();
        for part in &self.parts {
            if let Part::Text(text) = part {
                if !joined.is_empty() {
                    joined.push_str("\n\n");
                }
                joined.push_str(text);
            }
        }
        joined
    }

    /// The beginning of the text on one line: at most `most` characters, the last one `…` if the text goes on. Runs of
    /// white space become one space.
    ///
    /// For an entry without text it is the beginning of its results, or else of its calls, each as name and arguments,
    /// or else of its reasoning. Empty if there is none of these. Controls other than white space stay.
    ///
    /// ```
    /// let view = leafline_import::view::opal(r#"{"role":"user","content":"  fix\n\n the bug"}"#);
    /// assert_eq!(view.preview(80), "fix the bug");
    /// assert_eq!(view.preview(7), "fix th…");
    /// ```
    #[must_use]
    pub fn preview(&self, most: usize) -> String {
        preview::of(&self.parts, most)
    }
}
