//! How Claude Code's files are read and named.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::claude::detect::{self, MOST_UNMARKED, NotASession};
use crate::claude::folder::{
    SUBAGENTS, is_project_folder, project_folder_name, session_of_agents_folder,
};
use crate::claude::leaf::{
    self, Boundary, LeafEntry, LeafFacts, LeafLookup, LeafPointer, LeafSource,
};
use crate::claude::reading;
use crate::claude::scanner::Scanner;
use crate::claude::usage;
use crate::claude::uuid_key;
use crate::effect::PointerKind;
use crate::family::Family;
use crate::file_name::FileName;
use crate::format::{ForkRule, Format, RecoveryRule};
use crate::kind::{EntryKind, MessageRole};
use crate::leaf::{Decided, SessionLines};
use crate::line::RecoveredLine;
use crate::migration::NoMigration;
use crate::recover::Recovered;
use crate::start::{Agent, Refusal, Start};
use crate::surroundings::Surroundings;
use crate::view::{self, Role, View};

/// The variable that names Claude Code's folder.
const FOLDER_VARIABLE: &str = "CLAUDE_CONFIG_DIR";

/// The folder of the project whose directory is `/`.
const ROOT_PROJECT: &str = "-";

/// Claude Code's rules.
#[derive(Debug)]
pub enum ClaudeCode {}

impl Format for ClaudeCode {
    type Scanner = Scanner;
    type Migration = NoMigration;
    type Writing = Self;

    const FOLDER: &'static [&'static str] = &[".claude", "projects"];
    const VARIABLES: &'static [&'static str] = &[FOLDER_VARIABLE];
    const RECOVERY: RecoveryRule = RecoveryRule::Usual;
    const FORKS: ForkRule = ForkRule::Prompts;
    const SIBLINGS_BY_TIME: bool = false;
    const SPLITS_MESSAGES: bool = true;
    const STARTS_AGENTS: bool = true;
    /// Long outputs of tools, in `<session>/tool-results` (observed).
    const KEEPS_FILES_BESIDE: bool = true;
    // Earlier states of files that it edited, pictures as they were pasted, lists of tasks, and files that were handed to it.
    const FOLDERS_BY_ID: &[&str] = &["file-history", "image-cache", "tasks", "uploads"];
    const PROMPTS: Option<&str> = Some("history.jsonl");
    /// The members that distinguish a prompt from the program's own words come after the text.
    const PREFIX_SHOWS_PROMPT: bool = false;

    /// Observed.
    fn named_folders(surroundings: &Surroundings<'_>) -> Option<Vec<PathBuf>> {
        Some(vec![surroundings.path(FOLDER_VARIABLE)?.join("projects")])
    }

    fn detect(prefix: &[u8], _: bool, complete: bool) -> Result<Start, Refusal> {
        let found = detect::detect(prefix, complete).map_err(|reason| Refusal {
            is_undecided: match reason {
                NotASession::PrefixTooShort { .. } => true,
                NotASession::Unmarked { records } => !complete && records < MOST_UNMARKED,
                _ => false,
            },
            is_certain: false,
            reason: reason.to_string(),
        })?;
        let agent =
            found.agent.map(|agent| (Agent { id: agent.id, is_certain: false }, agent.session_id));
        let (agent, parent_session) = agent.unzip();
        Ok(Start {
            named_session: found.session_id,
            version: found.version.unwrap_or_default(),
            may_tell_more: found.cwd.is_none(),
            cwd: found.cwd,
            created_ms: found.timestamp_ms,
            agent,
            parent_session: parent_session.flatten(),
            ..Start::new(Family::Claude)
        })
    }

    /// A file in `<session>/subagents`, at any depth below it, belongs to that session; any other whose first records are all
    /// on a sidechain, to the session that those name.
    fn placed(start: Start, path: &Path, _: &[u8], _: bool) -> Start {
        let folder = session_of_agents_folder(path);
        if folder.is_none() && start.agent.is_none() {
            return start;
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        of_agent(start, &stem, folder)
    }

    /// The name that Claude Code would give the file: of the session that the lines name, or of the agent.
    fn without_file(start: Start) -> Start {
        let agent = start.agent.as_ref().and_then(|agent| agent.id.as_ref());
        let named = agent.map(|id| format!("agent-{id}")).or_else(|| start.named_session.clone());
        let Some(name) = named else { return start };
        let id = Some(name.as_bytes().to_vec());
        match start.agent {
            Some(_) => Start { id, ..of_agent(start, &name, None) },
            None => Start { id, ..start },
        }
    }

    /// Observed.
    fn resume_command(id: &str, _: &Path) -> Option<Vec<OsString>> {
        Some(vec!["claude".into(), "--resume".into(), id.into()])
    }

    /// It looks in the folder of the project of the directory in which it is started. That of the root is the only one whose
    /// name stands for one directory.
    fn resume_directory(file: &Path) -> Option<PathBuf> {
        let project = file.parent()?.file_name()?;
        (project == ROOT_PROJECT).then(|| PathBuf::from("/"))
    }

    fn may_state_usage(kind: EntryKind, role: MessageRole) -> bool {
        usage::may_state_usage(kind, role)
    }

    fn recovered(recovered: Recovered<'_>) -> RecoveredLine<'_> {
        reading::recovered(recovered)
    }

    fn leaf<L: SessionLines>(
        lines: &mut L,
        facts: &crate::leaf::LeafFacts<'_>,
    ) -> Result<Decided, L::Error> {
        let facts = gathered(facts);
        let leaf = leaf::leaf(&mut Lookup(lines), &facts)?.map(|(leaf, _)| leaf);
        Ok(Decided { leaf, summary: summary(lines, &facts)? })
    }

    fn summary<L: SessionLines>(
        lines: &mut L,
        facts: &crate::leaf::LeafFacts<'_>,
    ) -> Result<Option<u64>, L::Error> {
        summary(lines, &gathered(facts))
    }

    /// The project's folder, and in it `<id>.jsonl`, which is `agent-<id>.jsonl` for an agent's (session JSONL format
    /// document; observed).
    fn file_path(name: &FileName<'_>) -> PathBuf {
        let folder = project_folder_name(name.cwd.unwrap_or_default());
        // A session that states no working directory has no project: its folder is that of the root.
        let folder = PathBuf::from(if folder.is_empty() { ROOT_PROJECT } else { &folder });
        match name.agent_of {
            Some(session) => {
                let session = FileName { id: session, ..*name }.plain_id();
                folder.join(session).join(SUBAGENTS).join(name.of_id())
            }
            None => folder.join(name.of_id()),
        }
    }

    /// In a project's folder, or in that of a session's agents.
    fn is_file_path(name: &FileName<'_>, below: &[&str]) -> bool {
        let Some((file, folders)) = below.split_last() else { return false };
        *file == name.of_id()
            && match folders {
                [project] => is_project_folder(project),
                [project, _, agents, ..] => is_project_folder(project) && *agents == SUBAGENTS,
                _ => false,
            }
    }

    fn is_usual_id(id: &[u8]) -> bool {
        uuid_key::bits_of_usual(id).is_some()
    }

    fn view(line: &str) -> View {
        view::claude(line)
    }

    fn view_message(message: &str) -> View {
        let entry = |entry_type| format!(r#"{{"type":"{entry_type}","message":{message}}}"#);
        match view::pi_omp(&entry("message")).role {
            Role::Assistant => view::claude(&entry("assistant")),
            _ => view::claude(&entry("user")),
        }
    }
}

/// The beginning of an agent's file of this name, without its extension. A folder for agents' files names their session.
fn of_agent(start: Start, stem: &str, folder: Option<String>) -> Start {
    let of_name = || Some(stem.strip_prefix("agent-")?.to_owned());
    let id = start.agent.and_then(|agent| agent.id).or_else(of_name);
    let is_certain = folder.is_some();
    let session = folder.or(start.parent_session).or_else(|| start.named_session.clone());
    Start {
        agent: Some(Agent { id, is_certain }),
        // A session's own file of which only a sidechain was read is not its own agent.
        parent_session: session.filter(|session| *session != stem),
        ..start
    }
}

/// What the rule of the leaf needs of what was gathered.
fn gathered(gathered: &crate::leaf::LeafFacts<'_>) -> LeafFacts {
    let mut facts = LeafFacts {
        last_message: gathered.last_message,
        last_sidechain_message: gathered.last_sidechain_message,
        last_entry: gathered.last_entry,
        end: gathered.lines,
        parents_first: gathered.is_regular,
        ..LeafFacts::default()
    };
    for pointer in gathered.pointers {
        let place = pointer.ordinal;
        let source = match pointer.kind {
            PointerKind::Summary => LeafSource::Summary,
            PointerKind::LastPrompt => LeafSource::LastPrompt,
            PointerKind::Boundary => {
                facts.boundaries.push(Boundary {
                    place,
                    logical_parent: pointer.target.map(<[u8]>::to_vec),
                    keeps_messages: pointer.keeps_messages,
                    message_before: pointer.message_before,
                });
                continue;
            }
        };
        let uuid = pointer.target.map(<[u8]>::to_vec);
        let is_explicit = pointer.is_explicit;
        facts.pointers.push(LeafPointer { source, place, uuid, is_explicit });
    }
    facts
}

fn summary<L: SessionLines>(lines: &mut L, facts: &LeafFacts) -> Result<Option<u64>, L::Error> {
    let index = leaf::summary(&mut Lookup(lines), facts)?;
    Ok(index.and_then(|index| facts.pointers.get(index)).map(|pointer| pointer.place))
}

/// A session's lines, as the rule of the leaf looks them up.
struct Lookup<'l, L>(&'l mut L);

impl<L: SessionLines> LeafLookup for Lookup<'_, L> {
    type Error = L::Error;

    fn find(&mut self, uuid: &[u8]) -> Result<Option<u64>, L::Error> {
        self.0.find(uuid)
    }

    fn entry(&mut self, place: u64) -> Result<Option<LeafEntry>, L::Error> {
        let node = self.0.node(place)?;
        Ok(node.kind.is_entry().then(|| LeafEntry {
            parent: node.parent.filter(|&parent| parent != place),
            is_message: node.kind == EntryKind::Message,
            is_model: node.role == MessageRole::Assistant,
            is_prompt: node.role == MessageRole::User,
            is_system: matches!(node.kind, EntryKind::System | EntryKind::Compaction),
            is_sidechain: node.is_sidechain,
            time_ms: node.time_ms,
        }))
    }
}
