//! Working directories as sessions keep them: absolute, and without `.`, `..`, doubled and trailing separators.

use std::path::{Component, Path, PathBuf};

use super::failure::Failure;

/// A directory in the form that sessions keep, relative to the current one. It need not exist, as sessions outlive
/// directories, so `..` is resolved by its words alone. A path of Windows stays as it is elsewhere: sessions are moved
/// between systems.
///
/// # Errors
///
/// If it is not UTF-8, or is relative and the current directory is not known.
pub(super) fn whole(named: &Path) -> Result<String, Failure> {
    if let Some(text) = named.to_str().filter(|text| cfg!(not(windows)) && is_of_windows(text)) {
        return Ok(text.to_owned());
    }
    let absolute = std::path::absolute(named).map_err(Failure::NoCurrentDirectory)?;
    text(resolved(&absolute))
}

/// The named directory, or the current one.
///
/// # Errors
///
/// Those of [`whole`].
pub(super) fn named_or_current(named: Option<&Path>) -> Result<String, Failure> {
    match named {
        Some(named) => whole(named),
        None => text(std::env::current_dir().map_err(Failure::NoCurrentDirectory)?),
    }
}

fn text(directory: PathBuf) -> Result<String, Failure> {
    let text = directory.into_os_string().into_string();
    text.map_err(|path| Failure::DirectoryNotText { path: path.into() })
}

fn resolved(absolute: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in absolute.components() {
        match component {
            Component::CurDir => {}
            // The root is its own parent.
            Component::ParentDir => drop(resolved.pop()),
            other => resolved.push(other),
        }
    }
    resolved
}

/// Whether a path is absolute on Windows: `C:\work`, `C:/work` or `\\server\share`.
fn is_of_windows(path: &str) -> bool {
    match path.as_bytes() {
        [drive, b':', b'\\' | b'/', ..] => drive.is_ascii_alphabetic(),
        start => start.starts_with(br"\\"),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_absolute() {
        let of = |path: &str| whole(Path::new(path)).unwrap();
        assert_eq!(of("/a//b/./c/../d/"), "/a/b/d");
        assert_eq!(of("/../.."), "/");
        assert_eq!(of("x/"), format!("{}/x", of(".")));
        assert_eq!(named_or_current(None).unwrap(), of("."));
        assert_eq!(format!("{}/x", of("..")), of("../x"));
    }

    #[test]
    fn directories_of_windows_stay() {
        for path in [r"C:\work\app", "c:/work", r"\\server\share"] {
            assert_eq!(whole(Path::new(path)).unwrap(), path);
        }
        assert_ne!(whole(Path::new("C:work")).unwrap(), "C:work");
    }
}
