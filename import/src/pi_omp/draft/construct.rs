//! A draft of each type of entry, from the arguments of the programs' append methods.

use super::error::DraftError;
use super::layout::Layout;
use super::{Draft, Member, quoted};
use crate::family::Family;
use crate::kind::EntryKind;
use crate::scan::Raw;

/// The contents of a compaction. JSON members are JSON text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compaction<'a> {
    /// The summary of the messages that it replaces.
    pub summary: &'a str,
    /// omp: a shorter summary, for people.
    pub short_summary: Option<&'a str>,
    /// The first entry that is kept; omitted if `None`.
    pub first_kept_entry_id: Option<&'a str>,
    /// Tokens of the context before it.
    pub tokens_before: u64,
    /// Anything, as JSON text.
    pub details: Option<&'a str>,
    /// Whether an extension made it: `fromHook` in pi's files, `fromExtension` in omp's.
    pub from_extension: Option<bool>,
    /// omp: anything, as JSON text.
    pub preserve_data: Option<&'a str>,
    /// pi since 0.87: what the summary cost, as JSON text: an object with the members of a message's `usage`.
    pub usage: Option<&'a str>,
    /// pi since 0.87: the message of the role `system` that counts from here on, as JSON text. pi takes the last one of the
    /// context, with the compaction's time.
    pub system_message: Option<&'a str>,
}

/// Each function follows the method of that name in both programs' session managers, and the types of the documents. An
/// `Option` that is `None` omits its member, like an undefined argument.
///
/// Ids are given as text here. One that holds a lone surrogate can be set as JSON text, with [`Draft::set_member`].
impl Draft {
    /// A message of the conversation, as JSON text.
    ///
    /// # Errors
    ///
    /// [`DraftError`] if the text is not JSON, or is not an object whose `role` is a string.
    pub fn message(message: &str) -> Result<Self, DraftError> {
        Self::begin(EntryKind::Message, Family::Pi).json("message", message)
    }

    /// A new thinking level.
    #[must_use]
    pub fn thinking_level_change(thinking_level: &str) -> Self {
        Self::begin(EntryKind::ThinkingLevelChange, Family::Pi)
            .text("thinkingLevel", thinking_level)
    }

    /// A new model in a pi session.
    #[must_use]
    pub fn model_change(provider: &str, model_id: &str) -> Self {
        Self::begin(EntryKind::ModelChange, Family::Pi)
            .text("provider", provider)
            .text("modelId", model_id)
    }

    /// A new model in an omp session: `provider/model`, and its role.
    #[must_use]
    pub fn model_change_omp(model: &str, role: Option<&str>) -> Self {
        Self::begin(EntryKind::ModelChange, Family::Omp)
            .text("model", model)
            .optional_text("role", role)
    }

    /// A summary that replaces earlier messages. In a pi session, members that only omp has come last.
    ///
    /// # Errors
    ///
    /// [`DraftError`] if `details` or `preserve_data` is not JSON.
    pub fn compaction(family: Family, compaction: &Compaction<'_>) -> Result<Self, DraftError> {
        let mut draft = Self::begin(EntryKind::Compaction, family)
            .text("summary", compaction.summary)
            .optional_text("shortSummary", compaction.short_summary)
            .optional_text("firstKeptEntryId", compaction.first_kept_entry_id)
            // JavaScript's numbers are doubles, so a count past 2^53 may lose digits.
            .json("tokensBefore", &compaction.tokens_before.to_string())?
            .optional_json("details", compaction.details)?
            .made_by_extension(family, compaction.from_extension)
            .optional_json("preserveData", compaction.preserve_data)?
            .optional_json("usage", compaction.usage)?
            .optional_json("systemMessage", compaction.system_message)?;
        draft.arrange();
        Ok(draft)
    }

    /// A summary of an abandoned branch. For a branch from before the first entry, the origin is `root`.
    ///
    /// # Errors
    ///
    /// [`DraftError`] if `details` is not JSON.
    pub fn branch_summary(
        family: Family,
        from_id: &str,
        summary: &str,
        details: Option<&str>,
        from_extension: Option<bool>,
    ) -> Result<Self, DraftError> {
        let draft = Self::begin(EntryKind::BranchSummary, family)
            .text("fromId", from_id)
            .text("summary", summary)
            .optional_json("details", details)?;
        Ok(draft.made_by_extension(family, from_extension))
    }

    /// State of an extension, as JSON text.
    ///
    /// # Errors
    ///
    /// [`DraftError`] if `data` is not JSON.
    pub fn custom(custom_type: &str, data: Option<&str>) -> Result<Self, DraftError> {
        Self::begin(EntryKind::Custom, Family::Pi)
            .text("customType", custom_type)
            .optional_json("data", data)
    }

    /// A message of an extension. `content` is JSON text: a string or an array of blocks.
    ///
    /// # Errors
    ///
    /// [`DraftError`] if `content` or `details` is not JSON, or `content` has another type.
    pub fn custom_message(
        custom_type: &str,
        content: &str,
        display: bool,
        details: Option<&str>,
    ) -> Result<Self, DraftError> {
        Self::begin(EntryKind::CustomMessage, Family::Pi)
            .text("customType", custom_type)
            .json("content", content)?
            .boolean("display", display)
            .optional_json("details", details)
    }

    /// A label for an entry; `None` clears the one it has.
    #[must_use]
    pub fn label(target_id: &str, label: Option<&str>) -> Self {
        Self::begin(EntryKind::Label, Family::Pi)
            .text("targetId", target_id)
            .optional_text("label", label)
    }

    /// The session's name, trimmed as JavaScript trims. An empty one clears it.
    #[must_use]
    pub fn session_info(name: &str) -> Self {
        let mut draft = Self::begin(EntryKind::SessionInfo, Family::Pi).text("name", name);
        draft.trim_name();
        draft
    }

    /// pi since 0.87: other content for an earlier entry's. `replacement` is JSON text: an object with the `content`, or
    /// null if the entry is to be left out.
    ///
    /// # Errors
    ///
    /// [`DraftError`] if `replacement` is not JSON.
    pub fn context_edit(target_id: &str, replacement: &str) -> Result<Self, DraftError> {
        Self::begin_unknown("context_edit")
            .text("targetId", target_id)
            .json("replacement", replacement)
    }

    /// pi since 0.87: what a call of a model outside the conversation has used. Named are what it was for, the provider,
    /// and the model; `usage` is JSON text.
    ///
    /// # Errors
    ///
    /// [`DraftError`] if `usage` is not JSON.
    pub fn usage(
        [kind, provider, model]: [&str; 3],
        usage: &str,
        note: Option<&str>,
    ) -> Result<Self, DraftError> {
        let draft = Self::begin_unknown("usage")
            .text("kind", kind)
            .text("provider", provider)
            .text("model", model)
            .json("usage", usage)?;
        Ok(draft.optional_text("note", note.filter(|note| !note.is_empty())))
    }

    /// omp: a new mode. `data` is JSON text.
    ///
    /// # Errors
    ///
    /// [`DraftError`] if `data` is not JSON.
    pub fn mode_change(mode: &str, data: Option<&str>) -> Result<Self, DraftError> {
        Self::begin(EntryKind::ModeChange, Family::Omp)
            .text("mode", mode)
            .optional_json("data", data)
    }

    /// omp: rules that were injected, by their names.
    #[must_use]
    pub fn ttsr_injection(injected_rules: &[impl AsRef<str>]) -> Self {
        Self::begin(EntryKind::TtsrInjection, Family::Omp).texts("injectedRules", injected_rules)
    }

    /// omp: the session's initial state. `output_schema` is JSON text.
    ///
    /// # Errors
    ///
    /// [`DraftError`] if `output_schema` is not JSON.
    pub fn session_init(
        system_prompt: &str,
        task: &str,
        tools: &[impl AsRef<str>],
        output_schema: Option<&str>,
    ) -> Result<Self, DraftError> {
        Self::begin(EntryKind::SessionInit, Family::Omp)
            .text("systemPrompt", system_prompt)
            .text("task", task)
            .texts("tools", tools)
            .optional_json("outputSchema", output_schema)
    }

    fn begin(kind: EntryKind, family: Family) -> Self {
        let layout = Layout::of(kind, family);
        Self { kind, entry_type: quoted(kind.name()), layout, members: Vec::new() }
    }

    /// Of a type that has no kind of its own.
    fn begin_unknown(name: &str) -> Self {
        let kind = EntryKind::Unknown;
        let layout = Layout::of(kind, Family::Pi);
        Self { kind, entry_type: quoted(name), layout, members: Vec::new() }
    }

    fn push(mut self, name: &'static str, json: String) -> Self {
        self.members.push(Member { name: quoted(name), json });
        self
    }

    fn text(self, name: &'static str, value: &str) -> Self {
        self.push(name, quoted(value))
    }

    fn optional_text(self, name: &'static str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    fn texts(self, name: &'static str, values: &[impl AsRef<str>]) -> Self {
        let values: Vec<String> = values.iter().map(|value| quoted(value.as_ref())).collect();
        self.push(name, format!("[{}]", values.join(",")))
    }

    fn boolean(self, name: &'static str, value: bool) -> Self {
        self.push(name, value.to_string())
    }

    fn made_by_extension(self, family: Family, value: Option<bool>) -> Self {
        let name = if family == Family::Omp { "fromExtension" } else { "fromHook" };
        match value {
            Some(value) => self.boolean(name, value),
            None => self,
        }
    }

    fn json(self, name: &'static str, json: &str) -> Result<Self, DraftError> {
        let json = self.stringified(name, json)?;
        self.check_value(name, Raw::of_walked(&json))?;
        Ok(self.push(name, json))
    }

    fn optional_json(self, name: &'static str, json: Option<&str>) -> Result<Self, DraftError> {
        match json {
            Some(json) => self.json(name, json),
            None => Ok(self),
        }
    }
}
