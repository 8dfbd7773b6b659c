//! The header of a rollout: its `session_meta`.

use std::borrow::Cow;

use crate::codex::json::{Object, whole_number};
use crate::codex::kind::RecordKind;
use crate::codex::record::Record;
use crate::scan::Raw;
use crate::time::parse_timestamp;

/// How a rollout keeps its history.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum HistoryMode {
    /// Whole, in the file itself; a fork copies the lines of the session it comes from. Also if the header does not
    /// say.
    #[default]
    Legacy,
    /// With an `ordinal` on each line; a fork names the part of another rollout that precedes it ([`HistoryBase`]).
    Paginated,
}

/// The part of another rollout that precedes this one's own lines (`history_base`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryBase {
    /// The rollout, by the last id in its file name ([`RolloutName::rollout_id`](crate::codex::RolloutName)). The
    /// member is called `thread_id`, and usually it is one.
    pub rollout_id: String,
    /// The first ordinal after that part.
    pub end_ordinal: u64,
    /// The length of that part in bytes.
    pub end_byte: u64,
}

/// What the program knew of the Git repository (`git`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Git {
    /// `commit_hash`.
    pub commit: Option<String>,
    /// `branch`.
    pub branch: Option<String>,
    /// `repository_url`.
    pub repository_url: Option<String>,
}

/// The facts of a `session_meta`. Texts have U+FFFD for a lone surrogate; a member that is missing or of an unexpected
/// JSON type is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// `id`: the session's id (Codex calls it a thread).
    pub id: String,
    /// `session_id`: the id of the session that everything began with; in an agent's header, of the session that
    /// started the agent.
    pub session_id: Option<String>,
    /// `timestamp` of the payload, in milliseconds since 1970: when the session began.
    pub created_ms: Option<i64>,
    /// `cwd`: the working folder.
    pub cwd: Option<String>,
    /// `cli_version`: the program's version.
    pub version: Option<String>,
    /// `originator`: the client, such as `codex_cli_rs`, `codex_exec` or `codex_vscode`.
    pub originator: Option<String>,
    /// `source`: where it was started from, such as `cli`, `exec` or `vscode`; if that is an object, the name of its
    /// first member (`subagent`).
    pub source: Option<String>,
    /// `model_provider`.
    pub model_provider: Option<String>,
    /// `base_instructions.text`, or `instructions` of earlier versions.
    pub instructions: Option<String>,
    /// `git`.
    pub git: Option<Git>,
    /// `forked_from_id`: the session that this one was forked from.
    pub forked_from: Option<String>,
    /// `parent_thread_id`, or `source.subagent.thread_spawn.parent_thread_id`: the session that started this agent.
    pub parent: Option<String>,
    /// `agent_nickname`.
    pub agent_nickname: Option<String>,
    /// `agent_role`.
    pub agent_role: Option<String>,
    /// `history_mode`.
    pub history_mode: HistoryMode,
    /// `history_base`.
    pub history_base: Option<HistoryBase>,
}

fn text(raw: Option<Raw<'_>>) -> Option<String> {
    raw.and_then(Raw::to_string_lossy).map(Cow::into_owned)
}

impl Header {
    /// Reads the header from a record; `None` if the record is not a header or its payload has no string `id`.
    #[must_use]
    pub fn of(record: &Record<'_>) -> Option<Self> {
        if record.kind() != RecordKind::SessionMeta {
            return None;
        }
        let meta = Object::of(record.payload()?);
        let source = meta.value("source");
        let spawn = source.and_then(|source| source.member("subagent")?.member("thread_spawn"));
        let either = |name: &str| {
            let of_spawn = || spawn.and_then(|spawn| spawn.member(name));
            text(meta.value(name)).or_else(|| text(of_spawn()))
        };
        let base = meta.value("base_instructions").and_then(|base| base.member("text"));
        Some(Self {
            id: text(meta.get("id"))?,
            session_id: text(meta.get("session_id")),
            created_ms: text(meta.get("timestamp")).and_then(|time| parse_timestamp(&time)),
            cwd: text(meta.get("cwd")),
            version: text(meta.get("cli_version")),
            originator: text(meta.get("originator")),
            source: source.and_then(source_name),
            model_provider: text(meta.get("model_provider")),
            instructions: text(base).or_else(|| text(meta.get("instructions"))),
            git: meta.value("git").filter(|git| git.is_object()).map(git),
            forked_from: text(meta.get("forked_from_id")),
            parent: either("parent_thread_id"),
            agent_nickname: either("agent_nickname"),
            agent_role: either("agent_role"),
            history_mode: match meta.get("history_mode") {
                Some(mode) if mode.is_text("paginated") => HistoryMode::Paginated,
                _ => HistoryMode::Legacy,
            },
            history_base: meta.value("history_base").and_then(base_of),
        })
    }
}

fn source_name(source: Raw<'_>) -> Option<String> {
    if source.is_string() {
        return text(Some(source));
    }
    // `{"subagent": ...}`, `{"internal": ...}`, `{"custom": ...}`: the member's name.
    let known = ["subagent", "internal", "custom"];
    known.into_iter().find(|name| source.member(name).is_some()).map(str::to_owned)
}

fn git(git: Raw<'_>) -> Git {
    let [commit, branch, url] = git.members(["commit_hash", "branch", "repository_url"]);
    Git { commit: text(commit), branch: text(branch), repository_url: text(url) }
}

fn base_of(base: Raw<'_>) -> Option<HistoryBase> {
    let [id, ordinal, byte] =
        base.members(["thread_id", "end_ordinal_exclusive", "end_byte_offset"]);
    Some(HistoryBase {
        rollout_id: text(id)?,
        end_ordinal: whole_number(ordinal?)?,
        end_byte: whole_number(byte?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codex::Scanner;

    fn header(payload: &str) -> Option<Header> {
        let line = format!(
            r#"{{"timestamp":"2026-11-20T10:00:00.000Z","type":"session_meta","payload":{payload}}}"#
        );
        Header::of(&Scanner::new().scan(&line))
    }

    #[test]
    fn of_the_current_version() {
        let found = header(
            r#"{"session_id":"s","id":"f","forked_from_id":"p","timestamp":"1970-01-01T00:00:01Z","cwd":"/w","originator":"codex_exec","cli_version":"0.169.0","source":"exec","model_provider":"local","base_instructions":{"text":"Be brief."},"history_mode":"paginated","history_base":{"thread_id":"p","end_ordinal_exclusive":61,"end_byte_offset":27867},"git":{"commit_hash":"31a0","branch":"main","repository_url":null}}"#,
        )
        .unwrap();
        assert_eq!((found.id.as_str(), found.forked_from.as_deref()), ("f", Some("p")));
        assert_eq!((found.created_ms, found.source.as_deref()), (Some(1000), Some("exec")));
        assert_eq!(found.instructions.as_deref(), Some("Be brief."));
        assert_eq!(found.history_mode, HistoryMode::Paginated);
        let base = found.history_base.unwrap();
        assert_eq!((base.rollout_id.as_str(), base.end_ordinal, base.end_byte), ("p", 61, 27867));
        let git = found.git.unwrap();
        assert_eq!((git.branch.as_deref(), git.repository_url), (Some("main"), None));
    }

    #[test]
    fn of_an_agent() {
        let found = header(
            r#"{"session_id":"p","id":"a","source":{"subagent":{"thread_spawn":{"parent_thread_id":"p","depth":1,"agent_nickname":"Ampere","agent_role":"explorer"}}}}"#,
        )
        .unwrap();
        assert_eq!(
            (found.parent.as_deref(), found.source.as_deref()),
            (Some("p"), Some("subagent"))
        );
        assert_eq!(found.agent_nickname.as_deref(), Some("Ampere"));
        assert_eq!(found.agent_role.as_deref(), Some("explorer"));
        assert_eq!(found.forked_from, None);
    }

    #[test]
    fn of_an_early_version_and_of_none() {
        let found =
            header(r#"{"id":"a","instructions":"Be brief.","source":5,"git":null}"#).unwrap();
        assert_eq!((found.instructions.as_deref(), found.git), (Some("Be brief."), None));
        assert_eq!((found.history_mode, found.source), (HistoryMode::Legacy, None));
        assert_eq!((header("{}"), header(r#"{"id":5}"#), header("null")), (None, None, None));
    }
}
