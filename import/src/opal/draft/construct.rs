//! A draft of each kind of message, as Opal's own constructors make them.

use std::collections::BTreeMap;

use super::{Draft, quoted};
use crate::opal::WriteError;

/// What Opal puts before the summary of a compaction.
const SUMMARY_NOTICE: &str = "[Conversation summary — older messages were compacted]\n\n";

/// What comes before the summary of an abandoned branch (ours: nothing reads Opal's words for it).
const BRANCH_NOTICE: &str = "[Branch summary — what was tried on a branch that was left]\n\n";

impl Draft {
    /// A message from the user.
    #[must_use]
    pub fn user(content: &str) -> Self {
        Self::begin("user").text("content", content)
    }

    /// A message from the model: optional text, and the tool calls as JSON text: an array of objects with `call_id`,
    /// `name` and `arguments`.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if the tool calls are not a JSON array of objects.
    pub fn assistant(content: Option<&str>, tool_calls: Option<&str>) -> Result<Self, WriteError> {
        let mut draft = Self::begin("assistant");
        if let Some(content) = content {
            draft = draft.text("content", content);
        }
        if let Some(tool_calls) = tool_calls {
            draft.set_member("tool_calls", tool_calls)?;
        }
        Ok(draft)
    }

    /// The result of a tool call.
    #[must_use]
    pub fn tool_result(call_id: &str, output: &str, is_error: bool) -> Self {
        Self::begin("tool_result")
            .text("call_id", call_id)
            .text("content", output)
            .json("is_error", is_error.to_string())
    }

    /// A summary that replaces compacted messages, with the files that were read and changed in them: a message from
    /// the user, as Opal's compaction makes it.
    #[must_use]
    pub fn compaction_summary(summary: &str, read_files: &[&str], modified_files: &[&str]) -> Self {
        let list = |files: &[&str]| {
            let files: Vec<String> = files.iter().map(|file| string(file)).collect();
            format!("[{}]", files.join(","))
        };
        let metadata = format!(
            r#"{{"modified_files":{},"read_files":{},"type":"compaction_summary"}}"#,
            list(modified_files),
            list(read_files)
        );
        Self::user(&format!("{SUMMARY_NOTICE}{summary}")).json("metadata", metadata)
    }

    /// The summary of an abandoned branch, as the messages after it see it: a message from the user whose metadata has
    /// the `type` `branch_summary`, the abandoned leaf as `from_leaf` (both observed), and the `summary` itself
    /// (document: it is stored as metadata; the name is ours). The leaf's id is WTF-8 (see [`crate::text`]).
    ///
    /// ```
    /// use leafline_import::opal::Draft;
    ///
    /// let draft = Draft::branch_summary("Mocks: no.", Some(b"m4"));
    /// let metadata = r#"{"from_leaf":"m4","summary":"Mocks: no.","type":"branch_summary"}"#;
    /// assert_eq!(draft.member("metadata"), Some(metadata));
    /// ```
    #[must_use]
    pub fn branch_summary(summary: &str, from_leaf: Option<&[u8]>) -> Self {
        let from_leaf = from_leaf.map_or_else(|| "null".to_owned(), wtf8_string);
        let metadata = format!(
            r#"{{"from_leaf":{from_leaf},"summary":{},"type":"branch_summary"}}"#,
            string(summary)
        );
        Self::user(&format!("{BRANCH_NOTICE}{summary}")).json("metadata", metadata)
    }

    fn begin(role: &str) -> Self {
        Self { members: BTreeMap::new() }
            .text("role", role)
            .json("content", "null".to_owned())
            .json("is_error", "false".to_owned())
    }

    fn text(self, name: &str, text: &str) -> Self {
        self.json(name, string(text))
    }

    fn json(mut self, name: &str, json: String) -> Self {
        self.members.insert(name.into(), json);
        self
    }
}

fn string(text: &str) -> String {
    wtf8_string(text.as_bytes())
}

fn wtf8_string(text: &[u8]) -> String {
    String::from_utf8(quoted(text)).expect("surrogates are escapes, and all else in quotes is text")
}
