//! Where omp keeps its sessions (observed of omp 18.2.3).

use std::path::{Path, PathBuf};

use crate::pi_omp::folder_name;
use crate::surroundings::Surroundings;

/// The variables that omp heeds.
pub(super) const VARIABLES: &[&str] = &[
    "PI_CODING_AGENT_SESSION_DIR",
    "PI_CODING_AGENT_DIR",
    "PI_CONFIG_DIR",
    "OMP_PROFILE",
    "PI_PROFILE",
    "XDG_DATA_HOME",
];

/// The folder of a profile, in omp's own and in that of `XDG_DATA_HOME`.
const PROFILES: &str = "profiles";

/// The folders of sessions: the one that is named, and the one in the agent's folder.
///
/// The agent's folder is that of the profile, if there is one; else the one that `PI_CODING_AGENT_DIR` names, unless it is
/// that of the profile in `PI_PROFILE` which an empty `OMP_PROFILE` takes back; else `agent` in omp's own. If it is none
/// that was named, `omp` in `XDG_DATA_HOME` comes before it where that exists.
pub(super) fn folders(surroundings: &Surroundings<'_>) -> Vec<PathBuf> {
    let root = surroundings.path("PI_CONFIG_DIR").unwrap_or_else(|| ".omp".into());
    // omp appends it to the home folder, even if it is absolute.
    let root = surroundings.home().join(root.strip_prefix("/").unwrap_or(&root));
    let of_profile = |name: &String| root.join(PROFILES).join(name);
    let earlier = profile(surroundings, "PI_PROFILE");
    let profile = match surroundings.variable("OMP_PROFILE") {
        Some(_) => profile(surroundings, "OMP_PROFILE"),
        None => earlier.clone(),
    };
    let usual = profile.as_ref().map_or(root.clone(), of_profile).join("agent");
    let named = surroundings.path("PI_CODING_AGENT_DIR").filter(|named| {
        profile.is_none()
            && earlier.as_ref().map(|name| of_profile(name).join("agent")).as_ref() != Some(named)
    });
    let agent = match named {
        Some(named) if named != usual => named,
        _ => in_data_home(surroundings, profile.as_deref()).unwrap_or(usual),
    };
    let sessions = surroundings.path("PI_CODING_AGENT_SESSION_DIR");
    sessions.into_iter().chain([agent.join("sessions")]).collect()
}

/// The folder in `XDG_DATA_HOME`, where there is one.
fn in_data_home(surroundings: &Surroundings<'_>, profile: Option<&str>) -> Option<PathBuf> {
    if !cfg!(any(target_os = "linux", target_os = "macos")) {
        return None;
    }
    let data = surroundings.path("XDG_DATA_HOME")?.join("omp");
    let data = profile.map_or(data.clone(), |name| data.join(PROFILES).join(name));
    Some(data).filter(|data| data.exists())
}

/// The profile that a variable names. omp does not start with a name that cannot be a folder's.
fn profile(surroundings: &Surroundings<'_>, variable: &str) -> Option<String> {
    let name = surroundings.variable(variable)?.into_string().ok()?;
    let name = name.trim();
    let is_one = !matches!(name, "" | "default" | "." | "..")
        && !name.ends_with('.')
        && Path::new(name).components().count() == 1;
    is_one.then(|| name.to_owned())
}

/// The name of omp's sessions folder for a directory, after following links. A directory below the home folder or the folder of
/// temporary files is named by its path below that folder.
pub(super) fn of_directory(directory: &str, surroundings: &Surroundings<'_>) -> String {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let directory = real(Path::new(directory));
    let temporary = ["TMPDIR", "TMP", "TEMP"].iter().find_map(|name| surroundings.path(name));
    let temporary = temporary.unwrap_or_else(|| "/tmp".into());
    let named = [("-", surroundings.home()), ("-tmp-", &temporary)].into_iter();
    let mut named = named.filter_map(|(prefix, above)| {
        let below = directory.strip_prefix(real(above)).ok()?.to_string_lossy();
        Some(format!("{prefix}{}", below.replace(['/', '\\', ':'], "-")))
    });
    match named.next() {
        Some(name) if name == "-tmp-" => "-tmp".to_owned(),
        Some(name) => name,
        None => folder_name(Some(&directory.to_string_lossy())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_named_by_their_place() {
        let none = |name: &str| (name == "TMPDIR").then(|| "/none/temporary".into());
        let surroundings = Surroundings::new(Path::new("/none/home"), &none);
        for (directory, name) in [
            ("/none/home", "-"),
            ("/none/home/work/a b", "-work-a b"),
            ("/none/temporary", "-tmp"),
            ("/none/temporary/x/y", "-tmp-x-y"),
            ("/none/homes", "--none-homes--"),
            ("/srv/api", "--srv-api--"),
        ] {
            assert_eq!(of_directory(directory, &surroundings), name);
        }
    }
}
