//! Where the real programs are that `pins.txt` names.

use std::path::PathBuf;

const PINS: &str = include_str!("../pins.txt");

/// A program that `./setup` installs for all clones.
#[derive(Debug)]
pub struct Installed {
    /// Everything that is installed for it.
    pub folder: PathBuf,
    /// The first of its packages, if npm installs it.
    pub package: PathBuf,
}

/// Finds a program by its name in `pins.txt`; it may not be installed.
///
/// # Panics
///
/// If `pins.txt` does not have the name.
pub fn installed(name: &str) -> Installed {
    let mut words = PINS.lines().map(str::split_whitespace);
    let pin = words.find_map(|mut words| (words.next()? == name).then(|| words.nth(1)).flatten());
    let pin = pin.unwrap_or_else(|| panic!("{name} is not in pins.txt"));
    let (package, version) = pin.rsplit_once('@').unwrap();
    let set = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty());
    let cache = set("XDG_CACHE_HOME").map(PathBuf::from).unwrap_or_else(|| {
        PathBuf::from(set("HOME").or_else(|| set("USERPROFILE")).unwrap_or_default()).join(".cache")
    });
    let folder = cache.join("leafline").join(name).join(version);
    Installed { package: folder.join("node_modules").join(package), folder }
}
