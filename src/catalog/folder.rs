//! One folder under its several names.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use unicode_normalization::UnicodeNormalization;

use crate::destination::{plain_path, real_path};
use crate::error::{FileContext, Result, SessionError};

/// A working directory, to compare those of sessions with.
///
/// Two paths are one folder if they differ only in composed and decomposed characters, in a trailing separator, or, on paths of
/// Windows, in case and in `/` and `\`; or if links lead both to the same place on this machine. A folder that no longer exists
/// is compared by its path, below the links that still exist.
///
/// ```
/// use leafline::list::Folder;
///
/// let folder = Folder::new(r"C:\work");
/// assert!(folder.is("c:/work/"));
/// assert!(folder.holds(r"c:\work\app") && !folder.holds("C:/workshop"));
/// ```
#[derive(Debug)]
pub struct Folder {
    named: Names,
    /// Where links lead, if that is elsewhere.
    real: Option<Names>,
    /// The directories that were compared, and the names below this folder: many sessions are in the same one.
    compared: RwLock<HashMap<String, Option<Vec<String>>>>,
}

impl Folder {
    /// The folder at a path; a relative one is below the current directory.
    #[must_use]
    pub fn new(path: &str) -> Self {
        let named = Names::of(&whole_directory(path).unwrap_or_else(|_| path.to_owned()));
        let absolute = std::path::absolute(path).ok();
        let absolute = absolute.as_deref().filter(|_| !named.has_windows_root() || cfg!(windows));
        let real = absolute.and_then(real).filter(|real| real.keys != named.keys);
        Self { named, real, compared: RwLock::default() }
    }

    /// Whether a session's directory is this folder.
    #[must_use]
    pub fn is(&self, directory: &str) -> bool {
        self.compare(directory, |rest| rest.is_some_and(<[String]>::is_empty))
    }

    /// Whether a session's directory is this folder, or below it.
    #[must_use]
    pub fn holds(&self, directory: &str) -> bool {
        self.compare(directory, |rest| rest.is_some())
    }

    /// The names that a directory has below this folder: none if it is this folder.
    pub(super) fn rest(&self, directory: &str) -> Option<Vec<String>> {
        self.compare(directory, |rest| rest.map(<[String]>::to_vec))
    }

    fn compare<T>(&self, directory: &str, answer: impl FnOnce(Option<&[String]>) -> T) -> T {
        let compared = self.compared.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(rest) = compared.get(directory) {
            return answer(rest.as_deref());
        }
        drop(compared);
        let rest = self.find(directory);
        let answer = answer(rest.as_deref());
        let mut compared = self.compared.write().unwrap_or_else(PoisonError::into_inner);
        compared.insert(directory.to_owned(), rest);
        answer
    }

    fn find(&self, directory: &str) -> Option<Vec<String>> {
        let names = Names::of(directory);
        let below = |names: &Names| {
            [Some(&self.named), self.real.as_ref()].into_iter().flatten().find_map(|above| {
                let rest = names.keys.strip_prefix(above.keys.as_slice())?.len();
                Some(names.raw.get(names.raw.len() - rest..)?.to_vec())
            })
        };
        below(&names).or_else(|| below(&real(Path::new(directory))?))
    }
}

/// A directory in the form that sessions keep: below the current directory if it is relative, and without `.`, `..`, doubled and
/// trailing separators. It need not exist, as sessions outlive directories, so `..` is resolved by its words alone. A path of
/// Windows stays as it is elsewhere, as sessions are moved between systems; so does an empty one, which is no directory.
///
/// ```
/// use leafline::list::whole_directory;
///
/// assert_eq!(whole_directory("/work//demo/./x/../")?, "/work/demo");
/// assert!(whole_directory("demo")?.ends_with("/demo"));
/// # Ok::<(), leafline::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::File`](crate::Error::File) for a relative path if the current directory is not known, or is not UTF-8.
pub fn whole_directory(path: &str) -> Result<String> {
    if path.is_empty() || cfg!(not(windows)) && is_absolute_on_windows(path) {
        return Ok(path.to_owned());
    }
    let whole = plain_path(Path::new(path)).map(PathBuf::into_os_string);
    let text = whole.and_then(|whole| {
        let not_text = |_| std::io::Error::new(ErrorKind::InvalidData, "it is not UTF-8");
        whole.into_string().map_err(not_text)
    });
    text.at("finding the directory", Path::new(path))
}

/// The same of a directory that must be named.
pub(crate) fn named_directory(path: &str) -> Result<String> {
    match path {
        "" => Err(SessionError::EmptyDirectory.into()),
        path => whole_directory(path),
    }
}

/// True of a path that is absolute on Windows: `C:\work`, `C:/work` or `\\server\share`.
fn is_absolute_on_windows(path: &str) -> bool {
    match path.as_bytes() {
        [drive, b':', b'\\' | b'/', ..] => drive.is_ascii_alphabetic(),
        start => start.starts_with(br"\\"),
    }
}

/// The folders of a report's rows, each with a number.
#[derive(Debug, Default)]
pub(super) struct Folders {
    by_path: HashMap<String, usize>,
    by_keys: HashMap<Vec<String>, usize>,
}

impl Folders {
    /// The number of a directory's folder: that of an earlier directory if they are one folder, otherwise `next`.
    pub(super) fn number(&mut self, directory: &str, next: usize) -> usize {
        if let Some(&number) = self.by_path.get(directory) {
            return number;
        }
        let named = Names::of(directory).keys;
        let real = real(Path::new(directory)).map(|real| real.keys);
        let known = [Some(&named), real.as_ref()].into_iter().flatten();
        let number = known.filter_map(|keys| self.by_keys.get(keys)).next().copied();
        let number = number.unwrap_or(next);
        for keys in [Some(named), real].into_iter().flatten() {
            self.by_keys.entry(keys).or_insert(number);
        }
        self.by_path.insert(directory.to_owned(), number);
        number
    }
}

/// A path below another directory, with the separators of that.
pub(super) fn join(above: &str, rest: &[String]) -> String {
    let names = Names::of(above);
    if rest.is_empty() && names.raw.len() == 1 {
        return above.to_owned();
    }
    let is_windows_path = names.has_windows_root();
    let separator = if is_windows_path && above.contains('\\') { '\\' } else { '/' };
    let trimmed = above.trim_end_matches(|end| end == '/' || is_windows_path && end == '\\');
    let mut path = trimmed.to_owned();
    for name in rest {
        path.push(separator);
        path.push_str(name);
    }
    path
}

/// The names in a path, ahead of them the root.
#[derive(Debug)]
struct Names {
    /// In the form in which they are compared.
    keys: Vec<String>,
    /// As the path has them.
    raw: Vec<String>,
}

impl Names {
    fn of(path: &str) -> Self {
        // A verbatim path, as Windows gives the place where links lead.
        let unc = path.strip_prefix(r"\\?\UNC\").map(|rest| format!(r"\\{rest}"));
        let path = unc.as_deref().unwrap_or(path);
        let path = path.strip_prefix(r"\\?\").unwrap_or(path);
        let (root, rest) = match path.as_bytes() {
            [drive, b':', b'\\' | b'/', ..] | [drive, b':'] if drive.is_ascii_alphabetic() => {
                (path[..2].to_ascii_uppercase(), &path[2..])
            }
            [b'\\', b'\\', ..] => (r"\\".to_owned(), path),
            [b'/', ..] => ("/".to_owned(), path),
            _ => (String::new(), path),
        };
        let separators: &[char] = match root.as_str() {
            "/" | "" if cfg!(not(windows)) => &['/'],
            _ => &['/', '\\'],
        };
        let names = rest.split(separators).filter(|name| !matches!(*name, "" | "."));
        let raw: Vec<String> =
            std::iter::once(root.as_str()).chain(names).map(str::to_owned).collect();
        let key = |name: &String| match has_windows_root(&raw) {
            true => name.nfc().flat_map(char::to_lowercase).collect(),
            false => name.nfc().collect(),
        };
        Self { keys: raw.iter().map(key).collect(), raw }
    }

    fn has_windows_root(&self) -> bool {
        has_windows_root(&self.raw)
    }
}

/// Returns true if a path has a Windows root.
fn has_windows_root(names: &[String]) -> bool {
    names.first().is_some_and(|root| !matches!(root.as_str(), "/" | ""))
}

/// Where links lead from an absolute path on this machine: of one that is not there, those above it.
fn real(path: &Path) -> Option<Names> {
    if !path.is_absolute() {
        return None;
    }
    real_path(path).to_str().map(Names::of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(directory: &str, above: &str) -> Option<String> {
        Folder::new(above).rest(directory).map(|rest| rest.join("|"))
    }

    #[test]
    fn directories_below_others() {
        for (directory, above, expected) in [
            ("/work/app", "/work/app", Some("")),
            ("/work/app/./src/", "/work/app/", Some("src")),
            ("/work/apple", "/work/app", None),
            ("/work", "/", Some("work")),
            ("work", "/", None),
            (r"C:\work\app", r"C:\work", Some("app")),
            (r"c:\work/app\x", "C:/work/", Some("app|x")),
            (r"C:\work", "D:/work", None),
            (r"C:\work", "/work", None),
            ("c:/", r"C:\", Some("")),
            (r"C:\users\me\Proj\x", "c:/Users/me/proj", Some("x")),
            ("/Work/app", "/work", None),
            (r"\\server\share\x", r"\\server/share", Some("x")),
            (r"\\?\C:\work", "c:/work", Some("")),
            ("/w/caf\u{e9}/a", "/w/cafe\u{301}", Some("a")),
            // What is kept is what the path has.
            ("/w/e\u{301}", "/w", Some("e\u{301}")),
            ("", "/", None),
            ("", "", Some("")),
        ] {
            assert_eq!(rest(directory, above).as_deref(), expected, "{directory} below {above}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn directories_are_whole() {
        let of = |path: &str| whole_directory(path).unwrap();
        assert_eq!(of("/a//b/./c/../d/"), "/a/b/d");
        assert_eq!(["/../..", "/", "//", "/."].map(of), ["/"; 4]);
        assert_eq!(of("x/"), format!("{}/x", of(".")));
        assert_eq!(format!("{}/x", of("..")), of("../x"));
        for path in ["", r"C:\work\app", "c:/work", r"\\server\share"] {
            assert_eq!(of(path), path);
        }
        assert_ne!(of("C:work"), "C:work");
    }

    #[test]
    #[cfg(unix)]
    fn a_relative_folder_is_below_the_current_directory() {
        let here = whole_directory(".").unwrap();
        assert!(Folder::new(".").is(&here) && Folder::new("./x/..").is(&here));
        assert!(Folder::new("x").is(&format!("{here}//x/")));
        // Where another project's session says so, that is another directory.
        assert!(!Folder::new(".").is(".") && !Folder::new("x").is("x"));
    }

    #[test]
    #[cfg(unix)]
    fn a_backslash_is_a_character_on_unix() {
        assert_eq!(rest(r"/work\app", "/work"), None);
        assert_eq!(rest(r"/work\app/x", r"/work\app"), Some("x".to_owned()));
    }

    #[test]
    fn a_moved_directory_has_the_separators_of_its_new_place() {
        let rest = ["a".to_owned(), "b".to_owned()];
        assert_eq!(join("/new/", &rest), "/new/a/b");
        assert_eq!(join("/", &rest), "/a/b");
        assert_eq!(join(r"D:\", &rest), r"D:\a\b");
        assert_eq!(join("D:/new", &rest), "D:/new/a/b");
        assert_eq!(["/", r"C:\", "/new/"].map(|above| join(above, &[])), ["/", r"C:\", "/new"]);
    }

    #[test]
    #[cfg(unix)]
    fn links_lead_to_one_folder() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path).to_str().unwrap().to_owned();
        std::fs::create_dir_all(at("real/app")).unwrap();
        std::os::unix::fs::symlink("real", at("link")).unwrap();
        for (one, other) in [("real", "link"), ("real/app", "link/app"), ("real/gone", "link/gone")]
        {
            let (one, other) = (at(one), at(other));
            assert!(Folder::new(&one).is(&other) && Folder::new(&other).is(&one), "{one} {other}");
            let mut folders = Folders::default();
            assert_eq!([&one, &other].map(|path| folders.number(path, 7)), [7, 7]);
            assert_eq!(folders.number(&at("other"), 8), 8);
        }
        assert!(Folder::new(&at("real")).holds(&at("link/app")));
        assert!(!Folder::new(&at("real")).is(&at("link/app")));
        assert!(!Folder::new(&at("link/app")).holds(&at("real")));
    }
}
