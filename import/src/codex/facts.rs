//! A session's facts, gathered from its lines one at a time.

use std::borrow::Cow;

use crate::codex::contextual;
use crate::codex::header::Header;
use crate::codex::item::{Item, ItemKind};
use crate::codex::json::{Object, whole_number};
use crate::codex::kind::RecordKind;
use crate::codex::record::Record;
use crate::scan::Raw;

/// Tokens as the program counts them: `input` includes the cached ones, `output` those of reasoning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// `input_tokens`.
    pub input: u64,
    /// `cached_input_tokens`: the part of the input that was read from the cache.
    pub cached_input: u64,
    /// `output_tokens`.
    pub output: u64,
    /// `reasoning_output_tokens`: the part of the output that was reasoning.
    pub reasoning_output: u64,
    /// `total_tokens`.
    pub total: u64,
}

/// What the lines of a rollout say about the session. For a fork, pass only its own lines.
///
/// ```
/// use leafline_import::codex::{Facts, Scanner};
///
/// let file = [
///     r#"{"timestamp":"2026-11-20T10:00:00.000Z","type":"session_meta","payload":{"id":"s","cwd":"/home/robin/work/tide-clock"}}"#,
///     r#"{"timestamp":"2026-11-20T10:00:01.000Z","type":"turn_context","payload":{"cwd":"/home/robin/work/tide-clock","model":"gpt-5"}}"#,
///     r#"{"timestamp":"2026-11-20T10:00:02.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"The clock is slow."}]}}"#,
/// ];
/// let mut scanner = Scanner::new();
/// let mut facts = Facts::default();
/// for text in file {
///     facts.observe(&scanner.scan(text));
/// }
/// assert_eq!(facts.model.as_deref(), Some("gpt-5"));
/// assert_eq!(facts.first_prompt(), Some("The clock is slow."));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The first header; a fork of the older kind repeats its parent's after its own.
    pub header: Option<Header>,
    /// `model` of the last turn.
    pub model: Option<String>,
    /// `cwd` of the last turn.
    pub cwd: Option<String>,
    /// The tokens of the whole session, from the last `token_count` or `token_usage_record`. A fork counts on from its
    /// parent's.
    pub usage: Option<Usage>,
    /// When the user or the model last said something, in milliseconds since 1970.
    pub last_message_ms: Option<i64>,
    /// The time of the last line that has one, in milliseconds since 1970.
    pub last_ms: Option<i64>,
    /// The first prompt according to the program's events.
    told_prompt: Option<String>,
    /// The first prompt among the items.
    item_prompt: Option<String>,
}

impl Facts {
    /// The first prompt: the text of the first `user_message` (or of the completed `UserMessage` of a paginated
    /// rollout); without one, the first user message that the program did not write itself. Codex shows it if a session
    /// has no name.
    #[must_use]
    pub fn first_prompt(&self) -> Option<&str> {
        self.told_prompt.as_deref().or(self.item_prompt.as_deref())
    }

    /// Takes the next line.
    pub fn observe(&mut self, record: &Record<'_>) {
        if !record.kind().is_record() {
            return;
        }
        let time = record.timestamp_ms();
        self.last_ms = time.or(self.last_ms);
        match record.kind() {
            RecordKind::SessionMeta if self.header.is_none() => self.header = Header::of(record),
            RecordKind::TurnContext => {
                let members = record.payload_members();
                let text =
                    |raw: Option<Raw<'_>>| raw.and_then(Raw::to_string_lossy).map(Cow::into_owned);
                self.model = text(members.model).or(self.model.take());
                self.cwd = text(members.cwd).or(self.cwd.take());
            }
            RecordKind::ResponseItem => {
                if matches!(record.role().as_deref(), Some("user" | "assistant")) {
                    self.last_message_ms = time.or(self.last_message_ms);
                }
                if self.item_prompt.is_none() {
                    self.item_prompt = prompt_of_item(record);
                }
            }
            RecordKind::EventMsg => self.observe_event(record),
            RecordKind::TokenUsageRecord => self.take_usage(record, &["thread_token_usage"]),
            _ => {}
        }
    }

    fn observe_event(&mut self, record: &Record<'_>) {
        match record.payload_type().as_deref() {
            Some("token_count") => self.take_usage(record, &["info", "total_token_usage"]),
            Some("user_message") if self.told_prompt.is_none() => {
                let message = record.payload_members().message.and_then(Raw::to_string_lossy);
                self.told_prompt = message.filter(|text| !text.is_empty()).map(Cow::into_owned);
            }
            Some("item_completed") if self.told_prompt.is_none() => {
                self.told_prompt = record.payload().and_then(prompt_of_completed);
            }
            _ => {}
        }
    }

    fn take_usage(&mut self, record: &Record<'_>, path: &[&str]) {
        let usage = path
            .iter()
            .try_fold(record.payload(), |found, name| found.map(|found| found.member(name)));
        if let Some(usage) = usage.flatten().filter(|usage| usage.is_object()) {
            let usage = Object::of(usage);
            let number = |name| usage.get(name).and_then(whole_number).unwrap_or(0);
            self.usage = Some(Usage {
                input: number("input_tokens"),
                cached_input: number("cached_input_tokens"),
                output: number("output_tokens"),
                reasoning_output: number("reasoning_output_tokens"),
                total: number("total_tokens"),
            });
        }
    }
}

/// The texts of a user message that the program did not write, joined by spaces.
fn prompt_of_item(record: &Record<'_>) -> Option<String> {
    if record.role().as_deref() != Some("user") {
        return None;
    }
    let item = Item::read(record.payload()?).filter(|item| item.kind == ItemKind::Message)?;
    if item.texts("input_text").any(|text| contextual::is_of_user(&text)) {
        return None;
    }
    let texts: Vec<_> = item.texts("input_text").filter(|text| !is_image_tag(text)).collect();
    let joined = texts.join(" ");
    (!joined.is_empty()).then_some(joined)
}

/// Whether a text is only the tag around an image.
pub(super) fn is_image_tag(text: &str) -> bool {
    (text.starts_with("<image") && text.ends_with('>') && !text.contains('\n'))
        || text == "</image>"
}

/// The texts of a completed `UserMessage`, joined by spaces.
fn prompt_of_completed(payload: Raw<'_>) -> Option<String> {
    let item = payload.member("item")?;
    let [name, content] = item.members(["type", "content"]);
    if !name?.is_text("UserMessage") {
        return None;
    }
    let texts: Vec<_> = content?
        .elements()
        .filter(|part| part.member("type").is_some_and(|name| name.is_text("text")))
        .filter_map(|part| part.member("text")?.to_string_lossy())
        .collect();
    let joined = texts.join(" ");
    (!joined.is_empty()).then_some(joined)
}
