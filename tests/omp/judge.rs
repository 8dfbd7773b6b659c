//! Finds omp.

use std::path::{Path, PathBuf};

use leafline_judges::{Script, folder, is_to_be_asked, runs};

/// omp, ready to be asked.
pub(crate) fn omp() -> Option<Script> {
    let folder = folder("omp-judge");
    let installed = folder.join("node_modules");
    let has_omp = std::env::var_os("LEAFLINE_OMP").is_some_and(|omp| Path::new(&omp).is_dir())
        || installed.join("@oh-my-pi/pi-coding-agent").is_dir();
    let bun = Some(installed.join(".bin/bun")).filter(|bun| bun.exists());
    let bun = bun.unwrap_or_else(|| PathBuf::from("bun"));
    let is_there = has_omp && runs(&bun);
    is_to_be_asked(is_there, "LEAFLINE_REQUIRE_OMP", "omp or bun is not in tests/omp-judge")
        .then(|| Script::new(bun, folder, &["judge.mjs"]))
}
