//! The manifest: a record in the folder of what an export has written to it, for the next export (docs/export.md).

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Component, Path};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use xxhash_rust::xxh3::Xxh3;

use super::report::ExportOptions;
use crate::destination::{folder_of, refuse_store_file};
use crate::error::{FileContext, Result};
use crate::lasting::sync_folder;
use crate::open_folder::{Kind, OpenFolder};
use crate::session::ExportMode;
use crate::store::Store;
use crate::whole_file::WholeFile;

/// The manifest's name in the folder. It is hidden, and no import treats it as a session.
pub(super) const NAME: &str = ".leafline-manifest";

/// The version of its format.
const VERSION: u32 = 1;

/// A longer file is not a manifest: 1 GiB, which is some four million sessions.
const LONGEST: u64 = 1 << 30;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    leafline_manifest: u32,
    store: String,
}

/// A session's file as it was when it was written, or found to be unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The id by which the session is addressed.
    pub(super) session: String,
    /// Its key.
    pub(super) key: u64,
    /// The XXH3 of its record. The revision alone would not do: a store that was restored from a copy reaches the same
    /// revision a second time.
    pub(super) record: Digest,
    /// The form in which it was exported.
    pub(super) form: Form,
    /// What replaced secrets in it, if they were replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) redaction: Option<Redaction>,
    /// Whether the same key, record and form imply the same file.
    pub(super) settled: bool,
    /// The path of the file relative to the folder, with `/` between the parts.
    pub(super) path: String,
    /// The path that the session would have if another store had not put its file elsewhere first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) instead_of: Option<String>,
    /// Its bytes.
    pub(super) bytes: u64,
    /// Its time of modification in nanoseconds since 1970; `None` if a later change might keep that time.
    pub(super) modified: Option<i64>,
    /// Its [`Fingerprint`](crate::store::fingerprint::Fingerprint).
    pub(super) fingerprint: Digest,
}

/// The last line, which proves that the lines before it are complete and unchanged.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct End {
    entries: u64,
    check: Digest,
}

/// The name of an [`ExportMode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Form {
    Current,
    Exact,
    Original,
    Portable,
    Refs,
}

impl Form {
    /// The form of a mode.
    pub(super) fn of(mode: &ExportMode) -> Self {
        match mode {
            ExportMode::Current => Self::Current,
            ExportMode::Exact => Self::Exact,
            ExportMode::Original => Self::Original,
            ExportMode::Portable => Self::Portable,
            ExportMode::References { .. } => Self::Refs,
        }
    }
}

/// What identifies the rules and the key by which secrets were replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Redaction(Digest);

impl Redaction {
    /// That of an export with these options.
    pub(super) fn of(options: &ExportOptions) -> Option<Self> {
        #[cfg(feature = "redact")]
        return options.redactor().map(|redactor| Self(Digest(redactor.digest())));
        #[cfg(not(feature = "redact"))]
        options.redactor().map(|redactor| match *redactor {})
    }
}

/// 128 bits, written as 32 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Digest(pub(super) u128);

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:032x}", self.0))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16).map(Self).map_err(de::Error::custom)
    }
}

/// The manifest of a folder.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    store: u64,
    /// The entries by session id, if the manifest is this store's.
    entries: BTreeMap<String, Entry>,
    /// The paths by session id, if the manifest is another store's.
    path_in_other_store: BTreeMap<String, String>,
    /// Whether it differs from the folder's file.
    is_changed: bool,
}

impl Manifest {
    /// The folder's manifest. If it is missing, damaged, or of another store or version, it has no entries, and each file is
    /// compared with what would be written. Of another store's manifest only the paths are kept.
    ///
    /// # Errors
    ///
    /// [`crate::Error::File`] if it is there and the system cannot read it.
    pub(super) fn read(folder: Option<&OpenFolder>, store: u64) -> Result<Self> {
        let none = Self { store, ..Self::default() };
        let Some(folder) = folder else { return Ok(none) };
        let read = || {
            let Some(file) = open(folder)? else { return Ok(None) };
            parse(BufReader::new(file.take(LONGEST)))
        };
        Ok(match read().at("reading", &folder.path().join(NAME))? {
            Some((of, entries)) if of == format!("{store:016x}") => Self { entries, ..none },
            Some((_, entries)) => {
                let path_of = |entry: Entry| (entry.session, entry.path);
                Self { path_in_other_store: entries.into_values().map(path_of).collect(), ..none }
            }
            None => none,
        })
    }

    /// Refuses a folder that has a store in the manifest's place.
    pub(super) fn refuse_store(folder: &Path, store: &Store) -> Result<()> {
        refuse_store_file(&folder.join(NAME), store.path())
    }

    /// What is noted of a session.
    pub(super) fn get(&self, session: &str) -> Option<&Entry> {
        self.entries.get(session)
    }

    /// The path of the session's file, if the manifest is another store's.
    pub(super) fn path_in_other_store(&self, session: &str) -> Option<&str> {
        self.path_in_other_store.get(session).map(String::as_str)
    }

    /// All that is noted.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// Notes a session's file.
    pub(super) fn note(&mut self, entry: Entry) {
        if self.get(&entry.session) != Some(&entry) {
            self.is_changed = true;
            self.entries.insert(entry.session.clone(), entry);
        }
    }

    /// Removes the entries of all sessions but these.
    pub(super) fn forget_all_but(&mut self, sessions: &HashSet<&str>) -> Vec<Entry> {
        let gone: Vec<String> =
            self.entries.keys().filter(|id| !sessions.contains(id.as_str())).cloned().collect();
        self.is_changed |= !gone.is_empty();
        gone.iter().filter_map(|id| self.entries.remove(id)).collect()
    }

    /// Whether it differs from the folder's file.
    pub(super) fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Writes it to a temporary file in the folder and renames that.
    pub(super) fn write(&mut self, folder: &Arc<OpenFolder>, store: &Store) -> Result<()> {
        let path = folder.path().join(NAME);
        let file = WholeFile::inside(folder, OsStr::new(NAME), store.path())?;
        self.write_to(BufWriter::new(file.file())).at("writing", &path)?;
        sync_folder(folder_of(&file.name()?));
        self.is_changed = false;
        Ok(())
    }

    fn write_to(&self, mut out: impl Write) -> std::io::Result<()> {
        let mut check = Xxh3::new();
        let mut line = Vec::new();
        let head = Head { leafline_manifest: VERSION, store: format!("{:016x}", self.store) };
        serde_json::to_writer(&mut line, &head)?;
        for entry in self.entries.values() {
            line.push(b'\n');
            serde_json::to_writer(&mut line, entry)?;
            check.update(&line);
            out.write_all(&line)?;
            line.clear();
        }
        line.push(b'\n');
        check.update(&line);
        let end = End { entries: self.entries.len() as u64, check: Digest(check.digest128()) };
        serde_json::to_writer(&mut line, &end)?;
        line.push(b'\n');
        out.write_all(&line)?;
        out.flush()
    }
}

/// The file, if it can be a manifest.
fn open(folder: &OpenFolder) -> std::io::Result<Option<File>> {
    let name = OsStr::new(NAME);
    match folder.look(name)? {
        Some(found) if found.kind == Kind::File => {}
        _ => return Ok(None),
    }
    let file = folder.read(name)?;
    Ok((file.metadata()?.len() <= LONGEST).then_some(file))
}

/// The number of the manifest's store, in hex, and the manifest's entries by session.
type Parsed = (String, BTreeMap<String, Entry>);

/// Reads a manifest; `None` if it is incomplete or invalid.
fn parse(mut bytes: impl BufRead) -> std::io::Result<Option<Parsed>> {
    let mut check = Xxh3::new();
    let mut line = Vec::new();
    bytes.read_until(b'\n', &mut line)?;
    let store = match serde_json::from_slice::<Head>(&line) {
        Ok(head) if head.leafline_manifest == VERSION => head.store,
        _ => return Ok(None),
    };
    let mut entries = BTreeMap::new();
    let mut paths = HashSet::new();
    loop {
        check.update(&line);
        line.clear();
        bytes.read_until(b'\n', &mut line)?;
        let Ok(entry) = serde_json::from_slice::<Entry>(&line) else { break };
        if !leads_below(&entry.path) || !paths.insert(folded(&entry.path)) {
            return Ok(None);
        }
        entries.insert(entry.session.clone(), entry);
    }
    let expected = End { entries: entries.len() as u64, check: Digest(check.digest128()) };
    let is_end = serde_json::from_slice::<End>(&line).is_ok_and(|end| end == expected);
    let is_last = bytes.fill_buf()?.is_empty();
    Ok((is_end && is_last).then_some((store, entries)))
}

/// Whether a path in a manifest is that of a session file in the folder, and leads nowhere else.
fn leads_below(path: &str) -> bool {
    let is_name = |part: &str| {
        let mut components = Path::new(part).components();
        matches!(components.next(), Some(Component::Normal(name)) if name == part)
            && components.next().is_none()
    };
    path.ends_with(".jsonl") && path.split('/').all(is_name)
}

/// Folds a path so that paths that some file system considers equal become equal.
pub(super) fn folded(path: &str) -> String {
    path.to_lowercase()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(session: &str, path: &str) -> Entry {
        Entry {
            session: session.to_owned(),
            key: 7,
            record: Digest(u128::MAX),
            form: Form::Current,
            redaction: None,
            settled: true,
            path: path.to_owned(),
            instead_of: None,
            bytes: 1_000,
            modified: Some(1_760_000_000_123_456_789),
            fingerprint: Digest(1),
        }
    }

    fn of(entries: impl IntoIterator<Item = Entry>) -> Manifest {
        let mut manifest = Manifest { store: 5, ..Manifest::default() };
        entries.into_iter().for_each(|entry| manifest.note(entry));
        manifest
    }

    fn bytes(manifest: &Manifest) -> Vec<u8> {
        let mut bytes = Vec::new();
        manifest.write_to(&mut bytes).unwrap();
        bytes
    }

    /// A disk that cannot be read.
    struct Unreadable;

    impl Read for Unreadable {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("unreadable"))
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_taken_for_empty() {
        let whole = bytes(&of([entry("a", "a.jsonl"), entry("b", "b.jsonl")]));
        for length in 0..=whole.len() {
            let file = BufReader::new((&whole[..length]).chain(Unreadable));
            assert!(parse(file).is_err(), "unreadable at {length}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut odd = entry("line\nfeed \" \u{1}", "--é--/b.jsonl");
        odd.modified = None;
        for manifest in [of([]), of([entry("a", "a.jsonl"), odd])] {
            let bytes = bytes(&manifest);
            assert_eq!(parse(&bytes[..]).unwrap(), Some((format!("{:016x}", 5), manifest.entries)));
        }
    }

    #[test]
    fn what_is_not_whole_is_none() {
        let manifest = of([entry("a", "a.jsonl"), entry("b", "--w--/b.jsonl")]);
        let whole = bytes(&manifest);
        for length in 0..whole.len() - 1 {
            assert_eq!(parse(&whole[..length]).unwrap(), None, "cut at {length}");
        }
        for at in 0..whole.len() - 1 {
            let mut other = whole.clone();
            other[at] ^= 1;
            assert_eq!(parse(&other[..]).unwrap(), None, "changed at {at}");
        }
        assert_eq!(parse(&[&whole[..], b"x"].concat()[..]).unwrap(), None);
    }

    #[test]
    fn paths_that_lead_elsewhere_make_it_none() {
        for path in ["../a.jsonl", "/a.jsonl", "a/../../b.jsonl", "a//b.jsonl", "./a.jsonl", "a"] {
            assert_eq!(parse(&bytes(&of([entry("a", path)]))[..]).unwrap(), None, "{path}");
        }
        let twice = of([entry("a", "a.jsonl"), entry("b", "A.jsonl")]);
        assert_eq!(parse(&bytes(&twice)[..]).unwrap(), None, "two sessions in one file");
    }

    #[test]
    fn only_news_are_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let mut manifest = of([entry("a", "a.jsonl"), entry("b", "b.jsonl")]);
        let folder = Arc::new(OpenFolder::open(folder.path()).unwrap());
        manifest.write(&folder, &Store::in_memory().unwrap()).unwrap();
        let mut manifest = Manifest::read(Some(&folder), 5).unwrap();
        manifest.note(entry("a", "a.jsonl"));
        assert!(manifest.forget_all_but(&HashSet::from(["a", "b"])).is_empty());
        assert!(!manifest.is_changed());
        assert_eq!(manifest.forget_all_but(&HashSet::from(["a"])), [entry("b", "b.jsonl")]);
        assert!(manifest.is_changed());
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_manifest_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert_eq!(parse(&bytes[..]).unwrap(), None);
        }

        #[test]
        fn any_change_of_one_makes_it_none(
            from in 0_usize..400, length in 0_usize..40, by in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            let whole = bytes(&of([entry("a", "a.jsonl"), entry("b", "--w--/b.jsonl")]));
            let from = from.min(whole.len());
            let to = (from + length).min(whole.len());
            let other = [&whole[..from], &by[..], &whole[to..]].concat();
            // The final line feed has no meaning.
            let is_whole = other == whole || other == whole[..whole.len() - 1];
            prop_assert_eq!(parse(&other[..]).unwrap().is_some(), is_whole);
        }
    }
}
