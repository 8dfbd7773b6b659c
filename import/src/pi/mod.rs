//! What is pi's alone (pi session file document). What it shares with omp is in [`crate::pi_omp`].

use crate::pi_omp::SettingsEffect;
use crate::scan::Scan;

/// What a pi `model_change` sets: the one model, from `provider` and `modelId`.
#[must_use]
pub fn model_change<'a>(scan: &Scan<'a>) -> SettingsEffect<'a> {
    SettingsEffect::PiModel { provider: scan.members.provider, model_id: scan.members.model_id }
}
