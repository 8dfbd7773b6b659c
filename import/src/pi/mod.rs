//! What only pi has (pi session file document). What it shares with omp is in [`crate::pi_omp`].

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::family::{Family, Migration};
use crate::file_name::FileName;
use crate::format::Format;
use crate::kind::{EntryKind, MessageRole};
use crate::line::RecoveredLine;
use crate::omp;
use crate::pi_omp::{self, SettingsEffect, VersionMigration};
use crate::recover::Recovered;
use crate::scan::{Scan, Scanner};
use crate::start::{Refusal, Start};
use crate::surroundings::Surroundings;
use crate::view::{self, View};

/// The variable that names the agent's folder, which has one for the sessions.
const AGENT_VARIABLE: &str = "PI_CODING_AGENT_DIR";

/// The variable that names the folder of the sessions itself.
const SESSIONS_VARIABLE: &str = "PI_CODING_AGENT_SESSION_DIR";

/// pi's rules.
#[derive(Debug)]
pub enum Pi {}

impl Format for Pi {
    type Scanner = Scanner;
    type Migration = VersionMigration;
    type Writing = Self;

    const FOLDER: &'static [&'static str] = &[".pi", "agent", "sessions"];
    const VARIABLES: &'static [&'static str] = &[SESSIONS_VARIABLE, AGENT_VARIABLE];
    const KIN: &'static [Family] = &[Family::Omp];
    const MADE_UP: &'static [&'static str] = pi_omp::MADE_UP;

    /// Observed of pi 0.73.1 and 0.87.1.
    fn named_folders(surroundings: &Surroundings<'_>) -> Option<Vec<PathBuf>> {
        let sessions = surroundings.path_from_home(SESSIONS_VARIABLE);
        let agent = surroundings.path_from_home(AGENT_VARIABLE);
        if sessions.is_none() && agent.is_none() {
            return None;
        }
        let usual = || surroundings.home().join(".pi").join("agent");
        let in_agents = agent.unwrap_or_else(usual).join("sessions");
        Some(sessions.into_iter().chain([in_agents]).collect())
    }

    fn detect(prefix: &[u8], is_chosen: bool, complete: bool) -> Result<Start, Refusal> {
        pi_omp::start(Family::Pi, (prefix, is_chosen, complete), Migration::Pi)
    }

    /// A session that does not show its family is omp's if it is in omp's folder: omp's early versions wrote exactly
    /// what pi writes.
    fn placed(start: Start, path: &Path, prefix: &[u8], is_chosen: bool) -> Start {
        if is_chosen || !omp::is_in_folder(path) {
            return start;
        }
        match omp::Omp::detect(prefix, true, false) {
            Ok(of_omp) => omp::Omp::placed(of_omp, path, prefix, is_chosen),
            Err(_) => start,
        }
    }

    fn may_state_usage(kind: EntryKind, role: MessageRole) -> bool {
        pi_omp::may_state_usage(kind, role)
    }

    fn recovered(recovered: Recovered<'_>) -> RecoveredLine<'_> {
        pi_omp::recovered(recovered)
    }

    /// Observed.
    fn resume_command(_: &str, file: &Path) -> Option<Vec<OsString>> {
        Some(vec!["pi".into(), "--session".into(), file.into()])
    }

    fn file_path(name: &FileName<'_>) -> PathBuf {
        pi_omp::file_path(name)
    }

    fn is_file_path(name: &FileName<'_>, below: &[&str]) -> bool {
        pi_omp::is_file_path(name, below)
    }

    fn view(line: &str) -> View {
        view::pi_omp(line)
    }

    fn view_message(message: &str) -> View {
        pi_omp::view_message(message)
    }
}

/// The effect of a pi `model_change`: the only model, from `provider` and `modelId`.
#[must_use]
pub fn model_change<'a>(scan: &Scan<'a>) -> SettingsEffect<'a> {
    SettingsEffect::PiModel { provider: scan.members.provider, model_id: scan.members.model_id }
}
