//! The facts of a session that a list shows.

use leafline_import::Family;
use serde::Serialize;

use super::shared_text::{SharedText, SharedTexts};
use crate::store::session_record::SessionRecord;

/// The facts of a session that are known without reading its lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SessionFacts {
    /// The id by which it is addressed.
    pub id: SharedText,
    /// Whose format it has.
    pub family: Family,
    /// The version that the imported header states; 1 if it states none.
    pub imported_version: SharedText,
    /// Whether a migration rewrote it.
    pub migrated: bool,
    /// Whether some parents come later, ids repeat or parents form a loop.
    pub irregular: bool,
    /// The working directory: where the project was moved to, or else the one in the header.
    pub cwd: Option<SharedText>,
    /// Messages of the user, the model and tools.
    pub messages: u64,
    /// Its title or name.
    pub title: Option<SharedText>,
    /// The lineage in the header; for an agent's conversation the id of the session that started it.
    pub parent_session: Option<SharedText>,
    /// The beginning of the first user message, on one line.
    pub first_prompt: Option<SharedText>,
    /// When it was created, in milliseconds since 1970.
    pub created: Option<i64>,
    /// When its last message was, in milliseconds since 1970.
    pub modified: Option<i64>,
    /// The agent whose conversation it is, if the session `parent_session` started it.
    pub agent: Option<SharedText>,
    /// Lines of all kinds.
    pub lines: u64,
    /// Entries.
    pub entries: u64,
    /// Lines that are not JSON.
    pub malformed: u64,
    /// Entries that were recovered from such lines.
    pub recovered: u64,
    /// Entries whose parent is not in the session.
    pub orphans: u64,
    /// Entries whose id a later entry also has.
    pub duplicates: u64,
    /// Entries without a string id.
    pub unaddressed: u64,
    /// Bytes of the lines.
    pub bytes: u64,
    /// Lines and bytes by type; messages by role, as `message/user`. Empty in lists.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<TypeFacts>,
}

/// How much of a session is of one type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TypeFacts {
    /// The type's name; messages with their role, as `message/user`.
    pub name: String,
    /// Lines.
    pub lines: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl SessionFacts {
    /// Whether it is the conversation of an agent that the session with this id started.
    pub fn is_agent_of(&self, session: &str) -> bool {
        self.agent.is_some() && self.parent_session.as_deref() == Some(session)
    }

    pub(crate) fn of(record: &SessionRecord) -> Self {
        let mut types: Vec<TypeFacts> = record
            .types
            .iter()
            .map(|count| TypeFacts {
                name: count.name.clone(),
                lines: count.lines,
                bytes: count.bytes,
            })
            .collect();
        types.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
        Self { types, ..Self::listed(record, &mut SharedTexts::by_session()) }
    }

    /// The facts without the types, for lists. They can be read once their texts are sealed.
    pub(crate) fn listed<Text, Bytes, Rest>(
        record: &SessionRecord<Text, Bytes, Rest>,
        texts: &mut SharedTexts,
    ) -> Self
    where
        Text: AsRef<str> + PartialEq,
        Bytes: AsRef<[u8]>,
    {
        let mut share = |text: &Option<Text>| Some(texts.share(text.as_ref()?.as_ref()));
        let (title, parent_session) = (share(&record.title), share(&record.parent_session));
        let (first_prompt, agent) = (share(&record.first_prompt), share(&record.agent));
        let facts = Self {
            id: texts.share(&record.borrowed_id()),
            family: record.known_family(),
            cwd: record.directory().map(|cwd| texts.share(cwd)),
            lines: record.physical_lines(),
            malformed: record.malformed + record.dropped,
            imported_version: texts.share(record.imported_version.as_ref()),
            migrated: record.migrated,
            irregular: record.irregular,
            messages: record.messages,
            title,
            parent_session,
            first_prompt,
            created: record.created,
            modified: record.modified,
            agent,
            recovered: record.recovered,
            entries: record.entries,
            orphans: record.orphans,
            duplicates: record.duplicates,
            unaddressed: record.unaddressed,
            bytes: record.bytes,
            types: Vec::new(),
        };
        texts.session_ends();
        facts
    }
}
