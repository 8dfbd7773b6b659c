//! Which processes have a file open, as far as the system tells.

use std::path::Path;

/// The most processes that are named.
#[cfg(target_os = "linux")]
const MOST: usize = 5;

/// The other processes that have a file open, by their numbers and names, those of other users mostly not. It is not read who has
/// the lock: of locks of open files Linux tells no process.
#[cfg(target_os = "linux")]
pub(super) fn holders(path: &Path) -> Vec<String> {
    let Ok(path) = path.canonicalize() else { return Vec::new() };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let others = numbers.filter(|number| *number != std::process::id());
    let holding = others.filter(|number| {
        let files = std::fs::read_dir(format!("/proc/{number}/fd")).into_iter().flatten().flatten();
        // The names of the files alone: to look at a file may take long.
        files
            .map(|file| std::fs::read_link(file.path()))
            .any(|name| name.is_ok_and(|name| name == path))
    });
    let named =
        holding.map(|number| match std::fs::read_to_string(format!("/proc/{number}/comm")) {
            Ok(name) => format!("{number} ({})", name.trim_end()),
            Err(_) => number.to_string(),
        });
    named.take(MOST).collect()
}

/// Other systems are not asked.
#[cfg(not(target_os = "linux"))]
pub(super) fn holders(_: &Path) -> Vec<String> {
    Vec::new()
}
