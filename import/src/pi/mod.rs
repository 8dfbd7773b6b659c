//! What only pi has (pi session file document). What it shares with omp is in [`crate::pi_omp`].

use std::path::{Path, PathBuf};

use crate::family::{Family, Migration};
use crate::file_name::FileName;
use crate::format::Format;
use crate::line::RecoveredLine;
use crate::omp;
use crate::pi_omp::{self, SettingsEffect, VersionMigration};
use crate::recover::Recovered;
use crate::scan::{Scan, Scanner};
use crate::start::{Refusal, Start};
use crate::view::{self, View};

/// pi's rules.
#[derive(Debug)]
pub enum Pi {}

impl Format for Pi {
    type Scanner = Scanner;
    type Migration = VersionMigration;
    type Writing = Self;

    const FOLDER: &'static [&'static str] = &[".pi", "agent", "sessions"];
    const KIN: &'static [Family] = &[Family::Omp];
    const MADE_UP: &'static [&'static str] = pi_omp::MADE_UP;

    fn detect(prefix: &[u8], is_chosen: bool, complete: bool) -> Result<Start, Refusal> {
        pi_omp::start(Family::Pi, (prefix, is_chosen, complete), Migration::Pi)
    }

    /// A session that does not show its family is omp's if it is in omp's folder: omp's early versions wrote exactly
    /// what pi writes.
    fn placed(start: Start, path: &Path, prefix: &[u8], is_chosen: bool) -> Start {
        if is_chosen || !omp::is_in_folder(path) {
            return start;
        }
        omp::Omp::detect(prefix, true, false).unwrap_or(start)
    }

    fn recovered(recovered: Recovered<'_>) -> RecoveredLine<'_> {
        pi_omp::recovered(recovered)
    }

    fn file_path(name: &FileName<'_>) -> PathBuf {
        pi_omp::file_path(name)
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
