//! A draft of each kind of record, as the program makes them.

use super::message::{Message, Role};
use super::{Draft, DraftError, quoted};
use crate::claude::kind::RecordKind;
use crate::scan::Raw;

impl Draft {
    /// A prompt of the user's.
    #[must_use]
    pub fn user(text: &str) -> Self {
        let message = format!(r#"{{"role":"user","content":{}}}"#, quoted(text));
        Self::begin(RecordKind::User).with("message", message)
    }

    /// What the user says in blocks, as JSON text: an array of texts and images as the API takes them.
    ///
    /// # Errors
    ///
    /// [`DraftError`] if the text is not such an array.
    pub fn user_blocks(blocks: &str) -> Result<Self, DraftError> {
        let blocks = Raw::parse(blocks).map_err(DraftError::Malformed)?;
        Self::from_json(&format!(r#"{{"role":"user","content":{}}}"#, blocks.as_str()))
    }

    /// The result of a tool call. It is appended below the record with the call.
    #[must_use]
    pub fn tool_result(tool_use_id: &str, output: &str, is_error: bool) -> Self {
        Self::result(tool_use_id, &quoted(output), is_error)
    }

    /// The same with the output as JSON text: an array of texts and images as the API takes them.
    ///
    /// # Errors
    ///
    /// [`DraftError`] if the text is not such an array.
    pub fn tool_result_blocks(
        tool_use_id: &str,
        blocks: &str,
        is_error: bool,
    ) -> Result<Self, DraftError> {
        let checked = Self::user_blocks(blocks)?;
        let message = checked.member("message").map(Raw::of_walked);
        let content = message.and_then(|message| message.member("content"));
        let content = content.map_or("[]", Raw::as_str);
        Ok(Self::result(tool_use_id, content, is_error))
    }

    fn result(tool_use_id: &str, content: &str, is_error: bool) -> Self {
        let id = quoted(tool_use_id);
        let block = format!(
            r#"{{"tool_use_id":{id},"type":"tool_result","content":{content},"is_error":{is_error}}}"#
        );
        let message = format!(r#"{{"role":"user","content":[{block}]}}"#);
        Self::begin(RecordKind::User).with("message", message)
    }

    /// A message of the model's as the API gives it, as JSON text: a record for each of its blocks, to be appended one below
    /// the other. They share the message's id, which is made up if it has none.
    ///
    /// ```
    /// use leafline_import::claude::Draft;
    ///
    /// let message = r#"{"role":"assistant","content":[
    ///     {"type":"text","text":"I look."},
    ///     {"type":"tool_use","id":"toolu_1","name":"Read","input":{"file_path":"a.rs"}}]}"#;
    /// assert_eq!(Draft::assistant(message)?.len(), 2);
    /// # Ok::<(), leafline_import::claude::DraftError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`DraftError`] if the text is not such a message.
    pub fn assistant(message: &str) -> Result<Vec<Self>, DraftError> {
        let message = Message::new(message, None)?;
        match message.role {
            Role::Assistant => Ok(Self::of_message(&message)),
            role @ Role::User => {
                Err(DraftError::UnknownRole { role: format!("\"{}\"", role.name()) })
            }
        }
    }

    /// A message of the API, as JSON text: the user's or the model's. As the program does, it makes a record of each of the
    /// model's blocks, and of each result of a tool; what else the user says comes last, in one record.
    ///
    /// # Errors
    ///
    /// [`DraftError`] if the text is not such a message.
    pub fn message(message: &str) -> Result<Vec<Self>, DraftError> {
        Ok(Self::of_message(&Message::new(message, None)?))
    }

    fn of_message(message: &Message) -> Vec<Self> {
        let kind = match message.role {
            Role::User => RecordKind::User,
            Role::Assistant => RecordKind::Assistant,
        };
        let parts = (0..).zip(message.parts()).map(|(number, part)| {
            let mut draft = Self::begin(kind).with("message", part);
            draft.goes_on = number > 0;
            draft
        });
        parts.collect()
    }

    /// A title that the user gave, as `/rename` does. It stands outside the tree. [`Draft::agent_name`] goes with it.
    #[must_use]
    pub fn custom_title(title: &str) -> Self {
        Self::begin(RecordKind::CustomTitle).with("customTitle", quoted(title))
    }

    /// The name that the program writes beside a title of the user's.
    #[must_use]
    pub fn agent_name(name: &str) -> Self {
        Self::begin(RecordKind::AgentName).with("agentName", quoted(name))
    }

    /// The leaf of the conversation, by its uuid as WTF-8 (see [`crate::text`]): where the program goes on when it resumes
    /// the session. `prompt` is the prompt that was typed last.
    #[must_use]
    pub fn last_prompt(prompt: Option<&str>, leaf: &[u8]) -> Self {
        let mut draft = Self::begin(RecordKind::LastPrompt);
        if let Some(prompt) = prompt {
            draft = draft.with("lastPrompt", quoted(prompt));
        }
        draft.with("leafUuid", super::quoted_wtf8(leaf))
    }

    /// Makes a message the leaf of the conversation, even if entries hang below it. Claude Code writes this record when its user
    /// goes back. The leaf is given by its uuid as WTF-8; `None` starts the conversation anew.
    #[must_use]
    pub fn explicit_leaf(leaf: Option<&[u8]>) -> Self {
        let leaf = leaf.map_or_else(|| "null".to_owned(), super::quoted_wtf8);
        Self::begin(RecordKind::LastPrompt)
            .with("leafUuid", leaf)
            .with("explicit", "true".to_owned())
    }

    /// A short description of the session, and its leaf (session JSONL format document).
    #[must_use]
    pub fn summary(text: &str, leaf: &[u8]) -> Self {
        Self::begin(RecordKind::Summary)
            .with("summary", quoted(text))
            .with("leafUuid", super::quoted_wtf8(leaf))
    }

    /// The mode in which the program works: `normal`.
    #[must_use]
    pub fn mode(mode: &str) -> Self {
        Self::begin(RecordKind::Mode).with("mode", quoted(mode))
    }

    fn with(mut self, name: &str, json: String) -> Self {
        self.members.push((quoted(name), json));
        self
    }
}
