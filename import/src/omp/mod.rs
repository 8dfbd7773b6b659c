//! What only omp has (omp session storage document). What it shares with pi is in [`crate::pi_omp`].

mod agents;
mod folders;

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::family::{Family, Migration};
use crate::file_name::FileName;
use crate::format::Format;
use crate::kind::{EntryKind, MessageRole};
use crate::line::RecoveredLine;
use crate::pi_omp::{self, SettingsEffect, VersionMigration};
use crate::recover::Recovered;
use crate::scan::{Raw, Scan, Scanner};
use crate::start::{Refusal, Start};
use crate::surroundings::Surroundings;
use crate::text::trim;
use crate::view::{self, View};

/// omp's rules.
#[derive(Debug)]
pub enum Omp {}

impl Format for Omp {
    type Scanner = Scanner;
    type Migration = VersionMigration;
    type Writing = Self;

    const FOLDER: &'static [&'static str] = &[".omp", "agent", "sessions"];
    const VARIABLES: &'static [&'static str] = folders::VARIABLES;
    const KIN: &'static [Family] = &[Family::Pi];
    /// Observed.
    const READS_FIRST_RECORD: bool = true;
    /// What it calls artifacts: whole outputs of tools, and what agents answered (observed).
    const KEEPS_FILES_BESIDE: bool = true;
    const STARTS_AGENTS: bool = true;
    const MADE_UP: &'static [&'static str] = pi_omp::MADE_UP;

    fn detect(prefix: &[u8], is_chosen: bool, complete: bool) -> Result<Start, Refusal> {
        pi_omp::start(Family::Omp, (prefix, is_chosen, complete), Migration::Omp)
    }

    fn placed(start: Start, path: &Path, _: &[u8], _: bool) -> Start {
        agents::placed(start, path)
    }

    fn may_state_usage(kind: EntryKind, role: MessageRole) -> bool {
        pi_omp::may_state_usage(kind, role)
    }

    fn recovered(recovered: Recovered<'_>) -> RecoveredLine<'_> {
        pi_omp::recovered(recovered)
    }

    /// Observed.
    fn resume_command(_: &str, file: &Path) -> Option<Vec<OsString>> {
        Some(vec!["omp".into(), "--resume".into(), file.into()])
    }

    fn file_path(name: &FileName<'_>) -> PathBuf {
        match (name.agent_of, Self::agent_file(name)) {
            (Some(session), Some(agent)) => {
                let session = pi_omp::file_path(&FileName { id: session, ..*name });
                session.with_extension("").join(agent)
            }
            _ => pi_omp::file_path(name),
        }
    }

    /// omp names the folder of a directory in the home folder, or in the folder of temporary files, relative to it (observed). On
    /// another machine such a name would mean another directory, so exports use the absolute form.
    fn file_at_home(name: &FileName<'_>, surroundings: &Surroundings<'_>) -> PathBuf {
        let path = Self::file_path(name);
        let below = path.components().skip(1);
        let folder = folders::of_directory(name.cwd.unwrap_or_default(), surroundings);
        std::iter::once(OsStr::new(&folder)).chain(below.map(|part| part.as_os_str())).collect()
    }

    fn is_file_path(name: &FileName<'_>, below: &[&str]) -> bool {
        match (name.agent_of, Self::agent_file(name), below) {
            (Some(session), Some(agent), [folder, of_session, in_it @ ..]) => {
                let session = FileName { id: session, ..*name };
                pi_omp::is_file_path(&session, &[folder, &format!("{of_session}.jsonl")])
                    && in_it.iter().collect::<PathBuf>() == agent
            }
            _ => pi_omp::is_file_path(name, below),
        }
    }

    fn agent_file(name: &FileName<'_>) -> Option<PathBuf> {
        name.agent_of.and(name.agent).map(agents::file)
    }

    fn named_folders(surroundings: &Surroundings<'_>) -> Option<Vec<PathBuf>> {
        Some(folders::folders(surroundings))
    }

    /// `.omp/agent/blobs` next to `.omp/agent/sessions` (omp session storage document), and the same of other folders of
    /// agents and of the `omp/sessions` of an export.
    fn blobs_folder(path: &Path, named: &[PathBuf]) -> Option<PathBuf> {
        let folder: PathBuf = Self::FOLDER.iter().collect();
        let is_named = path.ancestors().any(|above| named.iter().any(|one| one == above));
        let is_sessions = |above: &&Path| above.ends_with(&folder) || above.ends_with(EXPORTED);
        let sessions = path.ancestors().find(is_sessions);
        let of_agent = named.last().filter(|_| is_named).map(PathBuf::as_path);
        Some(sessions.or(of_agent)?.with_file_name("blobs"))
    }

    fn view(line: &str) -> View {
        view::pi_omp(line)
    }

    fn view_message(message: &str) -> View {
        pi_omp::view_message(message)
    }
}

/// Whether a path goes through the folder in which omp keeps everything.
pub(crate) fn is_in_folder(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == ".omp")
}

/// The sessions in a folder of exports.
const EXPORTED: &str = "omp/sessions";

/// The role a model is for when none is named.
pub const DEFAULT_ROLE: &str = "default";

/// Record types that omp writes and pi does not.
const OWN_TYPES: [&str; 10] = [
    "title",
    "mode_change",
    "ttsr_injection",
    "session_init",
    "service_tier_change",
    "title_change",
    "credential_pin",
    "reset_boundary",
    "mcp_tool_selection",
    "model_usage",
];

/// Whether a record shows that omp wrote the file: a type that only omp has, a header with a title, a model change that
/// names model and role in omp's way, or a `fromExtension`.
#[must_use]
pub fn is_mark(scan: &Scan<'_>) -> bool {
    let members = &scan.members;
    let Some(entry_type) = members.entry_type.and_then(Raw::to_string_lossy) else {
        return false;
    };
    match &*entry_type {
        "session" => members.title.is_some() || members.title_source.is_some(),
        "model_change" => {
            members.model.is_some() && members.provider.is_none() && members.model_id.is_none()
        }
        name => OWN_TYPES.contains(&name) || members.from_extension.is_some(),
    }
}

/// The title that a title line sets; an empty one takes the header's away. `None` if the line has none and leaves the
/// header's (observed).
pub(crate) fn title_of_slot(scan: &Scan<'_>) -> Option<Option<String>> {
    let title = scan.members.title.filter(|title| title.is_string())?;
    let title = title.to_string_lossy().map(|title| trim(&title).to_owned());
    Some(title.filter(|title| !title.is_empty()))
}

/// The effect of an omp `model_change`: the model of one role.
///
/// Files of the older omp document name `provider` and `modelId` as pi does; they count as `provider/modelId` for the
/// default role. A change that names no model has no effect.
#[must_use]
pub fn model_change<'a>(scan: &Scan<'a>) -> SettingsEffect<'a> {
    let members = &scan.members;
    let text = |raw: Option<Raw<'a>>| raw.and_then(Raw::to_string_lossy);
    let model = match (text(members.model), text(members.provider), text(members.model_id)) {
        (Some(model), _, _) if !model.is_empty() => model,
        (None, Some(provider), Some(model_id)) => Cow::Owned(format!("{provider}/{model_id}")),
        _ => return SettingsEffect::None,
    };
    SettingsEffect::OmpModel {
        role: text(members.role).unwrap_or(Cow::Borrowed(DEFAULT_ROLE)),
        model,
    }
}
