//! What the fuzzers in `fuzz/` run: each target takes any bytes, and panics if a rule does not hold for them. The tests here
//! run them over their seeds and mutations of these, so that they stay true without a fuzzer.

mod formats;
mod samples;
#[cfg(test)]
mod tests;

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
pub const TARGETS: [Target; 2] = [
    Target { name: "lines", run: formats::lines, seeds: samples::with_two_bytes },
    Target { name: "scan", run: formats::scan, seeds: samples::files },
];

/// Runs a target by its name.
///
/// # Panics
///
/// If there is none, or if a rule does not hold.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.unwrap_or_else(|| panic!("there is no target {name}")).run)(data);
}
