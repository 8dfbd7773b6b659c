//! The facts of a session's header that an index keeps.

use crate::opal::Line;
use crate::scan::Raw;
use crate::time::parse_timestamp;

/// What a header says about the leaf.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CurrentId {
    /// Nothing: no `current_id`, or one that is neither null nor a string and so names no message.
    #[default]
    Absent,
    /// Null: the session has no leaf.
    Null,
    /// The id of a message as WTF-8 (see [`crate::text`]).
    Id(Vec<u8>),
}

/// The facts of a session's header. Texts other than ids have U+FFFD for lone surrogates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderFacts {
    /// The ordinal of the header's line, from 0.
    pub line: u64,
    /// The session's id as WTF-8 (see [`crate::text`]). Without one, Opal identifies a session by its file's name
    /// without `.jsonl`.
    pub session_id: Option<Vec<u8>>,
    /// The leaf.
    pub current_id: CurrentId,
    /// The metadata, as the JSON text in the line.
    pub metadata: String,
    /// `metadata.title`, if it is a string that is not empty.
    pub title: Option<String>,
    /// `metadata.created_at`, as the JSON text in the line.
    pub created_at: Option<String>,
    /// The same in milliseconds since 1970; `None` if it is not an ISO time.
    pub created_at_ms: Option<i64>,
    /// The working folder: `metadata.working_dir`, otherwise `metadata.cwd`.
    pub cwd: Option<String>,
    /// `metadata.model`, as the JSON text in the line.
    pub model: Option<String>,
}

impl HeaderFacts {
    /// The facts of a scanned header on line `line`; `None` if its metadata is not an object.
    #[must_use]
    pub fn of(header: &Line<'_>, line: u64) -> Option<Self> {
        let members = &header.members;
        let metadata = members.metadata.filter(|metadata| metadata.is_object())?;
        let text = |name| Some(metadata.member(name)?.to_string_lossy()?.into_owned());
        let json = |name| metadata.member(name).map(|value| value.as_str().to_owned());
        Some(Self {
            line,
            session_id: members.session_id.and_then(Raw::as_string).map(Vec::from),
            current_id: match members.current_id {
                Some(id) if id.is_null() => CurrentId::Null,
                Some(id) => id.as_string().map_or(CurrentId::Absent, |id| CurrentId::Id(id.into())),
                None => CurrentId::Absent,
            },
            title: text("title").filter(|title| !title.is_empty()),
            created_at: json("created_at"),
            created_at_ms: text("created_at").and_then(|time| parse_timestamp(&time)),
            cwd: text("working_dir").or_else(|| text("cwd")),
            model: json("model"),
            metadata: metadata.as_str().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opal::Scanner;

    fn facts(text: &str) -> HeaderFacts {
        HeaderFacts::of(&Scanner::new().scan(text), 0).unwrap()
    }

    #[test]
    fn all_that_the_metadata_may_say() {
        let header = facts(
            r#"{"session_id":"s\ud800","current_id":"m","metadata":{"title":"T","created_at":"2026-02-12T00:00:00Z","working_dir":"/w","cwd":"/c","model":{"id":"x"}}}"#,
        );
        assert_eq!(header.session_id.as_deref(), Some(&b"s\xed\xa0\x80"[..]));
        assert_eq!(header.current_id, CurrentId::Id(b"m".to_vec()));
        assert_eq!(header.title.as_deref(), Some("T"));
        assert_eq!(header.created_at.as_deref(), Some(r#""2026-02-12T00:00:00Z""#));
        assert_eq!(header.created_at_ms, Some(1_770_854_400_000));
        assert_eq!(header.cwd.as_deref(), Some("/w"));
        assert_eq!(header.model.as_deref(), Some(r#"{"id":"x"}"#));
    }

    #[test]
    fn what_is_not_said() {
        let header = facts(r#"{"metadata":{"title":"","created_at":17,"cwd":"/c"}}"#);
        assert_eq!(header.current_id, CurrentId::Absent);
        assert_eq!((header.title, header.session_id, header.model), (None, None, None));
        assert_eq!((header.created_at.as_deref(), header.created_at_ms), (Some("17"), None));
        assert_eq!(header.cwd.as_deref(), Some("/c"));
        assert_eq!(facts(r#"{"metadata":{},"current_id":null}"#).current_id, CurrentId::Null);
        assert_eq!(facts(r#"{"metadata":{},"current_id":7}"#).current_id, CurrentId::Absent);
        assert_eq!(HeaderFacts::of(&Scanner::new().scan(r#"{"metadata":[]}"#), 0), None);
    }
}
