//! Codex's rules.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::codex::file_name::{RolloutName, is_early};
use crate::codex::header::Header;
use crate::codex::names::{INDEX_FILE, name_in};
use crate::codex::scanner::Scanner;
use crate::codex::usage;
use crate::codex::{NotASession, detect, view};
use crate::effect::TITLE_BESIDE;
use crate::family::Family;
use crate::file_name::FileName;
use crate::format::{EntryIds, Format, RecoveryRule};
use crate::kind::{EntryKind, MessageRole};
use crate::left_out::LeftOutReason;
use crate::migration::NoMigration;
use crate::start::{Agent, Refusal, Start};
use crate::surroundings::Surroundings;
use crate::text::decode;
use crate::time::format_timestamp;
use crate::view::View;
use crate::writing::NoWriting;

/// The folder of the sessions in Codex's own.
const SESSIONS: &str = "sessions";

/// The folder of archived sessions (`codex archive`).
const ARCHIVED: &str = "archived_sessions";

/// The variable that names Codex's folder.
const HOME_VARIABLE: &str = "CODEX_HOME";

/// The length of the part of a time that is in a rollout's file name.
const TIME: usize = "2026-11-20T10:00:00".len();

/// Codex's rules.
#[derive(Debug)]
pub enum Codex {}

impl Format for Codex {
    type Scanner = Scanner;
    type Migration = NoMigration;
    type Writing = NoWriting;

    const FOLDER: &'static [&'static str] = &[".codex", SESSIONS];
    const ASIDE: &'static [&'static [&'static str]] = &[&[".codex", ARCHIVED]];
    const VARIABLES: &'static [&'static str] = &[HOME_VARIABLE];
    const NO_SESSIONS: &'static [&'static str] = &[INDEX_FILE];
    const ENTRY_IDS: EntryIds = EntryIds::Ordinals;
    /// Codex skips a torn line.
    const RECOVERY: RecoveryRule = RecoveryRule::Never;
    const STARTS_AGENTS: bool = true;
    /// Whether a prompt is the user's or the program's also depends on the end of the text.
    const PREFIX_SHOWS_PROMPT: bool = false;

    fn may_state_usage(kind: EntryKind, role: MessageRole) -> bool {
        usage::may_state_usage(kind, role)
    }

    /// Observed.
    fn named_folders(surroundings: &Surroundings<'_>) -> Option<Vec<PathBuf>> {
        let home = surroundings.path(HOME_VARIABLE)?;
        Some(vec![home.join(SESSIONS), home.join(ARCHIVED)])
    }

    /// Observed.
    fn left_out(name: &str) -> Option<LeftOutReason> {
        if name.starts_with("rollout-") && name.ends_with(".jsonl.zst") {
            return Some(LeftOutReason::Compressed);
        }
        is_early(name).then_some(LeftOutReason::EarlyVersion)
    }

    fn detect(prefix: &[u8], _: bool, complete: bool) -> Result<Start, Refusal> {
        let found = detect(prefix, complete).map_err(|reason| Refusal {
            is_undecided: matches!(reason, NotASession::PrefixTooShort { .. }),
            is_certain: matches!(
                reason,
                NotASession::Compressed
                    | NotASession::EarlyVersion { .. }
                    | NotASession::HeaderWithoutId { .. }
            ),
            reason: reason.to_string(),
        })?;
        Ok(begun_by(found.header))
    }

    /// Adds the rollout id from the file's name, as a reverted session has two files with the header's id, and the
    /// session's name, from the index beside the sessions' folder.
    fn placed(start: Start, path: &Path, _: &[u8], _: bool) -> Start {
        let file_name = path.file_name().and_then(|name| name.to_str());
        let rollout = file_name.and_then(RolloutName::parse).map(|name| name.rollout_id);
        let id = rollout.map(|id| id.as_bytes().to_vec()).or(start.id);
        let session = start.named_session.as_deref();
        let name = index_beside(path).zip(session);
        let name = name.and_then(|(index, session)| name_in(&index, session));
        let title_rank = if name.is_some() { TITLE_BESIDE } else { start.title_rank };
        Start { id, title: name.or(start.title), title_rank, ..start }
    }

    /// Observed.
    fn resume_command(id: &str, _: &Path) -> Option<Vec<OsString>> {
        Some(vec!["codex".into(), "resume".into(), id.into()])
    }

    /// Codex refuses to resume an archived session (observed).
    fn before_resuming(id: &str, file: &Path) -> Option<Vec<OsString>> {
        let is_archived = file.parent()?.file_name()? == ARCHIVED;
        is_archived.then(|| vec!["codex".into(), "unarchive".into(), id.into()])
    }

    /// `<year>/<month>/<day>/rollout-<time>-<id>.jsonl` (observed; Codex uses the machine's time zone, this uses UTC).
    fn file_path(name: &FileName<'_>) -> PathBuf {
        let Some(time) = name.created_ms.map(format_timestamp) else {
            return PathBuf::from(name.of_id());
        };
        let time = time.get(..TIME).unwrap_or(&time);
        let mut path: PathBuf = time.split('T').next().unwrap_or_default().split('-').collect();
        let rollout = name.plain_id();
        let session = name.header.and_then(session_of).filter(|session| *session != name.id);
        let id = match session {
            Some(session) => format!("{}_{rollout}", FileName { id: &session, ..*name }.plain_id()),
            None => rollout,
        };
        path.push(format!("rollout-{}-{id}.jsonl", time.replace(':', "-")));
        path
    }

    fn is_file_path(_: &FileName<'_>, below: &[&str]) -> bool {
        let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
        match below {
            [year, month, day, file] => {
                [year, month, day].into_iter().all(is_number) && RolloutName::parse(file).is_some()
            }
            [file] => RolloutName::parse(file).is_some(),
            _ => false,
        }
    }

    /// A reverted session goes on in a file with both ids in its name; its header names the file before it.
    fn is_named_by_header(name: &FileName<'_>) -> bool {
        name.has_parent
    }

    fn view(line: &str) -> View {
        view(line)
    }

    /// A message is an item.
    fn view_message(message: &str) -> View {
        view(&format!(r#"{{"type":"response_item","payload":{message}}}"#))
    }
}

fn begun_by(header: Header) -> Start {
    let base = header.history_base.map(|base| base.rollout_id);
    let agent = header.parent.is_some().then(|| Agent {
        id: header.agent_nickname.or(header.agent_role).or_else(|| Some(header.id.clone())),
        is_certain: true,
    });
    Start {
        id: Some(header.id.clone().into_bytes()),
        named_session: Some(header.id),
        version: header.version.unwrap_or_default(),
        cwd: header.cwd,
        created_ms: header.created_ms,
        parent_session: header.parent.or(header.forked_from).or(base),
        agent,
        ..Start::new(Family::Codex)
    }
}

/// The id in a header's line.
fn session_of(line: &[u8]) -> Option<String> {
    Header::of(&Scanner::new().scan(&decode(line))).map(|header| header.id)
}

/// The index of names beside the folder that contains a rollout, existing or not.
fn index_beside(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let is_of_sessions = |folder: &&Path| {
        folder.file_name().is_some_and(|name| name == SESSIONS || name == ARCHIVED)
    };
    let folder = path.ancestors().skip(1).find(is_of_sessions)?;
    Some(folder.with_file_name(INDEX_FILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &str = "0199f2b4-5c1e-7a30-9c55-3b1f0e8d2a61";
    const ROLLOUT: &str = "0199f2b5-0000-7a30-9c55-3b1f0e8d2a61";

    fn header(members: &str) -> String {
        format!(
            r#"{{"timestamp":"t","type":"session_meta","payload":{{"id":"{SESSION}"{members}}}}}"#
        )
    }

    fn start(members: &str) -> Start {
        Codex::detect(header(members).as_bytes(), true, true).unwrap()
    }

    fn parent(members: &str) -> Option<String> {
        start(members).parent_session
    }

    #[test]
    fn the_file_name_identifies_the_rollout() {
        let id = |path: &str| start("").placed(Path::new(path), b"", false).id.unwrap();
        let name = format!("rollout-2026-11-20T10-00-00-{SESSION}");
        assert_eq!(id(&format!("/s/{name}.jsonl")), SESSION.as_bytes());
        assert_eq!(id(&format!("/s/{name}_{ROLLOUT}.jsonl")), ROLLOUT.as_bytes());
        assert_eq!(id("/s/copy.jsonl"), SESSION.as_bytes());
    }

    #[test]
    fn compressed_and_early_files_are_left_out() {
        let name = format!("rollout-2026-11-20T10-00-00-{SESSION}");
        let early = format!("rollout-2025-04-17-{SESSION}");
        let (compressed, of_early) = (LeftOutReason::Compressed, LeftOutReason::EarlyVersion);
        for (name, reason) in [
            (format!("{name}.jsonl.zst"), Some(compressed)),
            (format!("{name}_{ROLLOUT}.jsonl.zst"), Some(compressed)),
            (format!("{early}.json"), Some(of_early)),
            (format!("{name}.jsonl"), None),
            (format!("{name}.zst"), None),
            (format!("{early}.jsonl"), None),
            ("rollout-plan.json".to_owned(), None),
            ("notes.jsonl.zst".to_owned(), None),
        ] {
            assert_eq!(Codex::left_out(&name), reason, "{name}");
        }
    }

    #[test]
    fn what_a_session_comes_from() {
        let base =
            r#","history_base":{"thread_id":"b","end_ordinal_exclusive":1,"end_byte_offset":2}"#;
        assert_eq!(parent(""), None);
        assert_eq!(parent(base).as_deref(), Some("b"));
        assert_eq!(parent(&format!(r#","forked_from_id":"f"{base}"#)).as_deref(), Some("f"));
        let agent = r#","forked_from_id":"f","parent_thread_id":"p","agent_role":"explorer""#;
        assert_eq!(parent(agent).as_deref(), Some("p"));
        let id = |members: &str| start(members).agent.unwrap().id.unwrap();
        assert_eq!(id(agent), "explorer");
        assert_eq!(id(&format!(r#"{agent},"agent_nickname":"Ampere""#)), "Ampere");
        assert_eq!(id(r#","parent_thread_id":"p""#), SESSION);
    }

    #[test]
    fn files_are_named_as_codex_names_them() {
        let path = |id: &str, header: Option<&[u8]>, created_ms| {
            let name = FileName {
                id,
                cwd: Some("/w"),
                created_ms,
                has_parent: false,
                agent_of: None,
                agent: None,
                header,
            };
            Codex::file_path(&name).to_string_lossy().replace('\\', "/")
        };
        let time = Some(1_795_168_800_123);
        let folder = "2026/11/20/rollout-2026-11-20T10-00-00";
        assert_eq!(path(SESSION, None, time), format!("{folder}-{SESSION}.jsonl"));
        let header = header("");
        let reverted = format!("{folder}-{SESSION}_{ROLLOUT}.jsonl");
        assert_eq!(path(ROLLOUT, Some(header.as_bytes()), time), reverted);
        assert_eq!(
            path(SESSION, Some(header.as_bytes()), time),
            format!("{folder}-{SESSION}.jsonl")
        );
        assert_eq!(path("../x", None, time), format!("{folder}-..-x.jsonl"));
        assert_eq!(path("a", None, None), "a.jsonl");
    }

    #[test]
    fn names_stand_beside_the_folder() {
        let index = |path: &str| index_beside(Path::new(path));
        let expected = Some(PathBuf::from("/home/me/.codex/session_index.jsonl"));
        assert_eq!(index("/home/me/.codex/sessions/2026/11/20/rollout-x.jsonl"), expected);
        assert_eq!(index("/home/me/.codex/archived_sessions/rollout-x.jsonl"), expected);
        assert_eq!(index("/home/me/sessions.jsonl"), None);
    }
}
