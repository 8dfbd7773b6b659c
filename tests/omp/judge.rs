//! Finds omp.

use std::path::{Path, PathBuf};

use leafline_judges::{Script, folder, is_to_be_asked, runs};

/// omp, ready to be asked.
pub(crate) fn omp() -> Option<Script> {
    omp_with(&["judge.mjs"])
}

/// omp with a folder in place of its own.
pub(crate) fn omp_in(agent: &Path) -> Option<Script> {
    omp_with(&["judge.mjs", "", agent.to_str().unwrap()])
}

fn omp_with(arguments: &[&str]) -> Option<Script> {
    let (folder, bun) = folder_and_bun();
    let installed = folder.join("node_modules");
    let has_omp = std::env::var_os("LEAFLINE_OMP").is_some_and(|omp| Path::new(&omp).is_dir())
        || installed.join("@oh-my-pi/pi-coding-agent").is_dir();
    let is_there = has_omp && runs(&bun);
    is_to_be_asked(is_there, "LEAFLINE_REQUIRE_OMP", "omp or bun is not in tests/omp-judge")
        .then(|| Script::new(bun, folder, arguments))
}

/// omp 14.9.9, the version whose rules are followed for versions before 15: `LEAFLINE_OMP_14` names its folder.
pub(crate) fn omp_14() -> Option<Script> {
    let (folder, bun) = folder_and_bun();
    let omp = std::env::var("LEAFLINE_OMP_14").ok().filter(|omp| Path::new(omp).is_dir());
    let is_there = omp.is_some() && runs(&bun);
    is_to_be_asked(is_there, "LEAFLINE_REQUIRE_OMP_14", "LEAFLINE_OMP_14 names no folder");
    omp.filter(|_| is_there).map(|omp| Script::new(bun, folder, &["judge.mjs", &omp]))
}

fn folder_and_bun() -> (PathBuf, PathBuf) {
    let folder = folder("omp-judge");
    let bun = Some(folder.join("node_modules/.bin/bun")).filter(|bun| bun.exists());
    (folder, bun.unwrap_or_else(|| PathBuf::from("bun")))
}
