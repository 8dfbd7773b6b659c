//! From a file's first bytes: is it a session of Claude Code.

use crate::claude::agent::{Agent, AgentFile};
use crate::claude::kind::RecordKind;
use crate::claude::record::Record;
use crate::claude::scanner::Scanner;
use crate::lines;
use crate::recover::recover;
use crate::scan::{Raw, Shape};
use crate::text::{decode, is_blank, trim_start_of_file};

/// How many objects without a mark of Claude Code a file may begin with. Real files have a handful at most, of types
/// that later versions added; a file of anything else should not be searched for long.
pub const MOST_UNMARKED: usize = 256;

/// What the start of a file shows of a session. Texts have U+FFFD for a lone surrogate; each is that of the first record
/// that has one, and may be absent where the bytes given hold none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detection {
    /// The ordinal of the first line that shows whose file it is, from 0.
    pub line: u64,
    /// `sessionId`. A file can hold the records of several sessions (observed).
    pub session_id: Option<String>,
    /// `version`, of the program.
    pub version: Option<String>,
    /// `cwd`: the working folder.
    pub cwd: Option<String>,
    /// `gitBranch`.
    pub git_branch: Option<String>,
    /// `timestamp`, in milliseconds since 1970.
    pub timestamp_ms: Option<i64>,
    /// The agent whose file it is, as far as the bytes given show; see [`AgentFile`].
    pub agent: Option<Agent>,
}

/// Why a file holds no session of Claude Code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotASession {
    /// There is nothing in it.
    #[error("the file is empty")]
    Empty,
    /// No line of it is a JSON object.
    #[error("no line of the file is a record")]
    NoRecord,
    /// The bytes given end before the first record does.
    #[error("the first {bytes} bytes of the file hold no whole record")]
    PrefixTooShort {
        /// How many bytes were looked at.
        bytes: usize,
    },
    /// It begins with the header of a pi or omp session.
    #[error("line {} is the header of a pi or omp session", line + 1)]
    PiOrOmp {
        /// The line's ordinal, from 0.
        line: u64,
    },
    /// It begins with the metadata of an Opal session.
    #[error("line {} is the metadata of an Opal session", line + 1)]
    Opal {
        /// The line's ordinal, from 0.
        line: u64,
    },
    /// It begins with the header of a Codex session.
    #[error("line {} is the header of a Codex session", line + 1)]
    Codex {
        /// The line's ordinal, from 0.
        line: u64,
    },
    /// None of its first records is one that Claude Code writes.
    #[error("none of the first {records} records is one of Claude Code's")]
    Unmarked {
        /// How many records were looked at.
        records: usize,
    },
}

/// Tells by its first bytes whether a file is a session of Claude Code, whatever it is called; a few hundred kilobytes
/// show enough.
///
/// `complete` says that `prefix` is the whole file, so that its last line counts without a terminator; otherwise a line
/// that the prefix cuts is left out.
///
/// It is one if a record among the first [`MOST_UNMARKED`] objects has the mark of one, and no header of another family
/// comes first (ours). Marks are
///
/// - a string `uuid` and a `parentUuid` or `isSidechain`; or, on a record of a type whose place is in the tree, a
///   `sessionId`, or a `message` and a `timestamp` (some writers leave the links out). What the program prints as JSON
///   while it runs has a `session_id` instead, and is no session;
/// - a `user` or `assistant` with a `message` and a string `sessionId`;
/// - a `summary` with a string `leafUuid`: a file of summaries only counts;
/// - a checkpoint with a string `messageId`; a `queue-operation` with its `operation`; a title, name, mode, pull request
///   or last prompt with the member that holds it;
/// - a malformed line of which a type, a uuid and a `parentUuid` can be [recovered](crate::recover).
///
/// Blank, malformed and scalar lines before it do no harm.
///
/// ```
/// use leafline_import::claude::{NotASession, detect};
///
/// let file = br#"{"type":"summary","summary":"Fix login","leafUuid":"c7f1"}"#;
/// assert_eq!(detect(file, true)?.line, 0);
///
/// let other = br#"{"type":"session","version":3,"id":"1f9d2a6b","cwd":"/work"}"#;
/// assert_eq!(detect(other, true), Err(NotASession::PiOrOmp { line: 0 }));
/// # Ok::<(), NotASession>(())
/// ```
///
/// # Errors
///
/// [`NotASession`], with the reason.
pub fn detect(prefix: &[u8], complete: bool) -> Result<Detection, NotASession> {
    if prefix.is_empty() && complete {
        return Err(NotASession::Empty);
    }
    let mut scanner = Scanner::new();
    let mut facts = Facts::default();
    let mut objects = 0;
    let mut started = false;
    for (line, bytes) in (0..).zip(lines::split(prefix)) {
        if !complete && !bytes.ends_with(b"\n") {
            break;
        }
        let text = decode(bytes);
        if is_blank(&text) {
            continue;
        }
        // As in pi's and omp's files, a BOM before the first record does no harm.
        let first = !std::mem::replace(&mut started, true);
        let text = if first { trim_start_of_file(&text) } else { &text };
        let record = scanner.scan(text);
        let is_marked = match record.scan().shape {
            Shape::Blank | Shape::Scalar => continue,
            Shape::Malformed => has_mark_in_pieces(bytes),
            Shape::Object => {
                objects += 1;
                if facts.line.is_none() {
                    refuse_other_families(&record, text, line, objects)?;
                }
                facts.observe(&record);
                facts.line.is_none() && has_mark(&record, text)
            }
        };
        if is_marked {
            facts.line.get_or_insert(line);
        }
        if objects == MOST_UNMARKED || facts.are_complete() {
            break;
        }
    }
    match (facts.line, objects) {
        (Some(line), _) => Ok(facts.detection(line)),
        (None, 0) if complete => Err(NotASession::NoRecord),
        (None, 0) => Err(NotASession::PrefixTooShort { bytes: prefix.len() }),
        (None, records) => Err(NotASession::Unmarked { records }),
    }
}

/// What is gathered until it is enough.
#[derive(Debug, Default)]
struct Facts {
    line: Option<u64>,
    session_id: Option<String>,
    version: Option<String>,
    cwd: Option<String>,
    git_branch: Option<String>,
    timestamp_ms: Option<i64>,
    agent: AgentFile,
}

impl Facts {
    fn observe(&mut self, record: &Record<'_>) {
        let keep = |fact: &mut Option<String>, found: Option<std::borrow::Cow<'_, str>>| {
            if fact.is_none() {
                *fact = found.map(String::from);
            }
        };
        let session_id = record.session_id();
        keep(&mut self.session_id, session_id.as_deref().map(String::from_utf8_lossy));
        // A summary's version is that of the format (document).
        if record.kind() != RecordKind::Summary {
            keep(&mut self.version, record.version());
        }
        keep(&mut self.cwd, record.cwd());
        keep(&mut self.git_branch, record.git_branch());
        self.timestamp_ms = self.timestamp_ms.or_else(|| record.timestamp_ms());
        self.agent.observe(record);
    }

    /// Whether more records can change nothing. As long as all entries are on a sidechain, they can.
    fn are_complete(&self) -> bool {
        let texts = [&self.session_id, &self.version, &self.cwd, &self.git_branch];
        self.line.is_some()
            && self.timestamp_ms.is_some()
            && texts.into_iter().all(Option::is_some)
            && self.agent.agent().is_none()
    }

    fn detection(self, line: u64) -> Detection {
        Detection {
            line,
            agent: self.agent.agent(),
            session_id: self.session_id,
            version: self.version,
            cwd: self.cwd,
            git_branch: self.git_branch,
            timestamp_ms: self.timestamp_ms,
        }
    }
}

fn refuse_other_families(
    record: &Record<'_>,
    text: &str,
    line: u64,
    objects: usize,
) -> Result<(), NotASession> {
    let members = &record.scan().members;
    match members.entry_type {
        Some(name) if name.is_text("session") && members.id.is_some_and(Raw::is_string) => {
            Err(NotASession::PiOrOmp { line })
        }
        Some(name) if name.is_text("session_meta") && is_codex_header(text) => {
            Err(NotASession::Codex { line })
        }
        None if objects == 1 && member(text, "metadata").is_some() && record.uuid().is_none() => {
            Err(NotASession::Opal { line })
        }
        _ => Ok(()),
    }
}

fn is_codex_header(text: &str) -> bool {
    let id = member(text, "payload").and_then(|payload| payload.member("id"));
    id.is_some_and(Raw::is_string)
}

fn member<'a>(text: &'a str, name: &str) -> Option<Raw<'a>> {
    Raw::parse(text).ok()?.member(name)
}

fn has_mark(record: &Record<'_>, text: &str) -> bool {
    let has = |name| member(text, name).is_some();
    let has_text = |name| member(text, name).is_some_and(Raw::is_string);
    let has_message = record.scan().members.message.is_some();
    let kind = record.kind();
    match kind {
        _ if record.uuid().is_some() => {
            record.has_parent_member()
                || record.has_sidechain_member()
                || kind.is_of_tree()
                    && !has("session_id")
                    && (record.has_session_member()
                        || has_message && record.scan().members.timestamp.is_some())
        }
        RecordKind::User | RecordKind::Assistant => has_message && record.session_id().is_some(),
        RecordKind::Summary => record.leaf_uuid().is_some(),
        RecordKind::Snapshot => record.snapshot_message_id().is_some() && has("snapshot"),
        RecordKind::FileHistorySnapshot | RecordKind::FileHistoryDelta => {
            record.snapshot_message_id().is_some()
        }
        RecordKind::QueueOperation => has_text("operation"),
        RecordKind::PermissionMode => has_text("permissionMode"),
        RecordKind::Mode => has_text("mode") && record.session_id().is_some(),
        RecordKind::LastPrompt => has_text("lastPrompt") || record.leaf_uuid().is_some(),
        RecordKind::AiTitle => record.ai_title().is_some(),
        RecordKind::CustomTitle => record.custom_title().is_some(),
        RecordKind::AgentName => record.agent_name().is_some(),
        RecordKind::PrLink => record.session_id().is_some(),
        _ => false,
    }
}

/// Whether a malformed line holds an entry of the tree.
fn has_mark_in_pieces(line: &[u8]) -> bool {
    recover(line).iter().any(|record| {
        record.uuid.is_some() && record.parent_uuid.is_some() && record.record_type.is_some()
    })
}

#[cfg(test)]
mod tests;
