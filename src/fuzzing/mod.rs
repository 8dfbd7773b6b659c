//! What the fuzzers in `fuzz/` run: each target takes any bytes, and panics if a rule does not hold for them. The tests here
//! run them over their seeds and mutations of these, so that they stay true without a fuzzer.

mod formats;
mod import;
mod migrations;
mod samples;
#[cfg(test)]
mod tests;
mod text;

use std::path::Path;

/// A function that a fuzzer runs, and inputs to begin with.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name of the fuzzer's program.
    pub name: &'static str,
    /// Panics if a rule does not hold for these bytes.
    pub run: fn(&[u8]),
    /// Inputs that say something to it.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: [Target; 8] = [
    Target { name: "lines", run: formats::lines, seeds: samples::with_two_bytes },
    Target { name: "scan", run: formats::scan, seeds: samples::files },
    Target { name: "json", run: text::json, seeds: samples::lines },
    Target { name: "references", run: text::references, seeds: samples::blobs },
    Target { name: "migrations", run: migrations::migrations, seeds: samples::with_family },
    Target { name: "records", run: crate::store::fuzzing::records, seeds: samples::values },
    Target { name: "journal", run: journal, seeds: crate::store::journal::fuzzing::seeds },
    Target { name: "import", run: import::import, seeds: samples::with_choices },
];

fn journal(data: &[u8]) {
    crate::store::journal::fuzzing::journal(data, folder().path());
}

/// A folder for the files of one input: in memory, if the system has such a place.
fn folder() -> tempfile::TempDir {
    let shared = Path::new("/dev/shm");
    let made = match shared.is_dir() {
        true => tempfile::tempdir_in(shared).or_else(|_| tempfile::tempdir()),
        false => tempfile::tempdir(),
    };
    made.expect("a temporary folder can be made")
}

/// Writes the seeds of all targets, each into a folder with its name.
///
/// # Errors
///
/// Those of the system.
pub fn write_seeds(folder: &Path) -> std::io::Result<()> {
    for target in TARGETS {
        let folder = folder.join(target.name);
        std::fs::create_dir_all(&folder)?;
        for (number, seed) in (target.seeds)().iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}

/// Runs a target by its name.
///
/// # Panics
///
/// If there is none, or if a rule does not hold.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.unwrap_or_else(|| panic!("there is no target {name}")).run)(data);
}
