//! Finds omp.

use std::path::{Path, PathBuf};

use leafline_judges::{Script, bun, folder, installed, is_to_be_asked, runs};

/// omp, ready to be asked.
pub(crate) fn omp() -> Option<Script> {
    omp_with(&["judge.mjs"])
}

/// omp with a folder in place of its own.
pub(crate) fn omp_in(agent: &Path) -> Option<Script> {
    omp_with(&["judge.mjs", "", agent.to_str().unwrap()])
}

fn omp_with(arguments: &[&str]) -> Option<Script> {
    let omp = std::env::var_os("LEAFLINE_OMP")
        .map_or_else(|| installed("omp").package, |named| PathBuf::from(&named));
    let is_there = omp.is_dir() && runs(bun());
    let missing = format!("{} or bun is not there", omp.display());
    is_to_be_asked(is_there, "LEAFLINE_REQUIRE_OMP", &missing)
        .then(|| Script::new(bun(), folder("omp-judge"), arguments))
}

/// omp 14.9.9, the version whose rules are followed for versions before 15: `LEAFLINE_OMP_14` names its folder.
pub(crate) fn omp_14() -> Option<Script> {
    let omp = std::env::var("LEAFLINE_OMP_14").ok().filter(|omp| Path::new(omp).is_dir());
    let is_there = omp.is_some() && runs(bun());
    is_to_be_asked(is_there, "LEAFLINE_REQUIRE_OMP_14", "LEAFLINE_OMP_14 names no folder");
    omp.filter(|_| is_there)
        .map(|omp| Script::new(bun(), folder("omp-judge"), &["judge.mjs", &omp]))
}
